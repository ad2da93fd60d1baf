//! The controller with a kernel clock of 100 MHz and an N25Q128A; the serial clock has 50 MHz.

use super::*;
use crate::bench::{Bench, CLOCK, cells, node, read_tree};
use engine::bus::device::DeviceId;

/// Edges from a write that starts a command until chip select goes low, those for which it is low before the first
/// clock and after the last one, and those of a serial clock.
const START: u64 = 2;
const MARGIN: u64 = 1;
const PERIOD: u64 = 2;
const READ_ID: u32 = 0x9f;
const WRITE_ENABLE: u32 = 0x06;
const READ_STATUS: u32 = 0x05;
const PAGE_PROGRAM: u32 = 0x02;
const QUAD_READ: u32 = 0x6b;
/// QUADSPI_CCR: an instruction, an address of three bytes and data on one line, data on four; FMODE.
const INSTRUCTION: u32 = 1 << 8;
const ADDRESS: u32 = 1 << 10 | 2 << 12;
const DATA: u32 = 1 << 24;
const QUAD_DATA: u32 = 3 << 24;
const READS: u32 = 1 << 26;
const POLLS: u32 = 2 << 26;
const MAPPED: u32 = 3 << 26;
/// QUADSPI_SR.
const TCF: u32 = 1 << 1;
const SMF: u32 = 1 << 3;
const BUSY: u32 = 1 << 5;

fn at(edge: u64) -> Ps {
    Ps(edge * 10_000)
}

fn rig() -> Bench {
    let times = [
        ("cyclescope,page-program-typical-us", 500),
        ("cyclescope,page-program-maximum-us", 5_000),
        ("cyclescope,subsector-erase-typical-ms", 250),
        ("cyclescope,subsector-erase-maximum-ms", 800),
        ("cyclescope,sector-erase-typical-ms", 700),
        ("cyclescope,sector-erase-maximum-ms", 3_000),
        ("cyclescope,bulk-erase-typical-ms", 15_000),
        ("cyclescope,bulk-erase-maximum-ms", 250_000),
        ("cyclescope,write-status-register-typical-us", 1_300),
        ("cyclescope,write-status-register-maximum-us", 8_000),
        ("cyclescope,write-nonvolatile-configuration-register-typical-ms", 200),
        ("cyclescope,write-nonvolatile-configuration-register-maximum-ms", 3_000),
        ("cyclescope,program-otp-typical-us", 200),
        ("cyclescope,program-suspend-latency-us", 7),
        ("cyclescope,erase-suspend-latency-us", 15),
        ("reg", 0),
        ("spi-max-frequency", 108_000_000),
    ];
    let mut properties: Vec<_> = times.iter().map(|(name, value)| (*name, cells(&[*value]))).collect();
    properties.push(("compatible", b"micron,n25q128a13\0jedec,spi-nor\0".to_vec()));
    let flash = node("flash", None, properties, Vec::new());
    let properties = vec![
        ("reg", cells(&[0x1000, 0x400, 0x10_0000, 0x100_0000])),
        ("clocks", cells(&[CLOCK])),
        ("cyclescope,start-cycles", cells(&[START as u32])),
    ];
    let clock = node("clock", Some(CLOCK), vec![("clock-frequency", cells(&[100_000_000]))], Vec::new());
    let controller = node("controller", None, properties, vec![flash]);
    let root = node("", None, Vec::new(), vec![clock, controller]);
    let (device, mut faults) = read_tree(&root, from_node);
    faults.retain(|fault| !fault.contains("cyclescope,sources"));
    assert!(faults.is_empty(), "{faults:?}");
    let mut bench = Bench::boxed(device);
    bench.record();
    // 16 MiB; two edges for each clock.
    bench.write(Ps(0), DCR, 23 << 16).unwrap();
    bench.write(Ps(0), CR, CR_EN | 1 << 24).unwrap();
    bench
}

