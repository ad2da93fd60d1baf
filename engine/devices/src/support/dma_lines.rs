//! A peripheral's request line to DMA controllers, which may have several destinations.
//!
//! A line for a state (a data register is full) has a level. A line for an occurrence (a timer's update) is raised and
//! lowered at the same time: a controller latches such a request until it has served it.
//!
//! While a controller accesses the peripheral, it can't take changes that this access causes. They are passed on by an
//! event at the same time, which comes before the controller's next step.

use crate::prelude::*;

/// A request line.
#[derive(Debug, Default, State, Polled)]
pub struct DmaLine {
    lines: Vec<IrqLine>,
    /// The present level of the line, and the level that the controllers have.
    level: bool,
    passed_on: bool,
    /// A request for one transfer has not been passed on.
    pulse: bool,
    /// An event has been requested.
    awaited: bool,
}

impl DmaLine {
    /// A line to these destinations.
    pub fn new(lines: Vec<IrqLine>) -> DmaLine {
        DmaLine { lines, ..DmaLine::default() }
    }

    /// The line of a node that `dma-names` calls `name`.
    pub fn from_node(reader: &mut NodeReader, name: &str, meaning: &str) -> DmaLine {
        DmaLine::new(reader.dma_lines(name, meaning))
    }

    /// True if the line leads nowhere.
    pub fn is_open(&self) -> bool {
        self.lines.is_empty()
    }

    /// Sets the level of the line. `token` is the token of the event that may be requested.
    pub fn set(&mut self, level: bool, token: u32, ctx: &mut Ctx) {
        self.pulse |= level && !self.level;
        self.level = level;
        self.pass_on(token, ctx);
    }

    /// Requests one transfer.
    pub fn pulse(&mut self, token: u32, ctx: &mut Ctx) {
        self.pulse = true;
        self.pass_on(token, ctx);
    }

    /// The event has come.
    pub fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.awaited = false;
        self.pass_on(token, ctx);
    }

    fn pass_on(&mut self, token: u32, ctx: &mut Ctx) {
        if self.lines.is_empty() || (self.level == self.passed_on && !self.pulse) {
            self.pulse = false;
            return;
        }
        let is_busy = |line: &IrqLine| matches!(line, IrqLine::Device { device, .. } if ctx.bus.is_busy(*device));
        if self.lines.iter().any(is_busy) {
            if !std::mem::replace(&mut self.awaited, true) {
                ctx.schedule(ctx.now, token);
            }
            return;
        }
        let pulse = std::mem::take(&mut self.pulse);
        self.passed_on = self.level;
        for index in 0..self.lines.len() {
            let line = Some(self.lines[index]);
            if pulse {
                ctx.set_irq(line, true);
            }
            if !pulse || !self.level {
                ctx.set_irq(line, self.level);
            }
        }
    }
}
