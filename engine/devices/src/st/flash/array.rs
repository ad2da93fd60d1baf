//! The flash of an STM32F4 or STM32L4+, as read through its interface (RM0090, "Embedded flash memory interface";
//! RM0432, "Embedded Flash memory (FLASH)").
//!
//! A read of the array fetches a line and takes FLASH_ACR.LATENCY wait states beyond the core's own cycle; the next
//! read begins in the cycle after it. Words of a line that was fetched take no wait states. With the prefetch on, the
//! interface reads the next line immediately after a line that an instruction fetch has read. A fetch of that next line
//! waits for the rest of this read; a read of another line, or of data, abandons it, or waits for its end. The core's
//! directory has the contents of the instruction cache ([`engine::memory::line_buffers`]), and requests the lines that
//! it misses. A prefetched line that is used is kept there, or used once and dropped, as the manuals can be read.
//! Prefetches begin after reads of the array, and when a prefetched line is used; whether they also begin after cache
//! hits is not documented. The data cache is here: literals and other data that the core reads; DMA reads bypass it.
//! Both caches replace the least recently used line. Without wait states none of this takes time.
//!
//! A core asks for the next line of sequential code before the line's first instruction is due ([`Stream`]). What it
//! asks for after a jump that it takes is not modelled, and does not keep the array busy.
//!
//! An array that is being programmed or erased answers when the operation is complete: the bus is stalled until then.

use std::collections::BTreeMap;

use crate::prelude::*;
use crate::support::activities::{ERASE, PROGRAM};
use engine::activity::Activity;
use engine::bus::code::CodeSpan;
use engine::bus::repeated_reads::{ReadRecord, RepeatedReads, Stream};
use engine::dt::reader::PowerOfTwo;
use engine::memory::line_buffers::Answer;
use engine::memory::ram::{PortTiming, Ram};
use engine::state::pages::{self, PAGE_BYTES, Page};
use engine::state::{Damaged, Loader, Saver};

// FLASH_ACR is the same in all families.
use super::stm32f4::{ACR_DCEN, ACR_DCRST, ACR_ICEN, ACR_ICRST, ACR_LATENCY, ACR_PRFTEN};

/// More edges than the core asks early for a line: at most as many as the wait states.
const MOST_EARLY_EDGES: u64 = 1 + ACR_LATENCY as u64;
/// An erased byte.
pub const ERASED: u8 = 0xff;
/// Stands for no line.
const NO_LINE: u32 = u32::MAX;
/// The token of the event that ends an operation.
pub const ENDS: u32 = 0;
const MOST_BANKS: usize = 2;
/// Values of LATENCY in the table of frequencies.
const LATENCIES: usize = 8;

/// A line that is being prefetched, the clock edge from which on it is available, and the edge from which on the array
/// could have been read instead.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Ahead {
    line: u32,
    ready: u64,
    could_read: u64,
}

/// The array and its interface.
#[derive(Debug, State)]
pub struct Flash {
    pub contents: Contents,
    #[state(skip)]
    pub size_bytes: u32,
    /// hclk.
    pub clock: ClockInput,
    /// Bytes of a line, which a read of the array fetches.
    line_bytes: u32,
    /// The highest hclk for each number of wait states.
    #[state(skip)]
    most_hz: [u32; LATENCIES],
    /// FLASH_ACR without its resets.
    acr: u32,
    /// The clock edge from which on the array can be read again, and the line of the last instruction fetch; includes
    /// lines that compiled code has fetched.
    record: ReadRecord,
    /// Bytes of such a fetch; 0 before the first request.
    #[state(skip)]
    record_bytes: u32,
    /// True if the line of the last instruction fetch was prefetched.
    code_prefetched: bool,
    ahead: Option<Ahead>,
    /// Words that the core asks for before their instructions are due.
    #[state(skip)]
    words_ahead: u64,
    /// A prefetched line that is used enters the instruction cache.
    #[state(skip)]
    keeps_prefetched: bool,
    /// A prefetch under way ends at once when another line is asked for.
    #[state(skip)]
    abandons: bool,
    /// Lines of the data cache, most recently used first.
    data: Vec<u32>,
    /// Contents of the data cache.
    #[state(skip)]
    data_bytes: u32,
    banks: usize,
    busy_until: [Ps; MOST_BANKS],
    counters: Counters,
}

