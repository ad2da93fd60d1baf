//! State: what a snapshot holds.
//!
//! A model derives [`State`], and with it says once what it consists of: `#[state(skip)]` stands before what is no
//! state, such as what the board says of it. A snapshot is loaded into a machine of the same board, in place, so
//! whatever is skipped is there already. The same derive shows a model's state to people, by the names of its fields
//! ([`shown`]).
//!
//! Bytes of a snapshot say nothing of their format: only the same build of the engine reads them.

pub mod digest;
pub mod pages;
mod shared;
mod texts;

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

pub use cyclescope_derive::{Fresh, State};
pub use texts::kept;

/// A snapshot that was cut off, or is not what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the snapshot is damaged")]
pub struct Damaged;

/// What can be saved in a snapshot, and loaded from it in place.
pub trait State {
    /// Adds itself to a snapshot.
    fn save(&self, to: &mut Saver);

    /// Becomes what was saved.
    ///
    /// # Errors
    /// [`Damaged`], with some of it loaded.
    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged>;

    /// Adds several to a snapshot. Numbers do it at once.
    fn save_all(all: &[Self], to: &mut Saver)
    where
        Self: Sized,
    {
        all.iter().for_each(|one| {
            to.item();
            one.save(to);
        });
    }

    /// Loads several.
    ///
    /// # Errors
    /// As for [`State::load`].
    fn load_all(all: &mut [Self], from: &mut Loader) -> Result<(), Damaged>
    where
        Self: Sized,
    {
        all.iter_mut().try_for_each(|one| one.load(from))
    }
}

/// State of which a snapshot has all, so that as many can be loaded as there were.
pub trait Fresh: State + Sized {
    /// Something to load into.
    fn fresh() -> Self;

    /// One from a snapshot.
    ///
    /// # Errors
    /// As for [`State::load`].
    fn loaded(from: &mut Loader) -> Result<Self, Damaged> {
        let mut fresh = Self::fresh();
        fresh.load(from)?;
        Ok(fresh)
    }
}

/// State as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A number without a sign.
    Number(u64),
    /// A number with a sign.
    Signed(i64),
    /// A flag.
    Flag(bool),
    /// A text, or the name of a variant without fields.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Several.
    List(Vec<Shown>),
    /// Fields by name; of a variant of an enum, its name, too.
    Fields(Option<&'static str>, Vec<(&'static str, Shown)>),
    /// Nothing.
    Nothing,
}

/// A state by the names of its fields.
pub fn shown<S: State + ?Sized>(state: &S) -> Shown {
    let mut saver = Saver { tree: Some(Tree::default()), ..Saver::default() };
    state.save(&mut saver);
    saver.tree.and_then(|mut tree| tree.done.pop()).map_or(Shown::Nothing, |(_, shown)| shown)
}

/// The bytes of a state.
pub fn saved<S: State + ?Sized>(state: &S) -> Vec<u8> {
    let mut saver = Saver::default();
    state.save(&mut saver);
    saver.into_bytes()
}

/// Takes a state: as bytes, or by names.
#[derive(Debug, Default)]
pub struct Saver {
    bytes: Vec<u8>,
    tree: Option<Tree>,
    refusal: Option<String>,
}

