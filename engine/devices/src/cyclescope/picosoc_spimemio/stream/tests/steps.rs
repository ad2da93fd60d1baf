//! The same machine, taken one cycle at a time and with every request remembered: slow, and as close to the rules as
//! can be.

use super::super::super::mode::Mode;

/// The transfer on the lines.
#[derive(Clone, Copy, Debug)]
enum Busy {
    /// Command, address, mode byte and dummies, with the number of remaining cycles.
    Header(u64),
    /// A byte of a word: its number from 0, and its remaining cycles.
    Byte(u32, u64),
    /// Between bytes: number of the next.
    Between(u32),
}

/// The machine.
pub struct Machine {
    mode: Mode,
    /// The cycle that is about to happen.
    now: u64,
    /// First cycle in which an address may begin, before the first request.
    ready: Option<u64>,
    busy: Busy,
    /// Address of the word on the lines.
    reading: u32,
    /// Both as they were in the cycle before: what the pins show.
    shown: (Busy, u32),
    /// A word whose bits are all there, and the cycle in which it will be held.
    captured: Option<(u32, u64)>,
    /// The held word, since when, and whether it is the first of its frame.
    held: Option<(u32, u64, bool)>,
    first: bool,
    /// Cycles in which a request was up.
    up: Vec<u64>,
}

impl Machine {
    /// A machine whose preamble is over at `ready`.
    pub fn new(mode: Mode, ready: u64) -> Machine {
        Machine {
            mode,
            now: 0,
            ready: Some(ready),
            busy: Busy::Between(0),
            reading: 0,
            shown: (Busy::Between(0), 0),
            captured: None,
            held: None,
            first: true,
            up: Vec::new(),
        }
    }

    /// A configuration write.
    pub fn restart(&mut self, at: u64, mode: Mode) {
        *self = Machine { now: at + 1, ..Machine::new(mode, at + 55) };
    }

    /// A request: the cycle of its answer.
    pub fn request(&mut self, at: u64, address: u32) -> u64 {
        if let Some(ready) = self.ready.take() {
            self.now = at;
            self.start(address, ready.max(at + 1) - at);
        } else {
            while self.now < at {
                self.capture();
                self.move_lines();
            }
            self.capture();
            let held = self.held.expect("a word is held between requests").0;
            if held != address && held + 4 != address {
                self.start(address, if self.mode.continuous { 2 } else { 18 });
            }
        }
        loop {
            self.capture();
            self.up.push(self.now);
            if self.held.is_some_and(|(held, ..)| held == address) {
                return self.now;
            }
            self.move_lines();
        }
    }

    /// The cycles of the word after the held one that have been on the pins by a cycle without a request.
    pub fn look(&mut self, at: u64) -> u64 {
        while self.now < at {
            self.capture();
            self.move_lines();
        }
        self.capture();
        let held = self.held.expect("a word is held between requests").0;
        let (busy, reading) = self.shown;
        let byte_cycles = self.mode.byte_cycles();
        let cycles = match busy {
            Busy::Header(_) => unreachable!("a header is over when its word is held"),
            Busy::Byte(byte, left) => u64::from(byte + 1) * byte_cycles - left,
            Busy::Between(byte) => u64::from(byte) * byte_cycles,
        };
        u64::from(reading - held - 4) * byte_cycles + cycles
    }

    /// An address begins in `delay` cycles.
    fn start(&mut self, address: u32, delay: u64) {
        (self.held, self.captured, self.first, self.reading) = (None, None, true, address);
        self.busy = Busy::Header(delay + self.mode.header_cycles());
    }

    /// The word that is held in this cycle.
    fn capture(&mut self) {
        if let Some((address, at)) = self.captured
            && at == self.now
        {
            self.held = Some((address, at, std::mem::take(&mut self.first)));
            self.captured = None;
        }
    }

    /// This cycle passes on the lines.
    fn move_lines(&mut self) {
        self.shown = (self.busy, self.reading);
        if let Busy::Between(byte) = self.busy
            && (byte < 3 || self.may_finish_word())
        {
            self.busy = Busy::Byte(byte, self.mode.byte_cycles());
        }
        self.now += 1;
        self.busy = match self.busy {
            Busy::Header(1) => Busy::Between(0),
            Busy::Header(left) => Busy::Header(left - 1),
            Busy::Byte(3, 1) => {
                self.captured = Some((self.reading, self.now + self.mode.capture_cycles()));
                self.reading += 4;
                Busy::Between(0)
            }
            Busy::Byte(byte, 1) => Busy::Between(byte + 1),
            Busy::Byte(byte, left) => Busy::Byte(byte, left - 1),
            between => between,
        };
    }

    /// The last byte of a word begins if nothing is held, or what is held was asked for in time, or has been since.
    fn may_finish_word(&self) -> bool {
        let Some((_, since, first)) = self.held else { return true };
        first || self.up.iter().any(|up| (since - 1..self.now).contains(up))
    }
}