#[derive(Clone, Copy, Debug, Default, State)]
struct Counters {
    fetches: u64,
    prefetched: u64,
    data_reads: u64,
    data_hits: u64,
}

/// Contents of the array. A snapshot has the pages in which something was programmed.
#[derive(Debug)]
pub struct Contents(pub Ram);

impl Contents {
    /// The number of pages.
    fn pages(&self) -> u32 {
        self.0.size_bytes().div_ceil(PAGE_BYTES as u64) as u32
    }

    /// The number of bytes of a page.
    fn page_bytes(&self, number: u32) -> usize {
        PAGE_BYTES.min(self.0.size_bytes() as usize - number as usize * PAGE_BYTES)
    }

    fn page(&self, number: u32) -> Page {
        let mut page = Box::new([ERASED; PAGE_BYTES]);
        self.0.read(number * PAGE_BYTES as u32, &mut page[..self.page_bytes(number)]);
        page
    }
}

impl State for Contents {
    fn save(&self, to: &mut Saver) {
        let written: BTreeMap<u32, Page> = (0..self.pages())
            .map(|number| (number, self.page(number)))
            .filter(|(_, page)| page.iter().any(|byte| *byte != ERASED))
            .collect();
        pages::save(written.iter().map(|(number, page)| (*number, page.as_ref())), to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let written = pages::loaded(self.pages().into(), from)?;
        for number in 0..self.pages() {
            let page = written.get(&number).map_or(&[ERASED; PAGE_BYTES], Box::as_ref);
            if self.page(number).as_ref() != page {
                let bytes = self.page_bytes(number);
                self.0.write(number * PAGE_BYTES as u32, &page[..bytes]);
            }
        }
        Ok(())
    }
}

impl Flash {
    /// Reads the node: the second range of `reg` is the flash, further ranges are aliases.
    pub fn from_node(reader: &mut NodeReader, banks: usize) -> Flash {
        let size_bytes = reader.reg(2).get(1).map_or(0, |(_, size)| *size);
        let meaning =
            "the highest frequency of hclk in Hz for FLASH_ACR.LATENCY from 0 to 7: 8 numbers that don't fall";
        let sound = |hz: [u32; LATENCIES]| hz.is_sorted();
        let most_hz = reader.cells("st,wait-state-frequencies", sound, meaning);
        let kept_meaning = "1 if a prefetched line enters the instruction cache when it is used";
        let abandoned_meaning = "1 if a read of another line, or of data, ends a prefetch under way";
        let line_meaning = "a read of the array brings 8 or 16 bytes";
        Flash {
            contents: Contents(Ram::new(0, PLAIN)),
            size_bytes,
            clock: reader.clock_input(0, "hclk, by which wait states count"),
            line_bytes: reader.timing_u32("cyclescope,line-bytes", PowerOfTwo(8..=16), line_meaning).max(8),
            most_hz: most_hz.unwrap_or([u32::MAX; LATENCIES]),
            acr: 0,
            record: ReadRecord { last: u64::from(NO_LINE), ..ReadRecord::default() },
            record_bytes: 0,
            code_prefetched: false,
            ahead: None,
            words_ahead: reader
                .timing_u32("cyclescope,words-ahead", 0..=4, "words that the core asks for before they are due")
                .into(),
            keeps_prefetched: reader.timing_u32("cyclescope,prefetched-lines-kept", 0..=1, kept_meaning) == 1,
            abandons: reader.timing_u32("cyclescope,prefetch-abandoned", 0..=1, abandoned_meaning) == 1,
            data: Vec::new(),
            data_bytes: 0,
            banks,
            busy_until: [Ps::ZERO; MOST_BANKS],
            counters: Counters::default(),
        }
        .filled(reader)
    }

    fn filled(mut self, reader: &mut NodeReader) -> Flash {
        let meaning = "lines of the data cache: 0 to 64";
        self.data_bytes = self.line_bytes * reader.timing_u32("cyclescope,data-cache-lines", 0..=64, meaning);
        match Ram::try_new(self.size_bytes, PLAIN, None) {
            Some(ram) if self.size_bytes <= MOST_BYTES => self.contents = Contents(ram),
            _ => {
                reader.out_of_range("reg", self.size_bytes, format!("a flash has up to {MOST_BYTES} bytes"));
                self.size_bytes = 0;
            }
        }
        self.fill(0, self.size_bytes);
        self
    }

