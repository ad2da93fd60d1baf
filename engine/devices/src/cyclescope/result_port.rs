//! `cyclescope,result-port`: a peripheral to which a program writes its results, word by word.
//!
//! Not a real part: it is at the addresses that PicoSoC reserves for a user peripheral (0x03000000 to 0x03ffffff) and
//! does what the bench of the RTL simulation does there. A word written to offset 0 is a result of the run. A write of
//! any width and value to the word at offset 4 ends the run after the storing instruction, with exit status 0: it only
//! means that the program has reached its end. All offsets access one 32-bit register with byte lanes, as in PicoSoC's
//! demo: each write goes to it, also the two special ones, and each read returns it. As a `gpio-controller`, the
//! register's bits are pins that it drives: PicoSoC's demos have LEDs there (`assign leds = gpio`).
//!
//! A run keeps the first 1048576 results; later ones are counted, and a note says so. A narrower write to offset 0 is
//! not a result; a note says so, too.

use crate::prelude::*;
use crate::support::axi_lite::AxiLitePort;
use engine::pins::Drive;

registers! {
    /// The register map; every other word is the same register as `SCRATCH`.
    const MAP "" {
        RESULT 0x0 rw;
        END 0x4 rw;
        SCRATCH 0x8 rw;
    }
}

/// The number of words that a run keeps: 4 MiB.
const KEPT_WORDS: usize = 1 << 20;

/// The device.
#[derive(Debug, State, Polled)]
pub struct ResultPort {
    #[state(skip)]
    #[poll(phase)]
    port: AxiLitePort,
    register: u32,
    #[poll(skip = "their number is listed")]
    results: Vec<u32>,
    /// The number of results written, kept or not.
    written_words: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::port(&["cyclescope,result-port"], 1, from_node).naming(MAP.rows).in_group(Group::Own);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["gpio-controller", "#gpio-cells", "ngpios"]);
    Box::new(ResultPort::new(AxiLitePort::from_node(reader)))
}

impl ResultPort {
    /// The device after reset.
    pub fn new(port: AxiLitePort) -> ResultPort {
        ResultPort { port, register: 0, results: Vec::new(), written_words: 0 }
    }

    /// Drives all pins.
    fn drive(&self, ctx: &mut Ctx) {
        ctx.bus.drive_port(ctx.id, Drive { enables: u32::MAX, levels: self.register }, 0, ctx.now);
    }

    fn keep(&mut self, word: u32, ctx: &mut Ctx) {
        self.written_words += 1;
        if self.results.len() < KEPT_WORDS {
            self.results.push(word);
        } else {
            ctx.note(&format!("more than {KEPT_WORDS} results were written: the rest is only counted"));
        }
    }
}

impl Device for ResultPort {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.drive(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(self.port.read(self.register, offset, size, ctx.now))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let before = self.register;
        self.register = size.merged(before, offset, value);
        if self.register != before {
            self.drive(ctx);
        }
        match (offset & !3, size) {
            (RESULT, AccessSize::Word) => self.keep(value, ctx),
            (RESULT, _) => ctx.note("a write to the result register that is no whole word is no result"),
            (END, _) => ctx.exit(0),
            _ => {}
        }
        Ok(self.port.written(ctx.now))
    }

    fn results(&self) -> Option<&[u32]> {
        Some(&self.results)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("results".to_owned(), self.written_words)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::polled::{Access, Loop};
    use crate::bench::{Bench, read_node};
    use crate::registers::walk;
    use engine::bus::device::{DeviceId, ExitRequest};
    use engine::time::{Cycles, Hz, Ps};

    /// A wait cycle of 10 ns, as on PicoSoC.
    fn port() -> Bench {
        let clock = Hz::new(100_000_000).unwrap();
        Bench::new(ResultPort::new(AxiLitePort { clock, read_cycles: Cycles(1), write_cycles: Cycles(1) }))
    }

    fn results(bench: &Bench) -> &[u32] {
        bench.bus.devices[0].as_ref().unwrap().results().unwrap()
    }

    fn write(bench: &mut Bench, offset: u32, size: AccessSize, value: u32) {
        let call = |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, offset, size, value, ctx);
        bench.bus.with_device(DeviceId(0), Ps(0), call).unwrap();
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(MAP.rows, &["END"], &mut port());
    }

