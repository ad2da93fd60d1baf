//! Totals since the start of the run, which a device reports by name.

/// For [`engine::bus::device::Device::counters`].
pub fn totals<const N: usize>(named: [(&str, u64); N]) -> Vec<(String, u64)> {
    named.map(|(name, total)| (name.to_owned(), total)).to_vec()
}
