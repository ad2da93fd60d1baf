//! Contents of a snapshot of a profile: the counts, in rows. Counters have new numbers afterwards.

use std::cell::RefCell;

use super::counters::Counters;
use super::paths::Paths;
use super::{ELSEWHERE, Profile, Seen};
use crate::state::{Damaged, Fresh, Loader, Saver, State};

impl State for Profile {
    fn save(&self, to: &mut Saver) {
        to.begin("Profile");
        to.field("rows");
        self.counters.borrow().rows().save(to);
        to.field("paths");
        self.paths.save(to);
        to.field("here");
        self.here.save(to);
        to.field("seen");
        self.seen.save(to);
        to.field("last_pc");
        self.last_pc.save(to);
        to.field("names_tasks");
        self.names_tasks.save(to);
        to.field("task_name");
        self.task_name.save(to);
        to.field("linux");
        self.linux.save(to);
        to.field("interrupts");
        self.interrupts.save(to);
        to.field("slices");
        self.slices.save(to);
        to.field("switches");
        self.switches.save(to);
        to.field("earlier_rates");
        self.earlier_rates.save(to);
        to.field("last_long");
        self.last_long.save(to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let mut counters = Counters::with_rows(Fresh::loaded(from)?);
        self.paths.load(from)?;
        self.paths.count_with(&mut counters).ok_or(Damaged)?;
        self.counters = RefCell::new(counters);
        self.here.load(from)?;
        self.counts = self.paths.all.get(self.here as usize).map(|_| self.paths.counts(self.here)).ok_or(Damaged)?;
        self.seen.load(from)?;
        self.last_pc.load(from)?;
        self.names_tasks.load(from)?;
        self.task_name.load(from)?;
        self.linux.load(from)?;
        self.interrupts.load(from)?;
        self.slices.load(from)?;
        self.switches.load(from)?;
        self.earlier_rates.load(from)?;
        self.last_long.load(from)?;
        self.repeated = None;
        Ok(())
    }
}

impl Fresh for Profile {
    fn fresh() -> Profile {
        Profile {
            counters: RefCell::new(Counters::new()),
            paths: Paths::new(Vec::new(), false),
            here: 0,
            counts: std::ptr::null_mut(),
            seen: Seen::default(),
            last_pc: ELSEWHERE,
            repeated: None,
            names_tasks: None,
            task_name: String::new(),
            unnamed: None,
            linux: None,
            interrupts: Vec::new(),
            slices: None,
            switches: None,
            earlier_rates: Vec::new(),
            last_long: None,
        }
    }
}