    #[test]
    fn words_written_to_offset_0_are_results_in_order() {
        let mut bench = port();
        assert!(results(&bench).is_empty());
        assert_eq!(bench.write(Ps(50_000), 0, 0xca5e_0000), Ok(Ps(60_000)));
        assert_eq!(bench.write(Ps(60_000), 0, 573), Ok(Ps(70_000)));
        bench.write(Ps(70_000), 8, 1).unwrap();
        assert_eq!(results(&bench), [0xca5e_0000, 573]);
        assert_eq!(bench.bus.exit, None);
    }

    #[test]
    fn any_write_to_offset_4_ends_the_run_with_success() {
        for value in [0, 1, 7] {
            let mut bench = port();
            assert_eq!(bench.write(Ps(50_000), 4, value), Ok(Ps(60_000)));
            assert_eq!(bench.bus.exit, Some(ExitRequest { code: 0, at: Ps(50_000) }));
        }
        let mut bench = port();
        write(&mut bench, 6, AccessSize::Byte, 1);
        assert!(bench.bus.exit.is_some());
        assert!(results(&bench).is_empty());
    }

    #[test]
    fn a_read_gives_what_was_written_last_anywhere() {
        let mut bench = port();
        bench.write(Ps(0), 0, 0x1122_3344).unwrap();
        assert_eq!(bench.read(Ps(20_000), 8), Ok((0x1122_3344, Ps(30_000))));
        bench.write(Ps(30_000), 8, 3).unwrap();
        assert_eq!(bench.value(Ps(40_000), 0x00ff_fffc), 3);
        assert_eq!(bench.value(Ps(50_000), 0), 3);
        write(&mut bench, 0xe, AccessSize::Half, 0xabcd);
        assert_eq!(bench.value(Ps(60_000), 8), 0xabcd_0003);
    }

    #[test]
    fn a_port_drives_the_bits_of_the_register() {
        let mut bench = port().as_port();
        bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
        assert_eq!(bench.bus.wires.levels(DeviceId(0)), 0);
        bench.write(Ps(0), 8, 0x8000_0005).unwrap();
        write(&mut bench, 2, AccessSize::Byte, 1);
        assert_eq!(bench.bus.wires.levels(DeviceId(0)), 0x8001_0005);
    }

    #[test]
    fn narrow_writes_are_no_results() {
        let mut bench = port();
        write(&mut bench, 0, AccessSize::Half, 1);
        write(&mut bench, 3, AccessSize::Byte, 1);
        assert!(results(&bench).is_empty());
        assert_eq!(bench.bus.notes().len(), 1);
        assert_eq!(bench.value(Ps(0), 0), 0x0100_0001);
    }

    #[test]
    fn a_runaway_program_fills_no_memory() {
        let mut bench = port();
        for word in 0..=KEPT_WORDS as u32 {
            bench.write(Ps(0), 0, word).unwrap();
        }
        assert_eq!(results(&bench).len(), KEPT_WORDS);
        assert_eq!(results(&bench).last(), Some(&(KEPT_WORDS as u32 - 1)));
        let device = bench.bus.devices[0].as_ref().unwrap();
        assert_eq!(device.counters(), [("results".to_owned(), KEPT_WORDS as u64 + 1)]);
        assert_eq!(bench.bus.notes().len(), 1);
    }

    #[test]
    fn a_loop_that_reads_is_skipped_and_one_with_results_is_run() {
        let clock = Hz::new(100_000_000).unwrap();
        let (read, write) = (Access::Read(8), Access::Write(8, 5));
        assert!(Loop::even(clock, 7, &[write, read]).assert_skipped_as_run(port, 10, 100_000));
        assert!(!Loop::even(clock, 7, &[Access::Write(RESULT, 5), read]).assert_skipped_as_run(port, 10, 100));
    }

    #[test]
    fn a_node_gives_the_cycles_of_an_access() {
        let (mut bench, faults) = read_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(bench.read(Ps(0), 0), Ok((0, Ps(40_000))));
        assert_eq!(bench.write(Ps(40_000), 0, 1), Ok(Ps(70_000)));
    }
}
