use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::Bench;
use crate::registers::walk;
use crate::support::axi_lite::AxiLitePort;
use crate::support::hosted_chip::HostedChip;
use engine::bus::device::{DeviceId, IrqLine};
use engine::time::Hz;
use engine::wire::spi::{Burst, Drive, SpiTarget};

mod node;
mod polling;
mod queues;
mod xip_mode;

/// A call that a [`Script`] got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saw {
    Select(Ps),
    Shift(Burst, Ps),
    Deselect(Ps),
}

/// A chip that writes down what happens to it, and answers with a count in each byte.
#[derive(Default, engine::state::State)]
struct Script {
    #[state(skip)]
    saw: Arc<Mutex<Vec<Saw>>>,
    count: u32,
}

impl SpiTarget for Script {
    fn select(&mut self, now: Ps) {
        self.count = 0;
        self.saw.lock().unwrap().push(Saw::Select(now));
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        self.saw.lock().unwrap().push(Saw::Shift(burst, end));
        self.count += 1;
        self.count - 1
    }

    fn deselect(&mut self, now: Ps) {
        self.saw.lock().unwrap().push(Saw::Deselect(now));
    }

    fn peek(&self, addr: u32, into: &mut [u8]) -> bool {
        into.iter_mut().zip(addr..).for_each(|(byte, addr)| *byte = addr as u8);
        true
    }
}

impl Polled for Script {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

fn mhz(value: u64) -> Hz {
    Hz::new(value * 1_000_000).unwrap()
}

/// 100 MHz AXI (10 ns); EXT_SPI_CLK 80 MHz (12.5 ns), SCK 40 MHz (25 ns). Synchronisers of 4 and 3 clocks.
fn params(lines: Lines) -> Params {
    Params {
        port: AxiLitePort { clock: mhz(100), read_cycles: Cycles(4), write_cycles: Cycles(5) },
        ext_spi_clock: mhz(80),
        sck_ratio: 2,
        lines,
        fifo_depth: 256,
        slaves: 1,
        enhanced: true,
        xip: false,
        tx_sync_clocks: Cycles(4),
        rx_sync_cycles: Cycles(3),
        interrupt: Some(IrqLine::Core { core: 0, bit: 11 }),
    }
}

struct Rig {
    bench: Bench,
    saw: Arc<Mutex<Vec<Saw>>>,
}

const RUN: u32 = SPICR_SPE | SPICR_MASTER | SPICR_MANUAL_SELECT;
const STOP: u32 = RUN | SPICR_INHIBIT;
/// Later than any transfer in these tests.
const LATER: Ps = Ps(1_000_000_000);

impl Rig {
    fn new(params: Params) -> Rig {
        let script = Script::default();
        let saw = script.saw.clone();
        let chip = HostedChip::new(Box::new(script), "flash0".to_owned(), None, 0);
        let chips = Chips::new([Some(chip)].into_iter().chain((1..params.slaves).map(|_| None)).collect());
        Rig { bench: Bench::new(AxiQuadSpi::new(params, chips)), saw }
    }

    /// Fills the FIFO with `bytes`, selects slave 0 at `at` and lets the wire run from there.
    fn send(&mut self, at: Ps, bytes: &[u8]) {
        self.bench.write(at, SPICR, STOP).unwrap();
        for byte in bytes {
            self.bench.write(at, DTR, u32::from(*byte)).unwrap();
        }
        self.bench.write(at, SPISSR, !1).unwrap();
        self.bench.write(at, SPICR, RUN).unwrap();
    }

    /// SCK clocks and bytes so far, by deselecting at [`LATER`].
    fn clocks(&mut self) -> u32 {
        self.bench.write(LATER, SPISSR, !0).unwrap();
        self.shifts().iter().map(|(burst, _)| burst.clocks).sum()
    }

    fn shifts(&self) -> Vec<(Burst, Ps)> {
        let saw = self.saw.lock().unwrap();
        saw.iter()
            .filter_map(|saw| if let Saw::Shift(burst, end) = saw { Some((*burst, *end)) } else { None })
            .collect()
    }

