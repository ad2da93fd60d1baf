//! A controller with a kernel clock of 100 MHz and an N25Q128A; the serial clock has 50 MHz.

use super::*;
use crate::bench::{Bench, CLOCK, cells, node, read_tree};
use crate::registers::walk;
use engine::bus::device::DeviceId;
use engine::clocks::User;
use engine::dt::wiring::ClockId;
use engine::time::Hz;

/// OSPI1EN, and OSPI1RST.
const ENABLE: (u32, u32) = (0x50, 8);
/// Edges from a write that starts a command until chip select goes low.
const START: u64 = 3;
const PERIOD: u64 = 2;
/// Edges for which chip select is low before the first clock and after the last one.
const MARGIN: u64 = 1;
const READ_ID: u32 = 0x9f;
const WRITE_ENABLE: u32 = 6;
const READ_STATUS: u32 = 5;
const PAGE_PROGRAM: u32 = 2;
const QUAD_READ: u32 = 0x6b;
/// OCTOSPI_CCR: phases on one line, and a quad read.
const INSTRUCTION: u32 = 1;
const ADDRESS: u32 = 1 << 8 | 2 << 12;
const DATA: u32 = 1 << 24;
const QUAD_DATA: u32 = 3 << 24;

fn at(edge: u64) -> Ps {
    Hz::new(100_000_000).unwrap().ps_at_floor(Cycles(edge))
}

struct Rig(Bench);

impl Rig {
    /// An enabled controller in a mode.
    fn new(mode: u32) -> Rig {
        let text = include_str!("../../../../../boards/n25q128a13.dtsi");
        let mut properties = vec![
            ("compatible", b"micron,n25q128a13\0jedec,spi-nor\0".to_vec()),
            ("reg", cells(&[0])),
            ("spi-max-frequency", cells(&[108_000_000])),
        ];
        // The times of the data sheet, as the board's file has them.
        let times: Vec<(String, u32)> = text
            .lines()
            .filter(|line| line.ends_with(">;") && (line.contains("-us = ") || line.contains("-ms = ")))
            .map(|line| {
                let (name, value) = line.split_once(" = <").unwrap();
                (name.to_owned(), value.trim_end_matches(">;").parse().unwrap())
            })
            .collect();
        properties.extend(times.iter().map(|(name, value)| (name.as_str(), cells(&[*value]))));
        let names: Vec<&str> = times.iter().map(|(name, _)| name.as_str()).collect();
        let sources = format!("{}: chosen by the test\0", names.join(", "));
        properties.push(("cyclescope,sources", sources.into_bytes()));
        let flash = node("flash", None, properties, Vec::new());
        let properties = vec![
            ("compatible", b"st,stm32-ospi\0".to_vec()),
            ("reg", cells(&[0x1000, 0x400, 0x10_0000, 0x100_0000])),
            ("clocks", cells(&[CLOCK])),
            ("cyclescope,start-cycles", cells(&[START as u32])),
            ("cyclescope,clock-enable", cells(&[ENABLE.0, ENABLE.1])),
            ("cyclescope,sources", b"cyclescope,start-cycles: chosen by the test\0".to_vec()),
        ];
        let frequency = ("clock-frequency", cells(&[100_000_000]));
        let kind = ("compatible", b"cyclescope,variable-clock\0".to_vec());
        let clock = node("clock", Some(CLOCK), vec![kind, frequency], Vec::new());
        let controller = node("controller", None, properties, vec![flash]);
        let root = node("", None, Vec::new(), vec![clock, controller]);
        let (device, faults) = read_tree(&root, from_node);
        assert_eq!(faults, [""; 0]);
        let mut rig = Rig(Bench::boxed(device));
        rig.0.bus.clocks.add_user(ClockId(CLOCK), User::Device(DeviceId(0)));
        rig.0.record();
        // 16 MiB; two edges for each clock.
        for (register, value) in [(CR, CR_EN | mode << 28), (DCR1, 23 << 16), (DCR2, 1)] {
            rig.put(0, register, value);
        }
        rig
    }

    /// Stops the kernel clock, or starts it again.
    fn clock(&mut self, edge: u64, runs: bool) {
        self.0.run(at(edge));
        if runs {
            self.0.bus.set_clocks(&[(ClockId(CLOCK), Hz::new(100_000_000).unwrap())], at(edge));
        } else {
            self.0.bus.clocks.stop(ClockId(CLOCK), Some("MSI, which is off (RCC_CR.MSION)".into()));
            self.0.bus.set_clocks(&[], at(edge));
        }
    }

