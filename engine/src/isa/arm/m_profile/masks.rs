//! PRIMASK, FAULTMASK and BASEPRI (ARM, B1.4.3 and B1.5.4).

use super::nvic::{Grouping, LEAST_URGENT};

/// The mask registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    pub primask: bool,
    pub faultmask: bool,
    /// 0 masks nothing.
    pub basepri: u8,
}

impl Masks {
    /// The priority that they raise execution to.
    pub fn boosted(&self, grouping: Grouping) -> i16 {
        let primask = if self.primask { 0 } else { LEAST_URGENT };
        self.but_primask(grouping).min(primask)
    }

    /// FAULTMASK and BASEPRI alone.
    pub fn but_primask(&self, grouping: Grouping) -> i16 {
        let faultmask = if self.faultmask { -1 } else { LEAST_URGENT };
        let basepri = if self.basepri == 0 { LEAST_URGENT } else { grouping.group(i16::from(self.basepri)) };
        faultmask.min(basepri)
    }
}
