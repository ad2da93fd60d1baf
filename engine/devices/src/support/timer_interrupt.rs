//! The interrupt of a timer whose counter is a function of time: its line, and the event at which the line rises next.
//! Nothing else of such a timer needs an event.

use crate::prelude::*;
use crate::support::activities::COUNTING;

/// The interrupt. [`by_table!`] connects its events, if the timer is a table: `by_table!(interrupt)`.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
pub struct TimerInterrupt {
    line: Option<IrqLine>,
    /// Which of the device's timers this is, and the token of its events.
    #[state(skip)]
    number: u32,
    /// The earliest event that was requested and has not run; later ones are requested when it comes.
    alarm: Alarm,
}

impl TimerInterrupt {
    /// The interrupt of a device's only timer.
    pub fn new(line: Option<IrqLine>) -> TimerInterrupt {
        TimerInterrupt { line, ..TimerInterrupt::default() }
    }

    /// The interrupt of one of several timers.
    pub fn numbered(self, number: u32) -> TimerInterrupt {
        TimerInterrupt { number, ..self }
    }

    /// Sets the line's level; while it is low, it rises at `rises`, if at all.
    pub fn drive(&mut self, level: bool, rises: Option<Ps>, ctx: &mut Ctx) {
        ctx.set_irq(self.line, level);
        self.expect(rises.filter(|_| !level), ctx);
    }

    /// The timer counts up to `due`, at which an event has to come. Without `due` it is not shown as counting, and an
    /// event that was requested before still comes.
    pub fn expect(&mut self, due: Option<Ps>, ctx: &mut Ctx) {
        ctx.awaits((&COUNTING, self.number), due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, self.number, ctx);
        }
    }

    /// As [`TimerInterrupt::expect`], and no event comes without a `due` time.
    pub fn expect_only(&mut self, due: Option<Ps>, ctx: &mut Ctx) {
        self.expect(due, ctx);
        if due.is_none() {
            self.cancel(ctx);
        }
    }

    /// The timer has no use for the event any more: its clock has changed, or nothing is due.
    pub fn cancel(&mut self, ctx: &mut Ctx) {
        self.alarm.cancel(self.number, ctx);
    }

    /// The line.
    pub const fn line(&self) -> Option<IrqLine> {
        self.line
    }

    /// An event has come at `now`: called first in [`Device::event`].
    pub fn rang(&mut self, now: Ps) {
        self.alarm.rang(now);
    }
}
