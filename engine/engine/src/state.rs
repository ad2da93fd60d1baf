//! State: the contents of snapshots.
//!
//! A model derives [`State`], which lists its state once: `#[state(skip)]` marks fields that are no state, such as
//! those from the board. A snapshot is loaded into a machine of the same board, in place, so skipped fields already
//! have their values. The same derive shows a model's state to people, by the names of its fields ([`shown`]).
//!
//! Bytes of a snapshot do not describe their format: only the same build of the engine can read them.

mod collections;
pub mod digest;
mod fields;
pub mod pages;
mod plain;
mod shared;
mod texts;

pub use cyclescope_derive::{Fresh, State};
pub use fields::{dropped, fixed, only_shown, present};
pub use texts::kept;

/// The snapshot is truncated, or not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the snapshot is damaged")]
pub struct Damaged;

/// State that can be saved in a snapshot, and loaded from it in place.
pub trait State {
    /// Adds the state to a snapshot.
    fn save(&self, to: &mut Saver);

    /// Restores the saved state.
    ///
    /// # Errors
    /// [`Damaged`], with the state loaded partly.
    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged>;

    /// Adds several states to a snapshot. Numbers do it at once.
    fn save_all(all: &[Self], to: &mut Saver)
    where
        Self: Sized,
    {
        all.iter().for_each(|one| {
            to.item();
            one.save(to);
        });
    }

    /// Loads several states.
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

/// State that is wholly in a snapshot, so that a list of it can be loaded with its saved length.
pub trait Fresh: State + Sized {
    /// A value to load into.
    fn fresh() -> Self;

    /// A value loaded from a snapshot.
    ///
    /// # Errors
    /// As for [`State::load`].
    fn loaded(from: &mut Loader) -> Result<Self, Damaged> {
        let mut fresh = Self::fresh();
        fresh.load(from)?;
        Ok(fresh)
    }
}

/// State in the form for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A number without a sign.
    Number(u64),
    /// A number with a sign.
    Signed(i64),
    /// A time, or a length of time, in picoseconds.
    Time(u64),
    /// A flag.
    Flag(bool),
    /// A text, or the name of a variant without fields.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Several.
    List(Vec<Shown>),
    /// Values by keys.
    Map(Vec<(Shown, Shown)>),
    /// Fields by name; for a variant of an enum, also its name.
    Fields(Option<&'static str>, Vec<(&'static str, Shown)>),
    /// Nothing.
    Nothing,
}

impl Shown {
    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Shown> {
        let Shown::Fields(_, fields) = self else { return None };
        fields.iter().find(|(known, _)| *known == name).map(|(_, shown)| shown)
    }

    /// The label of a part that has its own, as a chip in the state of its controller.
    pub fn label(&self) -> Option<&str> {
        match (self.field(LABEL), self.field(LABELLED)) {
            (Some(Shown::Text(label)), Some(_)) => Some(label).filter(|label| !label.is_empty()).map(String::as_str),
            _ => None,
        }
    }

    /// Parts that have labels of their own, with these labels: the outer ones first.
    pub fn labelled(&self) -> Vec<(&str, &Shown)> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(shown) = open.pop() {
            found.extend(shown.label().map(|label| (label, shown)));
            match shown {
                Shown::List(all) => open.extend(all.iter().rev()),
                Shown::Map(all) => open.extend(all.iter().rev().map(|(_, shown)| shown)),
                Shown::Fields(_, fields) => open.extend(fields.iter().rev().map(|(_, shown)| shown)),
                _ => {}
            }
        }
        found
    }

    /// A pair of a map, made of its two items.
    fn into_pair(self) -> Option<(Shown, Shown)> {
        let Shown::List(mut pair) = self else { return None };
        let (value, key) = (pair.pop()?, pair.pop()?);
        Some((key, value))
    }
}

/// Fields of a part that has a label of its own: this name, and the label.
const LABELLED: &str = "target";
const LABEL: &str = "label";

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

/// Collects a state: as bytes, or by names.
#[derive(Debug, Default)]
pub struct Saver {
    bytes: Vec<u8>,
    tree: Option<Tree>,
    refusal: Option<String>,
}

/// Fields by their names.
type Named = Vec<(&'static str, Shown)>;

/// A tree under construction.
#[derive(Debug, Default)]
struct Tree {
    /// The name of the next value.
    name: &'static str,
    /// Complete values on the innermost level.
    done: Named,
    /// The present list is bytes, and they are complete.
    is_bytes: bool,
    /// The present list has pairs of a map.
    is_map: bool,
    /// The levels around it: the name of the level, of the variant, whether it is a list, and its complete values.
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
        let names: Vec<&'static str> = fields.iter().map(|(name, _)| *name).collect();
        let (is_bytes, is_map) = (std::mem::take(&mut self.is_bytes), std::mem::take(&mut self.is_map));
        let is_tuple = fields.iter().all(|(name, _)| name.starts_with(|first: char| first.is_ascii_digit()));
        let count = fields.len();
        let mut all = fields.into_iter().map(|(_, shown)| shown);
        let shown = match (is_list, variant) {
            (true, _) if is_bytes => all.next().unwrap_or(Shown::Nothing),
            (true, _) if is_map => Shown::Map(all.filter_map(Shown::into_pair).collect()),
            (true, _) => Shown::List(all.collect()),
            (false, Some(variant)) if count == 0 => Shown::Text(variant.to_owned()),
            // A number with a type of its own is shown as that number, a tuple as a list.
            (false, None) if is_tuple && count == 1 => all.next().unwrap_or(Shown::Nothing),
            (false, None) if is_tuple && count > 1 => Shown::List(all.collect()),
            _ => Shown::Fields(variant, names.into_iter().zip(all).collect()),
        };
        self.done.push((name, shown));
    }
}

