//! The registers of a chip with byte registers, as most sensors have them: values after reset, and the bits that
//! firmware can change.

use engine::wire::notes::Notes;

/// The register map of a data sheet. A register that a list does not have stands for 0.
#[derive(Debug)]
pub struct ByteMap {
    /// The number of addresses.
    pub count: usize,
    /// Address and value after reset.
    pub resets: &'static [(usize, u8)],
    /// The bits that firmware can write: of the register at an address, and of the registers that follow it.
    pub writable: (usize, &'static [u8]),
    /// The bits that change something in the model.
    pub modelled: &'static [(usize, u8)],
}

impl ByteMap {
    /// The values of the registers after reset.
    pub fn reset(&self) -> Vec<u8> {
        let mut registers = vec![0; self.count];
        self.resets.iter().for_each(|(address, value)| registers[*address] = *value);
        registers
    }

    /// The bits of the register at `address` that firmware can write.
    pub fn writable(&self, address: usize) -> u8 {
        let (first, masks) = self.writable;
        address.checked_sub(first).and_then(|index| masks.get(index)).copied().unwrap_or(0)
    }

    /// Firmware writes `value` to the register at `address`. Notes a bit that it sets and that is not modelled.
    pub fn write(&self, registers: &mut [u8], address: usize, value: u8, notes: &mut Notes<String>) {
        let (old, mask) = (registers[address], self.writable(address));
        let modelled = self.modelled.iter().find(|(known, _)| *known == address).map_or(0, |(_, bits)| *bits);
        if value & !modelled & !old != 0 {
            notes.add(format!("{value:#04x} in register {address:#04x} asks for what is not modelled"));
        }
        registers[address] = old & !mask | value & mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static MAP: ByteMap =
        ByteMap { count: 8, resets: &[(2, 0x81)], writable: (2, &[0x0f, 0xff]), modelled: &[(2, 0x03)] };

    #[test]
    fn a_write_changes_what_it_can_and_notes_what_is_not_modelled() {
        // In register 2, bit 7 can't be written, and bits 0 and 1 are modelled.
        let cases = [
            (2, 0x03, 0x83, false),
            (2, 0x80, 0x80, false),
            (2, 0x04, 0x84, true),
            (3, 0x01, 0x01, true),
            (7, 0xff, 0x00, true),
        ];
        for (address, written, held, is_noted) in cases {
            let (mut registers, mut notes) = (MAP.reset(), Notes::default());
            MAP.write(&mut registers, address, written, &mut notes);
            let note = format!("{written:#04x} in register {address:#04x} asks for what is not modelled");
            let noted = if is_noted { vec![note] } else { Vec::new() };
            assert_eq!((registers[address], notes.take()), (held, noted));
        }
    }
}
