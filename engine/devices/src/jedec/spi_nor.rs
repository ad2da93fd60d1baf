//! A SPI NOR flash (`jedec,spi-nor`) of one of two families, 128 Mbit:
//!
//! - Micron N25Q128A (`micron,n25q128a`). Document: Micron, "Micron Serial NOR Flash Memory, 3V, Multiple I/O, 4KB
//!   Sector Erase, N25Q128A", n25q_128mb_3v_65nm, Rev. R.
//! - Cypress (Spansion, Infineon) S25FL128L (`cypress,s25fl128l`). Document: Cypress, "S25FL256L/S25FL128L,
//!   256-Mb/128-Mb, 3.0 V FL-L Flash Memory", 002-00124.
//!
//! Sections are cited by name. The facts come from drivers, models and dumps that quote them,
//! not from the documents themselves.
//!
//! Modelled, clock by clock at the wire, on both edges where a read has double data rate: all commands of the family's
//! table ([`commands`]); the N25Q's extended, dual and quad I/O protocols; dummy clocks by command and by configuration
//! register; reads that continue without a command (XIP with its confirmation bit, continuous read with its mode byte);
//! wrapped reads; the page buffer with its wrap; programming that only clears bits; busy times; the write enable latch;
//! block protection and lock registers; suspend and resume; software reset; error bits, and the FL-L's busy state after
//! an error; deep power-down; the N25Q's one-time programmable area; an image file.
//!
//! Not modelled: W#, HOLD#/RESET# and VPP are held inactive, so the bits that control them can be written and read but
//! have no effect; nor has the output drive strength. Setup and hold times, the S# deselect time, the limit of READ
//! (03h), the fastest SCK for a number of dummy clocks and the time until QUAD takes effect are not checked (the
//! board's `spi-max-frequency` is). Writes to volatile registers, CLEAR FLAG STATUS REGISTER and resets take no time;
//! the rescue sequence that ends XIP with DQ0 high does not exist. The FL-L's QPI, 4-byte addresses, individual block
//! and pointer region protection, security regions, data learning and SFDP do not exist; their bits stay 0, with a
//! note. A program or erase changes the array when its cycle starts: the chip answers no read before the end of the
//! cycle, but a read of a suspended page or sector, undefined on the chip, returns the final contents. The memory does
//! not wear out, and the registers and the OTP area are not kept in the image. A read past the end of READ ID or SFDP
//! returns FFh.

// `shifting` is the wire, `frame` the phases of a frame, `repeated_reads` the start of reads with the same header,
// `operations` the execution of a complete frame, `registers` the bits, `array` the contents, `contents` their file;
// `commands`, `registers` and `parameters` have the differences between the families, `parts` the family of each part.

mod array;
pub mod commands;
mod contents;
mod frame;
mod operations;
mod parameters;
pub mod parts;
mod registers;
mod repeated_reads;
mod sfdp;
mod shifting;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use array::Array;
use commands::{Action, Command, EraseUnit, Source, Target, lines_in};
use contents::Backing;
use frame::{Frame, Phase};
use operations::{Busy, ERASED, Latch, OTP_BYTES, Suspended};
use parameters::{Parameters, Times};
use parts::{PAGE_BYTES, Part};
use registers::{Condition, Failure, ReadEnd, Registers, Writing};
use repeated_reads::TriedHeader;

use crate::prelude::*;
use crate::support::fastest_clock::FastestClock;
use engine::activity::Scope;
use engine::host_image::{self, HostImage, ImageError};
use engine::wire::bytes::Span;
use engine::wire::notes::Notes;
use engine::wire::spi::{Burst, Header, Lines, NextClock, NextRead, Rate, SpiTarget};

/// The compatible of all parts, after their own.
pub const COMPATIBLE: &str = "jedec,spi-nor";

/// For the list of models.
pub const MODEL: Model =
    Model::spi_chip(&[COMPATIBLE], |reader| Box::new(Flash::from_node(reader))).with_activities(operations::ACTIVITIES);

