//! Ways to save a field, for `#[state(with = ...)]`.

/// For a field with as many items as the board says: `#[state(with = crate::state::fixed)]`. They are loaded in place.
pub mod fixed {
    use super::super::{Damaged, Fresh, Loader, Saver, State};

    /// As [`State::save`].
    pub fn save<S: State>(all: &[S], to: &mut Saver) {
        to.list(all.len());
        S::save_all(all, to);
        to.end();
    }

    /// As [`State::load`].
    ///
    /// # Errors
    /// [`Damaged`], too, if there were more or fewer items.
    pub fn load<S: State>(all: &mut [S], from: &mut Loader) -> Result<(), Damaged> {
        if usize::loaded(from)? != all.len() {
            return Err(Damaged);
        }
        S::load_all(all, from)
    }
}

/// For a field that is worked out anew from the rest: `#[state(with = crate::state::dropped)]`. It is not saved, and is
/// the default one behind a load.
pub mod dropped {
    use super::super::{Damaged, Loader, Saver};

    /// Nothing.
    pub fn save<S>(_: &S, _: &mut Saver) {}

    /// What there was is forgotten.
    ///
    /// # Errors
    /// None.
    pub fn load<S: Default>(dropped: &mut S, _: &mut Loader) -> Result<(), Damaged> {
        *dropped = S::default();
        Ok(())
    }
}

/// For a field that the board says, and that people are to see beside the state: `#[state(with =
/// crate::state::only_shown)]`. A snapshot has nothing of it.
pub mod only_shown {
    use super::super::{Damaged, Loader, Saver, State};

    /// As [`State::save`], for people.
    pub fn save<S: State>(one: &S, to: &mut Saver) {
        if to.is_shown() {
            one.save(to);
        }
    }

    /// It stays as it is.
    ///
    /// # Errors
    /// None.
    pub fn load<S>(_: &mut S, _: &mut Loader) -> Result<(), Damaged> {
        Ok(())
    }
}

/// For a field that is there or not, as the board says: `#[state(with = crate::state::present)]`. It is loaded in
/// place.
pub mod present {
    use super::super::{Damaged, Fresh, Loader, Saver, State};

    /// As [`State::save`].
    pub fn save<S: State>(one: &Option<S>, to: &mut Saver) {
        match (one, to.is_shown()) {
            (Some(one), true) => one.save(to),
            (None, true) => ().save(to),
            (one, false) => {
                one.is_some().save(to);
                one.iter().for_each(|one| one.save(to));
            }
        }
    }

    /// As [`State::load`].
    ///
    /// # Errors
    /// [`Damaged`], too, if it was there and is not, or the other way round.
    pub fn load<S: State>(one: &mut Option<S>, from: &mut Loader) -> Result<(), Damaged> {
        if bool::loaded(from)? != one.is_some() {
            return Err(Damaged);
        }
        one.iter_mut().try_for_each(|one| one.load(from))
    }
}
