//! Serial lines with a device at their other end: the exchange between a UART and that end, two devices of one bus.

use std::collections::VecDeque;

use crate::dt::wiring::DeviceId;
use crate::serial::wave::{Ear, Format};
use crate::state::{Fresh, State};
use crate::time::Ps;

/// How a script has ended the run.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Failure(pub String);

/// All such lines; most runs have none.
#[derive(Debug, Default, State)]
pub struct Lines {
    /// The UART whose line is the console, where the board says which: others print on lines of their own.
    #[state(skip)]
    pub console: Option<DeviceId>,
    /// The character format of the console's line, where the board says it.
    #[state(skip)]
    pub console_format: Option<Format>,
    /// The receiver at the other end of the console's line, where the UART has another format.
    pub(crate) ear: Ear,
    /// The user has been notified of that.
    pub(crate) is_noted: bool,
    /// Input may still come on one of the lines: firmware that waits for it is not stuck.
    #[state(skip)]
    pub are_attended: bool,
    /// The failure of a script whose expectation was not met.
    pub failure: Option<Failure>,
    #[state(with = crate::state::fixed)]
    lines: Vec<Line>,
}

/// A line with a device at its other end.
#[derive(Debug, State)]
struct Line {
    #[state(skip)]
    uart: DeviceId,
    #[state(skip)]
    far_end: DeviceId,
    /// The far end wants to receive what the UART sends.
    #[state(skip)]
    listens: bool,
    /// The far end waits until the UART takes characters.
    held: bool,
    /// The characters that the UART has sent, and when each has arrived.
    heard: VecDeque<(Ps, u8)>,
}

impl Lines {
    /// Connects a device that is a far end to a UART.
    #[inline]
    pub fn connect(&mut self, uart: DeviceId, far_end: DeviceId, listens: bool) {
        self.lines.push(Line { uart, far_end, listens, held: false, heard: VecDeque::new() });
    }

    /// The character format of a UART's line, where the board says it.
    #[inline]
    pub fn format_of(&self, uart: DeviceId) -> Option<Format> {
        self.console_format.filter(|_| self.console == Some(uart))
    }

    /// The far end of a UART's line.
    #[inline]
    pub fn far_end(&self, uart: DeviceId) -> Option<DeviceId> {
        self.lines.iter().find(|line| line.uart == uart).map(|line| line.far_end)
    }

    /// The first far end.
    #[inline]
    pub fn first(&self) -> Option<DeviceId> {
        self.lines.first().map(|line| line.far_end)
    }

    /// True if no line has a far end.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Each UART with its far end.
    #[inline]
    pub fn all(&self) -> impl Iterator<Item = (DeviceId, DeviceId)> {
        self.lines.iter().map(|line| (line.uart, line.far_end))
    }

    /// A UART's characters reach the far end at `at`: the device that listens there, if one does.
    #[inline]
    pub fn sent(&mut self, uart: DeviceId, at: Ps, characters: &[u8]) -> Option<DeviceId> {
        let line = self.lines.iter_mut().find(|line| line.listens && line.uart == uart)?;
        line.heard.extend(characters.iter().map(|character| (at, *character)));
        Some(line.far_end)
    }

    /// The next character that a far end has received by `now` and has not taken yet.
    #[inline]
    pub fn take_heard(&mut self, far_end: DeviceId, now: Ps) -> Option<u8> {
        let line = self.lines.iter_mut().find(|line| line.far_end == far_end)?;
        line.heard.front().filter(|(at, _)| *at <= now)?;
        line.heard.pop_front().map(|(_, character)| character)
    }

    /// A far end can't send now, and has to look again when the UART's settings change; or it no longer waits.
    #[inline]
    pub fn hold(&mut self, far_end: DeviceId, held: bool) {
        self.lines.iter_mut().filter(|line| line.far_end == far_end).for_each(|line| line.held = held);
    }

    /// The far end that waits until this UART takes characters; returned once.
    #[inline]
    pub fn release(&mut self, uart: DeviceId) -> Option<DeviceId> {
        let line = self.lines.iter_mut().find(|line| line.held && line.uart == uart)?;
        line.held = false;
        Some(line.far_end)
    }
}