/// The flash.
#[derive(Clone, Debug, State, Polled)]
#[poll(first = Flash::list_frame)]
pub struct Flash {
    #[state(skip)]
    part: &'static Part,
    #[state(skip)]
    chip_select: u32,
    #[state(skip)]
    times: Times,
    #[state(skip)]
    fastest: FastestClock,
    /// Shared with copies.
    #[state(with = array::shared)]
    #[poll(skip = "changes in frames that are counted")]
    array: Arc<Array>,
    #[state(skip)]
    backing: Backing,
    #[poll(skip = "changes in frames that are counted")]
    otp: [u8; OTP_BYTES],
    #[poll(skip = "change in frames that are counted")]
    registers: Registers,
    latch: Latch,
    /// In deep power-down.
    asleep: bool,
    busy: Option<Busy>,
    suspended_program: Option<Suspended>,
    suspended_erase: Option<Suspended>,
    reset_enabled: bool,
    /// The read that each frame continues with its address, without a command (XIP, continuous read).
    xip: Option<&'static Command>,
    selected: bool,
    #[poll(skip = "listed while the chip is selected")]
    frame: Frame,
    /// The start of reads with the same header.
    #[state(with = engine::state::dropped)]
    #[poll(skip = "follows from the other state")]
    tried: TriedHeader,
    /// The page buffer; also holds the bytes of a register write.
    #[poll(skip = "no loop within the data of a write is skipped")]
    buffer: [u8; PAGE_BYTES as usize],
    /// The end of the last clock.
    #[poll(skip = "only the end of a cycle depends on it, which is a deadline")]
    last_edge: Ps,
    pages_programmed: u64,
    /// Erased units, by their kind.
    erased: [u64; 4],
    #[poll(total)]
    bytes_read: u64,
    /// The number of frames that were not reads, and may have changed the state.
    changes: u64,
    #[poll(skip = "no answer depends on it")]
    notes: Notes<String>,
    scope: Scope,
}

impl Flash {
    /// A flash as its node describes it, after power-up.
    pub fn from_node(reader: &mut NodeReader) -> Flash {
        let (Parameters { part, chip_select, max_clock, registers, times }, mut array) = parameters::from_node(reader);
        let backing = Backing::from_node(reader, &mut array);
        let mut flash = Flash {
            part,
            chip_select,
            times,
            fastest: FastestClock::new(max_clock),
            array: Arc::new(array),
            backing,
            otp: [0xff; OTP_BYTES],
            registers,
            latch: Latch::Closed,
            asleep: false,
            busy: None,
            suspended_program: None,
            suspended_erase: None,
            reset_enabled: false,
            xip: None,
            selected: false,
            frame: Frame::default(),
            tried: TriedHeader::default(),
            buffer: [0xff; PAGE_BYTES as usize],
            last_edge: Ps::ZERO,
            pages_programmed: 0,
            erased: [0; 4],
            bytes_read: 0,
            changes: 0,
            notes: Notes::default(),
            scope: Scope::default(),
        };
        flash.reset(Ps::ZERO);
        flash
    }

    /// The controller's chip select line that selects it (`reg`).
    pub fn chip_select(&self) -> u32 {
        self.chip_select
    }

    /// Lists the frame in progress; false while the chip receives data.
    fn list_frame(&mut self, poll: &mut Poll) -> bool {
        let Frame { phase, data_bytes, .. } = self.frame;
        if self.selected && phase == Phase::Input {
            return false;
        }
        if self.selected {
            let repeats = matches!(phase, Phase::Output(source) if source.works_while_busy());
            poll.state(if repeats { 0 } else { data_bytes });
            self.frame.polled(poll);
        }
        true
    }
}

impl SpiTarget for Flash {
    fn select(&mut self, now: Ps) {
        self.update(now);
        self.last_edge = now;
        self.selected = true;
        self.frame = Frame { lines: self.registers.protocol(), ..Frame::default() };
        if let Some(command) = self.xip {
            self.frame.continuing = true;
            self.begin(command);
        }
    }