    fn put(&mut self, edge: u64, register: u32, value: u32) -> Ps {
        self.0.run(at(edge));
        self.0.write(at(edge), register, value).unwrap()
    }

    fn get(&mut self, edge: u64, register: u32) -> u32 {
        self.0.run(at(edge));
        self.0.value(at(edge), register)
    }

    fn byte(&mut self, edge: u64, value: u32) {
        self.0.run(at(edge));
        let write = |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, DR, AccessSize::Byte, value, ctx);
        assert!(self.0.bus.with_device(DeviceId(0), at(edge), write).is_ok());
    }

    /// A read of the window: a word, and the edge of the answer.
    fn window(&mut self, edge: u64, offset: u32) -> Result<(u32, u64), SlaveError> {
        self.0.run(at(edge));
        let read = |device: &mut dyn Device, ctx: &mut Ctx| device.read(1, offset, AccessSize::Word, ctx);
        let reply = self.0.bus.with_device(DeviceId(0), at(edge), read)?;
        Ok((reply.value, Hz::new(100_000_000).unwrap().cycles_until_floor(reply.done).0))
    }

    fn load(&mut self, offset: u32, bytes: &[u8]) {
        assert!(self.0.bus.with_device(DeviceId(0), Ps::ZERO, |device, _| device.preload(1, offset, bytes)));
    }

    /// A flag of OCTOSPI_SR is set at this edge.
    #[track_caller]
    fn sets(&mut self, edge: u64, bit: u32) {
        assert_eq!((self.get(edge - 1, SR) & bit, self.get(edge, SR) & bit), (0, bit), "around {edge}");
    }
}

#[test]
fn the_device_keeps_its_table() {
    let special =
        ["OCTOSPI_CR", "OCTOSPI_SR", "OCTOSPI_DR", "OCTOSPI_DCR1", "OCTOSPI_DCR2", "OCTOSPI_IR", "OCTOSPI_AR"];
    let mut rig = Rig::new(0);
    rig.put(0, CR, 0);
    walk::device_keeps_its_table(MAP.rows, &special, &mut rig.0);
}

#[test]
fn an_indirect_read_takes_its_clocks() {
    let mut rig = Rig::new(1);
    rig.put(0, DLR, 2);
    rig.put(0, CCR, INSTRUCTION | DATA);
    rig.put(100, IR, READ_ID);
    // The instruction's 8 clocks, then 8 for each byte; the end with chip select.
    let first = 100 + START + MARGIN + 8 * PERIOD;
    let byte = 8 * PERIOD;
    assert_eq!(rig.get(first + byte - 1, SR), SR_BUSY);
    assert_eq!(rig.get(first + byte, SR), SR_BUSY | SR_FTF | 1 << 8);
    let end = first + 3 * byte + MARGIN;
    rig.sets(end, SR_TCF);
    assert_eq!(rig.get(end, SR), SR_TCF | SR_FTF | 3 << 8);
    assert_eq!(rig.get(end, DR) & 0xff_ffff, 0x18_ba20);
    rig.put(end, FCR, SR_TCF);
    assert_eq!(rig.get(end, SR), 0);
    let selects = rig.0.recorded("cs0");
    assert_eq!(selects, [(at(100 + START), false), (at(end), true)]);
}

#[test]
fn a_read_of_data_that_have_not_come_waits_and_a_full_fifo_holds_the_clock() {
    let mut rig = Rig::new(1);
    rig.load(0x1000, &(0..64).collect::<Vec<u8>>());
    rig.put(0, DLR, 63);
    rig.put(0, CCR, INSTRUCTION | ADDRESS | QUAD_DATA);
    rig.put(0, TCR, 8);
    rig.put(0, IR, QUAD_READ);
    rig.put(0, AR, 0x1000);
    // 8 + 24 + 8 clocks, then two for each byte.
    let first = START + MARGIN + 40 * PERIOD;
    assert_eq!(rig.0.read(at(10), DR).unwrap(), (0x0302_0100, at(first + 4 * 2 * PERIOD)));
    // 32 bytes after these.
    assert_eq!(rig.get(first + 36 * 2 * PERIOD - 1, SR) >> 8, 31);
    assert_eq!(rig.get(1000, SR) >> 8, 32);
    assert_eq!(rig.get(1000, DR), 0x0706_0504);
    // The four bytes for which there is room follow from there on.
    assert_eq!(rig.get(1000 + 4 * 2 * PERIOD - 1, SR) >> 8, 31);
    assert_eq!(rig.get(1000 + 4 * 2 * PERIOD, SR) >> 8, 32);
    for word in 2..16 {
        let last = rig.get(2000 + 100 * word, DR);
        assert_eq!(last, u32::from_le_bytes([0, 1, 2, 3].map(|byte| (4 * word) as u8 + byte)));
    }
    assert_eq!(rig.get(9000, SR), SR_TCF);
}

