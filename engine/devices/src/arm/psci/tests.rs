use super::*;
use crate::bench::{Bench, read_plain_node};
use engine::bus::device::DeviceId;

fn psci(version: i32) -> Bench {
    Bench::new(Psci::new(version, 70, 1))
}

fn call(bench: &mut Bench, function: u32, parameters: [u32; 3]) -> FirmwareAnswer {
    let call = |device: &mut dyn Device, ctx: &mut Ctx| device.firmware_call(function, parameters, ctx);
    let done = bench.bus.with_device(DeviceId(0), Ps(5), call).unwrap();
    assert_eq!(done.cycles, 70);
    done.then
}

fn value(bench: &mut Bench, function: u32, parameters: [u32; 3]) -> i32 {
    match call(bench, function, parameters) {
        FirmwareAnswer::Value(value) => value as i32,
        other => panic!("{other:?}"),
    }
}

#[test]
fn linux_finds_version_1_0_and_its_features() {
    let mut bench = psci(0x1_0000);
    assert_eq!(value(&mut bench, PSCI_VERSION, [0; 3]), 0x1_0000);
    for function in [CPU_SUSPEND, CPU_ON, CPU_OFF, SYSTEM_OFF, SYSTEM_RESET, SMCCC_VERSION] {
        assert_eq!(value(&mut bench, PSCI_FEATURES, [function, 0, 0]), SUCCESS, "{function:#x}");
    }
    // SYSTEM_SUSPEND, SYSTEM_RESET2.
    for function in [0x8400_000e, 0x8400_0012, 0] {
        assert_eq!(value(&mut bench, PSCI_FEATURES, [function, 0, 0]), NOT_SUPPORTED);
    }
    assert_eq!(value(&mut bench, MIGRATE_INFO_TYPE, [0; 3]), 2);
    assert_eq!(value(&mut bench, SMCCC_VERSION, [0; 3]), 0x1_0001);
    assert_eq!(value(&mut bench, SMCCC_ARCH_FEATURES, [SMCCC_ARCH_FEATURES, 0, 0]), SUCCESS);
    // SMCCC_ARCH_WORKAROUND_1, and TRNG_VERSION.
    assert_eq!(value(&mut bench, SMCCC_ARCH_FEATURES, [0x8000_8000, 0, 0]), NOT_SUPPORTED);
    assert_eq!(value(&mut bench, 0x8400_0050, [0; 3]), NOT_SUPPORTED);
}

#[test]
fn version_0_2_has_no_features() {
    let mut bench = psci(2);
    assert_eq!(value(&mut bench, PSCI_VERSION, [0; 3]), 2);
    assert_eq!(value(&mut bench, PSCI_FEATURES, [CPU_ON, 0, 0]), NOT_SUPPORTED);
    assert_eq!(value(&mut bench, SMCCC_VERSION, [0; 3]), NOT_SUPPORTED);
}

#[test]
fn the_only_core_is_on() {
    let mut bench = psci(0x1_0000);
    assert_eq!(value(&mut bench, AFFINITY_INFO, [0; 3]), IS_ON);
    assert_eq!(value(&mut bench, AFFINITY_INFO, [1, 0, 0]), INVALID_PARAMETERS);
    assert_eq!(value(&mut bench, CPU_ON, [1, 0xc000_0000, 0]), INVALID_PARAMETERS);
    assert_eq!(value(&mut bench, CPU_ON, [0, 0xc000_0000, 0]), ALREADY_ON);
    assert_eq!(value(&mut bench, CPU_OFF, [0; 3]), DENIED);
}

#[test]
fn a_suspended_core_waits_and_a_board_that_is_off_ends_the_run() {
    let mut bench = psci(0x1_0000);
    assert_eq!(call(&mut bench, CPU_SUSPEND, [0; 3]), FirmwareAnswer::WaitForInterrupt(0));
    assert_eq!(value(&mut bench, CPU_SUSPEND, [1 << 16, 0, 0]), INVALID_PARAMETERS);
    assert_eq!(call(&mut bench, SYSTEM_OFF, [0; 3]), FirmwareAnswer::Exit(0));
    assert!(bench.bus.notes().is_empty());
    assert_eq!(call(&mut bench, SYSTEM_RESET, [0; 3]), FirmwareAnswer::Exit(1));
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn a_node_needs_no_number() {
    let (mut bench, faults) = read_plain_node(from_node, &[]);
    assert!(faults.iter().all(|fault| fault.contains("clocks")), "{faults:?}");
    let call = |device: &mut dyn Device, ctx: &mut Ctx| device.firmware_call(PSCI_VERSION, [0; 3], ctx);
    let done = bench.bus.with_device(DeviceId(0), Ps(5), call).unwrap();
    assert_eq!((done.cycles, done.then), (1950, FirmwareAnswer::Value(2)));
}

#[test]
fn a_second_core_is_switched_on_and_off() {
    let mut bench = Bench::new(Psci::new(0x1_0000, 70, 2));
    bench.bus.add_core();
    let start = [1, 0xc000_1001, 0x1234];
    assert_eq!(value(&mut bench, AFFINITY_INFO, [1, 0, 0]), IS_OFF);
    let on = |device: &mut dyn Device, ctx: &mut Ctx| device.firmware_call(CPU_ON, start, ctx);
    let done = bench.bus.with_device(DeviceId(0), Ps(5), on).unwrap();
    assert_eq!(done.then, FirmwareAnswer::Value(0));
    assert_eq!(done.starts, Some((1, CoreStart { entry: start[1], context: start[2] })));
    assert_eq!(value(&mut bench, CPU_ON, start), ALREADY_ON);
    assert_eq!(value(&mut bench, CPU_ON, [2, 0, 0]), INVALID_PARAMETERS);
    assert_eq!(value(&mut bench, AFFINITY_INFO, [1, 0, 0]), IS_ON);
    bench.bus.master = Some(1);
    assert_eq!(call(&mut bench, CPU_OFF, [0; 3]), FirmwareAnswer::Off);
    bench.bus.master = Some(0);
    assert_eq!(value(&mut bench, AFFINITY_INFO, [1, 0, 0]), IS_OFF);
    assert_eq!(value(&mut bench, CPU_OFF, [0; 3]), DENIED, "no other core is on");
    assert_eq!(value(&mut bench, CPU_ON, start), SUCCESS);
}
