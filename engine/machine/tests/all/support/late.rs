//! A device that answers late and can interrupt.

use super::rig::{CYCLE_PS, clock};
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::polling::{Poll, Polled};
use engine::time::{Cycles, Ps};

/// Reads give the value that was last written, 7 cycles after the request, and the number of interrupts since.
pub const VALUE: u32 = 0;
/// A write of n raises the interrupt n cycles later.
pub const RAISE_LATER: u32 = 4;
/// A write lowers the interrupt.
pub const LOWER: u32 = 8;
/// Accesses are answered with an error.
pub const BROKEN: u32 = 12;
/// Reads give the cycle.
pub const CYCLE: u32 = 16;
/// After a write of n, reads give 0 for n cycles, then 1.
pub const READY: u32 = 20;
/// A write raises the interrupt at once.
pub const RAISE: u32 = 24;
/// A write of n begins a transfer of n cycles; reads give 1 until its end.
pub const TRANSFER: u32 = 28;
/// Reads give 1 until the transfer's end; after that 2 if the device is ready ([`READY`]), else 0.
pub const BOTH: u32 = 32;
/// A write ends the run with this status.
pub const EXIT_STATUS: u32 = 36;

/// n cycles after a write of n, accesses to [`ANSWERS`] are answered.
pub const LATER: u32 = 40;
/// See [`LATER`].
pub const ANSWERS: u32 = 44;
/// A write of n ends the run with status 5, n cycles later.
pub const EXIT_LATER: u32 = 48;
const LATE_STATUS: i32 = 5;
/// The token of that event; the other event's is 0.
const EXITS: u32 = 1;

/// The device; its registers are above. It counts its reads, and the cycle in which it raised the interrupt last.
#[derive(engine::state::State)]
pub struct Late {
    line: Option<IrqLine>,
    value: u32,
    reported_cycle: u32,
    ready_at: Ps,
    transfer_end: Ps,
    raised_cycle: u64,
    reads: u64,
    later_cycles: u32,
}

impl Late {
    /// A device whose line leads to this interrupt bit of the core.
    pub fn new(bit: u32) -> Late {
        let line = Some(IrqLine::Core { core: 0, bit });
        let (ready_at, transfer_end) = (Ps::ZERO, Ps::ZERO);
        Late { line, value: 0, reported_cycle: 0, ready_at, transfer_end, raised_cycle: 0, reads: 0, later_cycles: 0 }
    }

    fn answered(&self, ctx: &Ctx) -> Ps {
        clock().after(ctx.now, Cycles(self.later_cycles.into()))
    }

    fn raise(&mut self, ctx: &mut Ctx) {
        self.raised_cycle = ctx.now.0 / CYCLE_PS;
        ctx.set_irq(self.line, true);
    }
}

impl Device for Late {
    fn read(&mut self, _: usize, offset: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let done = clock().after(ctx.now, Cycles(7));
        self.reads += 1;
        let (busy, ready) = (u32::from(done < self.transfer_end), u32::from(done >= self.ready_at));
        let value = match offset {
            BROKEN => return Err(SlaveError { done }),
            CYCLE => {
                self.reported_cycle = (ctx.now.0 / CYCLE_PS) as u32;
                self.reported_cycle
            }
            READY => ready,
            TRANSFER => busy,
            BOTH if busy == 1 => 1,
            BOTH => ready << 1,
            ANSWERS => return Ok(Reply::read(self.value, self.answered(ctx))),
            _ => self.value,
        };
        Ok(Reply::read(value, done))
    }

    fn write(&mut self, _: usize, offset: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let later = Ps(ctx.now.0 + u64::from(value) * CYCLE_PS);
        match offset {
            VALUE => self.value = value,
            RAISE_LATER => ctx.schedule(later, 0),
            LOWER => ctx.set_irq(self.line, false),
            READY => self.ready_at = later,
            RAISE => self.raise(ctx),
            TRANSFER => self.transfer_end = later,
            EXIT_STATUS => ctx.exit(value as i32),
            LATER => self.later_cycles = value,
            ANSWERS => return Ok(Reply::written(self.answered(ctx))),
            EXIT_LATER => ctx.schedule(later, EXITS),
            _ => return Err(SlaveError { done: ctx.now }),
        }
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == EXITS {
            return ctx.exit(LATE_STATUS);
        }
        self.value = self.value.wrapping_add(1);
        self.raise(ctx);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("reads".to_owned(), self.reads), ("raised in cycle".to_owned(), self.raised_cycle)]
    }
}

impl Polled for Late {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(clock());
        poll.state(self.value);
        poll.state(self.reported_cycle);
        poll.state(self.raised_cycle);
        poll.state(self.later_cycles);
        poll.until(self.ready_at);
        poll.end_ps(&mut self.transfer_end);
        poll.counter(&mut self.reads);
        true
    }
}