#[test]
fn an_indirect_write_programs_and_status_polling_waits_for_it() {
    let mut rig = Rig::new(0);
    rig.put(0, CCR, INSTRUCTION);
    rig.put(0, IR, WRITE_ENABLE);
    rig.sets(START + MARGIN + 8 * PERIOD + MARGIN, SR_TCF);
    rig.put(100, FCR, SR_TCF);
    rig.put(100, CCR, INSTRUCTION | ADDRESS | DATA);
    rig.put(100, IR, PAGE_PROGRAM);
    rig.put(100, AR, 0x20);
    rig.put(100, DLR, 1);
    assert_eq!(rig.get(100, SR), SR_FTF);
    // The first byte starts the command; the second one comes late, and delays it.
    rig.byte(200, 0x12);
    assert_eq!(rig.get(500, SR) & SR_BUSY, SR_BUSY);
    rig.byte(500, 0x34);
    let programs = 500 + 8 * PERIOD + MARGIN;
    rig.sets(programs, SR_TCF);
    // Polls of the status register, 50 clocks between them, up to WIP = 0: 8 of a page's 256 bytes, in 0.5 ms / 32.
    for (register, value) in [(CR, CR_EN | CR_APMS | 2 << 28), (PSMKR, 1), (PSMAR, 0), (PIR, 50), (DLR, 0)] {
        rig.put(1000, register, value);
    }
    rig.put(1000, FCR, SR_TCF);
    rig.put(1000, CCR, INSTRUCTION | DATA);
    rig.put(1000, IR, READ_STATUS);
    let each = 2 * MARGIN + 16 * PERIOD + 50 * PERIOD;
    // The status is the one at the start of the byte.
    let polls = (programs + 1563 - (1000 + START + MARGIN + 8 * PERIOD)).div_ceil(each);
    let end = 1000 + START + polls * each + each - 50 * PERIOD;
    assert_eq!(rig.get(end - 1, SR), SR_BUSY);
    assert_eq!(rig.get(end, SR), SR_SMF);
    rig.put(end, CR, CR_EN | 3 << 28);
    rig.put(end, CCR, INSTRUCTION | ADDRESS | DATA);
    rig.put(end, IR, 3);
    assert_eq!(rig.window(end, 0x20).unwrap().0, 0xffff_3412);
}

#[test]
fn polls_that_nobody_looks_at_are_counted() {
    let mut rig = Rig::new(2);
    rig.put(0, PSMKR, 1);
    rig.put(0, PSMAR, 1);
    rig.put(0, CCR, INSTRUCTION | DATA);
    rig.put(0, IR, READ_STATUS);
    // Ten seconds; each poll 2 * MARGIN + 16 * PERIOD, and a period in which chip select is high.
    let each = 2 * MARGIN + 17 * PERIOD;
    assert_eq!(rig.get(1_000_000_000, SR), SR_BUSY);
    let counters = rig.0.bus.with_device(DeviceId(0), at(1_000_000_000), |device, _| device.counters());
    let frames = counters.iter().find(|(name, _)| name == "frames").unwrap().1;
    let most = 1_000_000_000 / each;
    assert!((most..=most + 1).contains(&frames), "{frames}");
}

