use super::*;
use crate::bench::{Bench, CLOCK, cells, node, read_plain_node, read_tree};
use crate::registers::walk;
use engine::bus::device::DeviceId;
use engine::clocks::User;
use engine::dt::wiring::ClockId;

/// What U-Boot sets on a Ben NanoNote.
const BEN_CPCCR: u32 = 0x4022_2220;
const BEN_CPPCR: u32 = 0x1b00_0520;
/// 240 MHz: 12 MHz * 40 / 2.
const CPPCR_240: u32 = CPPCR_PLLEN | 38 << CPPCR_PLLM.trailing_zeros() | 0x20;

fn hz(value: u64) -> Hz {
    Hz::new(value).unwrap()
}

fn ext() -> Hz {
    hz(12_000_000)
}

fn rtc() -> Hz {
    hz(32_768)
}

fn clocks() -> [Hz; 4] {
    [336_000_000, 112_000_000, 112_000_000, 112_000_000].map(hz)
}

/// Clock number n of the outputs has the phandle 10 + n.
fn outputs() -> Vec<ClockInput> {
    let rates = clocks().into_iter().chain([ext()]);
    rates.zip(10..).map(|(rate, phandle)| ClockInput { rate, id: Some(ClockId(phandle)) }).collect()
}

fn device() -> Cgu {
    Cgu::new(ext(), rtc(), outputs(), settings_for(ext(), clocks()).unwrap())
}

/// Kilohertz of each output.
fn khz(bench: &Bench) -> [u64; 5] {
    let rates: Vec<u64> = outputs().iter().map(|clock| bench.bus.clocks.rate_of(*clock).get() / 1000).collect();
    rates.try_into().unwrap()
}

/// When the PLL has locked that was set at time 0.
fn locked() -> Ps {
    rtc().ps_at_floor(Cycles(0x20))
}

#[test]
fn the_device_keeps_its_banks() {
    walk::device_keeps_its_table(MAP.rows, &["CPCCR", "CPPCR"], &mut Bench::new(device()));
}

#[test]
fn its_registers_show_the_board_s_clocks() {
    assert_eq!(settings_for(ext(), clocks()), Some((BEN_CPCCR, BEN_CPPCR)));
    assert_eq!(device().frequencies()[..4], clocks().map(|clock| Some(clock.get())));
    let others = [240_000_000, 120_000_000, 60_000_000, 7_500_000].map(hz);
    let cgu = Cgu::new(ext(), rtc(), outputs(), settings_for(ext(), others).unwrap());
    assert_eq!(cgu.frequencies()[..4], others.map(|clock| Some(clock.get())));
    for impossible in [[336, 100, 112, 112], [336, 112, 112, 67], [335; 4], [6; 4], [3084; 4]] {
        assert_eq!(settings_for(ext(), impossible.map(|mhz| hz(mhz * 1_000_000))), None, "{impossible:?}");
    }
}

#[test]
fn dividers_are_in_force_at_once_if_they_may() {
    let mut bench = Bench::new(device());
    bench.write(Ps(0), CPCCR, CPCCR_SET | 0x3221).unwrap();
    bench.run(Ps::from_us(100));
    assert_eq!(khz(&bench), [336_000, 112_000, 112_000, 112_000, 12_000]);
    bench.write(Ps::from_us(100), CPCCR, CPCCR_SET | CPCCR_CE | 0x4331).unwrap();
    bench.run(Ps::from_us(100));
    assert_eq!(khz(&bench), [168_000, 84_000, 84_000, 56_000, 12_000]);
    assert!(bench.bus.notes().is_empty());
}

#[test]
fn the_pll_locks_in_its_time_and_takes_the_dividers() {
    let mut bench = Bench::new(device());
    bench.write(Ps(0), CPCCR, CPCCR_SET | 0x1111).unwrap();
    bench.write(Ps(0), CPPCR, CPPCR_240).unwrap();
    bench.run(Ps(locked().0 - 1));
    assert_eq!(bench.value(Ps(locked().0 - 1), CPPCR), CPPCR_240);
    assert_eq!(khz(&bench), [336_000, 112_000, 112_000, 112_000, 12_000]);
    bench.run(locked());
    assert_eq!(bench.value(locked(), CPPCR), CPPCR_240 | CPPCR_PLLS);
    assert_eq!(khz(&bench), [120_000, 120_000, 120_000, 120_000, 12_000]);
    // The same factors again: it stays locked.
    bench.write(locked(), CPPCR, CPPCR_240).unwrap();
    assert_eq!(bench.value(locked(), CPPCR), CPPCR_240 | CPPCR_PLLS);
}