    // ---- Contents

    /// The value of an access of this size.
    pub fn value(&self, offset: u32, size: AccessSize) -> u32 {
        self.contents.0.value(offset, size.bytes())
    }

    fn fill(&mut self, first: u32, bytes: u32) {
        const PIECE: [u8; 1024] = [ERASED; 1024];
        for at in (first..first + bytes).step_by(PIECE.len()) {
            let here = PIECE.len().min((first + bytes - at) as usize);
            self.contents.0.write(at, &PIECE[..here]);
        }
    }

    /// Starts to erase a span, in the time `lasts`, and drops the decoded instructions there.
    pub fn erase(&mut self, first: u32, bytes: u32, lasts: Ps, ctx: &mut Ctx) {
        self.fill(first, bytes);
        ctx.bus.code_written.report(CodeSpan::of_device(ctx.id, first, first + (bytes - 1)));
        self.begin(first, lasts, (&ERASE, bytes), ctx);
    }

    /// Starts to program bytes, in the time `lasts`: bits change from 1 to 0.
    pub fn program(&mut self, offset: u32, bytes: &[u8], lasts: Ps, ctx: &mut Ctx) {
        for (at, byte) in (offset..).zip(bytes) {
            let mut held = [0];
            self.contents.0.read(at, &mut held);
            self.contents.0.write(at, &[held[0] & byte]);
        }
        let last = offset + (bytes.len().max(1) - 1) as u32;
        ctx.bus.code_written.report(CodeSpan::of_device(ctx.id, offset, last));
        self.begin(offset, lasts, (&PROGRAM, bytes.len() as u32), ctx);
    }

    // ---- Reads

    /// The core fetches a line of instructions that its cache does not have, or a device reads `bytes` in one burst.
    /// Returns the time of the last byte.
    pub fn burst(&mut self, offset: u32, bytes: u32, ctx: &mut Ctx) -> Ps {
        let now = self.edge(offset, ctx);
        let done = if ctx.core.is_some() {
            let done = self.fetch(offset, now);
            ctx.bus.line_buffers.passes = self.code_prefetched && !self.keeps_prefetched || self.acr & ACR_ICEN == 0;
            done
        } else {
            self.stream(offset, bytes, now)
        };
        self.clock.rate.ps_at_floor(Cycles(done))
    }

    /// The time at which the line of an instruction is available.
    fn fetch(&mut self, offset: u32, now: u64) -> u64 {
        let line = self.line_of(offset);
        if u64::from(line) == self.record.last {
            return now;
        }
        let follows = u64::from(line) == self.record.last + u64::from(self.line_bytes);
        let asked = if follows { self.record.stream.asked(now, self.latency()) } else { now };
        let arrived = self.take_line(line, asked);
        let runs = arrived.max(now);
        let words = u64::from((self.line_bytes - (offset - line)) / 4);
        self.record.stream = Stream::new(words, self.words_ahead, arrived, runs);
        runs
    }

    /// The core asks for a line, which it does not have, at an edge. Returns the edge of its arrival.
    fn take_line(&mut self, line: u32, asked: u64) -> u64 {
        self.counters.fetches += 1;
        self.record.last = u64::from(line);
        let before = self.ahead.take();
        let ahead = before.filter(|ahead| ahead.line == line);
        if let Some(other) = before.filter(|other| other.line != line && self.abandons) {
            self.record.free_edge = self.record.free_edge.min(other.could_read.max(asked));
        }
        self.code_prefetched = ahead.is_some();
        self.counters.prefetched += u64::from(self.code_prefetched);
        let arrived = ahead.map_or_else(|| self.read_array(asked), |ahead| asked.max(ahead.ready));
        if self.acr & ACR_PRFTEN != 0 && line + self.line_bytes < self.size_bytes {
            let could_read = self.record.free_edge;
            let ready = self.read_array(arrived + 1);
            self.ahead = Some(Ahead { line: line + self.line_bytes, ready, could_read });
        }
        arrived
    }

