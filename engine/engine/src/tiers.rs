//! Two tiers of tests, in all crates: `make test` runs short forms, `make test-all` (`CYCLESCOPE_TESTS=all`) the whole.

use std::env;

/// The size of a test: `short` in `make test`, `whole` in `make test-all`.
pub fn sized<Count>(short: Count, whole: Count) -> Count {
    if env::var_os("CYCLESCOPE_TESTS").is_some_and(|tier| tier == "all") { whole } else { short }
}
