//! The registers by themselves.

use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};

/// The registers of one channel, or the global ones.
struct Window(Bench, u32);

impl walk::Port for Window {
    fn get(&mut self, offset: u32) -> u32 {
        self.0.value(Ps::ZERO, self.1 + offset)
    }

    fn put(&mut self, offset: u32, value: u32) {
        self.0.write(Ps::ZERO, self.1 + offset, value).unwrap();
    }
}

#[test]
fn registers_keep_their_tables() {
    let bench = || Bench::new(Xdmac::new(params()));
    walk::device_keeps_its_table(GLOBAL.rows, &[], &mut Window(bench(), 0));
    let last = PLACES.first + 15 * PLACES.bytes;
    walk::device_keeps_its_table(CHANNEL.rows, &["XDMAC_CC"], &mut Window(bench(), last));
}

#[test]
fn interrupt_masks_are_set_and_cleared_by_bit() {
    let mut rig = rig(0);
    rig.set(1, &[(CIE, 0x7), (0x04, 0x2)]);
    assert_eq!(rig.of(1, CIM), 0x5);
    rig.put(GIE, 0x300);
    rig.put(GID, 0x100);
    assert_eq!(rig.get(GIM), 0x200);
    rig.put(GSWF, 1 << 4);
    assert_eq!(rig.of(4, CIS), CIS_FIS);
}

#[test]
fn a_node_is_complete() {
    let (_, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 6]), ("#dma-cells", &[1])]);
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults.iter().all(|fault| fault.contains("cyclescope,")), "{faults:?}");
}
