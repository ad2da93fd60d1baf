//! The pins of the channels: outputs and capture inputs.

use super::{CHANNELS, Timer};
use engine::bus::device::Ctx;
use engine::pins::Pin;

impl Timer {
    /// Finds the pins that carry the channels now, drives outputs, and listens to inputs.
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
            // A pin that was connected starts at its present level.
            channel.driven = None;
        }
    }

    /// The input pin of a channel.
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

    /// Adds notes for channels that are on while the counter runs, and that no pin carries.
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
                self.pins.note(index, "the channel captures, but no edge arrives", ctx);
            } else if outputs {
                self.pins.note(index, "the channel's output is on, but drives no pin", ctx);
            }
        }
    }
}