/// Fields by their names.
type Named = Vec<(&'static str, Shown)>;

/// A tree that grows.
#[derive(Debug, Default)]
struct Tree {
    /// The name of what comes next.
    name: &'static str,
    /// What is complete, on the innermost level.
    done: Named,
    /// Levels around that: the name of the level, of the variant, if it is a list, and what was complete.
    around: Vec<(&'static str, Option<&'static str>, bool, Named)>,
}

impl Tree {
    fn leaf(&mut self, shown: Shown) {
        self.done.push((self.name, shown));
    }

    fn begin(&mut self, variant: Option<&'static str>, is_list: bool) {
        self.around.push((self.name, variant, is_list, std::mem::take(&mut self.done)));
    }

    fn end(&mut self) {
        let Some((name, variant, is_list, before)) = self.around.pop() else { return };
        let fields = std::mem::replace(&mut self.done, before);
        let shown = match (is_list, variant) {
            (true, _) => Shown::List(fields.into_iter().map(|(_, shown)| shown).collect()),
            (false, Some(variant)) if fields.is_empty() => Shown::Text(variant.to_owned()),
            _ => Shown::Fields(variant, fields),
        };
        self.done.push((name, shown));
    }
}

impl Saver {
    /// What was saved.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Something can't be saved: why, in one line that names it. What is saved all the same is no snapshot then.
    pub fn refuse(&mut self, why: String) {
        self.refusal.get_or_insert(why);
    }

    /// The first reason of [`Saver::refuse`].
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Fields follow, up to [`Saver::end`].
    pub fn begin(&mut self, _name: &'static str) {
        if let Some(tree) = &mut self.tree {
            tree.begin(None, false);
        }
    }

    /// The same of a variant of an enum.
    pub fn variant(&mut self, name: &'static str, index: u32) {
        match &mut self.tree {
            Some(tree) => tree.begin(Some(name), false),
            None => self.raw(&index.to_le_bytes()),
        }
    }

    /// The field of this name follows.
    pub fn field(&mut self, name: &'static str) {
        if let Some(tree) = &mut self.tree {
            tree.name = name;
        }
    }

    /// So many items of a list follow, up to [`Saver::end`].
    pub fn list(&mut self, len: usize) {
        match &mut self.tree {
            Some(tree) => tree.begin(None, true),
            None => self.raw(&(len as u64).to_le_bytes()),
        }
    }

    /// An item of a list follows.
    pub fn item(&mut self) {
        self.field("");
    }

    /// The fields, or the items, are complete.
    pub fn end(&mut self) {
        if let Some(tree) = &mut self.tree {
            tree.end();
        }
    }

    /// Saves bytes as they are: whoever loads them knows how many there are.
    pub fn raw(&mut self, bytes: &[u8]) {
        match &mut self.tree {
            Some(tree) => tree.leaf(Shown::Bytes(bytes.to_vec())),
            None => self.bytes.extend_from_slice(bytes),
        }
    }

    /// True if the state is shown to people; what is only of use to a snapshot may be left out.
    pub fn is_shown(&self) -> bool {
        self.tree.is_some()
    }

    fn leaf(&mut self, shown: impl FnOnce() -> Shown, bytes: &[u8]) {
        match &mut self.tree {
            Some(tree) => tree.leaf(shown()),
            None => self.bytes.extend_from_slice(bytes),
        }
    }
}

/// Gives a snapshot's bytes.
#[derive(Clone, Debug)]
pub struct Loader<'a> {
    left: &'a [u8],
    refusal: Option<String>,
}

impl<'a> Loader<'a> {
    /// From these bytes.
    pub const fn new(bytes: &'a [u8]) -> Loader<'a> {
        Loader { left: bytes, refusal: None }
    }

    /// True if everything was loaded.
    pub const fn is_over(&self) -> bool {
        self.left.is_empty()
    }

    /// The snapshot is whole, and can't be loaded here: why, in one line that names what it is about. Who loads gives
    /// this as its error.
    pub fn refuse(&mut self, why: String) -> Damaged {
        self.refusal.get_or_insert(why);
        Damaged
    }

    /// The first reason of [`Loader::refuse`].
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// As many bytes as that.
    ///
    /// # Errors
    /// [`Damaged`] if there are fewer.
    pub fn raw(&mut self, len: usize) -> Result<&'a [u8], Damaged> {
        let (bytes, left) = self.left.split_at_checked(len).ok_or(Damaged)?;
        self.left = left;
        Ok(bytes)
    }

    /// A number of items, each of which takes a byte or more.
    ///
    /// # Errors
    /// [`Damaged`] if there are fewer bytes left.
    pub fn list(&mut self) -> Result<usize, Damaged> {
        let len = usize::try_from(u64::loaded(self)?).map_err(|_| Damaged)?;
        (len <= self.left.len()).then_some(len).ok_or(Damaged)
    }

    /// Which variant of an enum it was.
    ///
    /// # Errors
    /// [`Damaged`] if nothing is left.
    pub fn variant(&mut self) -> Result<u32, Damaged> {
        u32::loaded(self)
    }
}

macro_rules! numbers {
    ($($number:ty => $shown:ident as $shown_as:ty),*) => {$(
        impl State for $number {
            fn save(&self, to: &mut Saver) {
                to.leaf(|| Shown::$shown(*self as $shown_as), &self.to_le_bytes());
            }

            fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
                let bytes = from.raw(size_of::<$number>())?;
                *self = <$number>::from_le_bytes(bytes.try_into().map_err(|_| Damaged)?);
                Ok(())
            }

            fn save_all(all: &[$number], to: &mut Saver) {
                match &mut to.tree {
                    Some(_) => all.iter().for_each(|one| { to.item(); one.save(to) }),
                    None => to.bytes.extend(all.iter().flat_map(|one| one.to_le_bytes())),
                }
            }

            fn load_all(all: &mut [$number], from: &mut Loader) -> Result<(), Damaged> {
                let bytes = from.raw(size_of_val(all))?;
                for (one, bytes) in all.iter_mut().zip(bytes.chunks_exact(size_of::<$number>())) {
                    *one = <$number>::from_le_bytes(bytes.try_into().map_err(|_| Damaged)?);
                }
                Ok(())
            }
        }

        impl Fresh for $number {
            fn fresh() -> $number {
                0
            }
        }
    )*};
}

