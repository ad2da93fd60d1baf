//! Registers, wait states and operations by RM0432, "Embedded Flash memory (FLASH)". The bench's clock has 100 MHz: a
//! cycle is 10 ns.

use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::st::flash::{KEYS, OPTION_KEYS};
use engine::bus::device::DeviceId;
use engine::time::Ps;

const BYTES: u32 = 2 << 20;
const BANK: u32 = 1 << 20;
const CYCLE: Ps = Ps(10_000);

fn parameters(bytes: u32) -> Vec<(&'static str, Vec<u32>)> {
    vec![
        ("reg", vec![0x4002_2000, 0x400, 0x0800_0000, bytes, 0, bytes]),
        ("st,wait-state-frequencies", [20, 40, 60, 80, 100, 120, 120, 120].map(|mhz| mhz * 1_000_000).to_vec()),
        ("cyclescope,line-bytes", vec![8]),
        ("cyclescope,data-cache-lines", vec![32]),
        ("cyclescope,words-ahead", vec![3]),
        ("cyclescope,prefetched-lines-kept", vec![1]),
        ("cyclescope,prefetch-abandoned", vec![1]),
        ("cyclescope,program-ns", vec![81_690]),
        ("cyclescope,page-erase-us", vec![22_020]),
        ("cyclescope,mass-erase-us", vec![22_130]),
        ("interrupts-extended", vec![CPU_INTC, 4]),
    ]
}

fn read(bytes: u32) -> (Bench, Vec<String>) {
    let parameters = parameters(bytes);
    let borrowed: Vec<(&str, &[u32])> = parameters.iter().map(|(name, cells)| (*name, cells.as_slice())).collect();
    read_plain_node(from_node, &borrowed)
}

/// A flash of 2 MiB after reset, unlocked if `unlocked`.
fn flash(unlocked: bool) -> Bench {
    let (mut bench, faults) = read(BYTES);
    assert_eq!(faults, Vec::<String>::new());
    bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.reset(ctx));
    if unlocked {
        KEYS.into_iter().for_each(|key| _ = bench.write(Ps::ZERO, KEYR, key).unwrap());
    }
    bench
}

/// Loads a word of data at a time. Returns when it has come.
fn load(bench: &mut Bench, at: Ps, offset: u32) -> Ps {
    bench.bus.master = Some(0);
    let read = |device: &mut dyn Device, ctx: &mut Ctx| device.read(1, offset, AccessSize::Word, ctx);
    bench.bus.with_device(DeviceId(0), at, read).unwrap().done
}

/// Fetches a line that is not in the core's cache. Returns when it has come.
fn fetch(bench: &mut Bench, at: Ps, offset: u32) -> Ps {
    bench.bus.master = Some(0);
    bench.bus.with_device(DeviceId(0), at, |device, ctx| device.burst(1, offset, 8, ctx)).unwrap()
}

fn store(bench: &mut Bench, at: Ps, offset: u32, size: AccessSize, value: u32) -> Ps {
    bench.bus.with_device(DeviceId(0), at, |device, ctx| device.write(1, offset, size, value, ctx)).unwrap().done
}

fn word(bench: &Bench, offset: u32) -> u32 {
    let mut bytes = [0; 4];
    assert!(bench.bus.devices[0].as_ref().unwrap().peek(1, offset, &mut bytes));
    u32::from_le_bytes(bytes)
}

#[test]
fn registers_are_those_of_reset() {
    let mut bench = flash(false);
    let values = [ACR, KEYR, OPTKEYR, SR, CR, OPTR].map(|offset| bench.value(Ps::ZERO, offset));
    assert_eq!(values, [0x600, 0, 0, 0, 0xc000_0000, 0xffef_f8aa]);
    fetch(&mut bench, Ps::ZERO, 0);
    assert!(!bench.bus.line_buffers.passes, "the instruction cache is on");
}

#[test]
fn a_line_is_a_double_word_with_two_banks_and_two_with_one() {
    let mut bench = flash(true);
    bench.write(Ps::ZERO, ACR, 4).unwrap();
    let at = |cycle: u64| Ps(cycle * CYCLE.0);
    let lines = |bench: &mut Bench, first: u64| {
        [(0, 0), (1, 4), (2, 8)].map(|(n, offset)| fetch(bench, at(first + 20 * n), offset) - at(first + 20 * n))
    };
    assert_eq!(lines(&mut bench, 100), [at(4), at(0), at(4)]);
    OPTION_KEYS.into_iter().for_each(|key| _ = bench.write(Ps::ZERO, OPTKEYR, key).unwrap());
    bench.write(Ps::ZERO, OPTR, MAP.row(OPTR).unwrap().reset & !OPTR_DBANK).unwrap();
    assert_eq!(lines(&mut bench, 200), [at(4), at(0), at(0)]);
}

#[test]
fn the_data_cache_keeps_its_bytes_whatever_a_read_brings() {
    // 32 reads of 8 bytes, or 16 of 16: the first line of each is replaced after the cache has been filled.
    for (banks, line_bytes) in [(OPTR_DBANK, 8), (0, 16)] {
        let mut bench = flash(true);
        OPTION_KEYS.into_iter().for_each(|key| _ = bench.write(Ps::ZERO, OPTKEYR, key).unwrap());
        bench.write(Ps::ZERO, OPTR, MAP.row(OPTR).unwrap().reset & !OPTR_DBANK | banks).unwrap();
        bench.write(Ps::ZERO, ACR, 0x604).unwrap();
        let mut takes = |number: u64, line: u32| {
            let at = Ps(number * 20 * CYCLE.0);
            load(&mut bench, at, line * line_bytes) > at
        };
        let lines = 256 / line_bytes;
        assert!((0..lines).all(|line| takes(1 + u64::from(line), line)));
        assert!((0..lines).all(|line| !takes(101 + u64::from(line), line)));
        assert!(takes(200, lines) && takes(201, 0), "{line_bytes}");
    }
}

