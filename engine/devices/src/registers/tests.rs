use std::sync::{Arc, Mutex};

use engine::bus::device::{AccessSize, Ctx, Device};
use engine::polling::{Poll, Polled};
use engine::state::{Loader, Shown, State, saved, shown};
use engine::time::{Cycles, Hz, Ps};

use super::*;
use crate::bench::Bench;

registers! {
    /// What generations have in common.
    const COMMON "T_" {
        CR 0x00 rw mask 0xff { EN 0, MODE 4..6, LIN 7 unmodelled };
        SR 0x04 ro reset 0x80 { RXNE 5 w0c, TC 6 w1c, IDLE 3 rc, TXE 7 };
        DR 0x08 rw volatile mask 0x1ff;
        KR 0x0c wo mask 0xffff;
        BRR 0x10 rw locked_by CR_EN in CR mask 0xffff;
        OPT 0x14 rw once mask 0xf;
        WP 0x18 rw keyed 0xa5 in 0xff00 mask 1;
    }

    const MORE "T_" {
        MASK 0x20 ro mask 0xff;
        SET 0x24 set MASK mask 0x0f;
        CLEAR 0x28 clear_of MASK mask 0xff;
        CH "CH{}R" [1..4; 8] 0x30 rw mask 0xfff;
        CM "CH{}M" [1..4; 8] 0x34 rw reset 3 mask 7;
        ON 0x60 w1s mask 0xff;
        OFF 0x64 clear_of ON;
    }
}

const ALL: Map = joined!(COMMON, MORE);

/// A device with these registers, which records the calls of its model.
#[derive(State, Polled, RegisterBank)]
#[port(self.port)]
struct Scratch {
    registers: Registers,
    #[state(skip)]
    port: Port,
    #[state(skip)]
    calls: Arc<Mutex<Vec<String>>>,
}

impl Table for Scratch {
    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        if register == DR { 0x55 } else { held }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, _: &mut Ctx) {
        self.calls.lock().unwrap().push(format!("{register:#x} {old:#x} {new:#x}"));
    }

    fn refused(&mut self, register: u32, why: Refused, _: &mut Ctx) {
        self.calls.lock().unwrap().push(format!("{register:#x} {why:?}"));
    }
}

impl Device for Scratch {
    by_table!();
}

fn scratch(port: Port) -> Scratch {
    Scratch { registers: Registers::new(&ALL), port, calls: Arc::default() }
}

/// A device on an APB, and the calls of its model.
fn rig() -> (Bench, Arc<Mutex<Vec<String>>>) {
    let device = scratch(Port::APB);
    let calls = Arc::clone(&device.calls);
    (Bench::new(device), calls)
}

/// Writes words; returns the calls of the model.
fn calls(bench: &mut Bench, calls: &Mutex<Vec<String>>, writes: &[(u32, u32)]) -> Vec<String> {
    for (offset, value) in writes {
        bench.write(Ps(0), *offset, *value).unwrap();
    }
    std::mem::take(&mut calls.lock().unwrap())
}

#[test]
fn bits_follow_their_own_access() {
    let mut registers = Registers::new(&ALL);
    registers.set(SR, 0xe8);
    assert_eq!(registers.write(SR, 0), Ok((ALL.row(SR).unwrap(), 0xe8, 0xc8)), "RXNE goes with a written 0");
    assert_eq!(registers.write(SR, 0x60).map(|wrote| wrote.2), Ok(0x88), "TC goes with a written 1");
    registers.was_read(SR);
    assert_eq!(registers[SR], 0x80, "a read clears IDLE");
}

#[test]
fn rules_hold_writes_back() {
    let (mut bench, log) = rig();
    let seen = calls(&mut bench, &log, &[(BRR, 0x12), (CR, 1), (BRR, 0x13), (OPT, 5), (OPT, 6), (0x1c, 1)]);
    let expected = ["0x10 0x0 0x12", "0x0 0x0 0x1", "0x10 Locked(0, 1)", "0x14 0x0 0x5", "0x14 Used", "0x1c ReadOnly"];
    assert_eq!(seen, expected);
    assert_eq!([BRR, OPT].map(|register| bench.value(Ps(0), register)), [0x12, 5]);
}

#[test]
fn a_key_opens_its_register() {
    let (mut bench, log) = rig();
    assert_eq!(calls(&mut bench, &log, &[(WP, 1), (WP, 0xa501), (WP, 0)]), ["0x18 Key", "0x18 0x0 0x1", "0x18 Key"]);
    assert_eq!(bench.value(Ps(0), WP), 1);
}

