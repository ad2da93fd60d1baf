//! The registers by themselves.

use super::*;
use crate::bench::{CPU_INTC, read_plain_node};
use crate::registers::walk;

#[test]
fn registers_keep_their_table() {
    let mut rig = Rig::new();
    walk::device_keeps_its_table(MAP.rows, &["QSPI_WPMR", "QSPI_CR", "QSPI_TDR"], &mut rig.bench);
}

#[test]
fn protected_registers_keep_their_values_and_report_who_was_written() {
    let mut rig = Rig::new();
    rig.put(WPMR, 1);
    rig.put(SCR, 0x500);
    assert_eq!((rig.get(WPMR), rig.get(SCR)), (0, 0x500));
    rig.put(WPMR, 0x5153_5001);
    for (register, value) in [(MR, 1), (SMR, 1), (SCR, 0x700)] {
        rig.put(register, value);
        assert_eq!(rig.get(WPSR), 1 | register << 8);
    }
    rig.put(ICR, 3);
    assert_eq!((rig.get(MR), rig.get(SCR), rig.get(ICR), rig.get(WPSR)), (0, 0x500, 3, 0));
    assert!(rig.notes().contains("the register at 0x20 is write-protected"));
    rig.put(WPMR, 0x5153_5000);
    rig.put(MR, 1);
    assert_eq!(rig.get(MR), 1);
}

#[test]
fn a_software_reset_is_a_reset() {
    let mut rig = Rig::reading(ifr::QUAD_READ);
    rig.word(0);
    rig.put(CR, CR_SWRST);
    for register in [MR, SCR, ICR, IFR, IMR] {
        assert_eq!(rig.get(register), 0);
    }
    assert!(rig.load(0, AccessSize::Word).is_err());
}

#[test]
fn a_node_needs_its_window_timing() {
    let (_, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 4])]);
    let named = |name: &str| faults.iter().any(|fault| fault.contains(name));
    assert!(named("cyclescope,window-request-cycles") && named("cyclescope,window-response-cycles"), "{faults:?}");
    assert!(named("cyclescope,window-reads-go-on"), "{faults:?}");
    assert_eq!(faults.len(), 4, "{faults:?}");
}
