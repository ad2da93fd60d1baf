//! Registers, wait states and operations by RM0090, "Embedded flash memory interface". The bench's clock has 100 MHz: a
//! cycle is 10 ns.

use super::*;
use crate::bench::{Bench, CLOCK, CPU_INTC, cells, node, read_plain_node, read_tree};
use crate::st::flash::{KEYS, OPTION_KEYS};
use engine::bus::code::CodeSpan;
use engine::bus::device::DeviceId;
use engine::bus::repeated_reads::{ReadRecord, Stream};
use engine::clocks::User;
use engine::dt::wiring::ClockId;
use engine::memory::line_buffers::Answer;
use engine::time::{Hz, Ps};

const BYTES: u32 = 1 << 20;
const CYCLE: Ps = Ps(10_000);

fn parameters() -> Vec<(&'static str, Vec<u32>)> {
    vec![
        ("reg", vec![0x4002_3c00, 0x400, 0x0800_0000, BYTES, 0, BYTES]),
        ("st,wait-state-frequencies", [30, 60, 90, 120, 150, 168, 168, 168].map(|mhz| mhz * 1_000_000).to_vec()),
        ("cyclescope,line-bytes", vec![16]),
        ("cyclescope,data-cache-lines", vec![8]),
        ("cyclescope,words-ahead", vec![3]),
        ("cyclescope,prefetched-lines-kept", vec![1]),
        ("cyclescope,prefetch-abandoned", vec![1]),
        ("cyclescope,program-us", vec![16]),
        ("cyclescope,erase-16k-x8-ms", vec![400]),
        ("cyclescope,erase-16k-x16-ms", vec![300]),
        ("cyclescope,erase-16k-x32-ms", vec![250]),
        ("cyclescope,erase-64k-x8-ms", vec![1200]),
        ("cyclescope,erase-64k-x16-ms", vec![700]),
        ("cyclescope,erase-64k-x32-ms", vec![550]),
        ("cyclescope,erase-128k-x8-ms", vec![2000]),
        ("cyclescope,erase-128k-x16-ms", vec![1300]),
        ("cyclescope,erase-128k-x32-ms", vec![1000]),
        ("cyclescope,mass-erase-x8-ms", vec![16_000]),
        ("cyclescope,mass-erase-x16-ms", vec![11_000]),
        ("cyclescope,mass-erase-x32-ms", vec![8_000]),
        ("interrupts-extended", vec![CPU_INTC, 4]),
    ]
}

fn read(parameters: &[(&str, Vec<u32>)]) -> (Bench, Vec<String>) {
    let borrowed: Vec<(&str, &[u32])> = parameters.iter().map(|(name, cells)| (*name, cells.as_slice())).collect();
    read_plain_node(from_node, &borrowed)
}

/// A flash of 1 MiB after reset, accessed by core 0.
fn flash() -> Bench {
    let (mut bench, faults) = read(&parameters());
    assert_eq!(faults, Vec::<String>::new());
    bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.reset(ctx));
    bench
}

/// A flash with another value of a property.
fn flash_with(name: &str, value: u32) -> Bench {
    let mut parameters = parameters();
    parameters.iter_mut().filter(|(other, _)| *other == name).for_each(|(_, values)| *values = vec![value]);
    let (mut bench, faults) = read(&parameters);
    assert_eq!(faults, Vec::<String>::new());
    bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.reset(ctx));
    bench
}

/// Fetches a line that is not in the core's cache: the cycles that it waits from `cycle` on.
fn fetch(bench: &mut Bench, cycle: u64, offset: u32) -> u64 {
    ask(bench, cycle, Some(0), |device, ctx| device.burst(1, offset, 16, ctx).unwrap())
}

/// Loads a word of data.
fn load(bench: &mut Bench, cycle: u64, offset: u32) -> u64 {
    ask(bench, cycle, Some(0), |device, ctx| device.read(1, offset, AccessSize::Word, ctx).unwrap().done)
}

