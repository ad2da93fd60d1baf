//! Serial lines and their far ends: programs and people on the host, or scripts.
//!
//! A far end is a device of the bus, added when it is attached; without one, the machine does not change. With people
//! at a line a machine is run in steps. Their input is fed between two steps, at a time that no core has passed, so a
//! run depends only on the input and its times on the board.

use super::exchange::Pause;
use super::{Machine, Outcome, Printed, RunReport};
use devices::far_end::FarEndDevice;
use engine::bus::can::BUS_LOOKS;
use engine::bus::device::{Device, DeviceId, FAR_END_LOOKS};
use engine::serial::FarEnd;
use engine::serial::script::Unfinished;
use engine::time::Ps;
use engine::wire::can::script::Partner;

impl Machine {
    /// Labels of the serial ports that can receive, in the order of the board; the console's first, if the board names
    /// it.
    pub fn serial_ports(&mut self) -> Vec<String> {
        let console = self.bus.lines.console;
        let names = self.bus.device_names.iter();
        let mut ports: Vec<(bool, String)> = self
            .bus
            .devices
            .iter_mut()
            .zip(names)
            .zip((0..).map(DeviceId))
            .filter_map(|((device, name), id)| {
                device.as_mut()?.serial_port()?;
                Some((Some(id) != console, name.clone()))
            })
            .collect();
        ports.sort_by_key(|(is_beside, _)| *is_beside);
        ports.into_iter().map(|(_, name)| name).collect()
    }

    /// The label of the serial port that prints on the console, if it is unambiguous.
    pub fn console_port(&mut self) -> Option<String> {
        let has_console = self.bus.lines.console.is_some();
        let mut ports = self.serial_ports();
        (has_console || ports.len() == 1).then(|| ports.swap_remove(0))
    }

    /// Attaches a far end to a serial port's line. False if there is no such port, or the line has a far end.
    pub fn attach(&mut self, port: &str, end: FarEnd) -> bool {
        let Some(uart) = self.serial_device(port).filter(|uart| self.bus.lines.far_end(*uart).is_none()) else {
            return false;
        };
        self.add_far_end(Some(uart), format!("the line of {port}"), end);
        true
    }

    /// Runs a script that uses pins only. False if it needs a line.
    pub fn attach_at_pins(&mut self, end: FarEnd) -> bool {
        let can_be = !end.needs_line();
        if can_be {
            self.add_far_end(None, "pins".to_owned(), end);
        }
        can_be
    }

    fn add_far_end(&mut self, uart: Option<DeviceId>, name: String, end: FarEnd) {
        let far_end = DeviceId(self.bus.devices.len() as u32);
        let uart = uart.unwrap_or(far_end);
        self.bus.lines.connect(uart, far_end, end.listens());
        for pin in end.watched() {
            self.bus.wires.watch(pin, far_end, false);
        }
        self.bus.devices.push(Some(Box::new(FarEndDevice::new(uart, end))));
        self.bus.device_names.push(name);
        self.bus.events.schedule(self.latest(), far_end, FAR_END_LOOKS);
    }

