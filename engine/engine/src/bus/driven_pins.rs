//! Wires between pins of ports: the bus drives them, and notifies devices that watch one.

use super::Bus;
use crate::activity::Kind;
use crate::dt::wiring::DeviceId;
use crate::pins::functions::Functions;
use crate::pins::parts::{Key, Light};
use crate::pins::{Drive, Pin, PortId, bits};
use crate::time::Ps;

impl Bus {
    /// Shows the pins of all ports as signals from now on.
    #[inline]
    pub fn show_pins(&mut self) {
        for (id, device) in (0..).map(DeviceId).zip(&self.devices) {
            if let Some(device) = device.as_ref().filter(|_| self.wires.is_port(id)) {
                let label = &self.device_names[id.0 as usize];
                let scope = || self.activities.scope(label);
                self.wires.show_pins(id, label, device.pin_count(), &self.waves, scope);
            }
        }
    }

    /// Labels of all ports, each with its number of pins.
    #[inline]
    pub fn ports(&self) -> Vec<(String, u32)> {
        let all = (0..).map(DeviceId).zip(&self.devices).zip(&self.device_names);
        let ports = all.filter(|((id, _), _)| self.wires.is_port(*id));
        ports.filter_map(|((_, device), name)| Some((name.clone(), device.as_ref()?.pin_count()))).collect()
    }

    /// The pin that "gpioa.7" names: the label of a port, and the number of one of its pins.
    #[inline]
    pub fn pin_named(&self, name: &str) -> Option<Pin> {
        let (label, number) = name.rsplit_once('.')?;
        let index = self.device_names.iter().position(|known| known == label)?;
        let (port, device) = (DeviceId(index as u32), self.devices[index].as_ref()?);
        let number = (0..device.pin_count()).find(|pin| pin.to_string() == number)?;
        self.wires.is_port(port).then_some(Pin::new(port, number))
    }

    /// The name of a pin for users: "gpioa.7".
    pub fn name_of_pin(&self, pin: Pin) -> String {
        let label = self.device_names.get(pin.port.device.0 as usize).map_or("", String::as_str);
        format!("{label}.{}", pin.number_of_device())
    }

    /// All lights, in the order of the board, with their history up to `now`.
    #[inline]
    pub fn lights(&self, now: Ps) -> Vec<Light> {
        let lights = self.devices.iter().flatten().flat_map(|device| device.lights(now));
        lights.map(|light| Light { pin_name: self.name_of_pin(light.pin), ..light }).collect()
    }

