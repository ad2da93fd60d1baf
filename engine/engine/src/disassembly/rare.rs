//! Encodings that a core runs as instructions and Capstone does not know. On Arm: hints that are not allocated, and
//! encodings that the manual calls unpredictable or deprecated (ARM DDI 0406C, chapters A5, A6 and A8). On MIPS: fields
//! without effect.

/// Conditions by their number; "always" has no text.
const CONDITIONS: [&str; 16] =
    ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "", ""];

/// A core register.
fn name(register: u32) -> String {
    match register & 15 {
        13 => "sp".into(),
        14 => "lr".into(),
        15 => "pc".into(),
        number => format!("r{number}"),
    }
}

/// The text of an A32 encoding.
pub(super) fn a32(encoding: u32) -> Option<String> {
    let condition = CONDITIONS[(encoding >> 28) as usize];
    if encoding & 0xfd70_0000 == 0xf410_0000 {
        return Some("nop (a memory hint that is not allocated)".into());
    }
    if encoding & 0x0fff_f000 == 0x0320_f000 {
        return Some(format!("nop{condition} (a hint that is not allocated)"));
    }
    if encoding & 0x0ff0_00f0 == 0x0120_0070 {
        return Some(format!("bkpt #{:#x}", encoding >> 4 & 0xfff0 | encoding & 15));
    }
    floating_point(encoding, condition)
}

/// The text of a T32 encoding with four bytes.
pub(super) fn t32(encoding: u32) -> Option<String> {
    if encoding & 0xff70_f000 == 0xf930_f000 {
        return Some("nop (a memory hint that is not allocated)".into());
    }
    let mnemonic = match encoding >> 20 & 0xffd {
        0xe88 => "stm.w",
        0xe89 => "ldm.w",
        0xe90 => "stmdb",
        0xe91 => "ldmdb",
        _ => return floating_point(encoding, ""),
    };
    let registers: Vec<String> = (0..16).filter(|register| encoding >> register & 1 != 0).map(name).collect();
    Some(format!("{mnemonic} {}, {{{}}}", base(encoding), registers.join(", ")))
}

/// A MIPS encoding without fields that have no effect: hints of jr and jalr, the code of wait (MIPS32 Architecture for
/// Programmers, volume II).
pub(super) fn mips(encoding: u32) -> Option<u32> {
    match (encoding >> 26, encoding & 0x3f) {
        (0, 0x08 | 0x09) => Some(encoding & !(0x1f << 6)),
        (0x10, 0x20) if encoding >> 25 & 1 != 0 => Some(encoding & 0xfe00_003f),
        _ => None,
    }
}

/// The base register, with its write-back.
fn base(encoding: u32) -> String {
    let write_back = if encoding >> 21 & 1 != 0 { "!" } else { "" };
    format!("{}{write_back}", name(encoding >> 16))
}

/// fldmx and fstmx: double registers and one more word; vmrs and vmsr of registers that have no name.
fn floating_point(encoding: u32, condition: &str) -> Option<String> {
    if encoding & 0x0fe0_0fff == 0x0ee0_0a10 {
        let (register, system) = (name(encoding >> 12), encoding >> 16 & 15);
        return Some(match encoding >> 20 & 1 {
            0 => format!("vmsr{condition} #{system}, {register}"),
            _ => format!("vmrs{condition} {register}, #{system}"),
        });
    }
    if encoding & 0x0e00_0f01 != 0x0c00_0b01 {
        return None;
    }
    let mnemonic = if encoding >> 20 & 1 != 0 { "fldm" } else { "fstm" };
    let order = if encoding >> 24 & 1 != 0 { "dbx" } else { "iax" };
    let (first, count) = ((encoding >> 22 & 1) << 4 | encoding >> 12 & 15, encoding >> 1 & 0x7f);
    let last = (first + count).saturating_sub(1);
    let registers = if count > 1 { format!("d{first}-d{last}") } else { format!("d{first}") };
    Some(format!("{mnemonic}{order}{condition} {}, {{{registers}}}", base(encoding)))
}
