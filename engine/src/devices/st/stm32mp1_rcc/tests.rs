use super::*;
use crate::bus::device::{DeviceId, ExitRequest};
use crate::devices::bench::{Bench, read_plain_node};
use crate::devices::support::registers::walk::Port;
use crate::time::Ps;

fn hz(frequency: u64) -> Hz {
    Hz::new(frequency).unwrap()
}

fn rcc() -> Bench {
    with_mcu(None)
}

fn with_mcu(core: Option<usize>) -> Bench {
    let (mpu, axi, mcu, hse) = (hz(650_000_000), hz(266_500_000), hz(208_877_930), hz(24_000_000));
    let mut bench = Bench::new(Rcc::new(Clocks { mpu, axi, mcu, hse }, core));
    bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
    bench
}

#[test]
fn settings_are_by_offset_and_make_the_boards_clocks() {
    assert!(settings::ALL.windows(2).all(|pair| pair[0].offset < pair[1].offset));
    assert!(settings::ALL.iter().all(|setting| pair_at(setting.offset).is_none()));
    assert_eq!(settings::frequencies(24_000_000), [650_000_000, 266_500_000, 208_877_929]);
    assert!(rcc().bus.notes().is_empty());
    let (bench, faults) = read_plain_node(from_node, &[]);
    assert!(faults.is_empty(), "{faults:?}");
    let mut bench = bench;
    bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn pairs_set_and_clear_and_both_read() {
    let mut bench = rcc();
    let enables = [0x200, 0x220, 0x280, 0x298, 0xa00, 0xa28, 0xa80, 0xab0];
    for register in [0x104, 0x180, 0x1a0, 0x40c, 0x980, 0x9a8].into_iter().chain(enables) {
        assert_eq!(bench.get(register), 0, "{register:#x}");
        bench.put(register, 0x0011_0011);
        bench.put(register, 0x1000_0000);
        assert_eq!((bench.get(register), bench.get(register + 4)), (0x1011_0011, 0x1011_0011), "{register:#x}");
        bench.put(register + 4, 0x0010_0001);
        assert_eq!((bench.get(register), bench.get(register + 4)), (0x1001_0010, 0x1001_0010), "{register:#x}");
    }
    assert_eq!((bench.get(0xa38), bench.get(0xab8), bench.get(0x00c)), (0x10, 0x10, 0x111));
}

#[test]
fn a_clock_is_on_if_either_processor_wants_it() {
    let mut bench = rcc();
    let enabled = |bench: &Bench, register| {
        let running = |bit: &u32| bench.bus.clocks.is_running(register, *bit);
        (0..32).filter(running).fold(0, |bits, bit| bits | 1 << bit)
    };
    assert_eq!(enabled(&bench, 0xa20), 0);
    bench.put(0xa20, 1 << 12);
    bench.put(0xaa0, 1 << 12 | 1 << 11);
    assert_eq!(enabled(&bench, 0xa20), 1 << 12 | 1 << 11);
    bench.put(0xa24, 1 << 12);
    assert_eq!(enabled(&bench, 0xa20), 1 << 12 | 1 << 11);
    bench.put(0xaa4, 1 << 12);
    assert_eq!(enabled(&bench, 0xa20), 1 << 11);
    bench.put(0x298, 1);
    assert_eq!(enabled(&bench, 0x218), 1);
}

#[test]
fn clock_settings_stay_what_the_board_has() {
    let mut bench = rcc();
    for setting in settings::ALL {
        assert_eq!(bench.get(setting.offset), setting.value, "{}", setting.name);
        bench.put(setting.offset, setting.value & !READY);
    }
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
    bench.put(0x8f0, 0);
    assert_eq!((bench.get(0x8f0), bench.bus.notes().len()), (2, 1));
    assert!(bench.bus.notes()[0].contains("RCC_UART78CKSELR was written as 0x0"), "{}", bench.bus.notes()[0]);
}

/// A ready flag of selectors and dividers.
const READY: u32 = 1 << 31;

#[test]
fn a_system_reset_ends_the_run() {
    for (written, exits) in [(0x01, true), (0x10, true), (0x20, false), (0x02, false)] {
        let mut bench = rcc();
        bench.write(Ps(70), MP_GRSTCSETR, written).unwrap();
        assert_eq!(bench.bus.exit, exits.then_some(ExitRequest { code: 0, at: Ps(70) }), "{written:#x}");
    }
}

#[test]
fn reset_flags_are_cleared_by_ones() {
    let mut bench = rcc();
    bench.put(MP_GRSTCSETR, GRST_MCURST);
    assert_eq!((bench.get(MP_RSTSCLRR), bench.get(MC_RSTSCLRR)), (1, 0x21));
    bench.put(MC_RSTSCLRR, 0x20);
    bench.put(MP_RSTSCLRR, 0xffff);
    assert_eq!((bench.get(MP_RSTSCLRR), bench.get(MC_RSTSCLRR), bench.get(MP_GRSTCSETR)), (0, 1, 0));
}

#[test]
fn a_reset_of_a_peripheral_leaves_a_note() {
    let mut bench = rcc();
    bench.put(0x980, 1 << 16);
    bench.put(0x984, 1 << 16);
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn the_mcu_boots_when_it_may_and_is_held_by_a_reset_only() {
    let mut bench = with_mcu(Some(1));
    let mut put = |at: u64, register: u32, value: u32| {
        bench.write(Ps(at), register, value).unwrap();
        let resets = bench.bus.order.take_resets();
        resets.iter().map(|change| (change.core, change.hold, change.at)).collect::<Vec<_>>()
    };
    // It is held when the run begins.
    assert_eq!(put(10, MP_GCR, 0), []);
    assert_eq!(put(20, MP_GCR, 1), [(1, false, Ps(20))]);
    assert_eq!(put(30, MP_GCR, 0), []);
    assert_eq!(put(40, MP_GCR, 1), []);
    assert_eq!(put(50, MP_GRSTCSETR, GRST_MCURST), [(1, true, Ps(50)), (1, false, Ps(50))]);
    assert_eq!(put(60, MP_GCR, 0), []);
    assert_eq!(put(70, MP_GRSTCSETR, GRST_MCURST), [(1, true, Ps(70))]);
    assert_eq!(put(80, MP_GCR, 1), [(1, false, Ps(80))]);
    assert!(bench.bus.notes().is_empty());
}

#[test]
fn a_board_without_the_mcu_says_so() {
    let mut bench = rcc();
    bench.put(MP_GCR, 1);
    assert_eq!(bench.bus.notes().len(), 1);
}