    fn observe(&mut self, scope: Scope) {
        scope.declare(operations::ACTIVITIES);
        self.scope = scope;
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        let start = std::mem::replace(&mut self.last_edge, end);
        if !self.selected {
            self.frame.phase = Phase::Ignored;
        } else if end.saturating_sub(start) < self.fastest.shortest(burst.clocks) {
            self.notes.add(self.fastest.note(burst.clocks, end.saturating_sub(start)));
        }
        self.pass(burst, Span { start, end, clocks: burst.clocks })
    }

    fn start_repeated_read(&mut self, header: &Header, address: u32) -> bool {
        self.start_repeated(header, address)
    }

    fn read_next_word(&mut self) -> Option<u32> {
        if self.frame.is_repeated { self.next_word() } else { None }
    }

    fn can_repeat_read(&self) -> bool {
        self.selected
            && self.frame.is_repeated
            && self.frame.bits == 0
            && self.frame.count_mask == self.part.size_bytes - 1
    }

    fn peek_word(&self, address: u32, into: &mut [u8; 4]) -> bool {
        let word = self.array.word(address & (self.part.size_bytes - 1));
        *into = word.unwrap_or_default().to_be_bytes();
        word.is_some()
    }

    fn skip_repeated_reads(&mut self, bytes: u64, address: u32) {
        self.frame.address = address & self.frame.count_mask;
        self.bytes_read += bytes;
        // Every frame ends like this.
        self.reset_enabled = false;
    }

    fn end_repeated_read(&mut self) -> bool {
        self.end_repeated()
    }

    fn deselect(&mut self, now: Ps) {
        if !std::mem::take(&mut self.selected) {
            return;
        }
        if self.frame.phase == Phase::Ignored {
            self.reset_enabled = false;
        } else if let Some(command) = self.frame.command {
            self.finish_frame(command, now);
        } else if self.frame.bits > 0 {
            self.notes.add("a frame ended within its command byte: ignored".to_owned());
        }
    }

    fn peek(&self, addr: u32, into: &mut [u8]) -> bool {
        self.array.read(addr, into)
    }

    fn preload(&mut self, addr: u32, bytes: &[u8]) -> bool {
        if self.backing.image.is_some() {
            self.backing.programmed.push((addr, bytes.to_vec()));
        }
        Arc::make_mut(&mut self.array).write(addr, bytes)
    }

    fn next_clock(&self) -> NextClock {
        if self.selected { self.next_output() } else { NextClock::default() }
    }

    fn copy(&self) -> Option<Box<dyn SpiTarget>> {
        Some(Box::new(self.clone()))
    }

    fn next_read(&self) -> Option<NextRead> {
        let Frame { phase, bits, rate, lines, address, count_mask, .. } = self.frame;
        let last_address = self.part.size_bytes - 1;
        let whole = phase == Phase::Output(Source::Array) && bits == 0 && rate == Rate::Single;
        (self.selected && whole && count_mask == last_address).then_some(NextRead { address, last_address, lines })
    }

    fn image(&mut self) -> Option<&mut HostImage> {
        self.backing.image.as_mut()
    }

    fn begin_run(&mut self) -> Result<(), ImageError> {
        let Some(image) = &mut self.backing.image else { return Ok(()) };
        let array = Arc::make_mut(&mut self.array);
        let (file, is_locked) = image.take()?;
        // Another run may have ended since the board was made.
        let contents = host_image::read(file, array.size_bytes())?;
        if !is_locked {
            self.notes.add(host_image::NOT_LOCKED.to_owned());
        }
        array.fill(&contents);
        for (address, bytes) in self.backing.programmed.drain(..) {
            array.write(address, &bytes);
        }
        Ok(())
    }

    fn finish(&mut self, _now: Ps) -> Result<(), ImageError> {
        let Some(image) = self.backing.image.as_mut().filter(|_| self.array.is_dirty()) else { return Ok(()) };
        image.replace(&|out| self.array.write_to(out))
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.notes.take()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let commands = self.part.family.commands;
        let erased = ERASED.into_iter().zip(self.erased).filter(|((unit, _), _)| commands.erases(*unit));
        let mut counters = vec![("pages_programmed", self.pages_programmed)];
        counters.extend(erased.map(|((_, name), count)| (name, count)));
        counters.push(("bytes_read", self.bytes_read));
        counters
    }
}
