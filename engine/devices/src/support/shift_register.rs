//! The shift register of a UART's transmitter, shared by two kinds of UART: the character on the line, the event at its
//! end, and the count of sent characters. A character is on the console when its stop bits have ended.

use crate::prelude::*;
use crate::support::activities::SENT;
use crate::support::axi_lite::edge_in_reach;
use engine::activity::{Kind, Scope};
use engine::bus::device::Unsent;
use engine::serial::wave::Format;

/// A character on the line.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
struct Shifting {
    character: u8,
    /// The cycle in which its start bit began.
    begin_cycle: u64,
    /// Its format on the line.
    #[poll(skip = "it is that of the registers when the character began")]
    format: Format,
    /// The cycle in which its stop bits have ended.
    end_cycle: u64,
}

/// The shift register. The device calls [`ShiftRegister::sent`] until it returns `None` before any other access.
#[derive(Debug, State, Polled)]
#[poll(first = ShiftRegister::is_ahead)]
pub struct ShiftRegister {
    /// The clock in which bits are counted.
    clock: Hz,
    shifting: Option<Shifting>,
    alarm: Alarm,
    sent_characters: u64,
    scope: Scope,
}

impl ShiftRegister {
    /// Free, with the clock in which bits are counted.
    pub fn new(clock: Hz) -> ShiftRegister {
        ShiftRegister { clock, shifting: None, alarm: Alarm::default(), sent_characters: 0, scope: Scope::default() }
    }

    /// Records characters as activities of this device from now on.
    pub fn observe(&mut self, scope: Scope) {
        self.scope = scope;
    }

    /// The cycle at `now`.
    pub fn cycle(&self, now: Ps) -> u64 {
        self.clock.cycles_until_floor(now).0
    }

    /// The clock in which bits are counted.
    pub const fn clock(&self) -> Hz {
        self.clock
    }

    /// Changes the clock in which bits are counted, from `ctx.now` on, after [`ShiftRegister::sent`] has returned all
    /// characters up to then: the rest of a character continues at the new rate.
    pub fn change_clock(&mut self, clock: Hz, ctx: &mut Ctx) {
        let from = self.cycle(ctx.now);
        self.clock = clock;
        let to = self.cycle(ctx.now);
        if let Some(shifting) = &mut self.shifting {
            shifting.begin_cycle = to.saturating_sub(from.saturating_sub(shifting.begin_cycle));
            shifting.end_cycle = to + shifting.end_cycle.saturating_sub(from);
        }
        if let Some(end) = self.end() {
            self.scope.ends_instead(&SENT, end);
        }
        self.alarm.cancel(0, ctx);
    }

    /// The time of a cycle; `None` if it is beyond the end of any run.
    pub fn edge(&self, cycle: u64) -> Option<Ps> {
        edge_in_reach(self.clock, cycle)
    }

    /// True if a character can be put in.
    pub const fn is_free(&self) -> bool {
        self.shifting.is_none()
    }

    /// Puts in a character: its start bit begins with a cycle, and its stop bits end with `end_cycle`.
    pub fn start(&mut self, character: u8, (begin_cycle, end_cycle): (u64, u64), format: Format) {
        self.shifting = Some(Shifting { character, begin_cycle, format, end_cycle });
        if let (true, Some(end)) = (self.scope.records(Kind::Serial), self.end()) {
            let begin = self.clock.ps_at_floor(Cycles(begin_cycle));
            self.scope.clocked_span(&SENT, self.clock, begin, end, Detail::Value(character.into()));
        }
    }

    /// Clears it at `now`: the character on the line is lost.
    pub fn clear(&mut self, now: Ps) {
        if self.shifting.take().is_some() {
            self.scope.cut(&SENT, now);
        }
    }

    /// Prints the character if it has ended by `ctx.now`, and returns the cycle of its end, in which the next may
    /// begin.
    pub fn sent(&mut self, ctx: &mut Ctx) -> Option<u64> {
        let cycle = self.cycle(ctx.now);
        let Shifting { character, end_cycle, format, .. } =
            self.shifting.filter(|shifting| shifting.end_cycle <= cycle)?;
        ctx.character_sent(character.into(), &format, self.clock.ps_at_floor(Cycles(end_cycle)), true);
        self.sent_characters += 1;
        self.shifting = None;
        Some(end_cycle)
    }

    /// For [`engine::bus::device::Device::unsent`], with the characters that wait for the shift register.
    pub fn unsent(&self, waiting: impl IntoIterator<Item = u8>) -> Unsent {
        let characters = self.shifting.map(|shifting| shifting.character).into_iter().chain(waiting);
        Unsent { characters: characters.collect(), next_change: self.end() }
    }

    fn end(&self) -> Option<Ps> {
        self.shifting.and_then(|shifting| edge_in_reach(self.clock, shifting.end_cycle))
    }

    /// Requests an event at the end of the character.
    pub fn set_alarm(&mut self, ctx: &mut Ctx) {
        if let Some(end) = self.end() {
            self.alarm.set(end, 0, ctx);
        }
    }

    /// The time up to which the other end has all characters of the line: for [`Ctx::hear_line`].
    pub fn known(&self, now: Ps) -> Ps {
        self.shifting.map_or(now, |shifting| self.clock.ps_at_floor(Cycles(shifting.begin_cycle)))
    }

    /// An event has come at `now`: called first in [`engine::bus::device::Device::event`].
    pub fn rang(&mut self, now: Ps) {
        self.alarm.rang(now);
    }

    /// False if the character's end has to come first, which is an event; nothing changes without events before it.
    fn is_ahead(&mut self, poll: &mut Poll) -> bool {
        self.end().is_none_or(|end| end > poll.now())
    }

    /// For [`engine::bus::device::Device::counters`].
    pub fn counters(&self) -> Vec<(String, u64)> {
        vec![("tx_characters".to_owned(), self.sent_characters)]
    }
}
