//! An SD memory card in SPI mode (`mmc-spi-slot`), SDSC or SDHC. Document: SD Association, "SD Specifications Part 1,
//! Physical Layer Simplified Specification", Version 4.10: chapter 7 (SPI mode), 5 (registers), 4 (commands, CRC,
//! erase, switch), cited by section. The simplified version does not have the timing of 7.5; NCR of 1 to 8 bytes is
//! from card makers' manuals.
//!
//! Modelled, at the wire: the 74 clocks of power-up, the change to SPI mode, the initialisation by ACMD41 or CMD1 with
//! its time, all commands of the card's table ([`commands`]), CRC on and off, the R1, R1b, R2, R3 and R7 responses,
//! single and multiple reads and writes with their tokens, data responses and data error tokens, the busy signal (bit
//! by bit), partial block reads of SDSC cards, erase, the registers, write protection, and faults that the board
//! injects. The contents are a raw image file or memory. A write is passed to the host's operating system before its
//! data response is sent.
//!
//! A flash translation layer ([`translation`]) computes the card's busy times. The card does not know the clock's rate
//! before a byte is over: it assumes that a byte has begun eight periods of `spi-max-frequency` before its end. On a
//! slower clock, a change during a byte therefore shows up to one byte earlier than on a real card.
//!
//! Not modelled: SD mode (no answers before CMD0), locking, the write protection of groups, programming of the CSD and
//! GEN_CMD (illegal commands), security (the SCR says that there is no security), High Speed and all other functions of
//! CMD6 (none can be selected), SDXC, and the limit of 400 kHz before initialisation. A data block is stored as a whole
//! when its response begins, even if the power fails during its busy time. The stuff byte after CMD12 is the next byte
//! that the card would have sent. CMD23 is illegal in SPI mode (7.3.1.3); a card that supports it nevertheless has
//! `cyclescope,set-block-count`.

// `wire` is the wire, `commands` the table of commands, `operations` their execution, `reply` a response, `sending` and
// `receiving` are data blocks, `registers` the bits, `medium` the contents, `polling` the state for skipping of polling
// loops.

mod capacity;
pub mod commands;
mod crc;
pub(crate) mod medium;
mod operations;
mod parameters;
mod polling;
mod receiving;
mod registers;
mod reply;
pub mod sd_mode;
mod sending;
#[cfg(test)]
mod tests;
pub mod translation;
mod wire;

use crc::{crc7, crc16};
use medium::{BLOCK_BYTES, Medium};
use operations::{Erase, Session};
use parameters::Parameters;
use receiving::{Receiving, Stage};
use reply::{Answer, OK, Reply, Response, r1, r2};
use sd_mode::SdMode;
use sending::{START_BLOCK, Sending};
use translation::{Doing, Translation};
use wire::{Out, Pace};

use crate::prelude::*;
use engine::activity::{Activity, Kind, Scope};
use engine::host_image::{HostImage, ImageError, NOT_LOCKED};
use engine::state;
use engine::wire::bytes::ByteLine;
use engine::wire::notes::Notes;
use engine::wire::spi::{Burst, NextClock, Rate, SpiTarget};

/// For the list of models.
pub const MODEL: Model =
    Model::spi_chip(&["mmc-spi-slot"], |reader| Box::new(Card::from_node(reader))).with_activities(ACTIVITIES);

/// The card holds its data line low.
static PROGRAM_BUSY: Activity = Activity::new(
    Kind::Busy,
    "card page program",
    "of the card's flash, while the data line is low after a data response or stop token",
);
static MERGE_BUSY: Activity = Activity::new(
    Kind::Busy,
    "card merge",
    "copies of sectors and pages that the host did not write, while the data line is low after a data response or \
     stop token",
);
static ERASE_BUSY: Activity =
    Activity::new(Kind::Busy, "card erase", "of blocks without valid data, after a write; and from CMD38 on");
static WRITE_BUSY: Activity =
    Activity::new(Kind::Busy, "card busy", "after a write, while the card's flash is idle").joining();
static READ_ACCESS: Activity = Activity::new(
    Kind::Busy,
    "card read access",
    "from the read command, or the end of the previous block, until the data can be sent; the block's address and size",
);
static INITIALISING: Activity = Activity::new(Kind::Busy, "card initialisation", "from the first ACMD41 or CMD1 on");
/// The activities that the card records.
const ACTIVITIES: &[&Activity] = &[&PROGRAM_BUSY, &MERGE_BUSY, &ERASE_BUSY, &WRITE_BUSY, &READ_ACCESS, &INITIALISING];

