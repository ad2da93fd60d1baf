//! Frames without data, and with data through QSPI_RDR and QSPI_TDR.

use super::*;

#[test]
fn a_frame_without_data_begins_with_its_register() {
    let mut rig = Rig::memory();
    rig.get(SR);
    let begun = rig.now;
    rig.put(ICR, 0x06);
    rig.put(IFR, ifr::INSTEN);
    assert_eq!(rig.get(SR) & (SR_INSTRE | SR_CSR | SR_CSS), 0);
    assert_eq!(rig.until(SR_INSTRE) & SR_CSR, SR_CSR);
    // Eight serial clocks.
    assert!(rig.now > begun + clock().ps_at_floor(Cycles(8 * PERIOD)));
    assert_eq!(rig.get(SR) & (SR_INSTRE | SR_CSR | SR_CSS), SR_CSS);
    assert_eq!((rig.counter("frames"), rig.counter("sck_clocks")), (1, 8));
}

#[test]
fn a_frame_of_instruction_and_address_takes_the_address_register() {
    let mut rig = Rig::reading(ifr::QUAD_READ);
    assert_ne!(rig.word(0x1000), u32::MAX);
    rig.last();
    rig.command(0x06);
    rig.put(IAR, 0x1000);
    rig.frame(0x20, ifr::INSTEN | ifr::ADDREN);
    rig.until(SR_INSTRE);
    rig.now += Ps::from_us(300_000);
    rig.frame(0xeb, ifr::QUAD_READ);
    assert_eq!((rig.word(0x1000), rig.word(0xffc)), (u32::MAX, word_at(0xffc)));
    assert_eq!(rig.counter("flash0.subsectors_erased"), 1);
}

#[test]
fn register_mode_receives_through_its_register() {
    let mut rig = Rig::memory();
    rig.put(MR, SMM | SMRM);
    rig.frame(0x9f, ifr::INSTEN | ifr::DATAEN);
    for byte in [0x20, 0xba, 0x18] {
        rig.until(SR_RDRF);
        if byte == 0x18 {
            rig.put(CR, CR_LASTXFER);
        }
        assert_eq!(rig.get(RDR), byte);
    }
    rig.until(SR_INSTRE | SR_CSR);
    assert_eq!((rig.counter("frames"), rig.counter("sck_clocks")), (1, 8 + 24));
    assert_eq!(rig.notes(), "");
}

#[test]
fn register_mode_sends_through_its_register() {
    let mut rig = Rig::memory();
    rig.put(MR, SMM | SMRM);
    rig.command(0x06);
    rig.put(IAR, 0x20_0000);
    rig.frame(0x02, ifr::INSTEN | ifr::ADDREN | ifr::DATAEN | ifr::WRITE);
    for byte in [0x12, 0x34, 0x56] {
        rig.until(SR_TDRE);
        rig.put(TDR, byte);
    }
    rig.last();
    rig.now += Ps::from_us(600);
    rig.put(MR, SMM);
    rig.frame(0xeb, ifr::QUAD_READ);
    assert_eq!(rig.word(0x20_0000), 0xff56_3412);
    assert_eq!(rig.notes(), "");
}

#[test]
fn the_end_of_a_frame_interrupts() {
    let mut rig = Rig::memory();
    rig.get(SR);
    rig.put(IER, SR_INSTRE);
    rig.put(ICR, 0x06);
    rig.put(IFR, ifr::INSTEN);
    let begun = rig.now;
    rig.bench.run(begun);
    assert_eq!(rig.bench.pending(), 0);
    rig.bench.run(begun + Ps::from_us(1));
    assert_eq!(rig.bench.pending(), 1 << 4);
    rig.now += Ps::from_us(1);
    rig.get(SR);
    assert_eq!(rig.bench.pending(), 0);
}