    /// Data that the core or a device reads: the value, and the time of the answer.
    pub fn read(&mut self, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Reply {
        let now = self.edge(offset, ctx);
        let done = self.read_data(offset, ctx.core.is_some(), now);
        Reply::read(self.value(offset, size), self.clock.rate.ps_at_floor(Cycles(done)))
    }

    /// The time of the answer for data that the core or a device reads.
    fn read_data(&mut self, offset: u32, by_core: bool, now: u64) -> u64 {
        let line = self.line_of(offset);
        let lines = (self.data_bytes / self.line_bytes) as usize;
        let cached = by_core && self.acr & ACR_DCEN != 0 && lines > 0;
        self.counters.data_reads += 1;
        let place = self.data.iter().position(|held| *held == line).filter(|_| cached);
        let done = match place {
            Some(place) => {
                self.counters.data_hits += 1;
                self.data[..=place].rotate_right(1);
                now
            }
            None => self.read_data_line(now),
        };
        if cached && place.is_none() {
            self.data.truncate(lines - 1);
            self.data.insert(0, line);
        }
        done
    }

    /// Reads the array for data. Data have priority: a prefetch under way begins again after it.
    fn read_data_line(&mut self, now: u64) -> u64 {
        let late = self.ahead.filter(|ahead| self.abandons && ahead.ready > now);
        if let Some(ahead) = late {
            self.record.free_edge = self.record.free_edge.min(ahead.could_read.max(now));
        }
        let done = self.read_array(now);
        if let Some(ahead) = late {
            let could_read = self.record.free_edge;
            self.ahead = Some(Ahead { ready: self.read_array(done + 1), could_read, ..ahead });
        }
        done
    }

    /// [`Flash::read`] and [`Flash::burst`] for the core, at a clock edge: the value and the edge of the answer. `None`
    /// if the access does more: fills the cache, or waits for the array.
    pub fn read_alone(&mut self, offset: u32, bytes: u32, edge: u64) -> Option<(u32, u64)> {
        if self.is_operating() {
            return None;
        }
        match AccessSize::of_bytes(bytes) {
            Some(size) => Some((self.value(offset, size), self.read_data(offset, true, edge))),
            None if self.acr & ACR_ICEN == 0 => Some((0, self.fetch(offset, edge))),
            None => None,
        }
    }

    /// Repeated fetches of lines ([`engine::bus::device::Device::repeated_reads`]) from a flash that only the core
    /// reads, each when the core asks for it.
    pub fn repeated_reads(&mut self, bytes: u32) -> Option<RepeatedReads> {
        if bytes != self.line_bytes {
            return None;
        }
        self.record_bytes = bytes;
        self.share();
        Some(RepeatedReads {
            bytes,
            before_cycles: 0,
            after_cycles: -1,
            words_ahead: self.words_ahead,
            record: (&raw mut self.record).expose_provenance(),
        })
    }

    /// Says whether fetches of lines can be repeated from now on.
    fn share(&mut self) {
        let can_repeat = self.acr & (ACR_ICEN | ACR_PRFTEN) == 0 && self.latency() > 0 && !self.is_operating();
        let holds = can_repeat && self.record_bytes == self.line_bytes;
        // Where no line is kept, it does not matter which one was prefetched.
        self.code_prefetched &= !holds;
        (self.record.holds, self.record.busy_cycles) = (u64::from(holds), self.latency() + 1);
    }

    /// Takes over the lines that compiled code has fetched.
    pub fn learn(&mut self) {
        self.counters.fetches += std::mem::take(&mut self.record.reads);
    }

    /// A burst of a device: a word a cycle, with the wait states of each line.
    fn stream(&mut self, offset: u32, bytes: u32, now: u64) -> u64 {
        let (first, last) = (self.line_of(offset), self.line_of(offset + bytes.max(1) - 1));
        let lines = u64::from((last - first) / self.line_bytes) + 1;
        let words = u64::from(bytes.div_ceil(4).max(1));
        self.read_array(now) + (lines - 1) * self.latency() + (words - 1)
    }

    /// Starts a read of the array that is requested at an edge. Returns the edge of the cycle in which the line
    /// arrives.
    fn read_array(&mut self, asked: u64) -> u64 {
        if self.latency() == 0 {
            return asked;
        }
        let done = asked.max(self.record.free_edge) + self.latency();
        self.record.free_edge = done + 1;
        done
    }

    /// The edge at which an access begins, after the end of an operation in its bank.
    fn edge(&self, offset: u32, ctx: &mut Ctx) -> u64 {
        let busy_until = self.busy_until[self.bank_of(offset)];
        if ctx.now < busy_until {
            ctx.note(
                "the flash was read while it was being programmed or erased: the bus is stalled until that has ended",
            );
        }
        self.clock.rate.cycles_until_ceil(ctx.now.max(busy_until)).0
    }

    fn line_of(&self, offset: u32) -> u32 {
        offset & !(self.line_bytes - 1)
    }

    fn latency(&self) -> u64 {
        u64::from(self.acr & ACR_LATENCY)
    }

    // ---- Settings

    /// The parts of the array, each 64 bits wide, are read side by side from now on, or are separate banks. With
    /// `banks` banks, filling the caches takes as many reads; their size in bytes is the same.
    pub fn reshape(&mut self, banks: usize, ctx: &mut Ctx) {
        (self.line_bytes, self.banks) = (self.line_bytes * self.banks as u32 / banks as u32, banks);
        self.data.clear();
        self.share();
        self.forget_code(ctx);
    }

    /// Writes FLASH_ACR, and returns what it holds then.
    pub fn set_acr(&mut self, value: u32, ctx: &mut Ctx) -> u32 {
        // The resets can be written while their caches are off.
        if value & ACR_DCRST != 0 && self.acr & ACR_DCEN == 0 {
            self.data.clear();
        }
        if value & ACR_ICRST != 0 && self.acr & ACR_ICEN == 0 {
            self.forget_code(ctx);
        }
        let kept = value & !(ACR_DCRST | ACR_ICRST);
        let changed = self.acr ^ kept;
        self.acr = kept;
        if changed & ACR_PRFTEN != 0 {
            self.ahead = None;
        }
        if changed & ACR_ICEN != 0 {
            self.forget_code(ctx);
        }
        self.publish(ctx);
        self.check_wait_states(ctx);
        kept
    }

    /// Comes out of reset with this value in FLASH_ACR.
    pub fn reset(&mut self, acr: u32, ctx: &mut Ctx) {
        self.acr = acr;
        self.publish(ctx);
        self.check_wait_states(ctx);
    }

    /// hclk has another rate from now on. An operation in progress takes its remaining number of cycles.
    pub fn clocks_changed(&mut self, ctx: &mut Ctx) {
        let (before, after) = (self.clock.rate, ctx.bus.clocks.rate_of(self.clock));
        let rebased = |edge: u64| {
            let left_cycles = edge.saturating_sub(before.cycles_until_ceil(ctx.now).0);
            if left_cycles > 0 { after.cycles_until_ceil(ctx.now).0 + left_cycles } else { 0 }
        };
        self.record.free_edge = rebased(self.record.free_edge);
        self.ahead = self.ahead.map(|ahead| Ahead {
            ready: rebased(ahead.ready),
            could_read: rebased(ahead.could_read),
            ..ahead
        });
        self.record.stream = Stream::default();
        self.clock.rate = after;
        self.check_wait_states(ctx);
    }

    fn forget_code(&mut self, ctx: &mut Ctx) {
        self.record.last = u64::from(NO_LINE);
        self.ahead = None;
        ctx.bus.line_buffers.forget();
    }

    /// Publishes the timing of the core's fetches.
    fn publish(&mut self, ctx: &mut Ctx) {
        self.share();
        let answer = match self.latency() {
            0 if !self.is_busy(ctx.now) => Answer::AtOnce,
            _ if self.acr & ACR_ICEN == 0 => Answer::Passes,
            _ => Answer::Kept,
        };
        ctx.bus.line_buffers.answer(ctx.id, answer);
        ctx.bus.line_buffers.by_word = true;
    }

    fn check_wait_states(&self, ctx: &mut Ctx) {
        let (hz, latency) = (self.clock.rate.get(), self.latency());
        let most = self.most_hz.get(latency as usize).copied().unwrap_or(u32::MAX);
        if hz <= u64::from(most) {
            return;
        }
        let needed = self.most_hz.iter().position(|most| hz <= u64::from(*most));
        let asked = needed.map_or("no number of them is enough".to_owned(), |needed| format!("it takes {needed}"));
        ctx.note(&format!(
            "hclk is {hz} Hz with FLASH_ACR.LATENCY = {latency}, which is for up to {most} Hz: {asked} \
             (st,wait-state-frequencies); the real chip may read wrong bytes"
        ));
    }

    // ---- Operations

    /// True while something is programmed or erased.
    pub fn is_busy(&self, now: Ps) -> bool {
        self.busy_until.iter().any(|until| now < *until)
    }

    /// True while something is programmed or erased, according to the events.
    fn is_operating(&self) -> bool {
        self.busy_until != [Ps::ZERO; MOST_BANKS]
    }

    /// The end of the operation in progress; `now` if there is no operation.
    pub fn free_at(&self, now: Ps) -> Ps {
        self.busy_until.into_iter().fold(now, Ps::max)
    }

    /// Starts an operation that takes the time `lasts`, in the bank of an address, or in all banks for all bytes, after
    /// the end of the previous one. Records `what` with its size.
    fn begin(&mut self, address: u32, lasts: Ps, (what, bytes): (&'static Activity, u32), ctx: &mut Ctx) {
        let begins = self.free_at(ctx.now);
        let ends = begins + lasts;
        ctx.span(what, begins, ends, Detail::Address { address, bytes });
        if bytes == self.size_bytes {
            self.busy_until = [ends; MOST_BANKS];
        } else {
            self.busy_until[self.bank_of(address)] = ends;
        }
        ctx.schedule(ends, ENDS);
        self.publish(ctx);
    }

    /// The event at an operation's end. False if another operation is in progress.
    pub fn has_ended(&mut self, ctx: &mut Ctx) -> bool {
        let ended = !self.is_busy(ctx.now);
        if ended {
            self.busy_until = [Ps::ZERO; MOST_BANKS];
        }
        self.publish(ctx);
        ended
    }

    /// The bank of an offset.
    pub fn bank_of(&self, offset: u32) -> usize {
        let bank_bytes = (self.size_bytes / self.banks as u32).max(1);
        ((offset / bank_bytes) as usize).min(self.banks - 1)
    }

    // ---- What it has done

    /// Totals since reset: accesses to the array and its buffers.
    pub fn counters(&self) -> Vec<(String, u64)> {
        let Counters { fetches, prefetched, data_reads, data_hits } = self.counters;
        [
            ("line fetches", fetches + self.record.reads),
            ("prefetches used", prefetched),
            ("data reads", data_reads),
            ("data cache hits", data_hits),
        ]
        .map(|(what, total)| (what.to_owned(), total))
        .to_vec()
    }
}

/// Not derived: the ends are listed later than they are, by the edges that the core may ask early. They are in cycles
/// of the core, so that no iteration is skipped if that has another clock.
impl Polled for Flash {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        if poll.clock() != self.clock.rate {
            return false;
        }
        self.learn();
        poll.state(u64::from(self.acr) << 32 | self.record.last);
        poll.state(u64::from(self.code_prefetched));
        self.data.polled(poll);
        poll.state(u64::from(self.ahead.map_or(NO_LINE, |ahead| ahead.line)));
        // The core may have asked for a line that early: these ends count until then.
        let mut end = |edge: u64| {
            let mut counts_until = Cycles(edge + MOST_EARLY_EDGES);
            poll.end(&mut counts_until);
            counts_until.0 - MOST_EARLY_EDGES
        };
        self.record.free_edge = end(self.record.free_edge);
        let ready = end(self.ahead.map_or(0, |ahead| ahead.ready));
        let could_read = end(self.ahead.map_or(0, |ahead| ahead.could_read));
        self.ahead = self.ahead.map(|ahead| Ahead { ready, could_read, ..ahead });
        poll.state(self.record.stream.rate);
        poll.state(self.record.stream.longest);
        poll.edge(self.clock.rate, &mut self.record.stream.runs);
        poll.edge(self.clock.rate, &mut self.record.stream.may_ask);
        let Counters { fetches, prefetched, data_reads, data_hits } = &mut self.counters;
        [fetches, prefetched, data_reads, data_hits].into_iter().for_each(|total| poll.counter(total));
        self.busy_until.iter().for_each(|until| poll.until(*until));
        self.busy_until.polled(poll)
    }
}

/// For contents only: the timing is here.
const PLAIN: PortTiming = PortTiming::symmetric(
    match engine::time::Hz::new(1) {
        Some(clock) => clock,
        None => unreachable!(),
    },
    Cycles(0),
    Cycles(0),
    4,
);
/// Far more than such a chip has.
const MOST_BYTES: u32 = 16 << 20;
