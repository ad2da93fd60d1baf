//! Transfers between memories.

use super::*;

#[test]
fn a_block_is_copied_in_bursts() {
    let mut rig = rig(0);
    rig.store(RAM, &count(1, 40));
    rig.set(2, &[(XDMAC_CSA, RAM), (XDMAC_CDA, RAM + 0x1000), (XDMAC_CUBC, 40), (XDMAC_CC, COPY)]);
    // A burst of n words: 2 clocks there, 3 and n - 1 at the port, 1 back; read and then written. With the last write's
    // address the last event is over.
    let burst = |words: u64| 2 + 3 + words - 1 + 1;
    assert_eq!(rig.run(2), 10 + 4 * burst(16) + burst(8));
    assert_eq!(rig.words(RAM + 0x1000, 41), [count(1, 40), vec![0]].concat());
    assert_eq!((rig.status(2), rig.status(2), rig.get(XDMAC_GS)), (cis::BIS, 0, 0));
    assert_eq!((rig.of(2, XDMAC_CUBC), rig.of(2, XDMAC_CSA)), (0, RAM + 160));
}

#[test]
fn widths_and_fixed_addresses() {
    let mut rig = rig(0);
    rig.store(RAM, &[0x4433_2211, 0x8877_6655]);
    rig.set(0, &[(XDMAC_CSA, RAM + 1), (XDMAC_CDA, RAM + 0x106), (XDMAC_CUBC, 5), (XDMAC_CC, COPY & !WORDS)]);
    rig.run(0);
    assert_eq!(rig.words(RAM + 0x104, 3), [0x3322_0000, 0x0066_5544, 0]);
    // 64 bits, from one place to another.
    rig.set(0, &[(XDMAC_CSA, RAM), (XDMAC_CDA, RAM + 0x200), (XDMAC_CUBC, 2), (XDMAC_CC, 3 << 11 | DESTINATION_UP)]);
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
    rig.set(1, &[(XDMAC_CSA, RAM), (XDMAC_CDA, RAM + 0x100), (XDMAC_CUBC, 2), (0x24, 1), (XDMAC_CC, config)]);
    rig.set(1, &[(XDMAC_CDS_MSP, 4), (XDMAC_CSUS, 0x00ff_fffc), (XDMAC_CDUS, 8)]);
    rig.run(1);
    assert_eq!(rig.words(RAM + 0x100, 7), [1, 3, 0, 0, 4, 6, 0]);
    assert_eq!(rig.status(1), cis::BIS);
}

#[test]
fn a_memory_set_reads_once() {
    let mut rig = rig(0);
    rig.store(RAM, &[7, 8]);
    rig.set(0, &[(XDMAC_CSA, RAM), (XDMAC_CDA, RAM + 0x100), (XDMAC_CUBC, 3), (XDMAC_CC, COPY | MEMSET)]);
    rig.run(0);
    assert_eq!(rig.words(RAM + 0x100, 4), [7, 7, 7, 0]);
}

#[test]
fn errors_end_the_transfer() {
    let cases = [(0, RAM, cis::RBEIS), (u32::MAX, RAM, cis::RBEIS), (RAM, 0x1000, cis::WBEIS), (RAM, DMA, cis::WBEIS)];
    for (source, destination, status) in cases {
        let mut rig = rig(0);
        rig.set(5, &[(XDMAC_CSA, source), (XDMAC_CDA, destination), (XDMAC_CUBC, 3), (XDMAC_CC, COPY)]);
        rig.run(5);
        assert_eq!((rig.status(5), rig.get(XDMAC_GS)), (status, 0), "{source:#x} {destination:#x}");
        assert!(rig.bus.notes()[0].contains("channel 5: a bus error"));
    }
}

#[test]
fn a_channel_is_suspended_and_disabled() {
    let mut rig = rig(0);
    rig.store(RAM, &count(1, 64));
    rig.set(0, &[(XDMAC_CSA, RAM), (XDMAC_CDA, RAM + 0x1000), (XDMAC_CUBC, 64), (XDMAC_CC, COPY)]);
    rig.put(XDMAC_GRWS, 1);
    rig.run(0);
    assert_eq!((rig.get(XDMAC_GS), rig.of(0, XDMAC_CUBC), rig.get(XDMAC_GRS)), (1, 64, 1));
    rig.put(XDMAC_GRWR, 1);
    rig.now = mhz(100).after(rig.now, Cycles(50));
    rig.put(XDMAC_GD, 1);
    assert_eq!(rig.status(0), cis::DIS);
    let left = rig.of(0, XDMAC_CUBC);
    assert!((16..64).contains(&left), "{left}");
    assert_eq!(rig.get(XDMAC_GS), 0);
}