#[test]
fn past_a_pll_goes_extal() {
    for past in [BEN_CPPCR | CPPCR_PLLBP, BEN_CPPCR & !CPPCR_PLLEN] {
        let mut bench = Bench::new(device());
        bench.write(Ps(0), SSICDR, SSICDR_SCS | 6).unwrap();
        bench.run(Ps(0));
        assert_eq!(khz(&bench), [336_000, 112_000, 112_000, 112_000, 48_000]);
        bench.write(Ps(5), CPPCR, past).unwrap();
        bench.run(Ps(5));
        assert_eq!(khz(&bench), [12_000, 4000, 4000, 4000, 1714]);
        let is_locked = bench.value(Ps(5), CPPCR) & CPPCR_PLLS != 0;
        assert_eq!(is_locked, past & CPPCR_PLLEN != 0);
        bench.write(Ps(5), CPPCR, BEN_CPPCR).unwrap();
        bench.run(Ps(5));
        assert_eq!(khz(&bench)[0], if is_locked { 336_000 } else { 12_000 });
        bench.run(Ps::from_us(1100));
        assert_eq!(khz(&bench)[0], 336_000);
    }
}

#[test]
fn reserved_dividers_and_sleep_are_noted() {
    for (register, value, note) in [
        (CPCCR, BEN_CPCCR | CPCCR_CE, ""),
        (CPPCR, BEN_CPPCR, ""),
        (CPCCR, BEN_CPCCR | CPCCR_CE | 0xf, "reserved divider of cclk"),
        (LCR, 1, "sleep"),
    ] {
        let mut bench = Bench::new(device());
        bench.write(Ps(0), register, value).unwrap();
        bench.run(Ps(0));
        let notes = bench.bus.notes().concat();
        assert!(notes.contains(note), "{note}: {notes}");
        assert_eq!(notes.is_empty(), note.is_empty(), "{notes}");
        assert_eq!(khz(&bench)[0], 336_000);
    }
}

#[test]
fn only_devices_with_another_clock_are_notified() {
    let mut bench = Bench::new(device());
    for (clock, user) in outputs().iter().zip([User::Core(0), User::Route(0), User::Device(DeviceId(0)), User::Ram(0)])
    {
        bench.bus.clocks.add_user(clock.id.unwrap(), user);
    }
    bench.write(Ps(7), CPCCR, BEN_CPCCR | CPCCR_CE).unwrap();
    bench.write(Ps(7), SSICDR, SSICDR_SCS | 3).unwrap();
    bench.run(Ps(7));
    assert!(!bench.bus.clocks.are_pending());
    bench.write(Ps(9), CPCCR, BEN_CPCCR | CPCCR_CE | 3 << 12).unwrap();
    bench.run(Ps(9));
    let changes = bench.bus.clocks.take_pending();
    assert_eq!(changes, [engine::clocks::Change { user: User::Ram(0), at: Ps(9), rate: hz(84_000_000) }]);
}

#[test]
fn a_node_gives_the_clocks() {
    let (mut bench, faults) = read_plain_node(from_node, &[]);
    assert!(faults.is_empty(), "{faults:?}");
    // It drives none of the test's clocks.
    assert_eq!((bench.value(Ps(0), CPCCR), bench.value(Ps(0), CPPCR)), (0, 0));
}

/// The faults of a node that drives the first of four clocks, cclk 240 MHz and the others a third of it.
fn faults_with(outputs: usize) -> Vec<String> {
    let fixed = node("ext", Some(CLOCK), vec![("clock-frequency", cells(&[12_000_000]))], Vec::new());
    let clock = |phandle: u32| {
        let frequency = if phandle == 10 { 240_000_000 } else { 80_000_000 };
        let kind = ("compatible", b"cyclescope,variable-clock\0".to_vec());
        node("clock", Some(phandle), vec![kind, ("clock-frequency", cells(&[frequency]))], Vec::new())
    };
    let driven: Vec<u32> = (10..).take(outputs).collect();
    let properties = vec![("clocks", cells(&[CLOCK; 2])), ("cyclescope,outputs", cells(&driven))];
    let mut children = vec![fixed];
    children.extend((10..14).map(clock));
    children.push(node("cgu", None, properties, Vec::new()));
    read_tree(&node("", None, Vec::new(), children), from_node).1
}

#[test]
fn a_node_drives_all_that_is_divided_or_nothing() {
    for outputs in [0, 4] {
        assert_eq!(faults_with(outputs), [""; 0], "{outputs}");
    }
    for outputs in 1..4 {
        let faults = faults_with(outputs);
        assert!(faults.len() == 1 && faults[0].contains("none, or at least 4 clocks: cclk"), "{faults:?}");
    }
}