#[test]
fn registers_are_kept_in_their_own_places() {
    let mut bench = rig();
    assert_eq!((bench.value(Ps(0), CR), bench.value(Ps(0), DCR)), (CR_EN | 1 << 24, 23 << 16));
    for (register, value) in [(DLR, 3), (AR, 0x1234), (ABR, 0xa5), (PSMKR, 1), (PSMAR, 2), (PIR, 0x10), (LPTR, 7)] {
        bench.write(Ps(0), register, value).unwrap();
        assert_eq!(bench.value(Ps(0), register), value, "{register:#x}");
    }
    bench.write(Ps(0), CR, CR_EN | 1 << 24 | CR_ABORT | CR_DFM).unwrap();
    assert_eq!(bench.value(Ps(0), CR) & CR_ABORT, 0);
    assert!(format!("{:?}", bench.bus.notes()).contains("QUADSPI_CR.DFM is not modelled"));
}

#[test]
fn an_identity_is_read_by_its_bytes() {
    let mut bench = rig();
    bench.write(Ps(0), DLR, 2).unwrap();
    bench.write(at(10), CCR, READ_ID | INSTRUCTION | DATA | READS).unwrap();
    // Instruction and three bytes: 32 clocks.
    let end = 10 + START + MARGIN + 32 * PERIOD + MARGIN;
    assert_eq!(bench.value(at(end - 1), SR) & (TCF | BUSY), BUSY);
    assert_eq!(bench.value(at(end), SR) & (TCF | BUSY), TCF);
    assert_eq!(bench.value(at(end), DR), 0x0018_ba20);
    bench.write(at(end), FCR, TCF).unwrap();
    assert_eq!(bench.value(at(end), SR) & TCF, 0);
}

#[test]
fn a_page_is_programmed_polled_and_read_through_the_window() {
    let mut bench = rig();
    bench.write(Ps(0), CCR, WRITE_ENABLE | INSTRUCTION).unwrap();
    bench.write(at(100), DLR, 3).unwrap();
    bench.write(at(100), CCR, PAGE_PROGRAM | INSTRUCTION | ADDRESS | DATA).unwrap();
    bench.write(at(100), AR, 0x100).unwrap();
    bench.write(at(101), DR, 0x4433_2211).unwrap();
    // Instruction, address and data: 64 clocks; then the memory is busy for some us, as for few bytes.
    let end = 101 + START + MARGIN + 64 * PERIOD + MARGIN;
    assert_eq!(bench.value(at(end), SR) & BUSY, 0);
    // The status every 16 clocks, until bit 0 is 0.
    for (register, value) in [(PSMKR, 1), (PSMAR, 0), (PIR, 16), (DLR, 0), (CR, CR_EN | 1 << 24 | CR_APMS)] {
        bench.write(at(1_000), register, value).unwrap();
    }
    bench.write(at(1_000), CCR, READ_STATUS | INSTRUCTION | DATA | POLLS).unwrap();
    assert_eq!(bench.value(at(1_010), SR) & (SMF | BUSY), BUSY);
    assert_eq!(bench.value(at(3_000), SR) & (SMF | BUSY), SMF);
    bench.write(at(4_000), CCR, QUAD_READ | INSTRUCTION | ADDRESS | QUAD_DATA | 8 << 18 | MAPPED).unwrap();
    let read = |device: &mut dyn Device, ctx: &mut Ctx| device.read(1, 0x100, AccessSize::Word, ctx);
    let reply = bench.bus.with_device(DeviceId(0), at(5_000), read).unwrap();
    // 8 + 24 clocks, 8 dummy clocks, two a byte.
    assert_eq!((reply.value, reply.done), (0x4433_2211, at(5_000 + START + MARGIN + (8 + 24 + 8 + 8) * PERIOD)));
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
}

#[test]
fn notes_name_its_own_registers() {
    let mut bench = rig();
    let read = |device: &mut dyn Device, ctx: &mut Ctx| device.read(1, 0x100, AccessSize::Word, ctx);
    assert!(bench.bus.with_device(DeviceId(0), Ps(0), read).is_err());
    bench.value(Ps(0), DR);
    let notes = format!("{:?}", bench.bus.notes());
    assert!(notes.contains("QUADSPI_CCR.FMODE") && notes.contains("QUADSPI_DR was read"), "{notes}");
    assert!(!notes.contains("OCTOSPI"), "{notes}");
}
