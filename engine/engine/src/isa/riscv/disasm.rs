//! Text of a decoded instruction, in the assembler's syntax: the instruction itself, and its pseudo-instruction, if
//! any.
//!
//! A compressed instruction is shown as its expansion, because an [`Instr`] has only that.

use super::decode::{Format, ROWS, Row};
use super::op::{Code, Instr, Op, TimingClass};

/// The calling convention's register names (RISC-V ELF psABI, register convention).
pub const REGISTER_NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2",
    "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

/// CSRs that machine-mode code uses (privileged specification, table 6). Others show as their number.
#[rustfmt::skip]
pub const CSR_NAMES: [(i32, &str); 29] = [
    (0x300, "mstatus"), (0x301, "misa"), (0x304, "mie"), (0x305, "mtvec"), (0x306, "mcounteren"), (0x310, "mstatush"),
    (0x320, "mcountinhibit"), (0x340, "mscratch"), (0x341, "mepc"), (0x342, "mcause"), (0x343, "mtval"), (0x344, "mip"),
    (0x7a0, "tselect"), (0xb00, "mcycle"), (0xb02, "minstret"), (0xb80, "mcycleh"), (0xb82, "minstreth"),
    (0xc00, "cycle"), (0xc01, "time"), (0xc02, "instret"), (0xc80, "cycleh"), (0xc81, "timeh"), (0xc82, "instreth"),
    (0xf11, "mvendorid"), (0xf12, "marchid"), (0xf13, "mimpid"), (0xf14, "mhartid"), (0xf15, "mconfigptr"),
    (0x3a0, "pmpcfg0"),
];

/// The text of `instr`, which is at `pc`: the targets of branches and jumps are absolute.
pub fn disassemble(instr: &Instr, pc: u32) -> String {
    known(instr, pc).unwrap_or_else(|| match instr.len_bytes {
        2 => format!(".half {:#06x}", instr.op.imm),
        _ => format!(".word {:#010x}", instr.op.imm),
    })
}

/// As [`disassemble`]; `None` if it is not an instruction.
pub fn known(instr: &Instr, pc: u32) -> Option<String> {
    let op = &instr.op;
    match (op.code, ROWS.iter().find(|row| row.code == op.code)) {
        (_, Some(row)) => Some(with_operands(row, op, pc)),
        (Code::Li, _) => Some(format!("li {}, {:#x}", name(op.rd), op.imm)),
        (Code::Nop, _) => Some("nop".into()),
        (Code::End, _) => Some(format!("end of block at {pc:#x}")),
        _ => None,
    }
}

/// The assemblers' pseudo-instruction for an operation, if there is one (RISC-V assembly programmer's manual,
/// "pseudoinstructions").
pub fn pseudo(instr: &Instr, pc: u32) -> Option<String> {
    let Op { code, rd, rs1, rs2, imm } = instr.op;
    let (to, from, with) = (name(rd), name(rs1), name(rs2));
    let target = pc.wrapping_add_signed(imm);
    let [rd, rs1, rs2] = [rd, rs1, rs2].map(|register| register & 31);
    Some(match (code, rd, rs1, rs2, imm) {
        (Code::Addi, 0, 0, _, 0) => "nop".into(),
        (Code::Addi, _, 0, _, _) => format!("li {to}, {imm}"),
        (Code::Addi, _, _, _, 0) => format!("mv {to}, {from}"),
        (Code::Add, _, 0, _, _) => format!("mv {to}, {with}"),
        (Code::Sub, _, 0, _, _) => format!("neg {to}, {with}"),
        (Code::Xori, _, _, _, -1) => format!("not {to}, {from}"),
        (Code::Sltiu, _, _, _, 1) => format!("seqz {to}, {from}"),
        (Code::Sltu, _, 0, _, _) => format!("snez {to}, {with}"),
        (Code::Jal, 0, ..) => format!("j {target:#x}"),
        (Code::Jal, 1, ..) => format!("jal {target:#x}"),
        (Code::Jalr, 0, 1, _, 0) => "ret".into(),
        (Code::Jalr, 0, _, _, 0) => format!("jr {from}"),
        (Code::Jalr, 1, _, _, 0) => format!("jalr {from}"),
        (Code::Beq, _, _, 0, _) => format!("beqz {from}, {target:#x}"),
        (Code::Bne, _, _, 0, _) => format!("bnez {from}, {target:#x}"),
        (Code::Csrrs, _, 0, _, _) => format!("csrr {to}, {}", csr_name(imm)),
        (Code::Csrrw, 0, _, _, _) => format!("csrw {}, {from}", csr_name(imm)),
        _ => return None,
    })
}

/// The text of a custom instruction of PicoRV32, in the opcode custom-0 (its README, "Custom Instructions for IRQ
/// Handling").
pub fn picorv32(encoding: u32) -> Option<String> {
    let (rd, rs1) = (name((encoding >> 7) as u8), name((encoding >> 15) as u8));
    match (encoding & 0x7f, encoding >> 25) {
        (0x0b, 2) => Some("retirq".into()),
        (0x0b, 3) => Some(format!("maskirq {rd}, {rs1}")),
        (0x0b, 4) => Some(format!("waitirq {rd}")),
        (0x0b, 5) => Some(format!("timer {rd}, {rs1}")),
        _ => None,
    }
}

