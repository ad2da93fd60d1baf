//! Transfers between memories.

use super::*;

#[test]
fn a_block_is_copied_in_bursts() {
    let mut rig = rig(0);
    rig.store(RAM, &count(1, 40));
    rig.set(2, &[(CSA, RAM), (CDA, RAM + 0x1000), (CUBC, 40), (CC, COPY)]);
    // A burst of n words: 2 clocks there, 3 and n - 1 at the port, 1 back; read and then written. With the last write's
    // address the last event is over.
    let burst = |words: u64| 2 + 3 + words - 1 + 1;
    assert_eq!(rig.run(2), 10 + 4 * burst(16) + burst(8));
    assert_eq!(rig.words(RAM + 0x1000, 41), [count(1, 40), vec![0]].concat());
    assert_eq!((rig.status(2), rig.status(2), rig.get(GS)), (CIS_BIS, 0, 0));
    assert_eq!((rig.of(2, CUBC), rig.of(2, CSA)), (0, RAM + 160));
}

#[test]
fn widths_and_fixed_addresses() {
    let mut rig = rig(0);
    rig.store(RAM, &[0x4433_2211, 0x8877_6655]);
    rig.set(0, &[(CSA, RAM + 1), (CDA, RAM + 0x106), (CUBC, 5), (CC, COPY & !WORDS)]);
    rig.run(0);
    assert_eq!(rig.words(RAM + 0x104, 3), [0x3322_0000, 0x0066_5544, 0]);
    // 64 bits, from one place to another.
    rig.set(0, &[(CSA, RAM), (CDA, RAM + 0x200), (CUBC, 2), (CC, 3 << 11 | DESTINATION_UP)]);
    rig.run(0);
    assert_eq!(rig.words(RAM + 0x200, 5), [0x4433_2211, 0x8877_6655, 0x4433_2211, 0x8877_6655, 0]);
}

#[test]
fn strides_and_microblocks() {
    let mut rig = rig(0);
    rig.store(RAM, &count(1, 16));
    // Two microblocks of two words. Source: 4 bytes skipped after each word, 4 back after each microblock;
    // destination: 8 skipped after each microblock.
    let config = WORDS | 3 << 16 | 2 << 18;
    rig.set(1, &[(CSA, RAM), (CDA, RAM + 0x100), (CUBC, 2), (0x24, 1), (CC, config)]);
    rig.set(1, &[(CDS_MSP, 4), (CSUS, 0x00ff_fffc), (CDUS, 8)]);
    rig.run(1);
    assert_eq!(rig.words(RAM + 0x100, 7), [1, 3, 0, 0, 4, 6, 0]);
    assert_eq!(rig.status(1), CIS_BIS);
}

#[test]
fn a_memory_set_reads_once() {
    let mut rig = rig(0);
    rig.store(RAM, &[7, 8]);
    rig.set(0, &[(CSA, RAM), (CDA, RAM + 0x100), (CUBC, 3), (CC, COPY | MEMSET)]);
    rig.run(0);
    assert_eq!(rig.words(RAM + 0x100, 4), [7, 7, 7, 0]);
}

#[test]
fn errors_end_the_transfer() {
    let cases = [(0, RAM, CIS_RBEIS), (u32::MAX, RAM, CIS_RBEIS), (RAM, 0x1000, CIS_WBEIS), (RAM, DMA, CIS_WBEIS)];
    for (source, destination, status) in cases {
        let mut rig = rig(0);
        rig.set(5, &[(CSA, source), (CDA, destination), (CUBC, 3), (CC, COPY)]);
        rig.run(5);
        assert_eq!((rig.status(5), rig.get(GS)), (status, 0), "{source:#x} {destination:#x}");
        assert!(rig.bus.notes()[0].contains("channel 5: a bus error"));
    }
}

#[test]
fn a_channel_is_suspended_and_disabled() {
    let mut rig = rig(0);
    rig.store(RAM, &count(1, 64));
    rig.set(0, &[(CSA, RAM), (CDA, RAM + 0x1000), (CUBC, 64), (CC, COPY)]);
    rig.put(GRWS, 1);
    rig.run(0);
    assert_eq!((rig.get(GS), rig.of(0, CUBC), rig.get(GRS)), (1, 64, 1));
    rig.put(GRWR, 1);
    rig.now = mhz(100).after(rig.now, Cycles(50));
    rig.put(GD, 1);
    assert_eq!(rig.status(0), CIS_DIS);
    let left = rig.of(0, CUBC);
    assert!((16..64).contains(&left), "{left}");
    assert_eq!(rig.get(GS), 0);
}
