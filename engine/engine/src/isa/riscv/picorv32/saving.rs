//! Contents of a snapshot of this core.

use super::Picorv32;
use crate::cpu::memory_system::port::Port;
use crate::state::{Damaged, Loader, Saver, State};

impl State for Picorv32 {
    fn save(&self, to: &mut Saver) {
        to.begin("Core");
        to.field("pc");
        self.pc.save(to);
        to.field("registers");
        self.x.save(to);
        to.field("encoding");
        self.encoding.save(to);
        to.field("was_compressed");
        self.was_compressed.save(to);
        to.field("unit");
        self.unit.save(to);
        to.field("interrupts");
        self.interrupts.save(to);
        to.field("shell");
        self.shell.save(to);
        to.field("accounts");
        self.accounts.save(to);
        to.field("skipped_cycles");
        self.polls.skipped_cycles.save(to);
        to.field("touched");
        self.touched.save(to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.pc.load(from)?;
        self.x.load(from)?;
        self.encoding.load(from)?;
        self.was_compressed.load(from)?;
        self.unit.load(from)?;
        self.interrupts.load(from)?;
        self.shell.load(from)?;
        if !self.shell.calls_are_sound() {
            return Err(Damaged);
        }
        self.accounts.load(from)?;
        self.polls = self.polls.afresh();
        self.polls.skipped_cycles.load(from)?;
        self.touched.load(from)?;
        self.port = Port::new(self.shell.clock);
        self.pause_at = 0;
        self.shell.follow_loaded();
        Ok(())
    }
}
