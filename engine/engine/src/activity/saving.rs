//! Activities in a snapshot: everything that was recorded. Sinks are not part of it.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use super::{Activities, Activity, Kind, Kinds, TRANSACTION};
use crate::state::{Damaged, Fresh, Loader, Saver, State};

/// Activities that were loaded from snapshots, and that no device here has.
static LOADED: Mutex<Vec<&Activity>> = Mutex::new(Vec::new());

impl State for &'static Activity {
    fn save(&self, to: &mut Saver) {
        let Activity { kind, name, meaning, joins } = **self;
        ((kind, joins), name, meaning).save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let ((kind, joins), name, meaning): ((Kind, bool), &'static str, &'static str) = Fresh::loaded(from)?;
        let wanted = Activity { kind, name, meaning, joins };
        if **self == wanted {
            return Ok(());
        }
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let known = loaded.iter().find(|known| ***known == wanted);
        *self = known.copied().unwrap_or_else(|| {
            let new: &'static Activity = Box::leak(Box::new(wanted));
            loaded.push(new);
            new
        });
        Ok(())
    }
}

impl Fresh for &'static Activity {
    fn fresh() -> Self {
        &TRANSACTION
    }
}

impl State for Activities {
    fn save(&self, to: &mut Saver) {
        to.begin("Activities");
        to.field("kinds");
        self.0.kinds.load(Ordering::Relaxed).save(to);
        to.field("is_kept");
        self.0.is_kept.load(Ordering::Relaxed).save(to);
        to.field("recording");
        self.recording().save(to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let (kinds, is_kept): (u32, bool) = Fresh::loaded(from)?;
        let mut recording = self.recording();
        recording.load(from)?;
        if !recording.is_sound() {
            return Err(Damaged);
        }
        if self.followed() != Kinds::NONE {
            recording.start_to_follow();
        }
        self.0.kinds.store(kinds | self.followed().0, Ordering::Relaxed);
        self.0.is_kept.store(is_kept, Ordering::Relaxed);
        Ok(())
    }
}

impl Activities {
    /// True if a sink gets the recorded spans ([`Activities::pass_to`]).
    pub fn are_passed_on(&self) -> bool {
        self.recording().has_sink()
    }
}