#[test]
fn a_write_of_the_control_register_waits_for_the_operation_under_way() {
    let mut bench = flash(true);
    assert_eq!(bench.write(Ps::ZERO, CR, CR_PER | CR_STRT), Ok(Ps::ZERO));
    let end = Ps::from_us(22_020);
    assert_eq!(bench.write(Ps::from_us(9), ACR, 0x600), Ok(Ps::from_us(9)));
    assert_eq!(bench.write(Ps::from_us(9), CR, CR_EOPIE), Ok(end));
    assert_eq!(bench.write(end, CR, CR_PG), Ok(end));
}

#[test]
fn a_double_word_is_programmed_by_its_two_words() {
    let mut bench = flash(true);
    bench.write(Ps::ZERO, CR, CR_PG | CR_EOPIE).unwrap();
    store(&mut bench, Ps::ZERO, 16, AccessSize::Word, 1);
    assert_eq!((bench.value(Ps::ZERO, SR), word(&bench, 16)), (0, u32::MAX), "the first word waits");
    store(&mut bench, Ps::ZERO, 20, AccessSize::Word, 2);
    // DS12023, flash memory characteristics: 81.69 us.
    let end = Ps::from_ns(81_690);
    assert_eq!((bench.value(end - Ps(1), SR), word(&bench, 16), word(&bench, 20)), (SR_BSY, 1, 2));
    // The bank with an operation stalls the bus, the other one does not.
    assert_eq!((load(&mut bench, Ps::ZERO, 0), load(&mut bench, Ps::ZERO, BANK)), (end, Ps::ZERO));
    bench.run(end);
    assert_eq!((bench.value(end, SR), bench.pending()), (SR_EOP, 1 << 4));
}

#[test]
fn what_can_not_be_programmed_leaves_its_flag() {
    for (stores, flag) in [
        (vec![(0, AccessSize::Half)], SR_SIZERR),
        (vec![(4, AccessSize::Word)], SR_PGAERR),
        (vec![(0, AccessSize::Word), (12, AccessSize::Word)], SR_PGAERR),
        (vec![(8, AccessSize::Word), (12, AccessSize::Word)], SR_PROGERR),
    ] {
        let mut bench = flash(true);
        bench.bus.devices[0].as_mut().unwrap().preload(1, 12, &[7]);
        bench.write(Ps::ZERO, CR, CR_PG | CR_ERRIE).unwrap();
        stores.iter().for_each(|(offset, size)| _ = store(&mut bench, Ps::ZERO, *offset, *size, 5));
        assert_eq!((bench.value(Ps::ZERO, SR), bench.pending()), (flag | SR_OPERR, 1 << 4));
        // Flags have to be cleared first.
        store(&mut bench, Ps::ZERO, 32, AccessSize::Word, 0);
        assert_eq!(bench.value(Ps::ZERO, SR), flag | SR_PGSERR | SR_OPERR);
    }
    let mut locked = flash(false);
    store(&mut locked, Ps::ZERO, 0, AccessSize::Word, 0);
    assert_eq!(locked.value(Ps::ZERO, SR), SR_PGSERR);
}

#[test]
fn pages_and_banks_are_erased() {
    let mut bench = flash(true);
    let places = [0x1ffc, 0x2000, 0x2ffc, 0x3000, BANK + 0x2000];
    let load_all = |bench: &mut Bench| {
        places.iter().for_each(|at| {
            bench.bus.devices[0].as_mut().unwrap().preload(1, *at, &[0; 4]);
        })
    };
    let held = |bench: &Bench| places.map(|at| word(bench, at) == 0);
    load_all(&mut bench);
    bench.write(Ps::ZERO, CR, CR_PER | 2 << CR_PNB.trailing_zeros() | CR_STRT).unwrap();
    assert_eq!(held(&bench), [true, false, false, true, true]);
    let mut end = Ps::from_us(22_020);
    assert_eq!((bench.value(end - Ps(1), SR), bench.value(end, SR)), (SR_BSY, 0));
    load_all(&mut bench);
    bench.write(end, CR, CR_PER | CR_BKER | 2 << CR_PNB.trailing_zeros() | CR_STRT).unwrap();
    assert_eq!(held(&bench), [true, true, true, true, false]);
    end += Ps::from_us(22_020);
    bench.write(end, CR, CR_MER1 | CR_STRT).unwrap();
    assert_eq!(held(&bench), [false; 5]);
    assert_eq!(bench.value(end + Ps::from_us(22_130), SR), 0);
}

#[test]
fn a_wrong_key_is_a_bus_error() {
    let mut bench = flash(false);
    assert!(bench.write(Ps::ZERO, KEYR, 1).is_err() && bench.write(Ps::ZERO, KEYR, KEYS[0]).is_err());
    assert_eq!(bench.value(Ps::ZERO, CR), CR_LOCK | CR_OPTLOCK);
}

#[test]
fn too_few_wait_states_leave_a_note() {
    let bench = flash(false);
    assert!(bench.bus.notes().last().unwrap().contains("up to 20000000 Hz: it takes 4"));
    assert!(read(BANK).1.iter().any(|fault| fault.contains("two banks of 256 pages")));
}
