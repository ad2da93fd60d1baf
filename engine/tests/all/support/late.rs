//! A device that answers late and can interrupt.

use super::rig::{CYCLE_PS, clock};
use cyclescope_engine::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use cyclescope_engine::polling::Poll;
use cyclescope_engine::time::{Cycles, Ps};

/// Word 0 reads what was last written, 7 cycles after the request. A write of n to offset 4 raises the interrupt n cycles later and adds 1 to
/// word 0, one to offset 8 lowers it, one to offset 24 raises it at once. Offset 12 answers with an error. Offset 16 tells the cycle. After a
/// write of n to offset 20, reads there give 0 for n cycles, then 1.
pub struct Late {
    line: Option<IrqLine>,
    value: u32,
    told_cycle: u32,
    ready_at: Ps,
    reads: u64,
}

impl Late {
    /// With a line to this bit of the core's.
    pub fn new(bit: u32) -> Late {
        let line = Some(IrqLine::Core { core: 0, bit });
        Late { line, value: 0, told_cycle: 0, ready_at: Ps::ZERO, reads: 0 }
    }
}

impl Device for Late {
    fn read(&mut self, _: usize, offset: u32, _: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let done = clock().after(ctx.now, Cycles(7));
        self.reads += 1;
        match offset {
            12 => Err(SlaveError { done }),
            16 => {
                self.told_cycle = (ctx.now.0 / CYCLE_PS) as u32;
                Ok(Reply::read(self.told_cycle, done))
            }
            20 => Ok(Reply::read(u32::from(done >= self.ready_at), done)),
            _ => Ok(Reply::read(self.value, done)),
        }
    }

    fn write(&mut self, _: usize, offset: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        match offset {
            0 => self.value = value,
            4 => ctx.schedule(Ps(ctx.now.0 + u64::from(value) * CYCLE_PS), 0),
            20 => self.ready_at = Ps(ctx.now.0 + u64::from(value) * CYCLE_PS),
            8 | 24 => ctx.set_irq(self.line, offset == 24),
            _ => return Err(SlaveError { done: ctx.now }),
        }
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.value += 1;
        ctx.set_irq(self.line, true);
    }

    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(clock());
        poll.state(self.value);
        poll.state(self.told_cycle);
        poll.until(self.ready_at);
        poll.counter(&mut self.reads);
        true
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("reads".to_owned(), self.reads)]
    }
}
