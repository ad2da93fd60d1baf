//! The console's line at its own rate: characters that are sent in another format reach the listener as a receiver of
//! the line's format decodes them, and typed characters reach the UART in the same way (`devices::far_end`).
//! Lines without a rate in the board follow the firmware.

use super::Bus;
use super::device::Ctx;
use crate::dt::wiring::DeviceId;
use crate::serial::wave::Format;
use crate::time::Ps;

/// The token of an event at which a character may have been received at the other end of the line: a UART calls
/// [`Ctx::hear_line`].
pub const LINE_HEARD: u32 = 0xffff_0001;

impl Ctx<'_> {
    /// A character of this device has left the chip, its stop bits at `end`. It goes to the console if the device is
    /// the console, else to the device's own line; where the board names no console, `is_console` decides.
    #[inline]
    pub fn character_sent(&mut self, data: u16, format: &Format, end: Ps, is_console: bool) {
        let Some(line) = self.bus.lines.format_of(self.id) else {
            let is_console = self.bus.lines.console.map_or(is_console, |console| console == self.id);
            return if is_console { self.character_heard(data, end) } else { self.stream(&[data as u8]) };
        };
        let suits = format.suits(&line);
        if !suits || format.strays_from(&line) {
            self.bus.note_format(self.id, format, &line, self.now);
        }
        if suits && self.bus.lines.ear.is_quiet() {
            return self.character_heard(data, end);
        }
        self.bus.lines.ear.hear(format, data, end.saturating_sub(format.frame()));
        self.hear_line(end);
    }

    /// The line's levels are known up to `known`: prints the characters received by then, and schedules an event if
    /// more follow.
    #[inline]
    pub fn hear_line(&mut self, known: Ps) {
        let Some(line) = self.bus.lines.format_of(self.id) else { return };
        while let Some(received) = self.bus.lines.ear.take(&line, known) {
            self.character_heard(received.data, self.now);
        }
        if let Some(due) = self.bus.lines.ear.next(&line).filter(|due| *due > self.now) {
            self.schedule(due, LINE_HEARD);
        }
    }

    fn character_heard(&mut self, data: u16, at: Ps) {
        self.console_at(&[data as u8], at.max(self.now));
    }
}

impl Bus {
    /// The run is over: nothing more follows on the console's line, and its last characters are received.
    #[inline]
    pub fn receive_the_rest(&mut self) {
        let Some((console, line)) = self.lines.console.zip(self.lines.console_format) else { return };
        while let Some(received) = self.lines.ear.take(&line, Ps(u64::MAX / 1000)) {
            self.with_device(console, received.at, |_, ctx| ctx.character_heard(received.data, received.at));
        }
    }

    /// Notes, once, that a UART's format differs from the format of its line.
    #[cold]
    pub fn note_format(&mut self, uart: DeviceId, own: &Format, line: &Format, now: Ps) {
        if std::mem::replace(&mut self.lines.is_noted, true) {
            return;
        }
        let (own_words, line_words) = (own.in_words(), line.in_words());
        let what = if own.suits(line) {
            let off = own.baud().abs_diff(line.baud()) * 1000 / line.baud().max(1);
            let (percent, tenths) = (off / 10, off % 10);
            format!("{percent}.{tenths} % off: a receiver takes 3 to 5 %, so that characters may be lost on a board")
        } else {
            "both ends receive wrong characters, as a receiver at another rate samples them".to_owned()
        };
        let text = format!(
            "it is set to {own_words}, and its line is at {line_words} (/chosen's stdout-path, or --baud): {what}"
        );
        self.note(uart, now, &text);
    }
}