fn with_operands(row: &Row, op: &Op, pc: u32) -> String {
    let (mnemonic, imm) = (row.mnemonic, op.imm);
    let (rd, rs1, rs2) = (name(op.rd), name(op.rs1), name(op.rs2));
    let target = pc.wrapping_add_signed(imm);
    match row.format {
        Format::R => format!("{mnemonic} {rd}, {rs1}, {rs2}"),
        Format::I if matches!(op.code.class(), TimingClass::Load | TimingClass::IndirectJump) => {
            format!("{mnemonic} {rd}, {imm}({rs1})")
        }
        Format::I | Format::Shift => format!("{mnemonic} {rd}, {rs1}, {imm}"),
        Format::S => format!("{mnemonic} {rs2}, {imm}({rs1})"),
        Format::B => format!("{mnemonic} {rs1}, {rs2}, {target:#x}"),
        Format::U => format!("{mnemonic} {rd}, {:#x}", imm as u32 >> 12),
        Format::J => format!("{mnemonic} {rd}, {target:#x}"),
        Format::Csr => format!("{mnemonic} {rd}, {}, {}", csr_name(imm), csr_source(op)),
        Format::None => mnemonic.into(),
    }
}

/// The third operand of a CSR access: a register, or in the immediate forms a number.
fn csr_source(op: &Op) -> String {
    match op.code {
        Code::Csrrwi | Code::Csrrsi | Code::Csrrci => op.rs1.to_string(),
        _ => name(op.rs1).into(),
    }
}

/// The name of CSR `number`, or the number itself.
fn csr_name(number: i32) -> String {
    match CSR_NAMES.iter().find(|row| row.0 == number) {
        Some(row) => row.1.into(),
        None => format!("{number:#x}"),
    }
}

/// Register numbers come from five-bit fields; the mask keeps other operations from panicking.
fn name(register: u8) -> &'static str {
    REGISTER_NAMES[usize::from(register & 31)]
}

#[cfg(test)]
mod tests {
    use super::super::decode::decode;
    use super::*;

    #[test]
    fn shows_each_format_in_the_assemblers_syntax() {
        let cases = [
            (0x00b5_0533, "add a0, a0, a1"),
            (0xff01_0113, "addi sp, sp, -16"),
            (0x01f5_1513, "slli a0, a0, 31"),
            (0x0081_2503, "lw a0, 8(sp)"),
            (0xfea1_2c23, "sw a0, -8(sp)"),
            (0xfeb5_0ee3, "beq a0, a1, 0x80000ffc"),
            (0xf000_1537, "lui a0, 0xf0001"),
            (0x0080_00ef, "jal ra, 0x80001008"),
            (0x0000_8067, "jalr zero, 0(ra)"),
            (0x3401_1173, "csrrw sp, mscratch, sp"),
            (0x7c00_e573, "csrrsi a0, 0x7c0, 1"),
            (0x0ff0_000f, "fence"),
            (0x3020_0073, "mret"),
            (0x0000_4505, "addi a0, zero, 1"),
            (0x0000_9002, "ebreak"),
            (0x0000_0000, ".half 0x0000"),
            (0xffff_ffff, ".word 0xffffffff"),
        ];
        for (word, text) in cases {
            assert_eq!(disassemble(&decode(word), 0x8000_1000), text);
        }
    }

    #[test]
    fn shows_pseudo_instructions() {
        let cases = [
            (0x0000_0013, Some("nop")),
            (0x0010_0513, Some("li a0, 1")),
            (0x0005_8513, Some("mv a0, a1")),
            (0x852e, Some("mv a0, a1")),
            (0x40b0_0533, Some("neg a0, a1")),
            (0xfff5_c513, Some("not a0, a1")),
            (0x0080_006f, Some("j 0x1008")),
            (0x0080_00ef, Some("jal 0x1008")),
            (0x0000_8067, Some("ret")),
            (0x8082, Some("ret")),
            (0x9502, Some("jalr a0")),
            (0xfe05_0ee3, Some("beqz a0, 0xffc")),
            (0x3420_2573, Some("csrr a0, mcause")),
            (0x3055_1073, Some("csrw mtvec, a0")),
            (0x00b5_0533, None),
            (0x0000_0000, None),
        ];
        for (word, text) in cases {
            assert_eq!(pseudo(&decode(word), 0x1000).as_deref(), text, "{word:#x}");
        }
    }

    #[test]
    fn shows_what_only_picorv32_has() {
        let cases = [
            (0x0400_000b, Some("retirq")),
            (0x0602_818b, Some("maskirq gp, t0")),
            (0x0800_000b, Some("waitirq zero")),
            (0x0a02_800b, Some("timer zero, t0")),
            (0x0e00_000b, None),
            (0x0400_000f, None),
        ];
        for (word, text) in cases {
            assert_eq!(picorv32(word).as_deref(), text);
        }
    }

    #[test]
    fn shows_what_the_block_builder_makes() {
        let of = |code| Instr { op: Op { code, rd: 10, rs1: 0, rs2: 0, imm: -1 }, len_bytes: 4 };
        assert_eq!(disassemble(&of(Code::Li), 0), "li a0, 0xffffffff");
        assert_eq!(disassemble(&of(Code::Nop), 0), "nop");
        assert_eq!(disassemble(&of(Code::End), 0x20), "end of block at 0x20");
    }
}