impl Saver {
    /// The saved bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The state can't be saved, for this reason: one line with its name. The bytes are then no snapshot.
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

    /// Fields of a variant of an enum follow, up to [`Saver::end`].
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

    /// `len` items of a list follow, up to [`Saver::end`].
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

    /// Saves bytes as they are: the loader must know their number.
    pub fn raw(&mut self, bytes: &[u8]) {
        match &mut self.tree {
            Some(tree) => tree.leaf(Shown::Bytes(bytes.to_vec())),
            None => self.bytes.extend_from_slice(bytes),
        }
    }

    /// Saves a time, or a length of time, in picoseconds.
    pub fn time_ps(&mut self, ps: u64) {
        self.leaf(|| Shown::Time(ps), &ps.to_le_bytes());
    }

    /// The form for people, of state that is saved in another form for a snapshot: [`Saver::is_shown`].
    pub fn show(&mut self, shown: Shown) {
        if let Some(tree) = &mut self.tree {
            tree.leaf(shown);
        }
    }

    /// The pairs of a map are complete: each has two items.
    fn end_of_map(&mut self) {
        if let Some(tree) = &mut self.tree {
            tree.is_map = true;
            tree.end();
        }
    }

    /// True if the state is shown to people; values that are useful only in a snapshot may be left out.
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

/// Reads a snapshot's bytes.
#[derive(Clone, Debug)]
pub struct Loader<'a> {
    left: &'a [u8],
    refusal: Option<String>,
    /// Number of devices of the machine.
    devices: u32,
}

impl<'a> Loader<'a> {
    /// A loader of a snapshot's bytes.
    pub const fn new(bytes: &'a [u8]) -> Loader<'a> {
        Loader { left: bytes, refusal: None, devices: u32::MAX }
    }

    /// A loader of a snapshot's bytes, for a machine with `devices` devices.
    pub fn of_devices(bytes: &'a [u8], devices: u32) -> Loader<'a> {
        Loader { devices, ..Loader::new(bytes) }
    }

    /// True if the machine has a device with that number.
    pub const fn has_device(&self, number: u32) -> bool {
        number < self.devices
    }

    /// True if everything was loaded.
    pub const fn is_over(&self) -> bool {
        self.left.is_empty()
    }

    /// The snapshot is valid, but can't be loaded here, for this reason: one line with the name of the object. The
    /// caller returns the result as its error.
    pub fn refuse(&mut self, why: String) -> Damaged {
        self.refusal.get_or_insert(why);
        Damaged
    }

    /// The first reason of [`Loader::refuse`].
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// [`Damaged`] if there are fewer.
    pub fn raw(&mut self, len: usize) -> Result<&'a [u8], Damaged> {
        let (bytes, left) = self.left.split_at_checked(len).ok_or(Damaged)?;
        self.left = left;
        Ok(bytes)
    }

    /// The number of items of a list; each item takes a byte or more.
    ///
    /// # Errors
    /// [`Damaged`] if there are fewer bytes left.
    pub fn list(&mut self) -> Result<usize, Damaged> {
        let len = usize::try_from(u64::loaded(self)?).map_err(|_| Damaged)?;
        (len <= self.left.len()).then_some(len).ok_or(Damaged)
    }

    /// The index of a variant of an enum.
    ///
    /// # Errors
    /// [`Damaged`] if nothing is left.
    pub fn variant(&mut self) -> Result<u32, Damaged> {
        u32::loaded(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, VecDeque};

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
            // Loaded over another state, with more of everything.
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

    #[derive(State)]
    struct Plug {
        target: Phase,
        #[state(with = only_shown)]
        label: String,
    }

    #[derive(State, Fresh)]
    struct Count(u64);

    #[test]
    fn parts_have_labels_and_a_snapshot_has_none() {
        let plug = |label: &str| Plug { target: Phase::Idle, label: label.to_owned() };
        assert_eq!(saved(&plug("flash0")), saved(&plug("")));
        let both = shown(&[plug("flash0"), plug("")]);
        let found = both.labelled();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0, found[0].1.field("target")), ("flash0", Some(&Shown::Text("Idle".to_owned()))));
        assert_eq!(both.label(), None);
    }

    #[test]
    fn bytes_tuples_numbers_and_maps_are_shown_as_what_they_are() {
        assert_eq!(shown(&vec![1_u8, 2]), Shown::Bytes(vec![1, 2]));
        assert_eq!(shown(&Vec::<u8>::new()), Shown::Bytes(Vec::new()));
        assert_eq!(shown(&vec![[1_u8, 2]]), Shown::List(vec![Shown::Bytes(vec![1, 2])]));
        assert_eq!(shown(&vec![1_u16]), Shown::List(vec![Shown::Number(1)]));
        assert_eq!(shown(&Count(7)), Shown::Number(7));
        assert_eq!(shown(&(7_u8, true)), Shown::List(vec![Shown::Number(7), Shown::Flag(true)]));
        let map = shown(&BTreeMap::from([(3_u32, -1_i8)]));
        assert_eq!(map, Shown::Map(vec![(Shown::Number(3), Shown::Signed(-1))]));
        assert_eq!(shown(&BTreeMap::<u32, i8>::new()), Shown::Map(Vec::new()));
    }

    #[test]
    fn what_is_worked_out_anew_is_not_shown() {
        #[derive(State)]
        struct Worked {
            sum: u32,
            #[state(with = dropped)]
            cached: Option<u32>,
        }
        let Shown::Fields(None, fields) = shown(&Worked { sum: 1, cached: Some(1) }) else { panic!() };
        assert_eq!(fields, [("sum", Shown::Number(1))]);
    }
}