/// Clocks that the card needs with chip select high after power-up: 6.4.1.
const POWER_UP_CLOCKS: u32 = 74;

/// The use of the data line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, state::State, state::Fresh, Polled)]
enum Data {
    #[default]
    None,
    Sending(Sending),
    Receiving(Receiving),
}

/// The state of the card between power-up and ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, state::State, state::Fresh, Polled)]
enum State {
    /// SD mode: the card waits for CMD0.
    #[default]
    PowerUp,
    /// SPI mode; the initialisation has not begun.
    Idle,
    /// The initialisation ends at that time, and the next ACMD41 or CMD1 reports the end.
    Initialising(Ps),
    Ready,
}

/// Totals since the start of the run. A loop that transfers blocks is not a polling loop.
#[derive(Clone, Copy, Debug, Default, state::State, Polled, Counters)]
struct Totals {
    #[poll(total)]
    commands: u64,
    blocks_read: u64,
    blocks_written: u64,
    sectors_erased: u64,
    #[poll(total)]
    crc_errors: u64,
    #[poll(total)]
    busy_bytes: u64,
    /// Complete data blocks, with a correct CRC or not.
    #[counter(skip)]
    blocks_received: u64,
}

/// The card.
#[derive(Debug, Default, state::State, Polled)]
#[poll(first = Card::list_times)]
pub struct Card {
    #[state(skip)]
    parameters: Parameters,
    #[poll(skip = "changes with the totals")]
    medium: Medium,
    #[state(skip)]
    image: Option<HostImage>,
    /// The first operation on the image that failed on the host.
    #[poll(skip = "for the end of the run")]
    image_error: Option<(&'static str, String)>,
    translation: Translation,
    #[poll(skip = "a check of the clock")]
    pace: Pace,
    #[poll(skip = "no answer depends on it")]
    notes: Notes<String>,
    totals: Totals,
    removed: bool,
    /// True if the card is taken out at the end of the present byte.
    leaves_after_byte: bool,

    selected: bool,
    #[poll(skip = "empty between bytes")]
    line: ByteLine,
    /// The bits that the card sends during the byte.
    #[poll(skip = "of a byte that is over")]
    out: Out,
    /// The command that is being received, and the number of its bytes so far.
    #[poll(skip = "of a command that is over")]
    command: [u8; 6],
    command_bytes: usize,
    #[poll(skip = "sent as a whole")]
    reply: Reply,
    data: Data,
    /// Data of a block and its CRC.
    #[poll(skip = "listed while it is sent")]
    buffer: Vec<u8>,
    busy_until: Ps,

    power_up_clocks: u32,
    state: State,
    /// True if the previous command was CMD55.
    application: bool,
    session: Session,
    sd: SdMode,
    /// ACMD22's answer.
    well_written: u32,
    scope: Scope,
}

impl Card {
    /// A card as its node describes it, before power-up.
    pub fn from_node(reader: &mut NodeReader) -> Card {
        let (parameters, medium, image) = parameters::from_node(reader);
        let translation = Translation::from_node(reader, parameters.capacity.blocks());
        let (pace, buffer) = (Pace::new(parameters.max_clock), vec![0; BLOCK_BYTES + 2]);
        Card { parameters, medium, image, translation, pace, buffer, ..Card::default() }
    }

    /// Size in blocks of 512 bytes.
    fn blocks(&self) -> u32 {
        self.parameters.capacity.blocks()
    }

    /// Makes the card busy until `until` at least, with an activity that began at `end`.
    fn occupy(&mut self, what: &'static Activity, until: Ps, end: Ps) {
        if until > self.busy_until {
            self.scope.span(what, end.max(self.busy_until), until, Detail::None);
            self.busy_until = until;
        }
    }

    /// Makes the card busy after a write that ended at `end`, and records the operations of its flash.
    fn occupy_for_write(&mut self, until: Ps, end: Ps) {
        for (doing, _, to) in self.translation.doing(end.max(self.busy_until), until) {
            let what = match doing {
                Doing::Merge => &MERGE_BUSY,
                Doing::Erase => &ERASE_BUSY,
                Doing::Program => &PROGRAM_BUSY,
                Doing::Nothing => &WRITE_BUSY,
            };
            self.occupy(what, to, end);
        }
    }

