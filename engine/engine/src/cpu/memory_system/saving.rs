//! Contents of a snapshot of a core's memory side: caches, buffers, work under way. Shortcuts, known paths and modes of
//! access follow from these.

use super::{Memory, Mmu};
use crate::state::{Damaged, Loader, Saver, State};

impl State for Memory {
    fn save(&self, to: &mut Saver) {
        to.begin("Memory");
        to.field("state");
        // Includes all uses of lines that shortcuts have not passed on.
        self.state().save(to);
        to.field("accounts");
        self.accounts.save(to);
        to.field("clock");
        self.config.clock.save(to);
        to.field("transfers_by_devices");
        self.transfers_by_devices.save(to);
        to.field("grants");
        (self.grants, self.grant).save(to);
        to.field("bank_of");
        self.shortcuts.slave().save(to);
        to.field("privileged");
        self.shortcuts_privileged.save(to);
        to.field("touched");
        self.touched.save(to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.state.load(from)?;
        self.accounts.load(from)?;
        self.config.clock.load(from)?;
        self.transfers_by_devices.load(from)?;
        self.grants.load(from)?;
        self.grant.load(from)?;
        let mut slave = 0;
        slave.load(from)?;
        self.shortcuts.forget_all();
        self.data_pages.clear();
        if self.is_on_matrix() {
            self.shortcuts.choose(slave);
        }
        self.shortcuts_privileged.load(from)?;
        self.touched.load(from)
    }
}

impl Memory {
    /// Drops all computed values after a snapshot has been loaded, with these registers.
    pub(in crate::cpu) fn begin_anew<M: Mmu>(&mut self, mmu: &M) {
        self.look_at(mmu);
        self.shortcut_losses.fill(0);
        self.code_pages.all_left();
        self.clear_fetched();
        self.icache_has_lines = true;
        self.forget_paths();
    }
}
