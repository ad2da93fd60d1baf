//! Snapshots: all state that changes while firmware runs, taken from a machine between two of its calls.
//!
//! A snapshot is loaded into a machine that was built from the same board, and has the same program: the parts that
//! depend on these only are not saved. From then on the machine behaves like the original one, to the picosecond, with
//! all recordings and counts up to then: the settings of recordings are part of the snapshot. Further recordings are
//! started after the load.
//!
//! Later input from the host can be repeated: from its first snapshot on, a machine keeps the standard input that its
//! firmware has read, and the input typed on its serial lines ([`super::typed`]). Another machine does not have that
//! input, and refuses a snapshot taken after such a read. Open files of the host can't be restored: a snapshot with
//! open files is refused where that would matter. Data that the firmware has written to files of the host since then
//! stays there.

mod file;

use super::Machine;
use super::triggers::TriggerState;
use engine::dt::fault::BoardFault;
use engine::host::recorded::Place;
use engine::state::{Damaged, Fresh, Loader, Saver, State, fixed};
use engine::time::Ps;

/// Why a snapshot can't be made, or can't be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The file has other first bytes.
    #[error("it is no snapshot of Cyclescope")]
    NoSnapshot,
    /// The file has another format.
    #[error("the snapshot has format {found}, this program reads format {wanted}")]
    Format {
        /// Its format.
        found: u32,
        /// The format that can be read.
        wanted: u32,
    },
    /// Made by a build from other sources.
    #[error("the snapshot was made by engine {found}, this is engine {wanted}: only the same build can load it")]
    Build {
        /// The build that made it.
        found: String,
        /// This one.
        wanted: String,
    },
    /// Truncated, or changed.
    #[error("the snapshot is damaged")]
    Damaged,
    /// The snapshot is of a board with another model.
    #[error("the snapshot is of the board {found}, this is {wanted}")]
    Board {
        /// The board's model.
        found: String,
        /// The machine's model.
        wanted: String,
    },
    /// The snapshot is of another version of the board, or of other settings.
    #[error("the snapshot is of a board that is not the same: {node} {differs}")]
    Node {
        /// Path of the first node that differs.
        node: String,
        /// The difference.
        differs: &'static str,
    },
    /// The snapshot is of another program.
    #[error("the snapshot is of another program{of_core}")]
    Program {
        /// " for" and the core, on a board with several cores.
        of_core: String,
    },
    /// The snapshot has something that can't be restored.
    #[error("{0}")]
    Refused(String),
    /// Errors of images that the run needs.
    #[error("{}", lines(.0))]
    Images(Vec<BoardFault>),
}

fn lines(faults: &[BoardFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<String>>().join("; ")
}

/// Identity of the machine of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
struct Head {
    /// The board's model.
    board: String,
    /// Its nodes: paths, and hashes of their contents.
    nodes: Vec<(String, u64)>,
    /// Labels of its devices, and of the far ends of its lines.
    devices: Vec<String>,
    /// By core: the hash of its program.
    programs: Vec<Option<u64>>,
    /// The core that a program was loaded for.
    main: usize,
    time: Ps,
    /// Number of files of the host that the firmware has open.
    open_files: usize,
    /// How far it has read input that comes from the host during the run.
    input: Place,
    /// Number of typed inputs so far.
    typed: usize,
    /// Activities are shown as waveforms.
    shows_activities: bool,
}

/// All state that changes while firmware runs, at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    head: Head,
    state: Vec<u8>,
    /// The states of triggers, for the same machine; files do not have them.
    triggers: Option<TriggerState>,
}

impl Snapshot {
    /// Simulated time at which it was taken.
    pub fn time(&self) -> Ps {
        self.head.time
    }

    /// Its size in memory.
    pub fn size_bytes(&self) -> usize {
        self.state.len()
    }

    /// The board's model.
    pub fn board(&self) -> &str {
        &self.head.board
    }
}