/// A read without an effect outside the flash: the cycles that it takes from `cycle` on.
fn read_alone(bench: &mut Bench, cycle: u64, offset: u32, bytes: u32) -> Option<u64> {
    let device = bench.bus.devices[0].as_mut().unwrap();
    device.read_alone(1, offset, bytes, cycle).map(|(_, done)| done - cycle)
}

/// A line that compiled code fetches, and the cycles that it waits; `None` if it has to ask.
fn read_as_code(bench: &mut Bench, cycle: u64, offset: u32) -> Option<u64> {
    let window = bench.bus.devices[0].as_mut().unwrap().repeated_reads(1, 16)?;
    let record: *mut ReadRecord = std::ptr::with_exposed_provenance_mut(window.record);
    // SAFETY: the device is there, and nobody else uses it now.
    let record = unsafe { &mut *record };
    if record.holds == 0 || record.last == u64::from(offset) {
        return None;
    }
    let follows = record.last + u64::from(window.bytes) == u64::from(offset);
    let asked = if follows { record.stream.asked(cycle, record.busy_cycles - 1) } else { cycle };
    record.free_edge = record.free_edge.max(asked + window.before_cycles) + record.busy_cycles;
    record.reads += 1;
    record.last = u64::from(offset);
    let arrived = record.free_edge.wrapping_add_signed(window.after_cycles);
    record.stream = Stream::new(4, window.words_ahead, arrived, arrived.max(cycle));
    Some(arrived.max(cycle) - cycle)
}

fn ask(bench: &mut Bench, cycle: u64, core: Option<usize>, call: impl Fn(&mut dyn Device, &mut Ctx) -> Ps) -> u64 {
    let now = Ps(cycle * CYCLE.0);
    bench.bus.master = core;
    let done = bench.bus.with_device(DeviceId(0), now, call);
    (done - now).0 / CYCLE.0
}

fn unlock(bench: &mut Bench) {
    KEYS.into_iter().for_each(|key| _ = bench.write(Ps::ZERO, KEYR, key).unwrap());
}

/// A store to the flash, and the time of its answer.
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
    let mut bench = flash();
    let values = [ACR, KEYR, OPTKEYR, SR, CR, OPTCR].map(|offset| bench.value(Ps::ZERO, offset));
    assert_eq!(values, [0, 0, 0, 0, 0x8000_0000, 0x0fff_aaed]);
    assert_eq!(word(&bench, 0), u32::MAX, "erased");
    bench.write(Ps::ZERO, ACR, u32::MAX).unwrap();
    assert_eq!(bench.value(Ps::ZERO, ACR), 0x70f, "resets of the caches are not kept");
}

#[test]
fn a_line_takes_the_wait_states_and_what_follows_in_it_none() {
    // RM0090, "Relation between CPU clock frequency and flash memory read time": LATENCY wait states a read.
    let mut bench = flash();
    bench.write(Ps::ZERO, ACR, 5).unwrap();
    assert_eq!(fetch(&mut bench, 100, 0x40), 5);
    assert_eq!(fetch(&mut bench, 105, 0x44), 0, "in the middle of the line that has come");
    // The array is free in the cycle after the one in which the line came.
    assert_eq!(fetch(&mut bench, 120, 0x80), 5);
    assert_eq!(load(&mut bench, 120, 0x200), 6 + 5, "that is read from 120 up to 125, this from 126");
    bench.write(Ps::ZERO, ACR, 0).unwrap();
    assert_eq!((fetch(&mut bench, 200, 0xc0), load(&mut bench, 200, 0x300)), (0, 0));
}