numbers!(
    u8 => Number as u64, u16 => Number as u64, u32 => Number as u64, u64 => Number as u64, u128 => Number as u64,
    i8 => Signed as i64, i16 => Signed as i64, i32 => Signed as i64, i64 => Signed as i64, i128 => Signed as i64
);

impl State for usize {
    fn save(&self, to: &mut Saver) {
        (*self as u64).save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = usize::try_from(u64::loaded(from)?).map_err(|_| Damaged)?;
        Ok(())
    }
}

impl Fresh for usize {
    fn fresh() -> usize {
        0
    }
}

impl State for bool {
    fn save(&self, to: &mut Saver) {
        to.leaf(|| Shown::Flag(*self), &[u8::from(*self)]);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = match from.raw(1)? {
            [0] => false,
            [1] => true,
            _ => return Err(Damaged),
        };
        Ok(())
    }
}

impl Fresh for bool {
    fn fresh() -> bool {
        false
    }
}

impl State for char {
    fn save(&self, to: &mut Saver) {
        to.leaf(|| Shown::Text(self.to_string()), &u32::from(*self).to_le_bytes());
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = char::from_u32(u32::loaded(from)?).ok_or(Damaged)?;
        Ok(())
    }
}

impl Fresh for char {
    fn fresh() -> char {
        '\0'
    }
}

impl State for String {
    fn save(&self, to: &mut Saver) {
        match &mut to.tree {
            Some(tree) => tree.leaf(Shown::Text(self.clone())),
            None => self.as_bytes().to_vec().save(to),
        }
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = String::from_utf8(Vec::loaded(from)?).map_err(|_| Damaged)?;
        Ok(())
    }
}

impl Fresh for String {
    fn fresh() -> String {
        String::new()
    }
}

impl State for () {
    fn save(&self, to: &mut Saver) {
        to.leaf(|| Shown::Nothing, &[]);
    }

    fn load(&mut self, _: &mut Loader) -> Result<(), Damaged> {
        Ok(())
    }
}

impl Fresh for () {
    fn fresh() {}
}

macro_rules! tuples {
    ($($name:ident),*) => {
        impl<$($name: State),*> State for ($($name,)*) {
            #[allow(non_snake_case)]
            fn save(&self, to: &mut Saver) {
                let ($($name,)*) = self;
                to.begin("");
                $(to.field(stringify!($name)); $name.save(to);)*
                to.end();
            }

            #[allow(non_snake_case)]
            fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
                let ($($name,)*) = self;
                $($name.load(from)?;)*
                Ok(())
            }
        }

        impl<$($name: Fresh),*> Fresh for ($($name,)*) {
            fn fresh() -> Self {
                ($($name::fresh(),)*)
            }
        }
    };
}

tuples!(A);
tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);

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

/// For a field with as many items as the board says: `#[state(with = crate::state::fixed)]`. They are loaded in place.
pub mod fixed {
    use super::{Damaged, Fresh, Loader, Saver, State};

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
    use super::{Damaged, Loader, Saver};

    /// Nothing.
    pub fn save<S>(_: &S, to: &mut Saver) {
        if let Some(tree) = &mut to.tree {
            tree.leaf(super::Shown::Nothing);
        }
    }

    /// What there was is forgotten.
    ///
    /// # Errors
    /// None.
    pub fn load<S: Default>(dropped: &mut S, _: &mut Loader) -> Result<(), Damaged> {
        *dropped = S::default();
        Ok(())
    }
}