    /// All buttons, in the order of the board.
    #[inline]
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.devices.iter().flatten().flat_map(|device| device.keys())
    }

    /// `port` drives its wires as in `drive` from `now` on, with these pull-ups on. Watchers are notified before this
    /// returns.
    #[inline]
    pub fn drive_port(&mut self, port: impl Into<PortId>, drive: Drive, pull_ups: u32, now: Ps) {
        let port = port.into();
        let Some(wires) = self.wires.port_mut(port) else { return };
        (wires.own, wires.pull_ups) = (drive, pull_ups);
        self.settle_wires(port, now, now);
    }

    /// The registers of `port` give its pins these functions from `now` on: peripherals with pins there are notified
    /// before this returns. The port drives its wires after that ([`Bus::drive_port`]), so that no wire has an
    /// unintended level in between.
    #[inline]
    pub fn switch_pins(&mut self, port: impl Into<PortId>, functions: Functions, now: Ps) {
        let port = port.into();
        if !self.wires.set_functions(port, functions) {
            return;
        }
        for index in 0.. {
            let Some(user) = self.wires.user_of_functions(port, index) else { break };
            if !self.is_busy(user) {
                self.with_device(user, now, |user, ctx| user.pins_switched(ctx));
            }
        }
    }

    /// A peripheral of the chip drives a pin that the port leaves to it, or releases it, from `now` on.
    #[inline]
    pub fn drive_function(&mut self, pin: Pin, level: Option<bool>, now: Ps) {
        if self.wires.set_function_drive(pin, level) {
            let (changed, levels) = self.settle_wires(pin.port, now, now);
            self.notify_port(pin.port, changed, levels, now);
        }
    }

    /// A part that is wired to `pin` drives it to a level, or releases it, from `now` on. The port is notified, unless
    /// it is being called and will look by itself.
    #[inline]
    pub fn drive_pin(&mut self, pin: Pin, level: Option<bool>, now: Ps) {
        self.drive_pin_since(pin, level, now, now);
    }

    /// As [`Bus::drive_pin`], for a level that has held since an earlier time, but is found only at `now`. Waveforms
    /// show the earlier time.
    #[inline]
    pub fn drive_pin_since(&mut self, pin: Pin, level: Option<bool>, since: Ps, now: Ps) {
        let Some(wires) = self.wires.port_mut(pin.port) else { return };
        let others = Drive { enables: wires.far.enables & !pin.mask(), levels: wires.far.levels & !pin.mask() };
        let mask_if = |on: bool| if on { pin.mask() } else { 0 };
        wires.far = Drive {
            enables: others.enables | mask_if(level.is_some()),
            levels: others.levels | mask_if(level == Some(true)),
        };
        let (changed, levels) = self.settle_wires(pin.port, since, now);
        self.notify_port(pin.port, changed, levels, now);
    }

    /// A device other than the port has changed the port's wires: the port is notified, unless it is being called.
    fn notify_port(&mut self, port: PortId, changed: u32, levels: u32, now: Ps) {
        if changed != 0 && !self.is_busy(port.device) {
            self.with_device(port.device, now, |device, ctx| device.pins_changed(port, changed, levels, ctx));
        }
    }

    /// The levels of a port's wires at `now`, for the port that reads them.
    #[inline]
    pub fn sample_port(&mut self, port: impl Into<PortId>, now: Ps) -> u32 {
        let port = port.into();
        for index in 0.. {
            let moving = self.wires.port(port).filter(|wires| wires.moving != 0);
            let Some(watcher) = moving.and_then(|wires| wires.watchers.get(index).copied()) else { break };
            if watcher.late != 0 && !self.is_busy(watcher.device) {
                self.with_device(watcher.device, now, |device, ctx| device.pins_sampled(port, ctx));
            }
        }
        self.wires.levels(port)
    }

    /// Works out a port's levels, and reports changes to the recorder and to watchers. Returns the changed pins and the
    /// levels.
    fn settle_wires(&mut self, port: PortId, since: Ps, now: Ps) -> (u32, u32) {
        let Some(wires) = self.wires.port_mut(port) else { return (0, 0) };
        let changed = wires.settle();
        let levels = wires.levels;
        let disputed = wires.disputes() & !wires.disputed;
        if self.waves.is_on() {
            wires.record(changed, since, &self.waves);
        }
        if self.activities.records(Kind::Pin) {
            wires.record_pins(changed, since);
        }
        if disputed != 0 {
            wires.disputed |= disputed;
            self.note_dispute(port, disputed, now);
        }
        if changed != 0 {
            self.notify_watchers(port, changed, levels, now);
        }
        (changed, levels)
    }

    fn notify_watchers(&mut self, port: PortId, changed: u32, levels: u32, now: Ps) {
        for index in 0.. {
            let watcher = self.wires.port(port).and_then(|wires| wires.watchers.get(index).copied());
            let Some(watcher) = watcher else { break };
            // A device that changes a wire which it watches knows of the change.
            if watcher.pins & changed != 0 && !self.is_busy(watcher.device) {
                self.with_device(watcher.device, now, |device, ctx| device.pins_changed(port, changed, levels, ctx));
            }
        }
    }

    #[cold]
    fn note_dispute(&mut self, port: PortId, disputed: u32, now: Ps) {
        for number in bits(disputed) {
            let pin = Pin { port, number }.number_of_device();
            self.note(
                port.device,
                now,
                &format!("pin {pin} and what is wired to it drive against each other: low wins"),
            );
        }
    }
}
