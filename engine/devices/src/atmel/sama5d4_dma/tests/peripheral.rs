//! Transfers at a peripheral's pace, and at software's.

use super::*;

#[test]
fn data_go_to_a_peripheral_when_it_asks() {
    let mut rig = rig(4);
    rig.store(RAM, &[1, 2, 3, 4, 5]);
    let config = PER_TRAN | MEM2PER | WORDS | SOURCE_UP | 4 << PERID_SHIFT;
    rig.set(0, &[(CSA, RAM), (CDA, PORT), (CUBC, 4), (CC, config)]);
    rig.run(0);
    assert_eq!(rig.of(0, CUBC), 4);
    rig.bus.set_irq(IrqLine::Device { device: DeviceId(0), input: 4 }, true, rig.now);
    rig.now += Ps::from_us(10);
    assert_eq!((rig.of(0, CUBC), rig.status(0)), (0, CIS_BIS));
    assert_eq!(rig.ports_value(), 0x1234);
    assert_eq!(rig.bus.notes(), [""; 0]);
}

#[test]
fn data_come_from_a_peripheral_when_it_asks() {
    let mut rig = rig(3);
    let config = PER_TRAN | WORDS | DESTINATION_UP | 4 << PERID_SHIFT;
    rig.set(0, &[(CSA, PORT), (CDA, RAM), (CUBC, 3), (CC, config)]);
    rig.bus.set_irq(IrqLine::Device { device: DeviceId(0), input: 4 }, true, Ps::ZERO);
    // Three data, two waits of 20 clocks between them.
    let clocks = rig.run(0);
    assert!((40..80).contains(&clocks), "{clocks}");
    assert_eq!((rig.words(RAM, 4), rig.status(0)), (vec![1, 2, 3, 0], CIS_BIS));
}

#[test]
fn software_asks_for_chunks() {
    let mut rig = rig(0);
    rig.store(RAM, &count(1, 8));
    let config = COPY | PER_TRAN | SWREQ | 2 << 8;
    rig.set(0, &[(CSA, RAM), (CDA, RAM + 0x100), (CUBC, 8), (CC, config)]);
    rig.run(0);
    assert_eq!(rig.words(RAM + 0x100, 1), [0]);
    for moved in [4, 8] {
        rig.put(GSWR, 1);
        rig.now += Ps::from_us(10);
        assert_eq!((rig.of(0, CUBC), rig.get(GSWS)), (8 - moved, 0));
    }
    assert_eq!(rig.words(RAM + 0x100, 8), count(1, 8));
    assert_eq!(rig.status(0), CIS_BIS);
}
