//! Shared and borrowed state.

use std::cell::RefCell;
use std::sync::Arc;

use super::{Damaged, Fresh, Loader, Saver, State};

/// Owners of one shared value have a copy each after a load.
impl<S: Fresh> State for Arc<S> {
    fn save(&self, to: &mut Saver) {
        (**self).save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = Arc::new(S::loaded(from)?);
        Ok(())
    }
}

impl<S: Fresh> Fresh for Arc<S> {
    fn fresh() -> Self {
        Arc::new(S::fresh())
    }
}

impl State for Arc<str> {
    fn save(&self, to: &mut Saver) {
        (**self).to_owned().save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = String::loaded(from)?.into();
        Ok(())
    }
}

impl Fresh for Arc<str> {
    fn fresh() -> Self {
        Arc::from("")
    }
}

impl<S: State> State for RefCell<S> {
    fn save(&self, to: &mut Saver) {
        self.borrow().save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.get_mut().load(from)
    }
}

impl<S: Fresh> Fresh for RefCell<S> {
    fn fresh() -> Self {
        RefCell::new(S::fresh())
    }
}