    /// True if `bytes` from `addr` on lie on the card.
    fn holds(&self, addr: u32, bytes: usize) -> bool {
        u64::from(addr) + bytes as u64 <= self.parameters.capacity.bytes()
    }

    /// True if the card is out of the slot for a byte that begins at `start`; takes it out if that is due.
    fn is_gone(&mut self, start: Ps) -> bool {
        let due = self.leaves_after_byte || self.parameters.faults.removed_at.is_some_and(|at| start >= at);
        if due && !self.removed {
            self.remove();
        }
        self.removed
    }

    /// The card leaves the slot: its line is pulled up from the next byte on.
    #[cold]
    fn remove(&mut self) {
        self.removed = true;
        self.data = Data::None;
        self.reply = Reply::default();
        self.notes.add("as the board asked: the card left its slot".to_owned());
    }

    #[cold]
    fn note_write_protected(&mut self) {
        self.notes.add("the card is write-protected: nothing was written or erased".to_owned());
    }

    #[cold]
    fn note_past_the_end(&mut self) {
        let note = format!("an access past the end of the card, which has {} blocks", self.blocks());
        self.notes.add(note);
    }

    #[cold]
    fn note_image(&mut self, what: &'static str, error: &std::io::Error) {
        self.image_error.get_or_insert_with(|| (what, error.to_string()));
        self.notes.add(format!("the image could not be {what}: {error}"));
    }
}

impl SpiTarget for Card {
    fn select(&mut self, now: Ps) {
        self.pace.rest(now);
        self.selected = true;
        self.line = ByteLine::default();
        self.command_bytes = 0;
    }

    fn observe(&mut self, scope: Scope) {
        scope.declare(ACTIVITIES);
        self.scope = scope;
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        if let Some(note) = self.pace.too_fast(burst.clocks, end) {
            self.notes.add(note);
        }
        self.pass(burst, end)
    }

    fn deselect(&mut self, now: Ps) {
        if std::mem::take(&mut self.selected) {
            self.abandon(now);
        }
    }

    fn idle_clocks(&mut self, clocks: u32, _end: Ps) {
        self.power_up_clocks = self.power_up_clocks.saturating_add(clocks).min(POWER_UP_CLOCKS);
    }

    fn present(&self, now: Ps) -> bool {
        !self.removed && self.parameters.faults.removed_at.is_none_or(|at| now < at)
    }

    fn write_protected(&self) -> bool {
        self.parameters.write_protect
    }

    fn next_clock(&self) -> NextClock {
        let high = self.next_bit();
        let driven = if self.drives() { 0b10 } else { 0 };
        let level = if high { driven } else { 0 };
        NextClock { rate: Rate::Single, driven, levels: [level; 2] }
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.notes.take()
    }

    fn peek(&self, addr: u32, into: &mut [u8]) -> bool {
        self.holds(addr, into.len()) && self.medium.read(u64::from(addr), into).is_ok()
    }

    fn preload(&mut self, addr: u32, bytes: &[u8]) -> bool {
        self.holds(addr, bytes.len()) && self.medium.write(u64::from(addr), bytes).is_ok()
    }

    fn image(&mut self) -> Option<&mut HostImage> {
        self.image.as_mut()
    }

    fn begin_run(&mut self) -> Result<(), ImageError> {
        let Some(image) = &mut self.image else { return Ok(()) };
        let (file, is_locked) = image.take()?;
        let file = file.try_clone().map_err(ImageError::Open)?;
        let (medium, bytes) = Medium::image(file)?;
        let before_bytes = self.parameters.capacity.bytes();
        if bytes != before_bytes {
            return Err(ImageError::Resized { before_bytes, bytes });
        }
        self.medium = medium;
        if !is_locked {
            self.notes.add(NOT_LOCKED.to_owned());
        }
        Ok(())
    }

    fn finish(&mut self, _now: Ps) -> Result<(), ImageError> {
        if let Err(error) = self.medium.sync() {
            self.image_error.get_or_insert_with(|| ("synced", error.to_string()));
        }
        match self.image_error.take() {
            Some((what, error)) => Err(ImageError::DuringRun { what, error }),
            None => Ok(()),
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.totals.counters();
        counters.extend(self.translation.counters());
        counters
    }
}
