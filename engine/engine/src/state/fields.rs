//! Ways to save a field, for `#[state(with = ...)]`.

/// For a field whose number of items is fixed by the board: `#[state(with = crate::state::fixed)]`. They are loaded in
/// place.
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
    /// [`Damaged`], also if the number of items differs.
    pub fn load<S: State>(all: &mut [S], from: &mut Loader) -> Result<(), Damaged> {
        if usize::loaded(from)? != all.len() {
            return Err(Damaged);
        }
        S::load_all(all, from)
    }
}

/// For a field that is worked out again from others: `#[state(with = crate::state::dropped)]`. It is not saved, and has
/// its default value after a load.
pub mod dropped {
    use super::super::{Damaged, Loader, Saver};

    /// Saves nothing.
    pub fn save<S>(_: &S, _: &mut Saver) {}

    /// Resets the field.
    ///
    /// # Errors
    /// None.
    pub fn load<S: Default>(dropped: &mut S, _: &mut Loader) -> Result<(), Damaged> {
        *dropped = S::default();
        Ok(())
    }
}

/// For a field from the board that is shown to people with the state: `#[state(with = crate::state::only_shown)]`. A
/// snapshot does not contain it.
pub mod only_shown {
    use super::super::{Damaged, Loader, Saver, State};

    /// As [`State::save`], for people.
    pub fn save<S: State>(one: &S, to: &mut Saver) {
        if to.is_shown() {
            one.save(to);
        }
    }

    /// Leaves the field unchanged.
    ///
    /// # Errors
    /// None.
    pub fn load<S>(_: &mut S, _: &mut Loader) -> Result<(), Damaged> {
        Ok(())
    }
}

/// For an optional field that the board decides: `#[state(with = crate::state::present)]`. It is loaded in place.
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
    /// [`Damaged`], also if only one of the saved field and this one has a value.
    pub fn load<S: State>(one: &mut Option<S>, from: &mut Loader) -> Result<(), Damaged> {
        if bool::loaded(from)? != one.is_some() {
            return Err(Damaged);
        }
        one.iter_mut().try_for_each(|one| one.load(from))
    }
}