/// For a field that is there or not, as the board says: `#[state(with = crate::state::present)]`. It is loaded in
/// place.
pub mod present {
    use super::{Damaged, Fresh, Loader, Saver, State};

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
            to.begin("");
            to.field("key");
            key.save(to);
            to.field("value");
            value.save(to);
            to.end();
        }
        to.end();
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
        // In order: the same heap may be arranged in several ways.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
    enum Phase {
        Idle,
        Sends { character: u16, left: Option<u8> },
        Waits(u64),
    }

    #[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
    struct Slot<T> {
        holds: T,
        is_full: bool,
    }

    #[derive(Clone, Debug, PartialEq, Eq, State)]
    struct Device {
        #[state(skip)]
        clock: &'static str,
        control: [u32; 2],
        fifo: VecDeque<u8>,
        phase: Phase,
        #[state(with = fixed)]
        ports: Vec<Port>,
        slots: Vec<Slot<i8>>,
        names: BTreeMap<u32, String>,
    }

    #[derive(Clone, Debug, PartialEq, Eq, State)]
    struct Port {
        #[state(skip)]
        pin: &'static str,
        level: bool,
    }

    fn device(clock: &'static str) -> Device {
        Device {
            clock,
            control: [0, 0],
            fifo: VecDeque::new(),
            phase: Phase::Idle,
            ports: ["a", "b"].map(|pin| Port { pin, level: false }).to_vec(),
            slots: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    fn busy(phase: Phase) -> Device {
        let mut device = device("apb1");
        device.control = [7, u32::MAX];
        device.fifo.extend([3, 1, 4]);
        device.phase = phase;
        device.ports[1].level = true;
        device.slots = vec![Slot { holds: -1, is_full: true }, Slot { holds: 5, is_full: false }];
        device.names.insert(9, "nine".to_owned());
        device
    }

    #[test]
    fn what_was_saved_is_loaded_and_what_is_skipped_stays() {
        for phase in [Phase::Idle, Phase::Sends { character: 0x141, left: Some(2) }, Phase::Waits(1 << 40)] {
            let before = busy(phase);
            let bytes = saved(&before);
            // In place of another state, with more of everything.
            let mut after = busy(Phase::Waits(1));
            after.clock = "apb2";
            after.slots.push(Slot { holds: 0, is_full: true });
            let mut loader = Loader::new(&bytes);
            assert_eq!(after.load(&mut loader), Ok(()));
            assert!(loader.is_over());
            assert_eq!(after, Device { clock: "apb2", ..before });
        }
    }

    #[test]
    fn bytes_that_are_cut_off_are_damaged_wherever_that_is() {
        let bytes = saved(&busy(Phase::Sends { character: 1, left: None }));
        for len in 0..bytes.len() {
            assert_eq!(device("").load(&mut Loader::new(&bytes[..len])), Err(Damaged), "{len} bytes");
        }
    }

    #[test]
    fn what_the_board_has_is_loaded_in_place() {
        let mut bytes = Saver::default();
        present::save(&Some(Port { pin: "a", level: true }), &mut bytes);
        let bytes = bytes.into_bytes();
        let mut port = Some(Port { pin: "b", level: false });
        assert_eq!(present::load(&mut port, &mut Loader::new(&bytes)), Ok(()));
        assert_eq!(port, Some(Port { pin: "b", level: true }));
        assert_eq!(present::load(&mut None::<Port>, &mut Loader::new(&bytes)), Err(Damaged));
    }

    #[test]
    fn results_and_texts_of_the_program_are_loaded() {
        for before in [Ok(7), Err("refused"), Err("too late")] {
            let mut after: Result<u32, &'static str> = Err("nothing");
            assert_eq!(after.load(&mut Loader::new(&saved(&before))), Ok(()));
            assert_eq!(after, before);
        }
    }

    #[test]
    fn the_first_reason_counts() {
        let mut saver = Saver::default();
        saver.refuse("model0: no".to_owned());
        saver.refuse("model1: no".to_owned());
        assert_eq!(saver.refusal(), Some("model0: no"));
        let mut loader = Loader::new(&[]);
        assert_eq!(loader.refuse("card0: no".to_owned()), Damaged);
        assert_eq!(loader.refusal(), Some("card0: no"));
    }

    #[test]
    fn people_see_names() {
        let Shown::Fields(None, fields) = shown(&busy(Phase::Sends { character: 65, left: None })) else { panic!() };
        let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["control", "fifo", "phase", "ports", "slots", "names"]);
        assert_eq!(fields[0].1, Shown::List(vec![Shown::Number(7), Shown::Number(u32::MAX.into())]));
        let sends = vec![("character", Shown::Number(65)), ("left", Shown::Nothing)];
        assert_eq!(fields[2].1, Shown::Fields(Some("Sends"), sends));
        assert_eq!(shown(&Phase::Idle), Shown::Text("Idle".to_owned()));
    }
}
