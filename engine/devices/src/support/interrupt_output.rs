//! An interrupt output whose line is driven when its level changes, and at no other time.

use crate::prelude::*;

/// The output, with its level.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct InterruptOutput {
    line: Option<IrqLine>,
    level: bool,
}

impl InterruptOutput {
    /// Low, and connected to a line or to nothing.
    pub const fn new(line: Option<IrqLine>) -> InterruptOutput {
        InterruptOutput { line, level: false }
    }

    /// Sets its level.
    pub fn drive(&mut self, level: bool, ctx: &mut Ctx) {
        if std::mem::replace(&mut self.level, level) != level {
            ctx.set_irq(self.line, level);
        }
    }
}
