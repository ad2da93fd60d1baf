//! The local exclusive monitor (ARM, A3.4.1).

use super::System;

/// The reservation of the last exclusive load, if it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Monitor {
    /// Physical address and size in bytes.
    reserved: Option<(u32, u32)>,
}

impl System {
    /// After an exclusive load of `bytes` at a physical address.
    pub fn reserve(&mut self, physical: u32, bytes: u32) {
        self.monitor.reserved = Some((physical, bytes));
    }

    /// Before an exclusive store: true if it is to be done. The reservation is gone afterwards. A store to another
    /// address or of another size than that of the load fails.
    pub fn claim(&mut self, physical: u32, bytes: u32) -> bool {
        self.monitor.reserved.take() == Some((physical, bytes))
    }

    /// As clrex does.
    pub fn clear_reservation(&mut self) {
        self.monitor.reserved = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::system;

    #[test]
    fn a_store_is_done_once_after_its_load() {
        let (mut system, _) = system();
        assert!(!system.claim(0x100, 4));
        system.reserve(0x100, 4);
        assert!(system.claim(0x100, 4) && !system.claim(0x100, 4));
        system.reserve(0x100, 4);
        assert!(!system.claim(0x104, 4) && !system.claim(0x100, 4));
        system.reserve(0x100, 8);
        assert!(!system.claim(0x100, 4));
        system.reserve(0x100, 1);
        system.clear_reservation();
        assert!(!system.claim(0x100, 1));
    }
}