#[test]
fn aliases_write_their_register() {
    let (mut bench, log) = rig();
    assert_eq!(calls(&mut bench, &log, &[(SET, 0xff), (CLEAR, 1)]), ["0x20 0x0 0xf", "0x20 0xf 0xe"]);
    assert_eq!([SET, CLEAR].map(|register| bench.value(Ps(0), register)), [0, 0xe]);
}

#[test]
fn ones_set_bits_and_an_alias_clears_them() {
    let (mut bench, log) = rig();
    assert_eq!(calls(&mut bench, &log, &[(ON, 0x103), (ON, 4), (OFF, 1)]).len(), 3);
    assert_eq!([ON, OFF].map(|register| bench.value(Ps(0), register)), [6; 2]);
}

#[test]
fn what_is_volatile_passes_and_is_not_stored() {
    let (mut bench, log) = rig();
    assert_eq!(calls(&mut bench, &log, &[(DR, 0xffff), (KR, 0x1_5555)]), ["0x8 0x0 0x1ff", "0xc 0x0 0x5555"]);
    assert_eq!([DR, KR].map(|register| bench.value(Ps(0), register)), [0x55, 0]);
}

#[test]
fn repeated_rows_are_numbered() {
    let names: Vec<&str> = ALL.rows.iter().map(|row| row.name).filter(|name| name.starts_with("T_CH")).collect();
    assert_eq!(names, ["T_CH1R", "T_CH1M", "T_CH2R", "T_CH2M", "T_CH3R", "T_CH3M"]);
    assert_eq!((CH, CM, ALL.row(CH + 16).unwrap().name), (0x30, 0x34, "T_CH3R"));
    assert_eq!(ALL.row(0x1c), None);
    assert_eq!(ALL.row(0x1000), None);
}

#[test]
fn narrow_writes_follow_the_port() {
    for (port, expected) in
        [(Port::APB, 0x00cd_0000), (Port::new(Lanes::Repeated), 0xcdcd_cdcd), (Port::new(Lanes::Kept), 0x1ccd_1111)]
    {
        assert_eq!(port.word(0x1c11_1111, 0xabcd, 2, AccessSize::Byte), expected, "{port:?}");
    }
}

#[test]
fn bits_without_a_model_are_noted() {
    let mut bench = Bench::new(scratch(Port::APB));
    bench.write(Ps(0), CR, 0x80).unwrap();
    assert_eq!(bench.bus.notes().len(), 1);
    assert!(format!("{:?}", bench.bus.notes()).contains("T_CR.LIN is not modelled"));
    assert_eq!(field(0b10_0000, CR_MODE), 2);
}

#[test]
fn a_snapshot_has_the_values_and_people_see_names() {
    let mut registers = Registers::new(&ALL);
    for (register, value) in [(CR, 0x21), (OPT, 3), (CH + 8, 7)] {
        registers.write(register, value).unwrap();
    }
    registers.set(DR, 0x41);
    let bytes = saved(&registers);
    let mut other = Registers::new(&ALL);
    other.load(&mut Loader::new(&bytes)).unwrap();
    assert_eq!([CR, OPT, CH + 8, DR].map(|register| other[register]), [0x21, 3, 7, 0x41]);
    assert_eq!(other.write(OPT, 1), Err(Refused::Used));
    assert_eq!(shown(&other).field("T_CR"), Some(&Shown::Number(0x21)));
    assert_eq!(shown(&other).field("T_DR"), None);
}

#[test]
fn every_value_is_state_of_a_polling_loop() {
    let clock = Hz::new(1_000_000).unwrap();
    let look = |device: &mut Scratch, now| {
        let mut poll = Poll::look(clock, Cycles(now));
        assert!(device.polled(&mut poll));
        poll
    };
    let mut device = scratch(Port::APB);
    let before = look(&mut device, 10);
    assert!(look(&mut device, 20).repeats(&before));
    device.registers.put(SR, SR_TC, true);
    assert!(!look(&mut device, 30).repeats(&before));
}

#[test]
fn a_read_only_register_refuses_writes() {
    let (mut bench, log) = rig();
    assert_eq!(calls(&mut bench, &log, &[(MASK, 0xff)]), ["0x20 ReadOnly"]);
}

#[test]
fn offsets_wrap_at_the_bits_that_are_decoded() {
    let mut bench = Bench::new(scratch(Port::APB.decoding(0x1f)));
    bench.write(Ps(0), CR + 0x20, 0x21).unwrap();
    assert_eq!([CR, CR + 0x40].map(|register| bench.value(Ps(0), register)), [0x21, 0x21]);
}
