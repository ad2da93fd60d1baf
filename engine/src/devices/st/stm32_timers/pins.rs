//! Where the channels leave the chip, and where what they capture comes in.

use super::Timer;
use super::registers::CHANNELS;
use crate::bus::device::Ctx;
use crate::wires::Pin;

impl Timer {
    /// Finds out which pins carry the channels now, drives these, and listens to them.
    pub(super) fn connect(&mut self, ctx: &mut Ctx) {
        self.pins.look(ctx);
        for (index, channel) in self.channels.iter_mut().enumerate() {
            channel.is_carried = false;
            for place in 0..self.pins.places(index).len() {
                let (pin, function) = self.pins.place(index, place);
                let carries = ctx.bus.wires.functions(pin.port).carries(pin.number, function);
                channel.is_carried |= carries;
                if carries {
                    ctx.bus.wires.watch(pin, ctx.id, false);
                } else {
                    ctx.bus.wires.unwatch(pin, ctx.id);
                }
            }
            // A pin that has come starts at the present level.
            channel.driven = None;
        }
    }

    /// The pin at which a channel listens.
    pub(super) fn input(&self, index: usize, ctx: &Ctx) -> Option<Pin> {
        self.channels[index].pin.or_else(|| self.pins.pins(index, ctx.bus).next())
    }

    /// Drives the pins of channels whose outputs have changed.
    pub(super) fn drive_pins(&mut self, ctx: &mut Ctx) {
        let outputs = self.has_outputs();
        for (index, channel) in self.channels.iter_mut().enumerate() {
            let level = channel.level(outputs);
            if level == channel.driven {
                continue;
            }
            channel.driven = level;
            if let Some(pin) = channel.pin {
                ctx.bus.drive_pin(pin, level, ctx.now);
            }
            for place in 0..self.pins.places(index).len() {
                let (pin, function) = self.pins.place(index, place);
                if ctx.bus.wires.functions(pin.port).carries(pin.number, function) {
                    ctx.bus.drive_function(pin, level, ctx.now);
                }
            }
        }
    }

    /// Tells of channels that are on while the counter runs, and that no pin carries.
    pub(super) fn note_pins(&mut self, ctx: &mut Ctx) {
        let outputs = self.has_outputs();
        for index in 0..CHANNELS {
            if self.pins.carries(index) {
                continue;
            }
            let channel = &self.channels[index];
            if !self.counter.running || !channel.is_enabled() {
                continue;
            }
            if channel.is_input() {
                self.pins.note(index, "it captures, and no edge comes in", ctx);
            } else if outputs {
                self.pins.note(index, "its output is on, and moves no pin", ctx);
            }
        }
    }
}
