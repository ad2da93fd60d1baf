//! The other end of a serial line: a terminal whose characters come from the host, or a script.
//!
//! It knows no bus: `devices::far_end` brings the characters to the UART at the line's own rate and has the
//! script go on as time passes, and the machine takes what the host types.

pub mod script;
pub mod wave;

use std::collections::VecDeque;

use crate::dt::wiring::{Pin, PortId};
use crate::state::{Fresh, State};
use crate::time::Ps;
use script::{Pins, Progress, Script};

/// A character on its way to a UART.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Passage {
    /// When the UART has it.
    pub received: Ps,
    /// When its stop bits have ended: the next character may begin then.
    pub ends: Ps,
    /// The line leads to no receiver: the UART never has it.
    pub is_lost: bool,
}

impl Passage {
    /// Of a UART that has a character when its stop bits have ended.
    #[inline]
    pub const fn whole(ends: Ps) -> Passage {
        Passage { received: ends, ends, is_lost: false }
    }

    /// The same character on a line that leads to no receiver.
    #[must_use]
    #[inline]
    pub const fn lost(self) -> Passage {
        Passage { is_lost: true, ..self }
    }
}

/// The characters that are sent to a UART, and their source.
#[derive(Debug, Default, State)]
pub struct FarEnd {
    /// What somebody types, and when.
    typed: VecDeque<(Ps, Vec<u8>)>,
    waiting: VecDeque<u8>,
    on_line: bool,
    script: Option<Script>,
}

impl FarEnd {
    /// One that sends these characters as soon as the UART takes them, and what is typed later.
    #[inline]
    pub fn typing(characters: Vec<u8>) -> FarEnd {
        FarEnd { waiting: characters.into(), ..FarEnd::default() }
    }

    /// One that does what a script says.
    #[inline]
    pub fn following(script: Script) -> FarEnd {
        FarEnd { script: Some(script), ..FarEnd::default() }
    }

    /// Adds characters typed at `at`, after those typed before.
    #[inline]
    pub fn feed(&mut self, at: Ps, characters: &[u8]) {
        self.typed.push_back((at, characters.to_vec()));
    }

    /// The time is `now`: what was typed by then waits.
    #[inline]
    pub fn come_to(&mut self, now: Ps) {
        while self.typed.front().is_some_and(|(at, _)| *at <= now) {
            self.waiting.extend(self.typed.pop_front().into_iter().flat_map(|(_, characters)| characters));
        }
    }

    /// Characters that wait to begin on the line.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Characters that have not begun on the line, and may not have been typed yet.
    #[inline]
    pub fn left(&self) -> usize {
        self.waiting.len() + self.typed.iter().map(|(_, characters)| characters.len()).sum::<usize>()
    }

    /// The character that begins now; [`FarEnd::passed`] follows at its end.
    #[inline]
    pub fn take(&mut self) -> Option<u8> {
        let character = self.waiting.pop_front();
        self.on_line = character.is_some();
        character
    }

    /// The character on the line has ended.
    #[inline]
    pub fn passed(&mut self) {
        self.on_line = false;
    }

    /// True while a character is on the line.
    #[inline]
    pub fn is_sending(&self) -> bool {
        self.on_line
    }

    /// True if it needs the characters that the UART sends.
    #[inline]
    pub fn listens(&self) -> bool {
        self.script.is_some()
    }

    /// The UART has sent a character.
    #[inline]
    pub fn hear(&mut self, character: u8) {
        if let Some(script) = &mut self.script {
            script.hear(character);
        }
    }

    /// Lets the script go on at `now`.
    #[inline]
    pub fn go_on(&mut self, now: Ps, pins: &mut dyn Pins) -> Progress {
        let Some(script) = &mut self.script else { return Progress::Waits(None) };
        script.go_on(now, !self.on_line && self.waiting.is_empty(), &mut self.waiting, pins)
    }

    /// Pins of a port have changed: true if the script may go on for that.
    #[inline]
    pub fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32) -> bool {
        self.script.as_mut().is_some_and(|script| script.pins_changed(port, changed, levels))
    }

    /// The pins that the script waits for.
    #[inline]
    pub fn watched(&self) -> impl Iterator<Item = Pin> {
        self.script.iter().flat_map(Script::watched)
    }

    /// True unless it is a script that has to do with pins alone.
    #[inline]
    pub fn needs_line(&self) -> bool {
        self.script.as_ref().is_none_or(Script::needs_line)
    }

    /// The run ended at `now`: what the script still expected, and what else it had not done.
    #[inline]
    pub fn unfinished(&self, now: Ps) -> Option<script::Unfinished> {
        self.script.as_ref()?.unfinished(now)
    }
}