#[test]
fn memory_mapped_reads_go_on_where_the_last_one_ended() {
    let mut rig = Rig::new(3);
    rig.load(0, &(0..=255).collect::<Vec<u8>>());
    rig.put(0, CCR, INSTRUCTION | ADDRESS | QUAD_DATA);
    rig.put(0, TCR, 8);
    rig.put(0, IR, QUAD_READ);
    let (header, word) = (START + MARGIN + 40 * PERIOD, 8 * PERIOD);
    assert_eq!(rig.window(100, 0).unwrap(), (0x0302_0100, 100 + header + word));
    // The next word is on its way.
    let first = 100 + header + word;
    assert_eq!(rig.window(first + 5, 4).unwrap(), (0x0706_0504, first + word));
    // Read ahead.
    assert_eq!(rig.window(first + 200, 8).unwrap(), (0x0b0a_0908, first + 200));
    // At another address: chip select goes high after the last clock, and low again a clock later.
    let again = first + 300;
    assert_eq!(rig.window(again, 0x80).unwrap(), (0x8382_8180, again + header + word));
    assert_eq!(rig.get(again, SR) & SR_BUSY, SR_BUSY);
    rig.put(again + 500, CR, CR_EN | CR_ABORT | 3 << 28);
    assert_eq!(rig.get(again + 510, SR), SR_TCF);
    // Beyond the memory.
    rig.put(again + 600, DCR1, 6 << 16);
    assert!(rig.window(again + 600, 0x80).is_err());
    rig.put(again + 600, CR, CR_EN);
    assert!(rig.window(again + 600, 0).is_err());
}

#[test]
fn a_timeout_ends_what_is_read_ahead() {
    let mut rig = Rig::new(3);
    rig.load(0, &(0..=255).collect::<Vec<u8>>());
    rig.put(0, CCR, INSTRUCTION | ADDRESS | DATA);
    rig.put(0, IR, 3);
    rig.put(0, LPTR, 20);
    rig.put(0, CR, CR_EN | CR_TCEN | 3 << 28);
    rig.window(0, 0).unwrap();
    // 32 + 36 * 8 clocks, then 20.
    let end = START + MARGIN + (32 + 36 * 8 + 20) * PERIOD;
    rig.sets(end, SR_TOF);
    assert_eq!(rig.get(end, SR) & SR_BUSY, 0);
    // Bytes in the FIFO are available; the next ones need a command.
    assert_eq!(rig.window(end + 10, 32).unwrap(), (0x2322_2120, end + 10));
    let header = START + MARGIN + 32 * PERIOD;
    assert_eq!(rig.window(end + 20, 36).unwrap(), (0x2726_2524, end + 20 + header + 32 * PERIOD));
}

#[test]
fn what_is_not_there_is_reported() {
    let mut rig = Rig::new(1);
    rig.put(0, CCR, 4);
    rig.put(0, IR, READ_ID);
    assert_eq!(rig.get(0, SR), SR_TEF);
    rig.put(0, CCR, INSTRUCTION | ADDRESS | DATA);
    rig.put(0, AR, 1 << 24);
    assert_eq!(rig.get(0, DR), 0);
    rig.put(0, DR, 1);
    rig.put(0, CR, 1 << 28);
    rig.put(0, AR, 0);
    let notes = rig.0.bus.notes();
    let expected = [
        "eight data lines",
        "OCTOSPI_AR is beyond",
        "while no more data come",
        "without a command that takes data",
        "is off",
    ];
    assert_eq!(notes.len(), expected.len(), "{notes:?}");
    for (note, text) in notes.iter().zip(expected) {
        assert!(note.contains(text), "{note}");
    }
}

#[test]
fn commands_wait_while_the_source_of_the_clock_is_off() {
    let mut rig = Rig::new(1);
    rig.clock(50, false);
    rig.put(100, DLR, 2);
    rig.put(100, CCR, INSTRUCTION | DATA);
    rig.put(100, IR, READ_ID);
    assert!(rig.0.bus.notes()[0].contains("comes from MSI, which is off (RCC_CR.MSION)"), "{:?}", rig.0.bus.notes());
    assert_eq!(rig.get(5000, SR) & (SR_BUSY | SR_TCF), SR_BUSY);
    assert_eq!(rig.get(5000, DR), 0);
    assert!(rig.0.bus.notes()[1].contains("no more data"), "{:?}", rig.0.bus.notes());
    // Four bytes, which start as if they had been requested when the clock runs again.
    rig.clock(5000, true);
    let end = 5000 + START + 2 * MARGIN + 4 * 8 * PERIOD;
    rig.sets(end, SR_TCF);
    assert_eq!(rig.get(end, DR) & 0xff_ffff, 0x18_ba20);
    // The clock stops during the second byte: DR has the first one, and a read that waits for more ends.
    let mut rig = Rig::new(1);
    rig.put(100, DLR, 7);
    rig.put(100, CCR, INSTRUCTION | DATA);
    rig.put(100, IR, READ_ID);
    rig.clock(100 + START + MARGIN + 20 * PERIOD, false);
    assert_eq!(rig.get(5000, SR) >> 8, 1);
    assert_eq!(rig.get(5000, DR), 0x20);
    assert!(rig.0.bus.notes()[1].contains("it ends without data"), "{:?}", rig.0.bus.notes());
    rig.clock(6000, true);
    // Seven bytes, including the one that was under way, and chip select.
    rig.sets(6000 + 7 * 8 * PERIOD + MARGIN, SR_TCF);
}