#[test]
fn reads_take_the_same_whoever_asks() {
    // Three equivalent ways: with the time, by edges of the clock, and as compiled code fetches lines.
    for acr in [5, ACR_DCEN | 5, ACR_PRFTEN | 5, ACR_ICEN | ACR_DCEN | ACR_PRFTEN | 5, 2, 0] {
        let [mut by_time, mut by_edge, mut as_code] = [flash(), flash(), flash()];
        for bench in [&mut by_time, &mut by_edge, &mut as_code] {
            bench.write(Ps::ZERO, ACR, acr).unwrap();
        }
        let mut edge = 100;
        // Fetches of consecutive lines, of one line again, and of another line; and words of data between them, at once
        // or later.
        for (step, offset) in [0, 16, 0x200, 16, 32, 0x204, 48, 48, 0x208, 0x300, 0x400, 0x304].into_iter().enumerate()
        {
            edge += [0, 1, 7][step % 3];
            let bytes = if (0x200..0x400).contains(&offset) { 4 } else { 16 };
            let waited = match bytes {
                4 => load(&mut by_time, edge, offset),
                _ => fetch(&mut by_time, edge, offset),
            };
            let alone = read_alone(&mut by_edge, edge, offset, bytes);
            // A line of an enabled cache has further effects.
            assert_eq!(alone.is_some(), bytes == 4 || acr & ACR_ICEN == 0, "{acr:#x}, step {step}");
            let other = alone.unwrap_or_else(|| fetch(&mut by_edge, edge, offset));
            let like_code = if bytes == 16 { read_as_code(&mut as_code, edge, offset) } else { None };
            let by_code = like_code.unwrap_or_else(|| match bytes {
                4 => load(&mut as_code, edge, offset),
                _ => fetch(&mut as_code, edge, offset),
            });
            assert_eq!((other, by_code), (waited, waited), "{acr:#x}, step {step}");
            edge += waited;
        }
        let counters = [&mut by_time, &mut by_edge, &mut as_code].map(|bench| {
            let device = bench.bus.devices[0].as_mut().unwrap();
            device.learn();
            device.counters()
        });
        assert!(counters.iter().all(|other| *other == counters[0]), "{acr:#x}: {counters:?}");
    }
}

#[test]
fn compiled_code_asks_where_more_than_a_line_comes_of_a_fetch() {
    let mut bench = flash();
    let mut line = 0;
    let mut holds = |bench: &mut Bench, acr: u32| {
        bench.write(Ps::ZERO, ACR, acr).unwrap();
        line += 16;
        read_as_code(bench, 1000, line).is_some()
    };
    assert!(holds(&mut bench, 5) && holds(&mut bench, ACR_DCEN | 1));
    for acr in [0, ACR_ICEN | 5, ACR_PRFTEN | 5] {
        assert!(!holds(&mut bench, acr), "{acr:#x}");
    }
    // While an operation is under way, the array is busy up to its end.
    assert!(holds(&mut bench, 5));
    unlock(&mut bench);
    bench.write(Ps::ZERO, CR, CR_PG | 2 << 8).unwrap();
    store(&mut bench, Ps::ZERO, 0x4000, AccessSize::Word, 0);
    assert!(!holds(&mut bench, 5));
    assert_eq!(read_alone(&mut bench, 1000, 0x400, 16), None);
    bench.bus.run_events(Ps(16_000_000));
    assert!(holds(&mut bench, 5));
}

#[test]
fn the_next_line_is_read_while_one_runs() {
    // RM0090, "Instruction prefetch": with 5 wait states a line is read in 6 cycles.
    let mut bench = flash();
    bench.write(Ps::ZERO, ACR, ACR_PRFTEN | 5).unwrap();
    assert_eq!(fetch(&mut bench, 100, 0x40), 5);
    // The line came in cycle 105; the next one is read from 106 on and comes in 111. Eight instructions of a cycle
    // each, from 105 on, end in 112.
    assert_eq!(fetch(&mut bench, 113, 0x50), 0);
    // The core asked for it in 109, so the array was free from 112 on and the next one came in 117: in time for four of
    // 32 bits, up to 116.
    assert_eq!(fetch(&mut bench, 117, 0x60), 0);
    // The next line would come in 123: a jump elsewhere does not wait for it.
    assert_eq!(fetch(&mut bench, 121, 0x400), 5);
    // Nor do data, after which the line is read from the start: up to 136, 142.
    assert_eq!(load(&mut bench, 130, 0x800), 5);
    assert_eq!(fetch(&mut bench, 136, 0x410), 141 - 136);
}

