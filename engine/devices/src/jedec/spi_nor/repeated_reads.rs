//! Repeated reads: frames with the same header. The result of a header is computed once, and is valid until the chip's
//! state changes.
//!
//! The chip does not get the time of such a frame. It is not busy, so its data do not depend on the time; whether its
//! clocks are too fast was checked before.

use super::*;
use engine::wire::spi::Drive;

/// The longest burst that is compared with the fastest clock.
const LONGEST_CLOCKS: u32 = 32;
/// Trial addresses: all zeroes, all ones, and a mixture. A chip that reads them correctly reads any address correctly.
const TRIALS: [u32; 3] = [0, 0xff_ffff, 0x12_3456];

/// The result of the last header.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TriedHeader {
    /// The header, and the value of [`Flash::changes`] for which the result is valid.
    key: Option<(u32, u64)>,
    /// The frame after the header at address 0, just before its data clocks; `None` if such frames have to be simulated
    /// clock by clock.
    frame: Option<Frame>,
}

impl Flash {
    /// [`SpiTarget::start_repeated_read`].
    pub(super) fn start_repeated(&mut self, header: &Header, address: u32) -> bool {
        if self.selected || self.busy.is_some() || self.asleep {
            return false;
        }
        let key = Some((header.version, self.changes));
        if self.tried.key != key {
            self.tried = TriedHeader { key, frame: self.try_header(header) };
        }
        let Some(frame) = self.tried.frame else { return false };
        self.selected = true;
        self.frame = Frame { address: address & (self.part.size_bytes - 1), ..frame };
        true
    }

    /// [`SpiTarget::end_repeated_read`]. The frame does not change what the next one does: that was tried.
    pub(super) fn end_repeated(&mut self) -> bool {
        let is_repeated = self.selected && self.frame.is_repeated;
        if is_repeated {
            self.selected = false;
            self.reset_enabled = false;
        }
        is_repeated
    }

    /// The frame after a header, for [`TriedHeader::frame`].
    #[cold]
    fn try_header(&self, header: &Header) -> Option<Frame> {
        let now = self.last_edge;
        let spans = header.bursts(0).map(|burst| burst.clocks.min(LONGEST_CLOCKS)).chain(1..=LONGEST_CLOCKS);
        let fast_enough = |clocks: u32| header.least(clocks) >= self.fastest.shortest(clocks);
        if !spans.into_iter().all(fast_enough) {
            return None;
        }
        let mut found = None;
        for address in TRIALS {
            let mut trial = self.clone();
            trial.notes = Notes::default();
            trial.try_bursts(header, address, now);
            let frame = Frame { address: 0, is_repeated: true, ..trial.frame };
            let reads = frame.phase == Phase::Output(Source::Array)
                && frame.bits == 0
                && (frame.lines, frame.rate) == header.data
                && trial.frame.address == address & (self.part.size_bytes - 1)
                && found.replace(frame).is_none_or(|other| other == frame);
            trial.deselect(now);
            let is_steady = trial.changes == self.changes && trial.busy.is_none() && !trial.asleep;
            if !reads || !is_steady || !trial.notes.has_none() {
                return None;
            }
        }
        found
    }

    /// Selects the chip, sends a header, and reads.
    fn try_bursts(&mut self, header: &Header, address: u32, now: Ps) {
        self.select(now);
        let (source, period) = header.clock;
        let mut clocks = 0;
        for burst in header.bursts(address) {
            clocks += u64::from(burst.clocks);
            self.shift(burst, now + source.ps_at_floor(Cycles(clocks * period)));
        }
        self.count_turn(Drive::Target, 0);
    }
}
