//! Containers of state: arrays, lists, maps, boxes, options.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use super::{Damaged, Fresh, Loader, Saver, State};

impl<S: State, const N: usize> State for [S; N] {
    fn save(&self, to: &mut Saver) {
        if to.is_shown() {
            to.list(N);
        }
        S::save_all(self, to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        S::load_all(self, from)
    }
}

impl<S: Fresh, const N: usize> Fresh for [S; N] {
    fn fresh() -> Self {
        std::array::from_fn(|_| S::fresh())
    }
}

impl<S: Fresh> State for Vec<S> {
    fn save(&self, to: &mut Saver) {
        to.list(self.len());
        S::save_all(self, to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let len = from.list()?;
        self.resize_with(len, S::fresh);
        S::load_all(self, from)
    }
}

impl<S: Fresh> Fresh for Vec<S> {
    fn fresh() -> Self {
        Vec::new()
    }
}

impl<S: Fresh> State for Box<[S]> {
    fn save(&self, to: &mut Saver) {
        to.list(self.len());
        S::save_all(self, to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let len = from.list()?;
        if len != self.len() {
            *self = (0..len).map(|_| S::fresh()).collect();
        }
        S::load_all(self, from)
    }
}

impl<S: Fresh> Fresh for Box<[S]> {
    fn fresh() -> Self {
        Box::default()
    }
}

impl<S: State + ?Sized> State for Box<S> {
    fn save(&self, to: &mut Saver) {
        (**self).save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        (**self).load(from)
    }
}

impl<S: Fresh> Fresh for Box<S> {
    fn fresh() -> Self {
        Box::new(S::fresh())
    }
}

impl<S: Fresh> State for Option<S> {
    fn save(&self, to: &mut Saver) {
        match (self, to.is_shown()) {
            (Some(some), true) => some.save(to),
            (None, true) => ().save(to),
            (Some(some), false) => {
                true.save(to);
                some.save(to);
            }
            (None, false) => false.save(to),
        }
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        if bool::loaded(from)? {
            return self.get_or_insert_with(S::fresh).load(from);
        }
        *self = None;
        Ok(())
    }
}

impl<S: Fresh, E: Fresh> State for Result<S, E> {
    fn save(&self, to: &mut Saver) {
        match self {
            Ok(value) => {
                to.variant("Ok", 0);
                to.field("0");
                value.save(to);
            }
            Err(error) => {
                to.variant("Err", 1);
                to.field("0");
                error.save(to);
            }
        }
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = match from.variant()? {
            0 => Ok(S::loaded(from)?),
            1 => Err(E::loaded(from)?),
            _ => return Err(Damaged),
        };
        Ok(())
    }
}

impl<S: Fresh, E: Fresh> Fresh for Result<S, E> {
    fn fresh() -> Self {
        Ok(S::fresh())
    }
}

impl<S: Fresh> Fresh for Option<S> {
    fn fresh() -> Self {
        None
    }
}

macro_rules! collections {
    ($($collection:ident where $bound:ident;)*) => {$(
        impl<S: Fresh + $bound> State for $collection<S> {
            fn save(&self, to: &mut Saver) {
                to.list(self.len());
                for item in self {
                    to.item();
                    item.save(to);
                }
                to.end();
            }

            fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
                let len = from.list()?;
                *self = (0..len).map(|_| S::loaded(from)).collect::<Result<_, _>>()?;
                Ok(())
            }
        }

        impl<S: Fresh + $bound> Fresh for $collection<S> {
            fn fresh() -> Self {
                Self::default()
            }
        }
    )*};
}

collections! {
    VecDeque where Sized;
    BTreeSet where Ord;
}

impl<K: Fresh + Ord, V: Fresh> State for BTreeMap<K, V> {
    fn save(&self, to: &mut Saver) {
        to.list(self.len());
        for (key, value) in self {
            to.item();
            if to.is_shown() {
                to.list(2);
            }
            to.item();
            key.save(to);
            to.item();
            value.save(to);
            to.end();
        }
        to.end_of_map();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let len = from.list()?;
        *self = (0..len).map(|_| <(K, V)>::loaded(from)).collect::<Result<_, _>>()?;
        Ok(())
    }
}

impl<K: Fresh + Ord, V: Fresh> Fresh for BTreeMap<K, V> {
    fn fresh() -> Self {
        BTreeMap::new()
    }
}

impl<S: Fresh + Ord + Clone> State for BinaryHeap<S> {
    fn save(&self, to: &mut Saver) {
        // Sorted, since equal heaps may have different arrangements.
        self.clone().into_sorted_vec().save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = Vec::loaded(from)?.into();
        Ok(())
    }
}

impl<S: Fresh + Ord + Clone> Fresh for BinaryHeap<S> {
    fn fresh() -> Self {
        BinaryHeap::new()
    }
}

impl<S: Fresh> State for std::cmp::Reverse<S> {
    fn save(&self, to: &mut Saver) {
        self.0.save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.0.load(from)
    }
}

impl<S: Fresh> Fresh for std::cmp::Reverse<S> {
    fn fresh() -> Self {
        std::cmp::Reverse(S::fresh())
    }
}

impl<S: Fresh + Copy> State for std::cell::Cell<S> {
    fn save(&self, to: &mut Saver) {
        self.get().save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.get_mut().load(from)
    }
}

impl<S: Fresh + Copy> Fresh for std::cell::Cell<S> {
    fn fresh() -> Self {
        std::cell::Cell::new(S::fresh())
    }
}
