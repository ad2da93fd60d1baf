//! Static texts, as in notes for the user. A snapshot has their characters.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::{Damaged, Fresh, Loader, Saver, State};

/// Texts from snapshots: there are few, and each is kept once, until the process ends.
static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// A text with a static lifetime, like those of the program itself.
pub fn kept(text: String) -> &'static str {
    let mut kept = KEPT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = kept.get(text.as_str()) {
        return known;
    }
    let text: &'static str = text.leak();
    kept.insert(text);
    text
}

impl State for &'static str {
    fn save(&self, to: &mut Saver) {
        (*self).to_owned().save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = kept(String::loaded(from)?);
        Ok(())
    }
}

impl Fresh for &'static str {
    fn fresh() -> &'static str {
        ""
    }
}