    /// A counter of the core's.
    fn count(&mut self, name: &str) -> u64 {
        let counters = self.bench.bus.devices[0].as_ref().unwrap().counters();
        counters.into_iter().find(|(known, _)| known == name).map_or(0, |(_, count)| count)
    }

    fn status(&mut self, at: Ps) -> u32 {
        self.bench.value(at, SPISR)
    }
}

/// A frame: opcode, three address bytes, `rest` zeroes.
fn frame(opcode: u8, rest: usize) -> Vec<u8> {
    let mut bytes = vec![opcode, 0x12, 0x34, 0x56];
    bytes.resize(4 + rest, 0);
    bytes
}

#[test]
fn the_register_map_holds() {
    walk::device_keeps_its_table(
        MAP.rows,
        &["SRR", "SPICR", "SPI DTR", "SPI DRR"],
        &mut Rig::new(params(Lines::Single)).bench,
    );
    walk::table_is_sound(xip::MAP.rows);
    let mut rig = Rig::new(params(Lines::Quad));
    assert_eq!(rig.bench.value(Ps(0), SPICR), 0x180);
    // In quad mode SPICR.Master 0 is an error of its own: A5h.
    assert_eq!(rig.status(Ps(0)), 0xa5);
    rig.bench.write(Ps(0), SPICR, 0x7ff).unwrap();
    assert_eq!(rig.bench.value(Ps(0), SPICR), 0x39f, "FIFO resets read 0");
}

#[test]
fn accesses_take_the_ports_cycles() {
    let mut rig = Rig::new(params(Lines::Quad));
    assert_eq!(rig.bench.read(Ps(1), SPISR).unwrap().1, Ps(50_000));
    assert_eq!(rig.bench.write(Ps(1), SPISSR, 0), Ok(Ps(60_000)));
    // No register there: OKAY, 0.
    assert_eq!(rig.bench.read(Ps(0), 0x44), Ok((0, Ps(40_000))));
    assert_eq!(rig.bench.write(Ps(0), 0x44, 1), Ok(Ps(50_000)));
}

#[test]
fn frames_take_the_clocks_of_their_commands() {
    // command + address + dummy + data, in SCK clocks.
    for (lines, opcode, rest, clocks) in [
        (Lines::Quad, 0x32, 252, 8 + 24 + 252 * 8 / 4),
        (Lines::Dual, 0xa2, 252, 8 + 24 + 252 * 8 / 2),
        (Lines::Quad, 0x6b, 4 + 248, 8 + 24 + 8 + 248 * 8 / 4),
        (Lines::Dual, 0x3b, 2 + 250, 8 + 24 + 8 + 250 * 8 / 2),
        (Lines::Quad, 0xeb, 5 + 100, 8 + 6 + 10 + 100 * 8 / 4),
        (Lines::Quad, 0xbb, 2 + 100, 8 + 12 + 8 + 100 * 8 / 2),
        (Lines::Quad, 0x0b, 1 + 16, 8 + 24 + 8 + 16 * 8),
        (Lines::Quad, 0xd8, 0, 8 + 24),
        (Lines::Single, 0x03, 16, 8 + 24 + 16 * 8),
    ] {
        let mut rig = Rig::new(params(lines));
        rig.send(Ps(0), &frame(opcode, rest));
        assert_eq!(rig.clocks(), clocks, "{opcode:#x} on {lines:?}");
    }
}

#[test]
fn a_quad_page_read_takes_552_clocks_with_one_refill() {
    let mut rig = Rig::new(params(Lines::Quad));
    let bytes = frame(0x6b, 4 + 256);
    rig.send(Ps(0), &bytes[..256]);
    // Time for 16 more places, well before the FIFO runs dry.
    for byte in &bytes[256..] {
        rig.bench.write(Ps::from_us(3), DTR, u32::from(*byte)).unwrap();
    }
    rig.clocks();
    let shifts = rig.shifts();
    assert_eq!(shifts.len(), 264);
    // Control at edge 0 + 4 = 50 ns; 8 + 24 + 8 + 256*8/4 = 552 clocks of 25 ns = 13.8 us, without a gap.
    assert_eq!(shifts[263].1, Ps(50_000 + 552 * 25_000));
    assert_eq!((rig.count("command_6b.sck_clocks"), rig.count("command_6b.idle_clocks")), (552, 0));
}

#[test]
fn lines_and_direction_follow_the_command() {
    let mut rig = Rig::new(params(Lines::Quad));
    rig.send(Ps(0), &frame(0x6b, 6));
    rig.clocks();
    let seen: Vec<_> = rig.shifts().iter().map(|(burst, _)| (burst.lines, burst.drive, burst.bits)).collect();
    assert_eq!(seen[0], (Lines::Single, Drive::Controller, 0x6b));
    assert_eq!(seen[3], (Lines::Single, Drive::Controller, 0x56));
    // Dummies and data: four lines, released.
    assert!(seen[4..].iter().all(|seen| *seen == (Lines::Quad, Drive::Target, 0)));
}

#[test]
fn the_wire_is_selected_then_clocked_then_let_go() {
    let mut rig = Rig::new(params(Lines::Quad));
    rig.send(Ps(0), &[0x06]);
    rig.bench.write(Ps(400_000), SPISSR, !0).unwrap();
    let saw = rig.saw.lock().unwrap().clone();
    // 400 ns is edge 32 of 12.5 ns; 4 more make 450 ns.
    let byte = Saw::Shift(Burst::byte_out(Lines::Single, 6), Ps(50_000 + 8 * 25_000));
    assert_eq!(saw, [Saw::Select(Ps(50_000)), byte, Saw::Deselect(Ps(450_000))]);
}

#[test]
fn waveforms_show_each_clock_at_the_times_of_its_burst() {
    let mut rig = Rig::new(params(Lines::Quad));
    rig.bench.record();
    // A quad I/O read: command on one line, address and dummies on four, then a byte from the chip.
    rig.send(Ps(0), &frame(0xeb, 9));
    let clocks = rig.clocks() as usize;
    let sck = rig.bench.recorded("sck");
    assert_eq!(sck.len(), 2 * clocks);
    let mut passed = 0;
    for (burst, end) in rig.shifts() {
        passed += burst.clocks as usize;
        // 25 ns a clock, without a gap.
        let last = &sck[2 * passed - 2..2 * passed];
        assert_eq!(last, [(end.saturating_sub(Ps(12_500)), true), (end, false)]);
    }
    // 1110 1011 on IO0, from half a period before the first rise on.
    let (begin, bit) = (sck[0].0.0 - 12_500, 25_000);
    let io0 = &rig.bench.recorded("io0")[..4];
    assert_eq!(io0, [3, 4, 5, 6].map(|number| (Ps(begin + number * bit), number % 2 == 0)));
    let select = rig.bench.recorded("cs0");
    assert!(select[0] <= (Ps(begin), false) && select[1].0 >= sck[sck.len() - 1].0, "{select:?}");
}

#[test]
fn waveforms_follow_the_clocks_polarity_and_keep_quiet_in_loopback() {
    let mut rig = Rig::new(params(Lines::Single));
    rig.bench.record();
    let mode_3 = SPICR_CPOL | SPICR_CPHA;
    rig.bench.write(Ps(0), SPICR, STOP | mode_3).unwrap();
    rig.bench.write(Ps(0), DTR, 0x80).unwrap();
    rig.bench.write(Ps(1_000_000), SPICR, RUN | mode_3).unwrap();
    rig.bench.write(LATER, SPICR, STOP | mode_3 | SPICR_LOOP).unwrap();
    let sck = rig.bench.recorded("sck");
    assert_eq!(sck.iter().map(|(_, level)| *level).collect::<Vec<_>>(), [[true, false]; 9].concat()[..17]);
    // Bits change as the clock falls.
    assert_eq!(rig.bench.recorded("mosi"), [(sck[3].0, false)]);
    rig.bench.write(LATER, DTR, 0x80).unwrap();
    rig.bench.write(LATER, SPICR, RUN | mode_3 | SPICR_LOOP).unwrap();
    rig.bench.write(Ps(2 * LATER.0), SPICR, STOP).unwrap();
    assert_eq!(rig.bench.recorded("sck").len(), 17 + 1);
}

#[test]
fn sck_stalls_while_the_fifo_is_empty() {
    let mut rig = Rig::new(params(Lines::Single));
    rig.send(Ps(0), &[1]);
    rig.bench.write(Ps::from_us(1), DTR, 2).unwrap();
    rig.clocks();
    // The first ends at 250 ns; the second starts 4 clocks after the edge of 1 us: 1050 + 200 ns.
    assert_eq!(rig.shifts().iter().map(|(_, end)| end.0).collect::<Vec<_>>(), [250_000, 1_250_000]);
    // From 250 to 1050 ns, in clocks of 80 MHz.
    assert_eq!(rig.count("command_01.idle_clocks"), 64);
    let saw = rig.saw.lock().unwrap();
    assert_eq!(saw.iter().filter(|saw| matches!(saw, Saw::Select(_))).count(), 1, "it stays selected");
}

#[test]
fn words_wait_in_the_fifo_until_the_wire_is_started() {
    let mut rig = Rig::new(params(Lines::Quad));
    rig.bench.write(Ps(0), SPICR, STOP).unwrap();
    rig.bench.write(Ps(0), DTR, 0x06).unwrap();
    rig.bench.write(Ps::from_us(2), SPISSR, !1).unwrap();
    rig.bench.write(Ps::from_us(3), SPICR, RUN).unwrap();
    rig.clocks();
    // There at 50 ns, started at 3050 ns: 3 us of 80 MHz.
    assert_eq!(rig.count("command_06.waiting_clocks"), 240);
    assert_eq!((rig.count("command_06.frames"), rig.count("command_06.sck_clocks")), (1, 8));
}

#[test]
fn automatic_select_ends_with_the_fifo() {
    let mut rig = Rig::new(params(Lines::Single));
    rig.bench.write(Ps(0), SPISSR, !1).unwrap();
    rig.bench.write(Ps(0), DTR, 1).unwrap();
    rig.bench.write(Ps(0), DTR, 2).unwrap();
    rig.bench.write(Ps(0), SPICR, SPICR_SPE | SPICR_MASTER).unwrap();
    rig.status(LATER);
    let saw = rig.saw.lock().unwrap().clone();
    assert_eq!((saw[0], saw[3], saw.len()), (Saw::Select(Ps(50_000)), Saw::Deselect(Ps(450_000)), 4));
}

#[test]
fn every_sck_ratio_divides() {
    for (ratio, byte_ps) in [(2, 200_000), (4, 400_000), (8, 800_000), (16, 1_600_000), (2048, 204_800_000)] {
        let mut rig = Rig::new(Params { sck_ratio: ratio, ..params(Lines::Single) });
        rig.send(Ps(0), &[0x9f]);
        rig.clocks();
        assert_eq!(rig.shifts()[0].1, Ps(50_000 + byte_ps), "ratio {ratio}");
    }
}

#[test]
fn received_bytes_appear_after_the_synchroniser() {
    let mut rig = Rig::new(params(Lines::Single));
    rig.send(Ps(0), &[0x05, 0]);
    // The byte ends at 250 ns, the next AXI edge; 3 clocks more make 280 ns.
    assert_eq!(rig.status(Ps(279_999)) & SPISR_RX_EMPTY, SPISR_RX_EMPTY);
    assert_eq!(rig.bench.value(Ps(279_999), TX_FIFO_OCY), 1, "two bytes, less one");
    assert_eq!(rig.status(Ps(280_000)) & SPISR_RX_EMPTY, 0);
    assert_eq!(rig.bench.value(Ps(280_000), TX_FIFO_OCY), 0);
    assert_eq!(rig.status(LATER) & (SPISR_TX_EMPTY | SPISR_RX_EMPTY), SPISR_TX_EMPTY);
    assert_eq!(rig.bench.value(LATER, RX_FIFO_OCY), 1);
    assert_eq!([rig.bench.value(LATER, DRR), rig.bench.value(LATER, DRR)], [0, 1]);
}

#[test]
fn full_and_empty_fifos_answer_with_an_error() {
    for (depth, places) in [(16, 16), (256, 256), (0, 1)] {
        let mut rig = Rig::new(Params { fifo_depth: depth, ..params(Lines::Single) });
        for _ in 0..places {
            assert!(rig.bench.write(Ps(0), DTR, 0).is_ok());
        }
        assert_eq!(rig.status(Ps(0)) & SPISR_TX_FULL, SPISR_TX_FULL);
        assert_eq!(rig.bench.write(Ps(0), DTR, 0), Err(Ps(50_000)));
        assert_eq!(rig.bench.read(Ps(0), DRR), Err(Ps(40_000)));
    }
}

#[test]
fn a_full_receive_fifo_drops_and_reports() {
    let mut rig = Rig::new(Params { fifo_depth: 16, ..params(Lines::Single) });
    rig.send(Ps(0), &[0; 16]);
    rig.status(Ps::from_us(10));
    rig.bench.write(Ps::from_us(10), DTR, 0).unwrap();
    assert_eq!(rig.status(LATER) & SPISR_RX_FULL, SPISR_RX_FULL);
    let raised = IPISR_DTR_EMPTY | IPISR_DRR_FULL | IPISR_DRR_OVERRUN | IPISR_TX_HALF_EMPTY;
    assert_eq!(rig.bench.value(LATER, IPISR), raised);
    let read: Vec<u32> = (0..16).map(|_| rig.bench.value(LATER, DRR)).collect();
    assert_eq!(read, (0..16).collect::<Vec<u32>>());
    assert!(rig.bench.read(LATER, DRR).is_err());
    // A write of ones toggles.
    rig.bench.write(LATER, IPISR, IPISR_DRR_FULL | 1).unwrap();
    assert_eq!(rig.bench.value(LATER, IPISR), raised & !IPISR_DRR_FULL | 1);
}

#[test]
fn an_unknown_command_stops_the_core_until_its_fifo_is_reset() {
    let mut rig = Rig::new(params(Lines::Dual));
    rig.send(Ps(0), &[0x6b, 0, 0, 0]);
    assert_eq!(rig.status(LATER) & (SPISR_COMMAND_ERROR | SPISR_TX_EMPTY), SPISR_COMMAND_ERROR);
    assert_eq!(rig.bench.value(LATER, IPISR), IPISR_COMMAND_ERROR);
    assert_eq!(rig.shifts(), []);
    rig.bench.write(LATER, IPISR, IPISR_COMMAND_ERROR).unwrap();
    assert_eq!(rig.bench.value(LATER, IPISR), 0, "once an error");
    rig.bench.write(LATER, SPICR, STOP | SPICR_TX_FIFO_RESET).unwrap();
    assert_eq!(rig.status(LATER) & (SPISR_COMMAND_ERROR | SPISR_TX_EMPTY), SPISR_TX_EMPTY);
    rig.send(LATER, &[0x05, 0]);
    rig.status(Ps(LATER.0 * 2));
    assert_eq!(rig.shifts().len(), 2);
}

#[test]
fn settings_that_quad_mode_lacks_stop_the_wire() {
    for (setting, bit) in [
        (SPICR_CPOL, SPISR_CPOL_CPHA_ERROR),
        (SPICR_CPHA, SPISR_CPOL_CPHA_ERROR),
        (SPICR_LSB_FIRST, SPISR_MSB_ERROR),
        (SPICR_LOOP, SPISR_LOOPBACK_ERROR),
    ] {
        let mut rig = Rig::new(params(Lines::Quad));
        rig.send(Ps(0), &[]);
        rig.bench.write(Ps(0), SPICR, RUN | setting).unwrap();
        rig.bench.write(Ps(0), DTR, 6).unwrap();
        assert_eq!(rig.status(LATER) & SETTINGS, bit);
        assert_eq!(rig.bench.value(LATER, IPISR), bit << 3);
        assert_eq!(rig.shifts(), []);
    }
}

#[test]
fn loopback_and_lsb_first_work_in_standard_mode() {
    let mut rig = Rig::new(params(Lines::Single));
    rig.bench.write(Ps(0), SPICR, RUN | SPICR_LOOP).unwrap();
    rig.bench.write(Ps(0), DTR, 0x5a).unwrap();
    assert_eq!(rig.status(LATER) & SPISR_RX_EMPTY, 0);
    assert_eq!((rig.bench.value(LATER, DRR), rig.shifts().len()), (0x5a, 0));
    rig.bench.write(LATER, SPICR, RUN | SPICR_LSB_FIRST).unwrap();
    rig.send(LATER, &[]);
    rig.bench.write(LATER, SPICR, RUN | SPICR_LSB_FIRST).unwrap();
    rig.bench.write(LATER, DTR, 0x01).unwrap();
    rig.status(Ps(LATER.0 * 2));
    assert_eq!(rig.shifts()[0].0.bits, 0x80);
}

#[test]
fn interrupts_come_when_axi_sees_the_condition() {
    let mut rig = Rig::new(Params { fifo_depth: 16, ..params(Lines::Single) });
    rig.bench.write(Ps(0), IPIER, IPISR_TX_HALF_EMPTY | IPISR_DTR_EMPTY).unwrap();
    rig.bench.write(Ps(0), DGIER, DGIER_GIE).unwrap();
    rig.send(Ps(0), &[0; 9]);
    // Half empty: 9 to 8 bytes at 50 + 200 = 250 ns, seen 30 ns later.
    rig.bench.run(Ps(279_999));
    assert_eq!(rig.bench.pending(), 0);
    rig.bench.run(Ps(280_000));
    assert_eq!(rig.bench.pending(), 1 << 11);
    rig.bench.write(Ps(300_000), IPISR, IPISR_TX_HALF_EMPTY).unwrap();
    assert_eq!(rig.bench.pending(), 0);
    // Empty: 50 + 9 * 200 = 1850 ns, and 30.
    rig.bench.run(Ps(1_879_999));
    assert_eq!(rig.bench.pending(), 0);
    rig.bench.run(Ps(1_880_000));
    assert_eq!(rig.bench.pending(), 1 << 11);
    rig.bench.write(Ps(1_900_000), DGIER, 0).unwrap();
    assert_eq!(rig.bench.pending(), 0);
}

#[test]
fn a_software_reset_restores_the_resets() {
    let mut rig = Rig::new(params(Lines::Single));
    rig.send(Ps(0), &[1, 2, 3]);
    rig.bench.write(LATER, IPIER, 4).unwrap();
    rig.bench.write(LATER, SRR, 0xb).unwrap();
    assert_eq!(rig.bench.value(LATER, IPIER), 4, "0xa alone resets");
    rig.bench.write(LATER, SRR, 0xa).unwrap();
    let read = [SPICR, SPISR, SPISSR, IPISR, IPIER].map(|offset| rig.bench.value(LATER, offset));
    assert_eq!(read, [0x180, 0x25, u32::MAX, 0, 0]);
}

#[test]
fn stopping_inside_a_byte_completes_it_and_is_noted() {
    let mut rig = Rig::new(params(Lines::Single));
    rig.send(Ps(0), &[1, 2]);
    // The second byte is on the wire (250 to 450 ns).
    rig.bench.write(Ps(300_000), SPICR, STOP).unwrap();
    assert_eq!(rig.shifts().len(), 2);
    assert_eq!(rig.bench.bus.notes().len(), 1);
    rig.bench.write(Ps(350_000), DTR, 3).unwrap();
    rig.status(LATER);
    assert_eq!(rig.shifts().len(), 2, "inhibited");
}

#[test]
fn only_the_fifos_of_the_enhanced_core_stream() {
    for enhanced in [true, false] {
        let core = AxiQuadSpi::new(Params { enhanced, ..params(Lines::Quad) }, Chips::default());
        assert_eq!((core.streams(0, DTR), core.streams(0, DRR), core.streams(0, SPISR)), (enhanced, enhanced, false));
    }
}

#[test]
fn nobody_on_the_wire_reads_as_ones() {
    let mut rig = Rig::new(Params { slaves: 2, ..params(Lines::Single) });
    rig.send(Ps(0), &[0x9f]);
    rig.bench.write(LATER, SPISSR, !2).unwrap();
    rig.bench.write(LATER, DTR, 0).unwrap();
    let later = Ps(LATER.0 * 2);
    assert_eq!([rig.bench.value(later, DRR), rig.bench.value(later, DRR)], [0, 0xff]);
}
