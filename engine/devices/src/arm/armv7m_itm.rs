//! `arm,armv7m-itm`: the instrumentation trace macrocell of an ARMv7-M core (ARMv7-M Architecture Reference Manual, DDI
//! 0403E, C1.7), as a console: writes to stimulus port 0 are a stream, shown like the output of a serial line.
//!
//! Modelled: ITM_STIMx, ITM_TER, ITM_TPR, ITM_TCR, ITM_LAR and ITM_LSR. A port accepts writes while ITM_TCR.ITMENA, the
//! port's bit of ITM_TER and DEMCR.TRCENA are set; without TRCENA the core does not pass accesses on. A port is always
//! ready: sending trace data off the chip takes no time.
//!
//! Not modelled: time stamps, synchronisation, and the packets of the other ports (a note reports the first one).

use crate::model::{Group, Model};
use crate::support::registers::{AccessKind, Register};
use engine::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map, without the stimulus ports.
pub const REGISTERS: &[Register] = &[
    Register::new("ITM_TER", TER, AccessKind::Rw, 0, u32::MAX),
    Register::new("ITM_TPR", TPR, AccessKind::Rw, 0, 0xf),
    Register::new("ITM_TCR", TCR, AccessKind::Rw, 0, 0x7f_0f1f),
    Register::new("ITM_LAR", LAR, AccessKind::Wo, 0, u32::MAX),
    Register::new("ITM_LSR", LSR, AccessKind::Ro, LSR_LOCKED, 7),
];

/// The end of the 32 stimulus ports.
const PORTS_END: u32 = 0x80;
const TER: u32 = 0xe00;
const TPR: u32 = 0xe40;
const TCR: u32 = 0xe80;
const LAR: u32 = 0xfb0;
const LSR: u32 = 0xfb4;

const TCR_ITMENA: u32 = 1 << 0;
/// ITM_LSR: the lock is implemented, and locked.
const LSR_LOCKED: u32 = 3;
const LSR_OPEN: u32 = 1;
/// The key that opens the lock.
const KEY: u32 = 0xc5ac_ce55;
/// The value read from a port that is ready.
const READY: u32 = 1;

/// The macrocell.
#[derive(Debug, Default, State)]
pub struct Itm {
    enabled: u32,
    privilege: u32,
    control: u32,
    is_open: bool,
    characters: u64,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["arm,armv7m-itm"], 1, from_node).naming(REGISTERS);

/// Builds the macrocell from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["swo-ref-frequency"]);
    Box::new(Itm::default())
}

impl Itm {
    fn send(&mut self, port: u32, value: u32, size: AccessSize, ctx: &mut Ctx) {
        if self.control & TCR_ITMENA == 0 || self.enabled >> port & 1 == 0 {
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

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if offset == LAR {
            self.is_open = value == KEY;
        } else if !self.is_open && matches!(offset, TER | TPR | TCR) {
            ctx.note("a register was written without the key 0xc5acce55 in ITM_LAR: it keeps its value");
        } else {
            match offset {
                TER => self.enabled = value,
                TPR => self.privilege = value & 0xf,
                TCR => self.control = value & 0x7f_0f1f,
                _ => {}
            }
        }
    }
}

impl Device for Itm {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let register = match offset & !3 {
            ..PORTS_END => READY,
            TER => self.enabled,
            TPR => self.privilege,
            TCR => self.control,
            LSR => {
                if self.is_open {
                    LSR_OPEN
                } else {
                    LSR_LOCKED
                }
            }
            _ => 0,
        };
        Ok(Reply::read(size.extracted(register, offset), ctx.now))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.writes += 1;
        if offset < PORTS_END {
            self.send(offset / 4, value, size, ctx);
        } else {
            self.set_register(offset & !3, size.merged(0, offset, value), ctx);
        }
        Ok(Reply::written(ctx.now))
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("tx_characters".to_owned(), self.characters)]
    }
}

impl Polled for Itm {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.writes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::support::registers::walk;
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
        walk::device_keeps_its_table(REGISTERS, &["ITM_LSR", "ITM_LAR"], &mut itm());
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
