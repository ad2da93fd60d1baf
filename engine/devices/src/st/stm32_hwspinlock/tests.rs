use super::*;
use crate::bench::Bench;
use crate::registers::walk;
use engine::bus::device::DeviceId;
use engine::polling::Poll;
use engine::time::{Cycles, Hz, Ps};

const MPU: Option<usize> = Some(0);
const MCU: Option<usize> = Some(1);
const OF_MPU: u32 = 1 << 8;
const OF_MCU: u32 = 2 << 8;

fn hsem() -> Bench {
    let lines = [4, 5].map(|bit| Some(IrqLine::Core { core: 0, bit }));
    Bench::new(Hsem::new(lines, MCU, ClockGate::default()))
}

/// A read by a core.
fn get(bench: &mut Bench, core: Option<usize>, offset: u32) -> u32 {
    bench.bus.master = core;
    bench.value(Ps(0), offset)
}

/// A write by a core.
fn put(bench: &mut Bench, core: Option<usize>, offset: u32, value: u32) {
    bench.bus.master = core;
    bench.write(Ps(0), offset, value).unwrap();
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_map(&MAP, &[], &mut hsem());
}

#[test]
fn who_writes_first_has_the_lock() {
    let mut bench = hsem();
    put(&mut bench, MPU, 0x7c, LOCK | OF_MPU | 5);
    put(&mut bench, MCU, 0x7c, LOCK | OF_MCU | 6);
    assert_eq!(get(&mut bench, MCU, 0x7c), LOCK | OF_MPU | 5);
    // Neither another processor nor another process can free it.
    put(&mut bench, MCU, 0x7c, OF_MCU | 6);
    put(&mut bench, MCU, 0x7c, OF_MPU | 5);
    put(&mut bench, MPU, 0x7c, OF_MPU | 6);
    assert_eq!((get(&mut bench, MPU, 0x7c), bench.bus.notes().len()), (LOCK | OF_MPU | 5, 2));
    put(&mut bench, MPU, 0x7c, OF_MPU | 5);
    assert_eq!(get(&mut bench, MPU, 0x7c), 0);
    put(&mut bench, MCU, 0x7c, LOCK | OF_MCU | 6);
    assert_eq!(get(&mut bench, MPU, 0x7c), LOCK | OF_MCU | 6);
}

#[test]
fn a_read_locks_in_one_step() {
    let mut bench = hsem();
    assert_eq!(get(&mut bench, MCU, 0x84), LOCK | OF_MCU);
    assert_eq!(get(&mut bench, MPU, 0x84), LOCK | OF_MCU);
    assert_eq!(get(&mut bench, MPU, 0x04), LOCK | OF_MCU);
    put(&mut bench, MCU, 0x04, OF_MCU);
    assert_eq!(get(&mut bench, MPU, 0x84), LOCK | OF_MPU);
    assert_eq!(get(&mut bench, None, 0x88), 0);
    assert_eq!(get(&mut bench, MPU, 0x08), 0);
}

#[test]
fn a_freed_semaphore_interrupts_who_enabled_it() {
    let mut bench = hsem();
    put(&mut bench, MCU, 0x110, 1 << 3);
    get(&mut bench, MPU, 0x8c);
    get(&mut bench, MPU, 0x90);
    put(&mut bench, MPU, 0x10, OF_MPU);
    assert_eq!((bench.pending(), get(&mut bench, MCU, 0x118), get(&mut bench, MCU, 0x11c)), (0, 1 << 4, 0));
    put(&mut bench, MPU, 0x0c, OF_MPU);
    assert_eq!((bench.pending(), get(&mut bench, MCU, 0x11c)), (1 << 5, 1 << 3));
    assert_eq!((get(&mut bench, MPU, 0x108), get(&mut bench, MPU, 0x10c)), (3 << 3, 0));
    put(&mut bench, MCU, 0x114, 1 << 3);
    assert_eq!((bench.pending(), get(&mut bench, MPU, 0x108)), (0, 3 << 3));
    put(&mut bench, MPU, 0x100, 1 << 3);
    assert_eq!(bench.pending(), 1 << 4);
}

#[test]
fn the_key_frees_all_of_a_processor() {
    let mut bench = hsem();
    get(&mut bench, MPU, 0x80);
    get(&mut bench, MCU, 0x84);
    get(&mut bench, MCU, 0x88);
    put(&mut bench, MPU, 0x144, 0x1234_ffff);
    put(&mut bench, MPU, 0x140, 0x1235_0200);
    assert_eq!((get(&mut bench, MPU, 0x4), bench.bus.notes().len()), (LOCK | OF_MCU, 1));
    put(&mut bench, MPU, 0x140, 0x1234_0200);
    assert_eq!([0, 4, 8].map(|offset| get(&mut bench, MPU, offset)), [LOCK | OF_MPU, 0, 0]);
    assert_eq!(get(&mut bench, MPU, 0x118), 6);
}

#[test]
fn polling_can_be_skipped_while_a_lock_is_held() {
    let mut bench = hsem();
    let look = |bench: &mut Bench, number| {
        let mut poll = Poll::look(Hz::new(209_000_000).unwrap(), Cycles(number));
        bench.bus.with_device(DeviceId(0), Ps(0), |device, _| assert!(device.polled(&mut poll)));
        poll
    };
    get(&mut bench, MCU, 0x80);
    let before = look(&mut bench, 10);
    get(&mut bench, MPU, 0x80);
    let after = look(&mut bench, 20);
    assert!(after.repeats(&before));
    put(&mut bench, MCU, 0, OF_MCU);
    assert!(!look(&mut bench, 30).repeats(&after));
}
