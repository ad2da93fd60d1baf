//! The bus's part of a snapshot: memories, devices, and what they share. It includes the map where a device can remap
//! addresses.

use super::{Bus, Target};
use crate::dt::wiring::DeviceId;
use crate::memory::ram::Ram;
use crate::state::{Damaged, Fresh, Loader, Saver, State, fixed, present};

impl State for Bus {
    fn save(&self, to: &mut Saver) {
        to.begin("Bus");
        to.field("map");
        self.map.save(to);
        self.views.save(to);
        to.field("routes");
        fixed::save(&self.routes, to);
        to.field("memories");
        fixed::save(&self.rams, to);
        to.field("outer");
        present::save(&self.outer, to);
        present::save(&self.snoop, to);
        to.field("line_buffers");
        self.line_buffers.save(to);
        to.field("devices");
        self.save_devices(to);
        self.save_time(to);
        self.save_observed(to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let (entries, views) = (self.map.len(), self.views.len());
        self.map.load(from)?;
        self.views.load(from)?;
        let is_whole = self.views.len() == views && self.views.iter().all(|views| views.len() == entries);
        if self.map.len() != entries || !is_whole {
            return Err(Damaged);
        }
        fixed::load(&mut self.routes, from)?;
        fixed::load(&mut self.rams, from)?;
        present::load(&mut self.outer, from)?;
        present::load(&mut self.snoop, from)?;
        self.line_buffers.load(from)?;
        self.load_devices(from)?;
        self.load_time(from)?;
        self.load_observed(from)?;
        // Caches that are derived from the rest.
        self.paths.take();
        self.last_entry.set(0);
        self.scopes.clear();
        self.master = None;
        Ok(())
    }
}

impl Bus {
    /// True if each map entry has a target that covers its addresses.
    pub fn map_is_sound(&self) -> bool {
        let is_route = |route: Option<usize>| route.is_none_or(|route| route < self.routes.len());
        let in_order = self.map.windows(2).all(|pair| pair[0].last < pair[1].base);
        let entries_are = self.map.iter().all(|entry| {
            let targets = [Some((entry.target, entry.origin)), entry.below];
            let is_target = |target: Option<(Target, u32)>| {
                target.is_none_or(|(target, origin)| self.is_there(target, origin, (entry.base, entry.last)))
            };
            entry.base <= entry.last && is_route(entry.route) && targets.into_iter().all(is_target)
        });
        in_order && entries_are && self.views.iter().flatten().all(|view| is_route(view.route))
    }

    /// True if a target that begins at `origin` covers all bytes between two addresses.
    fn is_there(&self, target: Target, origin: u32, (first, last): (u32, u32)) -> bool {
        match target {
            Target::Ram(ram) => {
                let offsets = [first, last].map(|addr| u64::from(addr.wrapping_sub(origin)));
                let is_inside = |ram: &Ram| offsets[0] <= offsets[1] && offsets[1] < ram.size_bytes();
                self.rams.get(ram).is_some_and(is_inside)
            }
            Target::Device(DeviceId(id), _) => (id as usize) < self.devices.len(),
        }
    }

    fn save_devices(&self, to: &mut Saver) {
        to.list(self.devices.len());
        for device in self.devices.iter().flatten() {
            to.item();
            device.save(to);
        }
        to.end();
    }

    fn load_devices(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        if from.list()? != self.devices.len() {
            return Err(Damaged);
        }
        self.devices.iter_mut().flatten().try_for_each(|device| State::load(device.as_mut(), from))
    }

    /// Events to come, and the order of accesses.
    fn save_time(&self, to: &mut Saver) {
        to.field("events");
        self.events.save(to);
        to.field("wires");
        self.wires.save(to);
        to.field("shared_lines");
        self.shared_lines.save(to);
        to.field("lines");
        self.lines.save(to);
        to.field("clocks");
        self.clocks.save(to);
        to.field("core_clocks");
        fixed::save(&self.core_clocks, to);
        to.field("order");
        self.order.save(to);
        to.field("core_irqs");
        fixed::save(&self.core_irqs, to);
        to.field("clocked_asleep");
        self.clocked_asleep.save(to);
        to.field("output");
        self.output.save(to);
        to.field("exit");
        (self.exit, self.exit_is_reset, self.failure.clone(), self.paused).save(to);
        to.field("code_written");
        self.code_written.save(to);
        to.field("code_marked");
        self.code_marked.save(to);
        to.field("transfers_by_devices");
        self.transfers_by_devices.save(to);
        to.field("host");
        self.host.save(to);
        to.field("told");
        self.called_until.save(to);
        to.field("asked");
        self.asked.save(to);
    }

    fn load_time(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.events.load(from)?;
        self.wires.load(from)?;
        self.shared_lines.load(from)?;
        self.lines.load(from)?;
        self.clocks.load(from)?;
        fixed::load(&mut self.core_clocks, from)?;
        self.order.load(from)?;
        fixed::load(&mut self.core_irqs, from)?;
        self.clocked_asleep.load(from)?;
        self.output.load(from)?;
        (self.exit, self.exit_is_reset, self.failure, self.paused) = Fresh::loaded(from)?;
        self.code_written.load(from)?;
        self.code_marked.load(from)?;
        self.transfers_by_devices.load(from)?;
        self.host.load(from)?;
        self.called_until.load(from)?;
        self.asked.load(from)
    }

    /// Notes and other observations for the user.
    fn save_observed(&self, to: &mut Saver) {
        to.field("waves");
        self.waves.save(to);
        to.field("activities");
        self.activities.save(to);
        to.field("irq_levels");
        self.irq_levels.save(to);
        to.field("risen");
        self.interrupt_sources.save(to);
        to.field("critical");
        self.critical.save(to);
        to.field("noted");
        self.noted.save(to);
        to.field("traps");
        self.traps.save(to);
        to.field("origins");
        self.access_sites.save(to);
        to.field("storms");
        self.event_rates.save(to);
    }

    fn load_observed(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.waves.load(from)?;
        self.activities.load(from)?;
        self.irq_levels.load(from)?;
        self.interrupt_sources.load(from)?;
        self.critical.load(from)?;
        self.noted.load(from)?;
        self.traps.load(from)?;
        self.access_sites.load(from)?;
        self.event_rates.load(from)
    }
}
