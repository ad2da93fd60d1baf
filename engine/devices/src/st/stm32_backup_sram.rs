//! `st,stm32-backup-sram`: the backup SRAM of STM32F4 (RM0090, "Battery backup domain", "Backup SRAM").
//!
//! Modelled: bytes, halfwords and words, behind the clock gate (RCC_AHB1ENR.BKPSRAMEN). Writes need PWR_CR.DBP, which
//! lets software write the backup domain; without it they have no effect, and a note says so. A reset of the backup
//! domain does not change the contents. The memory starts with zeroes.
//!
//! Not modelled: the battery, so the backup regulator (PWR_CSR.BRE) has no effect; erasure on a change of the read
//! protection; execution from this memory.

use crate::prelude::*;
use crate::support::clock_gate::BACKUP_DOMAIN;

/// RM0090, "Memory map": 4 KiB.
const BYTES: usize = 0x1000;

/// The memory.
#[derive(Debug, State, Polled)]
pub struct BackupSram {
    gate: ClockGate,
    #[state(with = engine::state::fixed)]
    #[poll(skip = "writes stand for the contents")]
    bytes: Vec<u8>,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Memory, &["st,stm32-backup-sram"], 1, from_node);

/// Builds the memory from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(BackupSram::new(ClockGate::from_node(reader)))
}

impl BackupSram {
    /// The memory, empty.
    pub fn new(gate: ClockGate) -> BackupSram {
        BackupSram { gate, bytes: vec![0; BYTES], writes: 0 }
    }

    fn word(&self, offset: u32) -> u32 {
        let from = offset as usize & !3;
        self.bytes.get(from..from + 4).map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

impl Device for BackupSram {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        self.gate.read(offset, size, ctx, |offset, _| self.word(offset))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        if self.gate.takes_writes(ctx) {
            let (register, bit) = BACKUP_DOMAIN;
            if ctx.bus.clocks.is_running(register, bit) {
                let word = size.merged(self.word(offset), offset, value);
                let from = offset as usize & !3;
                if let Some(bytes) = self.bytes.get_mut(from..from + 4) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                    self.writes += 1;
                }
            } else {
                ctx.note("it was written while the backup domain is protected (PWR's DBP is 0): it keeps its contents");
            }
        }
        Ok(Reply::written(ctx.now))
    }

    fn peek(&self, _: usize, offset: u32, into: &mut [u8]) -> bool {
        let from = offset as usize;
        let Some(bytes) = self.bytes.get(from..from + into.len()) else { return false };
        into.copy_from_slice(bytes);
        true
    }

    fn preload(&mut self, _: usize, offset: u32, bytes: &[u8]) -> bool {
        let from = offset as usize;
        let Some(stored) = self.bytes.get_mut(from..from + bytes.len()) else { return false };
        stored.copy_from_slice(bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use engine::bus::device::DeviceId;
    use engine::time::Ps;

    const ENABLE: u32 = 0x30;

    #[test]
    fn it_takes_what_is_written_while_clock_and_protection_let_it() {
        let mut bench = Bench::new(BackupSram::new(ClockGate::at(ENABLE, 18)));
        let (register, bit) = BACKUP_DOMAIN;
        bench.bus.clocks.set_gates(ENABLE, 0);
        bench.bus.clocks.set_gates(register, 0);
        // Without its clock, and then without DBP.
        bench.write(Ps(0), 0, 1).unwrap();
        bench.bus.clocks.set_gates(ENABLE, 1 << 18);
        bench.write(Ps(1), 0, 1).unwrap();
        assert_eq!((bench.value(Ps(2), 0), bench.bus.notes().len()), (0, 2));
        assert!(bench.bus.notes()[1].contains("DBP is 0"), "{:?}", bench.bus.notes());
        bench.bus.clocks.set_gates(register, 1 << bit);
        bench.write(Ps(3), 0xffc, 0x1234_5678).unwrap();
        let narrow = |device: &mut dyn Device, ctx: &mut Ctx| {
            device.write(0, 0xffd, AccessSize::Byte, 0xaa, ctx).unwrap();
            device.write(0, 0xffe, AccessSize::Half, 0xbbcc, ctx).unwrap();
            device.read(0, 0xffe, AccessSize::Half, ctx).unwrap().value
        };
        assert_eq!(bench.bus.with_device(DeviceId(0), Ps(4), narrow), 0xbbcc);
        assert_eq!(bench.value(Ps(5), 0xffc), 0xbbcc_aa78);
        // Protected again, it can still be read.
        bench.bus.clocks.set_gates(register, 0);
        bench.write(Ps(6), 0xffc, 0).unwrap();
        assert_eq!(bench.value(Ps(7), 0xffc), 0xbbcc_aa78);
    }

    #[test]
    fn a_debugger_sees_and_fills_it() {
        let mut sram = BackupSram::new(ClockGate::NONE);
        assert!(sram.preload(0, 4, &[1, 2, 3]));
        let mut bytes = [0; 4];
        assert!(sram.peek(0, 3, &mut bytes));
        assert_eq!(bytes, [0, 1, 2, 3]);
        assert!(!sram.preload(0, 0xffe, &[0; 4]) && !sram.peek(0, 0xffd, &mut bytes));
    }
}
