//! The `cpu` node of a PicoRV32: its timing table, and the RTL's parameters that are visible to programs.

use crate::dt::reader::{MultipleOf, NodeReader};
use crate::time::Hz;

/// Configuration of a core by the board.
#[derive(Clone, Debug)]
pub struct Config {
    /// Label of its node.
    pub name: String,
    /// Its index in the machine.
    pub index: u32,
    /// Its clock.
    pub clock: Hz,
    /// Its timing table.
    pub timing: Timing,
    /// Its parts of the M extension.
    pub extensions: Extensions,
    /// Address of the interrupt handler (PROGADDR_IRQ).
    pub interrupt_addr: u32,
    /// sp after reset (STACKADDR).
    pub stack_addr: u32,
}

/// Multiplication and division in hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extensions {
    /// mul, mulh, mulhsu, mulhu (ENABLE_MUL or ENABLE_FAST_MUL).
    pub multiply: bool,
    /// div, divu, rem, remu (ENABLE_DIV).
    pub divide: bool,
}

/// The timing table: for most instructions, the cycles from their launch to the first cycle in which the next
/// instruction can be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Arithmetic, fences, loads, stores, branches.
    pub execute: u8,
    /// A shift; with a serial shifter, one by no bits.
    pub shift: u8,
    /// Bits that a serial shifter moves in one cycle, while at least that many are left; then one per cycle. 0: a
    /// barrel shifter.
    pub shift_stage_bits: u8,
    /// mul.
    pub multiply: u8,
    /// mulh, mulhsu, mulhu.
    pub multiply_high: u8,
    /// div, divu, rem, remu.
    pub divide: u8,
    /// Reads of counters, maskirq, timer.
    pub csr: u8,
    /// jal, and waitirq once an interrupt is pending: from the launch to the fetch of the target.
    pub jump: u8,
    /// jalr, likewise.
    pub indirect_jump: u8,
    /// retirq, likewise.
    pub return_from_interrupt: u8,
    /// ebreak and ecall.
    pub breakpoint: u8,
    /// An encoding without a coprocessor that accepts it.
    pub illegal: u8,
    /// From the end of the prefetch to the request for data.
    pub access: u8,
    /// From an interrupt's acceptance to the fetch of its handler.
    pub interrupt: u8,
}

/// Reads a `cpu` node.
pub fn from_node(reader: &mut NodeReader, index: u32) -> Config {
    reader.known(&["riscv,isa-base"]);
    let extensions = read_extensions(reader);
    Config {
        name: reader.node.label().to_owned(),
        index,
        clock: reader.clock(0, "clock of the core"),
        timing: read_timing(reader, extensions),
        extensions,
        interrupt_addr: reader.u32(
            "yosyshq,progaddr-irq",
            MultipleOf(4),
            "address of the interrupt handler, a multiple of 4",
        ),
        stack_addr: reader.u32("yosyshq,stackaddr", MultipleOf(4), "stack pointer after reset, a multiple of 4"),
    }
}

fn read_timing(reader: &mut NodeReader, extensions: Extensions) -> Timing {
    let named = |reader: &mut NodeReader, name: &str, meaning: &str| {
        reader.instruction_cycles(&format!("cyclescope,{name}-cycles"), 1, meaning)
    };
    let multiplies = "`riscv,isa-extensions` has m or zmmul";
    let [multiply, multiply_high] = reader
        .only_if(extensions.multiply, multiplies, |reader| {
            [
                named(reader, "multiply", "cycles until mul has its result"),
                named(reader, "multiply-high", "cycles until mulh has its result"),
            ]
        })
        .unwrap_or([1; 2]);
    let divides = "`riscv,isa-extensions` has m";
    let divide = reader
        .only_if(extensions.divide, divides, |reader| named(reader, "divide", "cycles until a division has its result"))
        .unwrap_or(1);
    let mut cycles = |name: &str, meaning: &str| named(reader, name, meaning);
    let mut timing = Timing {
        execute: cycles("execute", "cycles from an instruction's launch until the next can be accepted"),
        shift: cycles("shift", "cycles from a shift's launch until the next instruction can be accepted"),
        shift_stage_bits: 0,
        multiply,
        multiply_high,
        divide,
        csr: cycles(
            "csr",
            "cycles from the launch of a counter's read, maskirq or timer until the next instruction can be accepted",
        ),
        jump: cycles("jump", "cycles from the launch of jal to the fetch of its target"),
        indirect_jump: cycles("indirect-jump", "cycles from the launch of jalr to the fetch of its target"),
        return_from_interrupt: cycles("retirq", "cycles from the launch of retirq to the fetch of its target"),
        breakpoint: cycles("ebreak", "cycles from the launch of ebreak until the next instruction can be accepted"),
        illegal: cycles(
            "illegal",
            "cycles from the launch of an unknown encoding until the next instruction can be accepted",
        ),
        access: cycles("access", "cycles from the end of the prefetch to the request for data"),
        interrupt: cycles("interrupt", "cycles from an interrupt's acceptance to the fetch of the handler"),
    };
    let meaning = "bits that a serial shifter moves in one cycle, up to 16; leave it out for a barrel shifter";
    timing.shift_stage_bits = reader.u32_or("yosyshq,shift-stage-bits", 0, 0..=16, meaning) as u8;
    timing
}

/// `riscv,isa-extensions`: i and c always, m or zmmul as configured. Counters and interrupts are subsets defined by
/// PicoRV32.
fn read_extensions(reader: &mut NodeReader) -> Extensions {
    let extensions = reader.isa_extensions("PicoRV32", &["i", "m", "c", "zmmul"]);
    let divide = extensions.contains(&"m");
    Extensions { multiply: divide || extensions.contains(&"zmmul"), divide }
}