#[test]
fn a_prefetch_under_way_ends_first_if_it_is_not_abandoned() {
    let mut bench = flash_with("cyclescope,prefetch-abandoned", 0);
    bench.write(Ps::ZERO, ACR, ACR_PRFTEN | 5).unwrap();
    assert_eq!(fetch(&mut bench, 100, 0x40), 5);
    // The next line is read from 106 to 111.
    assert_eq!(fetch(&mut bench, 107, 0x400), 5 + 5);
    assert_eq!(load(&mut bench, 119, 0x800), 4 + 6);
}

#[test]
fn the_data_cache_keeps_eight_lines_and_no_device_sees_it() {
    let mut bench = flash();
    bench.write(Ps::ZERO, ACR, ACR_DCEN | 3).unwrap();
    let mut cycle = 100;
    let mut wait = |bench: &mut Bench, offset: u32| {
        cycle += 100;
        load(bench, cycle, offset)
    };
    for line in 0..8 {
        assert_eq!((wait(&mut bench, 16 * line), wait(&mut bench, 16 * line + 12)), (3, 0));
    }
    assert_eq!(wait(&mut bench, 0), 0);
    // The least recently used line is replaced: number 1.
    assert_eq!((wait(&mut bench, 128), wait(&mut bench, 0), wait(&mut bench, 16)), (3, 0, 3));
    // Devices bypass the cache.
    assert_eq!(ask(&mut bench, 2150, None, |device, ctx| device.read(1, 0, AccessSize::Word, ctx).unwrap().done), 3);
    // The reset only has an effect while the cache is off.
    bench.write(Ps::ZERO, ACR, ACR_DCEN | ACR_DCRST | 3).unwrap();
    assert_eq!(wait(&mut bench, 0), 0);
    for acr in [3, ACR_DCRST | 3, ACR_DCEN | 3] {
        bench.write(Ps::ZERO, ACR, acr).unwrap();
    }
    assert_eq!(wait(&mut bench, 0), 3);
}

#[test]
fn the_core_is_reported_of_wait_states_and_of_its_cache() {
    let mut bench = flash();
    let answers = [0, 3, ACR_ICEN | ACR_PRFTEN | 3].map(|acr| {
        bench.write(Ps::ZERO, ACR, acr).unwrap();
        bench.bus.line_buffers.how()
    });
    assert_eq!(answers, [Answer::AtOnce, Answer::Passes, Answer::Kept]);
    // A line that was missed is cached, and so is the prefetched one, unless that is not kept.
    let passes = |bench: &mut Bench| {
        [(100, 0), (120, 16), (140, 64)].map(|(cycle, offset)| {
            fetch(bench, cycle, offset);
            bench.bus.line_buffers.passes
        })
    };
    assert_eq!(passes(&mut bench), [false; 3]);
    let mut other = flash_with("cyclescope,prefetched-lines-kept", 0);
    other.write(Ps::ZERO, ACR, ACR_ICEN | ACR_PRFTEN | 3).unwrap();
    assert_eq!(passes(&mut other), [false, true, false]);
    let epoch = bench.bus.line_buffers.epoch();
    bench.write(Ps::ZERO, ACR, ACR_ICRST | ACR_ICEN | 3).unwrap();
    assert_eq!(bench.bus.line_buffers.epoch(), epoch, "ICRST has no effect while the cache is on");
    bench.write(Ps::ZERO, ACR, 3).unwrap();
    let off = bench.bus.line_buffers.epoch();
    bench.write(Ps::ZERO, ACR, ACR_ICRST | 3).unwrap();
    assert!(off > epoch && bench.bus.line_buffers.epoch() > off);
    fetch(&mut bench, 200, 128);
    assert!(bench.bus.line_buffers.passes, "the cache is off");
}

