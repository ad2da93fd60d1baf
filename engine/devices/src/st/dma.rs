//! The DMA controllers of STM32s: what they have in common. A controller serves requests by streams or channels, which
//! have registers of the same kind, an interrupt, and a bus master.

pub mod stm32_dma;
pub mod stm32_dma_v2;
pub mod stm32_dmamux;
pub mod stm32h7_mdma;

#[cfg(test)]
mod tests;

use crate::prelude::*;
use crate::support::activities::TRANSFER;
use crate::support::bus_master::Master;
use crate::support::interrupt_output::InterruptOutput;

/// Properties of Linux that have no effect here.
const KNOWN: &[&str] = &["clock-names", "#dma-cells", "dma-channels", "dma-requests", "interrupt-names", "resets"];

/// What is around the `N` streams or channels of a controller that serves requests of peripherals.
#[derive(Debug, State, Polled)]
pub struct Wiring<const N: usize> {
    /// The AHB's clock.
    clock: ClockInput,
    /// Its clocks from one step to another, of two kinds.
    #[state(skip)]
    cycles: [Cycles; 2],
    /// The ranges that the controller can't reach.
    #[state(skip)]
    unreachable: Option<[u32; 2]>,
    interrupts: [InterruptOutput; N],
    /// Its clock enable bit in the RCC.
    gate: ClockGate,
    requests: Requests,
}

/// The AHB's clock, and the clocks from one step to another.
type Timing = (ClockInput, [Cycles; 2]);

/// Reads the timing of a node, with the properties of the two kinds of cycles and their meanings.
fn timing(reader: &mut NodeReader, cycles: [(&str, &str); 2]) -> Timing {
    reader.known(KNOWN);
    let clock = reader.clock_input(0, "the AHB's clock");
    (clock, cycles.map(|(property, meaning)| reader.timing_cycles(property, meaning)))
}

impl<const N: usize> Wiring<N> {
    /// With this many request lines.
    fn new(clock: ClockInput, lines: usize) -> Wiring<N> {
        let (cycles, unreachable, gate) = Default::default();
        let interrupts = [InterruptOutput::new(None); N];
        Wiring { clock, cycles, unreachable, interrupts, gate, requests: Requests::new(lines) }
    }

    /// Reads the rest of a node: the interrupts belong to a `what`, numbered from `first` on.
    fn from_node(reader: &mut NodeReader, timing: Timing, lines: usize, what: &str, first: usize) -> Wiring<N> {
        let meaning = "the address and the size of a memory that the controller has no way to";
        let unreachable = reader.cells("cyclescope,unreachable", |[_, size]| size > 0, meaning);
        let interrupts = std::array::from_fn(|index| {
            InterruptOutput::new(reader.interrupt(index, &format!("the interrupt of {what} {}", first + index)))
        });
        let (clock, cycles) = timing;
        Wiring { cycles, unreachable, interrupts, gate: ClockGate::from_node(reader), ..Wiring::new(clock, lines) }
    }

    /// The time that is cycles of a kind after `from`.
    fn after(&self, from: Ps, kind: usize) -> Ps {
        self.clock.rate.after(from, self.cycles[kind])
    }

    fn master(&self) -> Master {
        Master { clock: Some(self.clock.rate), unreachable: self.unreachable }
    }

    /// Shows a stream or channel: its activity, and the level of its interrupt.
    fn show(&mut self, index: usize, is_on: bool, detail: impl FnOnce() -> Detail, level: bool, ctx: &mut Ctx) {
        ctx.level_with((&TRANSFER, index as u32), is_on, detail);
        self.interrupts[index].drive(level, ctx);
    }

    /// Takes over the settings of the RCC: accesses under way on the bus end at the old clock's rate. True if the
    /// controller is reset.
    fn follow(&mut self, ctx: &mut Ctx) -> bool {
        self.clock.rate = ctx.bus.clocks.rate_of(self.clock);
        self.gate.is_reset(ctx.bus)
    }
}

/// Request lines.
#[derive(Clone, Debug, State, Polled)]
pub struct Requests(#[state(with = engine::state::fixed)] Vec<Request>);

#[derive(Clone, Copy, Debug, Default, State, Fresh, Polled)]
struct Request {
    level: bool,
    /// The line was raised, and has not been served.
    kept: bool,
    #[poll(skip = "it counts at its own time only")]
    raised_at: Ps,
}

impl Requests {
    /// This many lines, all low.
    pub fn new(lines: usize) -> Requests {
        Requests(vec![Request::default(); lines])
    }

    /// Sets the level of a line. A line that is raised and lowered at the same time requests one transfer; lowering it
    /// later withdraws the request.
    pub fn set(&mut self, line: u32, level: bool, now: Ps) {
        let Some(request) = self.0.get_mut(line as usize) else { return };
        if level && !request.level {
            (request.kept, request.raised_at) = (true, now);
        } else if !level && request.raised_at != now {
            request.kept = false;
        }
        request.level = level;
    }

    /// True if the line requests a transfer.
    pub fn is_asked(&self, line: usize) -> bool {
        self.0[line].level || self.0[line].kept
    }

    /// The line's request gets its transfer.
    pub fn serve(&mut self, line: usize) {
        self.0[line].kept = false;
    }
}
