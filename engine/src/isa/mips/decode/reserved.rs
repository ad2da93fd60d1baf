//! What reserved encodings would be elsewhere: for messages about programs that were built for another core.

/// What an encoding that [`super::decode`] gives as reserved is known as.
pub const fn what_is_reserved(encoding: u32) -> &'static str {
    match (encoding >> 26, encoding & 0x3f, encoding >> 21 & 0x1f) {
        (0x00, 0x02, 1) => "rotr, of MIPS32 release 2",
        (0x00, 0x06, _) => "rotrv, of MIPS32 release 2",
        (0x00, 0x10..=0x13 | 0x18 | 0x19, _) => "an instruction with an accumulator of the DSP extension",
        (0x00, 0x14 | 0x16 | 0x17 | 0x1c..=0x1f | 0x2c..=0x2f | 0x38..=0x3f, _) => "an instruction of 64-bit cores",
        (0x01, _, _) if encoding >> 16 & 0x1f == 0x1f => "synci, of MIPS32 release 2",
        (0x10, 0x1f, 0x10) => "deret, outside debug mode",
        (0x10, _, 0x0a | 0x0e) => "rdpgpr or wrpgpr, of MIPS32 release 2",
        (0x10, _, 0x0b) => "di or ei, of MIPS32 release 2",
        (0x18..=0x1b | 0x27 | 0x2c | 0x2d | 0x34 | 0x37 | 0x3c | 0x3f, _, _) => "an instruction of 64-bit cores",
        (0x1c, 0x00 | 0x01 | 0x04 | 0x05, _) => "an instruction with an accumulator of the DSP extension, or of MXU",
        (0x1c, _, _) => "an instruction of the media extension MXU, which this core is modelled without",
        (0x1d, _, _) => "jalx: this core has no MIPS16 code",
        (0x1f, 0x3b, _) => "rdhwr, of MIPS32 release 2",
        (0x1f, _, _) => "an instruction of MIPS32 release 2 or of the DSP extension",
        _ => "no instruction",
    }
}