impl Machine {
    /// Takes a snapshot: the machine is not affected. Begins a run, if none has begun.
    ///
    /// # Errors
    /// Images that can't be used, or a device that can't be saved.
    pub fn snapshot(&mut self) -> Result<Snapshot, SnapshotError> {
        if let Some(why) = &self.broken {
            return Err(SnapshotError::Refused(why.clone()));
        }
        self.begin().map_err(SnapshotError::Images)?;
        self.bus.host.record_input();
        self.bus.devices.iter_mut().flatten().for_each(|device| device.learn());
        let mut saver = Saver::default();
        self.save_state(&mut saver);
        match saver.refusal() {
            Some(why) => Err(SnapshotError::Refused(why.to_owned())),
            None => Ok(Snapshot { head: self.head(), state: saver.into_bytes(), triggers: self.trigger_state() }),
        }
    }

    /// Restores the state of the snapshot, which may be of another machine with the same board and program.
    ///
    /// # Errors
    /// If the snapshot is of something else, can't be restored, or is damaged. If it is damaged, or a device refuses
    /// it, it may have been loaded partly: then the machine does not run until another snapshot is loaded.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        self.begin().map_err(SnapshotError::Images)?;
        self.compare(&snapshot.head)?;
        self.load_whole(snapshot)?;
        self.typed.forget();
        Ok(())
    }

    /// Takes a snapshot from which this machine can be restored.
    pub(super) fn moment(&mut self) -> Result<Snapshot, SnapshotError> {
        let moment = self.snapshot()?;
        self.compare(&moment.head)?;
        Ok(moment)
    }

    /// Restores such a snapshot, including the end of its run.
    pub(super) fn back_to(&mut self, moment: &Snapshot) -> Result<(), SnapshotError> {
        self.load_whole(moment)
    }

    fn load_whole(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let mut loader = Loader::of_devices(&snapshot.state, self.bus.devices.len() as u32);
        let loaded = self.load_state(&mut loader);
        if loaded.is_ok() && loader.is_over() && self.is_plausible(&snapshot.head) {
            self.set_trigger_state(snapshot.triggers.as_ref());
            self.broken = None;
            return Ok(());
        }
        let error = loader.refusal().map_or(SnapshotError::Damaged, |why| SnapshotError::Refused(why.to_owned()));
        self.broken = Some(format!("a snapshot was loaded in part, and the machine can't go on: {error}"));
        Err(error)
    }

    /// True if the loaded state is plausible: it has the snapshot's time, and all references in it are valid. A digest
    /// finds random changes; this check finds states that would make the run endless or panic.
    fn is_plausible(&self, head: &Head) -> bool {
        let is_core = |core: usize| core < self.cores.len();
        self.now() == head.time
            && self.time_slice.is_none_or(|slice| is_core(slice.core()))
            && self.ended_by.is_none_or(is_core)
            && self.event_rates_are_sound()
            && self.bus.map_is_sound()
    }

    /// Goes back to an own earlier state: as [`Machine::restore`], but later typed input is repeated, each at its time.
    ///
    /// # Errors
    /// As for [`Machine::restore`].
    pub fn go_back(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let typed = self.typed.clone();
        self.restore(snapshot)?;
        self.type_again(typed, snapshot.head.typed);
        Ok(())
    }

    fn head(&self) -> Head {
        Head {
            board: self.description.model.clone(),
            nodes: self.description.nodes.clone(),
            devices: self.bus.device_names.clone(),
            programs: self.programs.iter().map(|program| program.as_ref().map(|program| program.digest)).collect(),
            main: self.main,
            time: self.now(),
            open_files: self.bus.host.open_files(),
            input: self.bus.host.input_place(),
            typed: self.typed.count(),
            shows_activities: self.bus.activities.are_passed_on(),
        }
    }

    /// Compares the machine of a snapshot with this one.
    fn compare(&self, snapshot: &Head) -> Result<(), SnapshotError> {
        let own = self.head();
        if snapshot.board != own.board {
            let (found, wanted) = (snapshot.board.clone(), own.board);
            return Err(SnapshotError::Board { found, wanted });
        }
        if let Some((node, differs)) = first_difference(&snapshot.nodes, &own.nodes) {
            return Err(SnapshotError::Node { node, differs });
        }
        let differs = |core: &usize| snapshot.programs.get(*core) != own.programs.get(*core);
        if snapshot.main != own.main {
            return Err(SnapshotError::Program { of_core: String::new() });
        }
        if let Some(core) = (0..self.cores.len()).find(differs) {
            let of_core =
                if self.cores.len() > 1 { format!(" for {}", self.cores[core].name()) } else { String::new() };
            return Err(SnapshotError::Program { of_core });
        }
        if snapshot.devices != own.devices {
            let only_in = |one: &Head, other: &Head| one.devices.iter().find(|it| !other.devices.contains(it)).cloned();
            let why = match (only_in(snapshot, &own), only_in(&own, snapshot)) {
                (Some(device), _) => format!("the snapshot has {device}, which this machine has not"),
                (None, Some(device)) => format!("this machine has {device}, which the snapshot has not"),
                (None, None) => "the snapshot's devices are not this machine's".to_owned(),
            };
            return Err(SnapshotError::Refused(format!("{why}: have the same at the other ends of serial lines")));
        }
        if snapshot.open_files > 0 {
            let why = "the firmware had files of the host's open (semihosting) when the snapshot was taken: \
                       they can't be had again as they were";
            return Err(SnapshotError::Refused(why.to_owned()));
        }
        if !self.bus.host.has_input(snapshot.input) {
            return Err(SnapshotError::Refused(format!(
                "the firmware had read {} bytes of the standard input when the snapshot was taken, here it has read \
                 {}: the host does not give them again",
                snapshot.input.bytes, own.input.bytes
            )));
        }
        if snapshot.shows_activities != own.shows_activities {
            let [then, here] = if own.shows_activities { ["are not", "are"] } else { ["are", "are not"] };
            return Err(SnapshotError::Refused(format!(
                "in the snapshot, activities of devices {then} recorded as waveforms, here they {here}: have the same \
                 signals recorded before it is loaded"
            )));
        }
        Ok(())
    }

    fn save_state(&self, to: &mut Saver) {
        to.begin("Machine");
        to.field("cores");
        to.list(self.cores.len());
        for core in &self.cores {
            to.item();
            core.save(to);
        }
        to.end();
        to.field("bus");
        self.bus.save(to);
        to.field("progress");
        fixed::save(&self.progress, to);
        to.field("quantum");
        self.quantum.save(to);
        to.field("slice_end");
        self.slice_end.save(to);
        to.field("time_slice");
        self.time_slice.save(to);
        to.field("hand_over_at");
        self.hand_over_at.save(to);
        to.field("ended_by");
        self.ended_by.save(to);
        to.field("ended");
        self.debugging.final_end().save(to);
        to.field("watched");
        self.watched.save(to);
        to.field("windows");
        self.windows.save(to);
        to.field("profiled");
        self.profiled.save(to);
        to.field("notes");
        (self.reported_excess, self.end_notes.clone(), self.failed_saves.clone()).save(to);
        to.field("timeline");
        self.timeline_window.save(to);
        self.totals_over_time.save(to);
        to.end();
    }

    fn load_state(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        if from.list()? != self.cores.len() {
            return Err(Damaged);
        }
        self.cores.iter_mut().try_for_each(|core| core.load(from))?;
        State::load(&mut self.bus, from)?;
        fixed::load(&mut self.progress, from)?;
        self.quantum.load(from)?;
        self.slice_end.load(from)?;
        self.time_slice.load(from)?;
        self.hand_over_at.load(from)?;
        self.ended_by.load(from)?;
        self.debugging.set_end(Fresh::loaded(from)?);
        self.watched.load(from)?;
        self.windows.load(from)?;
        self.profiled.load(from)?;
        (self.reported_excess, self.end_notes, self.failed_saves) = Fresh::loaded(from)?;
        self.timeline_window.load(from)?;
        self.totals_over_time.load(from)
    }
}

/// The first node that only one of the boards has, or that differs between them, and the difference.
fn first_difference(snapshot: &[(String, u64)], own: &[(String, u64)]) -> Option<(String, &'static str)> {
    let find = |nodes: &[(String, u64)], path: &str| nodes.iter().find(|(other, _)| other == path).map(|(_, it)| *it);
    let mut here = own.iter().filter_map(|(path, digest)| match find(snapshot, path) {
        Some(other) if other == *digest => None,
        Some(_) => Some((path.clone(), "has other values there")),
        None => Some((path.clone(), "is not in it")),
    });
    let mut there = snapshot.iter().filter(|(path, _)| find(own, path).is_none());
    here.next().or_else(|| there.next().map(|(path, _)| (path.clone(), "is only in it")))
}
