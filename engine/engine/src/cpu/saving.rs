//! Contents of a snapshot of a core. Decoded blocks, compiled code, shortcuts and all other computed state are not
//! saved: the core starts without them.

use std::sync::{Mutex, PoisonError};

use super::Cpu;
use super::deadline::Deadline;
use super::isa::{CauseNames, Isa};
use super::shell::Shell;
use crate::state::{Damaged, Fresh, Loader, Saver, State, kept};
use crate::time::Hz;

impl<I: Isa> State for Cpu<I> {
    fn save(&self, to: &mut Saver) {
        to.begin("Core");
        to.field("pc");
        self.pc.save(to);
        to.field("registers");
        self.x.save(to);
        to.field("set");
        self.isa.save(to);
        to.field("memory");
        self.memory.save(to);
        to.field("pending");
        self.pending.save(to);
        to.field("shell");
        self.shell.save(to);
        to.field("blocks");
        self.blocks.totals_so_far().save(to);
        to.field("mispredictions");
        self.mispredictions.save(to);
        to.field("skipped_cycles");
        self.polls.skipped_cycles.save(to);
        to.field("spins");
        self.wait_loops.save(to);
        to.field("in_call");
        self.in_call.save(to);
        to.field("access_kind");
        self.access_kind.save(to);
        to.field("timing");
        self.timing.save(to);
        to.field("epochs");
        [self.written_epoch, self.marked_epoch, self.buffers_epoch].save(to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.pc.load(from)?;
        self.x.load(from)?;
        self.isa.load(from)?;
        if !self.isa.is_sound() {
            return Err(Damaged);
        }
        State::load(&mut self.memory, from)?;
        self.pending.load(from)?;
        self.shell.load(from)?;
        if !self.shell.calls_are_sound() || !self.shell.has_clock(self.memory.clock()) {
            return Err(Damaged);
        }
        self.drop_blocks();
        self.blocks.set_totals(Fresh::loaded(from)?);
        self.mispredictions.load(from)?;
        self.polls = self.polls.afresh();
        self.polls.skipped_cycles.load(from)?;
        self.wait_loops.load(&self.isa, from)?;
        self.in_call.load(from)?;
        self.access_kind.load(from)?;
        self.timing.load(from)?;
        [self.written_epoch, self.marked_epoch, self.buffers_epoch] = Fresh::loaded(from)?;
        self.memory.begin_anew(self.isa.mmu());
        self.shell.follow_loaded();
        I::loaded(self);
        Ok(())
    }
}

impl Shell {
    /// True if all copies of the core's clock have this rate: a core with two rates would never reach the time up to
    /// which it is to run.
    fn has_clock(&self, rate: Hz) -> bool {
        let last = self.rates.last().map(|last| last.rate);
        [Some(self.clock), Some(self.irqs.clock()), last].into_iter().all(|known| known == Some(rate))
    }

    /// Computes the state that follows from the loaded one.
    pub fn follow_loaded(&mut self) {
        self.deadline = Deadline::new(self.clock);
        self.calls.iter_mut().for_each(|calls| calls.follow_loaded());
        self.follow_path();
        // Holders of the same calls compare them by address.
        if let Some(waits) = &mut self.waits {
            waits.share_calls(&self.known_calls);
        }
    }
}

/// Names of causes that have been loaded, and that no core of this program has.
static LOADED: Mutex<Vec<&CauseNames>> = Mutex::new(Vec::new());

/// The names are the core's own, and the same for each of its sums.
impl State for &'static CauseNames {
    fn save(&self, to: &mut Saver) {
        let CauseNames { issue, operand_wait, long_operation, jump, mispredicted, annulled, exceptions, idle } = self;
        [*issue, operand_wait, long_operation, jump, mispredicted, annulled, exceptions, idle].join("\n").save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let names = String::loaded(from)?;
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &CauseNames| {
            let CauseNames { issue, operand_wait, long_operation, jump, mispredicted, annulled, exceptions, idle } =
                *known;
            let all = [issue, operand_wait, long_operation, jump, mispredicted, annulled, exceptions, idle];
            all.into_iter().eq(names.split('\n'))
        };
        if is_it(self) {
            return Ok(());
        }
        if let Some(known) = loaded.iter().find(|known| is_it(known)) {
            *self = known;
            return Ok(());
        }
        let mut parts = names.split('\n').map(|name| kept(name.to_owned()));
        let mut next = || parts.next().ok_or(Damaged);
        *self = Box::leak(Box::new(CauseNames {
            issue: next()?,
            operand_wait: next()?,
            long_operation: next()?,
            jump: next()?,
            mispredicted: next()?,
            annulled: next()?,
            exceptions: next()?,
            idle: next()?,
        }));
        loaded.push(self);
        Ok(())
    }
}

impl Fresh for &'static CauseNames {
    fn fresh() -> Self {
        const NONE: CauseNames = CauseNames {
            issue: "",
            operand_wait: "",
            long_operation: "",
            jump: "",
            mispredicted: "",
            annulled: "",
            exceptions: "",
            idle: "",
        };
        &NONE
    }
}
