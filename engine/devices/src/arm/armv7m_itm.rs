//! `arm,armv7m-itm`: the instrumentation trace macrocell of an ARMv7-M core (ARMv7-M Architecture Reference Manual, DDI
//! 0403E, C1.7), as a console: writes to stimulus port 0 are a stream, shown like the output of a serial line.
//!
//! Modelled: ITM_STIMx, ITM_TER, ITM_TPR, ITM_TCR, ITM_LAR and ITM_LSR. A port accepts writes while ITM_TCR.ITMENA, the
//! port's bit of ITM_TER and DEMCR.TRCENA are set; without TRCENA the core does not pass accesses on. A port is always
//! ready: sending trace data off the chip takes no time.
//!
//! Not modelled: time stamps, synchronisation, and the packets of the other ports (a note reports the first one).

use crate::prelude::*;
use crate::registers;

registers! {
    /// The register map, without the stimulus ports.
    const MAP "ITM_" {
        TER 0xe00 rw locked_by LSR_SLK in LSR;
        TPR 0xe40 rw locked_by LSR_SLK in LSR mask 0xf;
        TCR 0xe80 rw locked_by LSR_SLK in LSR mask 0x7f_0f1f { ITMENA 0 };
        LAR 0xfb0 wo;
        /// The lock is implemented, and locked.
        LSR 0xfb4 ro reset 3 mask 7 { SLI 0, SLK 1 };
    }
}

/// The end of the 32 stimulus ports.
const PORTS_END: u32 = 0x80;
/// The key that opens the lock.
const KEY: u32 = 0xc5ac_ce55;
/// The value read from a port that is ready.
const READY: u32 = 1;

/// The macrocell.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
pub struct Itm {
    registers: Registers,
    /// Each is shown: an iteration that sends one is no repetition.
    characters: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["arm,armv7m-itm"], 1, from_node).naming(MAP.rows);

/// Builds the macrocell from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["swo-ref-frequency"]);
    Box::new(Itm::default())
}

impl Default for Itm {
    fn default() -> Itm {
        Itm { registers: Registers::new(&MAP), characters: 0 }
    }
}

impl Itm {
    fn send(&mut self, port: u32, value: u32, size: AccessSize, ctx: &mut Ctx) {
        if !self.registers.has(TCR, TCR_ITMENA) || !self.registers.has(TER, 1 << port) {
            return;
        }
        if port > 0 {
            ctx.note("a stimulus port other than 0 was written: only port 0 is shown");
            return;
        }
        let bytes = value.to_le_bytes();
        let bytes = &bytes[..size.bytes() as usize];
        self.characters += bytes.len() as u64;
        if ctx.bus.lines.console == Some(ctx.id) { ctx.console(bytes) } else { ctx.stream(bytes) }
    }
}

impl Table for Itm {
    fn wrote(&mut self, register: u32, _: u32, new: u32, _: &mut Ctx) {
        if register == LAR {
            self.registers.put(LSR, LSR_SLK, new != KEY);
        }
    }

    fn refused(&mut self, _: u32, why: Refused, ctx: &mut Ctx) {
        if matches!(why, Refused::Locked(..)) {
            ctx.note("a register was written without the key 0xc5acce55 in ITM_LAR: it keeps its value");
        }
    }
}

impl Device for Itm {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        if offset < PORTS_END {
            return Ok(Reply::read(size.extracted(READY, offset), ctx.now));
        }
        registers::read(self, offset, size, ctx)
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        if offset >= PORTS_END {
            return registers::write(self, offset, size, value, ctx);
        }
        self.send(offset / 4, value, size, ctx);
        Ok(Reply::written(ctx.now))
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("tx_characters".to_owned(), self.characters)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::time::Ps;

    const NOW: Ps = Ps(0);

    fn itm() -> Bench {
        let mut bench = Bench::new(Itm::default());
        bench.write(NOW, LAR, KEY).unwrap();
        bench
    }

    fn send(bench: &mut Bench, port: u32, value: u32, size: AccessSize) {
        let write = |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, 4 * port, size, value, ctx);
        bench.bus.with_device(DeviceId(0), NOW, write).unwrap();
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(MAP.rows, &["ITM_LSR", "ITM_LAR"], &mut itm());
    }

    #[test]
    fn port_0_is_a_stream_while_it_is_enabled() {
        let mut bench = itm();
        send(&mut bench, 0, u32::from(b'x'), AccessSize::Byte);
        bench.write(NOW, TER, 3).unwrap();
        send(&mut bench, 0, u32::from(b'x'), AccessSize::Byte);
        bench.write(NOW, TCR, TCR_ITMENA).unwrap();
        assert_eq!(bench.value(NOW, 0), READY);
        send(&mut bench, 0, u32::from(b'a'), AccessSize::Byte);
        send(&mut bench, 0, u32::from_le_bytes(*b"bcde"), AccessSize::Word);
        assert_eq!((bench.streamed().as_str(), bench.printed().as_str()), ("abcde", ""));
        send(&mut bench, 1, 0, AccessSize::Byte);
        assert_eq!((bench.streamed().as_str(), bench.bus.notes().len()), ("", 1));
    }

    #[test]
    fn registers_are_locked_without_the_key() {
        let mut bench = Bench::new(Itm::default());
        assert_eq!(bench.value(NOW, LSR), 3);
        bench.write(NOW, TER, 1).unwrap();
        assert_eq!((bench.value(NOW, TER), bench.bus.notes().len()), (0, 1));
        bench.write(NOW, LAR, KEY).unwrap();
        bench.write(NOW, TER, 1).unwrap();
        assert_eq!((bench.value(NOW, LSR), bench.value(NOW, TER)), (1, 1));
    }
}