#[test]
fn too_few_wait_states_leave_a_note() {
    let mut bench = flash();
    // 100 MHz from 2.7 V on (RM0090, table of wait states): 3.
    assert!(bench.bus.notes().last().unwrap().contains("LATENCY = 0, which is for up to 30000000 Hz: it takes 3"));
    let notes = bench.bus.notes().len();
    bench.write(Ps::ZERO, ACR, 3).unwrap();
    assert_eq!(bench.bus.notes().len(), notes);
}

#[test]
fn what_is_under_way_keeps_its_cycles_when_hclk_changes() {
    let text = |text: &str| [text.as_bytes(), &[0]].concat();
    let clock = vec![("compatible", text("cyclescope,variable-clock")), ("clock-frequency", cells(&[100_000_000]))];
    let mut own = vec![("clocks", cells(&[CLOCK]))];
    let parameters = parameters();
    own.extend(parameters.iter().map(|(name, value)| (*name, cells(value))));
    let children = vec![node("clock", Some(CLOCK), clock, Vec::new()), node("dut", None, own, Vec::new())];
    let (device, faults) = read_tree(&node("", None, Vec::new(), children), from_node);
    assert_eq!(faults, Vec::<String>::new());
    let mut bench = Bench::boxed(device);
    bench.bus.clocks.add_user(ClockId(CLOCK), User::Device(DeviceId(0)));
    bench.write(Ps::ZERO, ACR, ACR_PRFTEN | 5).unwrap();
    assert_eq!(fetch(&mut bench, 100, 0x40), 5);
    // The next line comes in cycle 111. In cycle 108, 3 before, the clock becomes half as fast: 20 ns a cycle.
    bench.bus.set_clocks(&[(ClockId(CLOCK), Hz::new(50_000_000).unwrap())], Ps(108 * CYCLE.0));
    assert_eq!(fetch(&mut bench, 108, 0x50), 3 * 2);
    assert_eq!(fetch(&mut bench, 200, 0x400), 5 * 2);
}

#[test]
fn a_word_is_programmed_once_it_is_unlocked() {
    let mut bench = flash();
    store(&mut bench, Ps::ZERO, 0, AccessSize::Word, 0);
    assert_eq!((bench.value(Ps::ZERO, SR), word(&bench, 0)), (SR_PGSERR, u32::MAX));
    bench.write(Ps::ZERO, SR, SR_PGSERR).unwrap();
    unlock(&mut bench);
    assert_eq!(bench.value(Ps::ZERO, CR), 0);
    bench.write(Ps::ZERO, CR, CR_PG | 2 << 8 | CR_EOPIE).unwrap();
    store(&mut bench, Ps::ZERO, 8, AccessSize::Byte, 0);
    assert_eq!(bench.value(Ps::ZERO, SR), SR_PGPERR, "the parallelism is 32 bits");
    bench.write(Ps::ZERO, SR, SR_PGPERR).unwrap();
    // DS8626, flash memory programming: 16 us.
    let epoch = bench.bus.code_written.epoch();
    assert_eq!(store(&mut bench, Ps::ZERO, 8, AccessSize::Word, 0x1234_5678), Ps::ZERO);
    // Code in other words of the flash stays.
    let written: Vec<CodeSpan> = bench.bus.code_written.since(epoch).unwrap().collect();
    assert_eq!(written, [CodeSpan::of_device(DeviceId(0), 8, 11)]);
    let (before, end) = (Ps::from_us(16) - Ps(1), Ps::from_us(16));
    assert_eq!((bench.value(before, SR), bench.pending()), (SR_BSY, 0));
    // A second store is accepted when the first has ended, and so is a read of the array.
    assert_eq!(store(&mut bench, before, 12, AccessSize::Word, 0), end);
    assert_eq!(load(&mut bench, 1_000, 8), 3200 - 1000);
    bench.run(end + end);
    assert_eq!((bench.value(end + end, SR), bench.pending()), (SR_EOP, 1 << 4));
    bench.write(end + end, SR, SR_EOP).unwrap();
    assert_eq!(bench.pending(), 0);
    // Bits only become 0.
    store(&mut bench, end + end, 8, AccessSize::Word, 0xffff_0f0f);
    assert_eq!((word(&bench, 8), word(&bench, 12)), (0x1234_0608, 0));
}