    /// Labels of the controllers on CAN buses, each with the label of its bus, in the order of the board.
    pub fn can_controllers(&mut self) -> Vec<(String, String)> {
        let names = self.bus.device_names.clone();
        let mut found = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let bus = self.can_bus_of(DeviceId(index as u32)).filter(|bus| bus.0 as usize != index);
            found.extend(bus.map(|bus| (name.clone(), names[bus.0 as usize].clone())));
        }
        found
    }

    /// Adds a node without firmware to the CAN bus with this label, or with a controller of this label. False if there
    /// is no such bus, or it has such a node.
    pub fn attach_can(&mut self, label: &str, partner: Partner) -> bool {
        let Some(index) = self.bus.device_names.iter().position(|name| name == label) else { return false };
        let Some(id) = self.can_bus_of(DeviceId(index as u32)) else { return false };
        let bus = self.bus.devices[id.0 as usize].as_mut().and_then(|device| device.can_bus());
        let is_there = bus.is_some_and(|bus| bus.attach(partner));
        if is_there {
            self.bus.events.schedule(self.latest(), id, BUS_LOOKS);
        }
        is_there
    }

    /// The CAN bus of a device: the device itself, or the bus that it is on.
    fn can_bus_of(&mut self, node: DeviceId) -> Option<DeviceId> {
        let has = |(index, device): (usize, &mut Option<Box<dyn Device>>)| {
            let bus = device.as_mut()?.can_bus()?;
            (index == node.0 as usize || bus.has(node)).then_some(DeviceId(index as u32))
        };
        self.bus.devices.iter_mut().enumerate().find_map(has)
    }

    /// Unfinished steps of scripts on CAN buses.
    fn unfinished_on_can(&mut self, now: Ps) -> Vec<(String, Unfinished)> {
        let buses = self.bus.devices.iter_mut().filter_map(|device| device.as_mut()?.can_bus()?.unfinished(now));
        buses.collect()
    }

    /// Types characters on a line, at [`Machine::latest`]. False if the port's line has no far end.
    pub fn type_on(&mut self, port: &str, characters: &[u8]) -> bool {
        let now = self.latest();
        let Some(id) = self.far_end_of(port) else { return false };
        self.typed.add(now, id, characters);
        self.type_at(now, id, characters);
        true
    }

    /// Whether input may still come on a line: if not, a machine that waits only for a character can't continue.
    pub fn attend(&mut self, attended: bool) {
        self.bus.lines.are_attended = attended;
    }

    /// Types characters at a time that no core has passed.
    pub(super) fn type_at(&mut self, at: Ps, id: DeviceId, characters: &[u8]) {
        if let Some(end) = self.far_end(id) {
            end.feed(at, characters);
        }
        self.bus.events.schedule(at, id, FAR_END_LOOKS);
    }

    /// Characters that are on a port's line or wait at its far end, if the line has a rate; `None` without a far end.
    pub fn untyped(&mut self, port: &str) -> Option<usize> {
        let id = self.far_end_of(port)?;
        let end = self.far_end(id)?;
        Some(end.left() + usize::from(end.is_sending()))
    }

    /// Continues until `until`, or to the end of the run. As with [`Machine::advance`] it can be called again, and the
    /// steps do not affect the machine. A line must have a far end: else a waiting machine has no next event.
    pub fn run_until(&mut self, until: Ps, mut pause: impl FnMut(&Printed) -> bool) -> Option<RunReport> {
        if let Err(fault) = self.begin_or_fault() {
            return Some(self.report(fault));
        }
        let awake = self.bus.lines.first()?;
        self.run_step(awake, until, &mut pause as Pause)
    }

    /// Adds the results of scripts to the end of a run: a failure, or an expectation that was not met in time. Other
    /// unfinished steps and input become notes.
    pub(super) fn outcome_of_scripts(&mut self, outcome: Outcome) -> Outcome {
        if let Some(failure) = self.bus.lines.failure.take() {
            return Outcome::Script(failure.0);
        }
        let now = self.now();
        let ends: Vec<(DeviceId, DeviceId)> = self.bus.lines.all().collect();
        let mut changed = None;
        for (name, left) in self.unfinished_on_can(now) {
            if left.expects && matches!(outcome, Outcome::Exit(_)) {
                changed.get_or_insert(format!("{}; the firmware has ended", left.text));
            } else {
                self.end_notes.push(format!("the script at {name} was not done: {}", left.text));
            }
        }
        for (uart, id) in ends {
            let name = self.bus.device_names[uart.0 as usize].clone();
            let Some(end) = self.far_end(id) else { continue };
            let waiting = end.left();
            match end.unfinished(now) {
                Some(left) if left.expects && matches!(outcome, Outcome::Exit(_) | Outcome::Asleep(_)) => {
                    changed.get_or_insert(left.text);
                }
                Some(left) => self.end_notes.push(format!("the script at {name} was not done: {}", left.text)),
                None if waiting > 0 => self.end_notes.push(format!(
                    "{name}: {waiting} characters of the input were not sent to it before the end of the run: a \
                     character takes its time on the line, and is sent only while the UART has a baud rate and its \
                     receiver is on"
                )),
                None => {}
            }
        }
        match (changed, outcome) {
            (Some(text), Outcome::Exit(status)) => {
                Outcome::Script(format!("{text}; the firmware has ended with status {status}"))
            }
            (Some(text), Outcome::Asleep(why)) => Outcome::Script(format!("{text}; {why}")),
            (_, outcome) => outcome,
        }
    }

    fn far_end(&mut self, id: DeviceId) -> Option<&mut FarEnd> {
        self.bus.devices[id.0 as usize].as_mut()?.far_end()
    }

    fn far_end_of(&self, port: &str) -> Option<DeviceId> {
        let index = self.bus.device_names.iter().position(|name| name == port)?;
        self.bus.lines.far_end(DeviceId(index as u32))
    }

    fn serial_device(&mut self, port: &str) -> Option<DeviceId> {
        let index = self.bus.device_names.iter().position(|name| name == port)?;
        self.bus.devices[index].as_mut()?.serial_port()?;
        Some(DeviceId(index as u32))
    }
}
