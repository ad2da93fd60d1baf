//! XIP mode: the read window.

use super::*;

fn rig(lines: Lines) -> Rig {
    Rig::new(Params { xip: true, ..params(lines) })
}

fn window<T>(rig: &mut Rig, at: Ps, call: impl FnOnce(&mut dyn Device, &mut Ctx) -> T) -> T {
    rig.bench.bus.with_device(DeviceId(0), at, call)
}

#[test]
fn a_read_is_one_frame() {
    // command + address + dummy + 4 bytes: clocks of 25 ns.
    for (lines, opcode, header, clocks) in [
        (Lines::Single, 0x0b, 5, 8 + 24 + 8 + 32),
        (Lines::Dual, 0xbb, 6, 8 + 12 + 8 + 16),
        (Lines::Quad, 0xeb, 9, 8 + 6 + 10 + 8),
    ] {
        let mut rig = rig(lines);
        let reply = window(&mut rig, Ps(0), |core, ctx| core.read(1, 0x123456, AccessSize::Half, ctx)).unwrap();
        // 50 ns until the wire knows; up to the next AXI edge; 3 clocks back and 4 for the answer.
        let wire_ps: u64 = 50_000 + clocks * 25_000;
        assert_eq!(reply.done, Ps(wire_ps.div_ceil(10_000) * 10_000 + 70_000));
        let shifts = rig.shifts();
        assert_eq!((shifts[0].0.bits, shifts[1].0.bits, shifts.len()), (opcode, 0x12, header + 4));
        // The script counts bytes; the upper half of the word is its bytes 2 and 3.
        let byte = header as u32 + 2;
        assert_eq!(reply.value, (byte + 1) << 8 | byte);
    }
}

#[test]
fn a_burst_is_more_clocks_of_the_same_frame() {
    let mut rig = rig(Lines::Quad);
    let done = window(&mut rig, Ps(0), |core, ctx| core.burst(1, 0, 32, ctx)).unwrap();
    // 8 + 6 + 10 + 32*8/4 = 88 clocks: 2.2 us.
    assert_eq!(done, Ps(50_000 + 2_200_000 + 70_000));
    let counted = ["frames", "sck_clocks", "idle_clocks"].map(|name| rig.count(&format!("command_eb.{name}")));
    assert_eq!(counted, [1, 88, 0]);
    let mut bytes = [0; 4];
    assert!(window(&mut rig, done, |core, _| core.peek(1, 0x40, &mut bytes)));
    assert_eq!(bytes, [0x40, 0x41, 0x42, 0x43]);
    assert!(!window(&mut rig, done, |core, _| core.peek(0, 0x40, &mut bytes)));
}

#[test]
fn outside_xip_mode_there_is_no_window() {
    let mut rig = Rig::new(params(Lines::Quad));
    assert!(window(&mut rig, Ps(0), |core, ctx| core.read(1, 0x60, AccessSize::Word, ctx)).is_err());
    assert!(window(&mut rig, Ps(0), |core, ctx| core.write(1, 0x60, AccessSize::Word, 0, ctx)).is_err());
    assert!(window(&mut rig, Ps(0), |core, ctx| core.burst(1, 0, 32, ctx)).is_err());
    assert!(!window(&mut rig, Ps(0), |core, _| core.peek(1, 0, &mut [0])));
    assert_eq!((rig.bench.value(Ps(0), SPICR), rig.bench.bus.notes().len()), (0x180, 1));
}

#[test]
fn errors_are_kept_until_the_status_is_read() {
    let mut rig = rig(Lines::Quad);
    assert_eq!(rig.bench.value(Ps(0), 0x64), 0x01);
    assert!(window(&mut rig, Ps(0), |core, ctx| core.write(1, 0, AccessSize::Word, 0, ctx)).is_err());
    assert_eq!([rig.bench.value(Ps(0), 0x64), rig.bench.value(Ps(0), 0x64)], [0x11, 0x01]);
    rig.bench.write(Ps(0), 0x60, 0b01).unwrap();
    assert!(window(&mut rig, Ps(0), |core, ctx| core.read(1, 0, AccessSize::Word, ctx)).is_err());
    assert_eq!(rig.bench.value(Ps(0), 0x64), 0x09);
    rig.bench.write(Ps(0), 0x60, 0b11).unwrap();
    assert!(window(&mut rig, Ps(0), |core, ctx| core.read(1, 0, AccessSize::Word, ctx)).is_ok());
}