#[test]
fn sectors_are_erased_in_the_time_of_their_parallelism() {
    // RM0090, flash module of 1 MiB: sector 4 has 64 KiB from 0x10000 on, sector 5 is 128 KiB from 0x20000 on.
    let mut bench = flash();
    for at in [0xfffc, 0x1_0000, 0x1_fffc, 0x2_0000] {
        bench.bus.devices[0].as_mut().unwrap().preload(1, at, &[0; 4]);
    }
    unlock(&mut bench);
    bench.write(Ps::ZERO, CR, CR_SER | 4 << 3 | 1 << 8 | CR_STRT).unwrap();
    assert_eq!([0xfffc, 0x1_0000, 0x1_fffc, 0x2_0000].map(|at| word(&bench, at)), [0, u32::MAX, u32::MAX, 0]);
    let end = Ps(700 * 1_000_000_000);
    assert_eq!(bench.value(end - Ps(1), SR), SR_BSY);
    bench.run(end);
    assert_eq!(bench.value(end, SR), 0, "EOP is for the interrupt");
    // A protected sector stays: nWRP of sector 0.
    OPTION_KEYS.into_iter().for_each(|key| _ = bench.write(end, OPTKEYR, key).unwrap());
    bench.write(end, OPTCR, 0x0ffe_aaec).unwrap();
    bench.write(end, CR, CR_SER | CR_STRT).unwrap();
    assert_eq!(bench.value(end, SR), SR_WRPERR);
    bench.write(end, CR, CR_MER | CR_STRT).unwrap();
    assert_eq!((bench.value(end, SR), word(&bench, 0xfffc)), (SR_WRPERR, 0));
}

#[test]
fn a_wrong_key_locks_up_to_the_next_reset() {
    let mut bench = flash();
    // RM0090, "Unlocking the Flash control register": a bus error.
    for key in [KEYS[1], KEYS[0], KEYS[1]] {
        assert!(bench.write(Ps::ZERO, KEYR, key).is_err());
    }
    assert_eq!(bench.value(Ps::ZERO, CR), CR_LOCK);
}

#[test]
fn a_flash_of_no_such_sectors_is_refused() {
    let mut odd = parameters();
    odd[0].1 = vec![0x4002_3c00, 0x400, 0x0800_0000, 100_000];
    assert!(read(&odd).1.iter().any(|fault| fault.contains("4 times 16, 64 and then 128 KiB")));
}

#[test]
fn a_byte_leaves_the_others_as_they_are() {
    let mut bench = flash();
    let stored = |bench: &mut Bench, register, value| {
        bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| {
            device.write(0, register, AccessSize::Byte, value, ctx).unwrap();
        });
    };
    bench.write(Ps::ZERO, ACR, ACR_PRFTEN | ACR_ICEN | ACR_DCEN).unwrap();
    // As ST's library sets the latency.
    stored(&mut bench, ACR, 5);
    assert_eq!(bench.value(Ps::ZERO, ACR), ACR_PRFTEN | ACR_ICEN | ACR_DCEN | 5);
    // Ones clear flags: a byte write does not write back its neighbours.
    bench.write(Ps::ZERO, OPTCR, u32::MAX).unwrap();
    store(&mut bench, Ps::ZERO, 0, AccessSize::Word, 0);
    assert_eq!(bench.value(Ps::ZERO, SR), SR_PGSERR);
    stored(&mut bench, SR + 1, 0xff);
    assert_eq!(bench.value(Ps::ZERO, SR), SR_PGSERR);
}