#[test]
fn data_that_are_written_wait_in_the_fifo_for_the_clock() {
    let mut rig = Rig::new(0);
    rig.clock(0, false);
    rig.put(0, CCR, INSTRUCTION);
    rig.put(0, IR, WRITE_ENABLE);
    assert_eq!(rig.get(10, SR) & SR_BUSY, SR_BUSY);
    rig.clock(10, true);
    rig.get(200, SR);
    rig.clock(200, false);
    rig.put(200, DLR, 33);
    rig.put(200, CCR, INSTRUCTION | ADDRESS | DATA);
    rig.put(200, IR, PAGE_PROGRAM);
    rig.put(200, AR, 0x100);
    for index in 0..32 {
        rig.byte(300, index);
    }
    assert_eq!((rig.get(300, SR) >> 8, rig.get(300, SR) & SR_FTF), (32, 0));
    // There is no room.
    rig.byte(300, 0xff);
    assert!(rig.0.bus.notes().iter().any(|note| note.contains("it ends without data")), "{:?}", rig.0.bus.notes());
    rig.clock(1000, true);
    rig.byte(2000, 32);
    rig.byte(2000, 33);
    rig.get(3000, SR);
    // A page's program takes less than 5 ms.
    rig.get(600_000, SR);
    let mut page = [0; 35];
    rig.0.bus.with_device(DeviceId(0), at(600_000), |device, _| assert!(device.peek(1, 0x100, &mut page)));
    assert!(page[..34].iter().copied().eq(0..34) && page[34] == 0xff, "{page:?}");
}

#[test]
fn a_memory_that_is_mapped_does_not_answer_without_the_clock() {
    let mut rig = Rig::new(3);
    rig.load(0, &[1, 2, 3, 4]);
    rig.put(0, CCR, INSTRUCTION | ADDRESS | QUAD_DATA);
    rig.put(0, IR, QUAD_READ);
    rig.put(0, TCR, 8);
    rig.clock(0, false);
    assert!(rig.window(100, 0).is_err());
    assert!(rig.0.bus.notes().iter().any(|note| note.contains("it ends without data")), "{:?}", rig.0.bus.notes());
    rig.clock(200, true);
    assert_eq!(rig.window(200, 0).unwrap().0, 0x0403_0201);
}

#[test]
fn the_rcc_resets_it_in_the_midst_of_a_command() {
    let mut rig = Rig::new(1);
    rig.put(100, DLR, 99);
    rig.put(100, CCR, INSTRUCTION | DATA);
    rig.put(100, IR, READ_ID);
    assert_eq!(rig.get(300, SR) & SR_BUSY, SR_BUSY);
    rig.0.bus.clocks.set_resets(ENABLE.0, 1 << ENABLE.1);
    rig.0.bus.set_clocks(&[], at(300));
    assert_eq!([SR, CR, DLR, CCR, DCR1].map(|register| rig.get(301, register)), [0; 5]);
    rig.put(310, CR, CR_EN);
    assert_eq!(rig.get(310, CR), 0);
    rig.0.bus.clocks.set_resets(ENABLE.0, 0);
    rig.0.bus.set_clocks(&[], at(320));
    // The flash answers the next command.
    for (register, value) in [(CR, CR_EN | 1 << 28), (DCR1, 23 << 16), (DCR2, 1), (DLR, 2)] {
        rig.put(400, register, value);
    }
    rig.put(400, CCR, INSTRUCTION | DATA);
    rig.put(400, IR, READ_ID);
    rig.sets(400 + START + 2 * MARGIN + 4 * 8 * PERIOD, SR_TCF);
    assert_eq!(rig.get(1000, DR) & 0xff_ffff, 0x18_ba20);
}
