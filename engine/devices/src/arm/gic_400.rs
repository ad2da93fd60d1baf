//! `arm,gic-400`, `arm,cortex-a7-gic`: the Generic Interrupt Controller, version 2 (Arm Generic Interrupt Controller
//! Architecture Specification, IHI 0048B, "IHI" below), as integrated in a Cortex-A7 cluster (Cortex-A7 MPCore TRM DDI
//! 0464F, chapter 8). Reset values are those of ST's register descriptions of the STM32MP157.
//!
//! Modelled: the distributor with 16 software generated, 16 private and 256 shared interrupts, level and edge
//! sensitive, both groups, 32 priorities, targets; a CPU interface for each connected core, with preemption by binary
//! points, both end-of-interrupt modes, the aliases for group 1, group 0 as FIQ. Software generated and private
//! interrupts, and their registers, are banked by core (IHI, 2.2.1, 4.1.4). All accesses are secure, as the cores
//! start in the secure world. An interrupt takes `cyclescope,latency-cycles` from the controller's input to the core.
//!
//! The node names IRQ and FIQ of the first core. The other application cores that the board runs have the same inputs.
//! A core that the board does not run has no interface: interrupts for it are dropped, with a note.
//!
//! Not modelled: the virtual interfaces.

use crate::prelude::*;
use crate::support::axi_lite::{AxiLitePort, on_lanes};
use crate::support::interrupt_output::InterruptOutput;
use cpu_interface::CpuInterface;
use distributor::Distributor;

mod cpu_interface;
mod distributor;
#[cfg(test)]
mod tests;

/// Number of interrupts, including software generated and private ones.
pub const INTERRUPTS: u32 = 288;
/// The first private interrupt.
pub const FIRST_PRIVATE: u32 = 16;
/// The first shared interrupt.
pub const FIRST_SHARED: u32 = 32;
/// Most cores, of the architecture.
const MOST_CORES: usize = 8;
/// The input of a core's private interrupt is its number, and this times the number of the core.
pub const INPUTS_OF_CORE: u32 = 1 << 10;

/// An interrupt that is ready to be signalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The interrupt's number.
    pub id: u32,
    /// Priority; 0 is the highest.
    pub priority: u8,
    /// True in group 1, false in group 0.
    pub group1: bool,
}

/// The device.
#[derive(Debug, State, Polled)]
pub struct Gic {
    #[poll(phase)]
    port: AxiLitePort,
    clock: ClockInput,
    #[state(skip)]
    latency_cycles: Cycles,
    distributor: Distributor,
    #[state(with = engine::state::fixed)]
    cores: Vec<CoreSide>,
}

/// What a core has of its own.
#[derive(Debug, State, Polled)]
struct CoreSide {
    /// nIRQ and nFIQ.
    outputs: [InterruptOutput; 2],
    interface: CpuInterface,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Interrupt, &["arm,cortex-a7-gic", "arm,gic-400"], 2, from_node).naming(distributor::MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let (port, clock) = AxiLitePort::on_clock_input(reader);
    let latency_cycles =
        reader.timing_cycles("cyclescope,latency-cycles", "from an interrupt's input to the core's line");
    let outputs = [reader.interrupt(0, "IRQ of the core"), reader.interrupt(1, "FIQ of the core")];
    let cores = reader.application_cores().clamp(1, MOST_CORES) as u32;
    let all: Vec<_> = (0..cores).map(|core| outputs.map(|line| line.map(|line| of_core(line, core)))).collect();
    Box::new(Gic { clock, ..Gic::new(port, latency_cycles, &all) })
}

/// The input of another core that has the number of the first one's.
const fn of_core(line: IrqLine, core: u32) -> IrqLine {
    match line {
        IrqLine::Core { core: 0, bit } => IrqLine::Core { core, bit },
        line => line,
    }
}

impl Gic {
    /// The device after reset; `outputs` are IRQ and FIQ of each core.
    pub fn new(port: AxiLitePort, latency_cycles: Cycles, outputs: &[[Option<IrqLine>; 2]]) -> Gic {
        let core = |lines: &[Option<IrqLine>; 2]| CoreSide {
            outputs: lines.map(InterruptOutput::new),
            interface: CpuInterface::new(),
        };
        Gic {
            port,
            clock: port.clock.into(),
            latency_cycles,
            distributor: Distributor::new(outputs.len()),
            cores: outputs.iter().map(core).collect(),
        }
    }

    /// Drives the cores' interrupt lines.
    fn update(&mut self, ctx: &mut Ctx) {
        for (core, CoreSide { outputs, interface }) in self.cores.iter_mut().enumerate() {
            let lines = interface.lines(self.distributor.highest(core));
            outputs.iter_mut().zip(lines).for_each(|(output, level)| output.drive(level, ctx));
        }
    }

    /// The core that makes an access; the first one for a master without an interface, as a debugger.
    fn accessing(&self, ctx: &Ctx) -> usize {
        ctx.core.filter(|core| *core < self.cores.len()).unwrap_or(0)
    }

    fn write_register(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) {
        let (word, core) = (offset & !3, self.accessing(ctx));
        if range == 0 {
            let value = if distributor::has_bytes(word) {
                size.merged(self.distributor.register(core, word), offset, value)
            } else {
                on_lanes(value, offset, size)
            };
            if let Some(note) = self.distributor.write(core, word, value) {
                ctx.note(note);
            }
        } else {
            let ended = self.cores[core].interface.write(word, on_lanes(value, offset, size));
            if let Some(id) = ended.filter(|id| !self.distributor.deactivate(core, *id)) {
                ctx.note(&format!("interrupt {id} was ended while it is not active: no effect"));
            }
        }
    }
}

impl Device for Gic {
    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let (word, core) = (offset & !3, self.accessing(ctx));
        let register = if range == 0 {
            self.distributor.register(core, word)
        } else if let Some(aliased) = cpu_interface::acknowledges(word) {
            let taken = self.cores[core].interface.acknowledge(self.distributor.highest(core), aliased);
            taken.map_or_else(|special| special, |id| self.distributor.acknowledge(core, id))
        } else {
            let highest = self.distributor.highest(core);
            let as_read = highest.map_or(0, |first| self.distributor.acknowledged_as(core, first.id));
            self.cores[core].interface.register(word, highest, as_read)
        };
        self.update(ctx);
        Ok(self.port.read(register, offset, size, ctx.now))
    }

    fn write(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.write_register(range, offset, size, value, ctx);
        self.update(ctx);
        Ok(self.port.written(ctx.now))
    }

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        ctx.schedule(self.port.clock.after(ctx.now, self.latency_cycles), input << 1 | u32::from(level));
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.distributor.set_level(token >> 1, token & 1 != 0);
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        // Signals on their way to the core arrive at the old rate.
        ctx.bus.clocks.update(&mut self.clock);
        self.port.clock = self.clock.rate;
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}
