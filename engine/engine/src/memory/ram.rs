//! A RAM: its bytes, and the timing of its port.

use super::bytes::Bytes;
use super::code_marks::CodeMarks;
use super::dram::{Dram, DramTiming};
use crate::state::State;
use crate::time::{Cycles, Hz, Ps};

/// A reservation of an exclusive load ends with a store to the same aligned block of this many bytes.
const RESERVATION_BYTES: u32 = 64;

/// The longest [`PortTiming::idle_grant_cycles`].
pub const MOST_GRANT_CYCLES: u8 = 15;

/// Timing of a RAM's port, in its own clock. A transfer of n beats takes the first word's cycles and `(n - 1) *
/// beat_cycles`, and the port serves one transfer at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct PortTiming {
    /// Clock of the port.
    pub clock: Hz,
    /// From a read's request to its first beat; 0 only for tightly coupled memory, whose access fits the core's own
    /// cycle.
    #[state(skip)]
    pub first_word_cycles: Cycles,
    /// From a write's request to the acceptance of its first beat: a controller may answer before the memory has the
    /// data.
    #[state(skip)]
    pub write_first_word_cycles: Cycles,
    /// From one beat to the next of the same transfer.
    #[state(skip)]
    pub beat_cycles: Cycles,
    /// Bytes per beat: a power of two.
    #[state(skip)]
    pub beat_bytes: u32,
    /// Cycles of a core whose bus matrix has this RAM as a slave: the wait of an access that begins on an idle bus, if
    /// the matrix has to grant the port again.
    #[state(skip)]
    pub idle_grant_cycles: u8,
}

impl PortTiming {
    /// A port with equal times for reads and writes.
    pub const fn symmetric(clock: Hz, first_word_cycles: Cycles, beat_cycles: Cycles, beat_bytes: u32) -> PortTiming {
        PortTiming {
            clock,
            first_word_cycles,
            write_first_word_cycles: first_word_cycles,
            beat_cycles,
            beat_bytes,
            idle_grant_cycles: 0,
        }
    }

    /// The beats of a transfer, and the time for which the port is busy with it.
    #[inline(always)]
    pub fn beats_and_cycles(&self, bytes: u32, direction: Direction) -> (u64, u64) {
        let beats = u64::from((bytes + (self.beat_bytes - 1)) >> self.beat_bytes.trailing_zeros()).max(1);
        let first_word_cycles = match direction {
            Direction::Read => self.first_word_cycles,
            Direction::Write => self.write_first_word_cycles,
        };
        (beats, first_word_cycles.0 + (beats - 1) * self.beat_cycles.0)
    }
}

/// A RAM for compiled code: its timing, and the host addresses of the values that its transfers change.
#[derive(Clone, Copy, Debug)]
pub struct RamPort {
    /// Timing of the port.
    pub timing: PortTiming,
    /// Address of the [`Dram`] of this RAM, and the most cycles that it adds to the port's time.
    pub dram: Option<(usize, u64)>,
    /// Address of the edge up to which it is busy.
    pub free_edge: usize,
    /// Address of its bytes.
    pub bytes: usize,
    /// Address of the marks of decoded instructions: see [`CodeMarks::as_ptr`].
    pub marks: usize,
}

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the RAM.
    Read,
    /// To the RAM.
    Write,
}

/// A RAM on the bus.
#[derive(Debug, State)]
pub struct Ram {
    bytes: Bytes,
    timing: PortTiming,
    /// The SDRAM after the port, if it has one.
    #[state(with = crate::state::present)]
    dram: Option<Dram>,
    /// The edge of the port's clock up to which it is busy with an earlier transfer.
    free_edge: u64,
    /// Marks of decoded instructions.
    code: CodeMarks,
    /// Several cores write to it.
    #[state(skip)]
    shared: bool,
    /// The value of [`Bus::taken`](crate::bus::Bus::taken) when a device last had its port.
    taken: u64,
    /// Instructions can't be fetched from it.
    #[state(skip)]
    data_only: bool,
    /// For shared memory: cores with a reservation, and its granule.
    reservations: Vec<(u32, u32)>,
}

impl Ram {
    /// A RAM of `size_bytes` zeroes.
    ///
    /// # Panics
    /// If the host has no memory for it.
    pub fn new(size_bytes: u32, timing: PortTiming) -> Ram {
        Ram::try_new(size_bytes, timing, None).expect("the host has memory for the RAM")
    }

    /// As [`Ram::new`], or with `dram` an SDRAM after its controller's port: the times of banks and rows add to the
    /// port's. The port accepts a write's data before the memory has them. `None` if the host does not provide that
    /// much memory. The host's pages are allocated when they are first used.
    pub fn try_new(size_bytes: u32, timing: PortTiming, dram: Option<DramTiming>) -> Option<Ram> {
        Some(Ram {
            bytes: Bytes::zeroed(size_bytes as usize)?,
            timing,
            dram: dram.map(Dram::new),
            free_edge: 0,
            code: CodeMarks::try_new(size_bytes)?,
            shared: false,
            taken: 0,
            data_only: false,
            reservations: Vec::new(),
        })
    }

    /// Its size.
    pub fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Marks it as written by several cores: their accesses happen in one order.
    pub fn share(&mut self) {
        self.shared = true;
    }

    /// See [`Ram::share`].
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Marks it as on data buses only: instructions can't be fetched from it.
    pub fn refuse_fetches(&mut self) {
        self.data_only = true;
    }

    /// See [`Ram::refuse_fetches`].
    pub fn refuses_fetches(&self) -> bool {
        self.data_only
    }

    /// Reserves an address for an exclusive load by core number `core`: any write to the granule ends the reservation.
    pub fn reserve(&mut self, core: u32, offset: u32) {
        if self.shared {
            self.reservations.retain(|(other, _)| *other != core);
            self.reservations.push((core, offset / RESERVATION_BYTES));
        }
    }

    /// True if the granule has not been written since.
    pub fn is_reserved(&self, core: u32, offset: u32) -> bool {
        !self.shared || self.reservations.contains(&(core, offset / RESERVATION_BYTES))
    }

    /// The number of the transfer by which a device last had the port: see [`crate::bus::Bus::transfers_by_devices`].
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Records that a device has the port for that transfer.
    pub fn take(&mut self, number: u64) {
        self.taken = number;
    }

    /// Timing of the port.
    pub fn timing(&self) -> PortTiming {
        self.timing
    }

    /// Changes the rate of the port's clock from `now` on. A transfer under way takes its remaining cycles at the new
    /// rate.
    pub fn set_clock(&mut self, rate: Hz, now: Ps) {
        let [before, after] = [self.timing.clock, rate].map(|clock| clock.cycles_until_ceil(now).0);
        let left_cycles = self.free_edge.saturating_sub(before);
        self.timing.clock = rate;
        self.free_edge = if left_cycles > 0 { after + left_cycles } else { 0 };
        if let Some(dram) = &mut self.dram {
            dram.renumber(before, after);
        }
    }

    /// True if no transfer is under way at `now`, and the memory does nothing by itself, such as a refresh: transfers
    /// take the same time again.
    pub fn is_idle(&self, now: Ps) -> bool {
        self.timing.clock.ps_at_floor(Cycles(self.free_edge)) <= now && self.dram.is_none()
    }

    /// True for tightly coupled memory: an access costs nothing beyond the core's own cycle.
    pub fn is_local(&self) -> bool {
        self.timing.first_word_cycles == Cycles(0)
    }

    /// Time at which a transfer of `bytes` from `offset` on that reaches the port at `at` is complete; the port is busy
    /// until then.
    pub fn transfer(&mut self, at: Ps, offset: u32, bytes: u32, direction: Direction) -> Ps {
        if self.is_local() {
            return at;
        }
        let clock = self.timing.clock;
        let done = self.transfer_at_edge(clock.cycles_until_ceil(at).0, offset, bytes, direction);
        clock.ps_at_floor(Cycles(done))
    }

    /// As [`Ram::transfer`], in edges of the port's clock, for memory that is not tightly coupled.
    #[inline(always)]
    pub fn transfer_at_edge(&mut self, at: u64, offset: u32, bytes: u32, direction: Direction) -> u64 {
        let (beats, cycles) = self.timing.beats_and_cycles(bytes, direction);
        let begins = at.max(self.free_edge);
        let waits = self.dram.as_mut().map_or(0, |dram| dram.transfer(begins, offset, beats, direction));
        self.free_edge = begins + waits + cycles;
        self.free_edge
    }

    /// Data with which compiled code does transfers itself; `None` for a shared memory, or one that takes no time. The
    /// machine does not move its memories.
    pub fn port(&mut self) -> Option<RamPort> {
        let is_simple = !self.shared && !self.is_local();
        is_simple.then(|| RamPort {
            timing: self.timing,
            dram: self.dram.as_mut().map(|dram| (std::ptr::from_mut(dram).expose_provenance(), dram.longest_wait())),
            free_edge: (&raw mut self.free_edge).expose_provenance(),
            bytes: self.bytes.as_ptr().expose_provenance(),
            marks: self.code.as_ptr().expose_provenance(),
        })
    }

    /// Copies bytes out. The caller has checked that the span lies inside.
    pub fn read(&self, offset: u32, into: &mut [u8]) {
        self.bytes.read(offset as usize, into);
    }

    /// The little-endian number of 1, 2 or 4 bytes at `offset`. The caller has checked the span.
    #[inline(always)]
    pub fn value(&self, offset: u32, bytes: u32) -> u32 {
        match bytes {
            1 => u32::from(u8::from_le_bytes(self.bytes.array(offset as usize))),
            2 => u32::from(u16::from_le_bytes(self.bytes.array(offset as usize))),
            _ => u32::from_le_bytes(self.bytes.array(offset as usize)),
        }
    }

    /// Copies bytes in; true if they overwrote decoded instructions. Their marks are removed. The caller has
    /// checked the span.
    #[inline]
    pub fn write(&mut self, offset: u32, from: &[u8]) -> bool {
        self.bytes.write(offset as usize, from);
        if !self.reservations.is_empty() {
            let last = (offset + from.len().saturating_sub(1) as u32) / RESERVATION_BYTES;
            self.reservations.retain(|(_, granule)| !(offset / RESERVATION_BYTES..=last).contains(granule));
        }
        self.code.take(offset, from.len() as u32)
    }

    /// As [`Ram::write`], for the low 1, 2 or 4 `bytes` of a number, at a multiple of them.
    #[inline(always)]
    pub fn put(&mut self, offset: u32, bytes: u32, value: u32) -> bool {
        if !self.reservations.is_empty() {
            return self.write(offset, &value.to_le_bytes()[..bytes as usize]);
        }
        match bytes {
            1 => self.bytes.put(offset as usize, [value as u8]),
            2 => self.bytes.put(offset as usize, (value as u16).to_le_bytes()),
            _ => self.bytes.put(offset as usize, value.to_le_bytes()),
        }
        self.code.take(offset, bytes)
    }

    /// The marks of decoded instructions.
    pub fn code_marks(&self) -> &CodeMarks {
        &self.code
    }

    /// Records that the span holds decoded instructions. True if some of it was not marked.
    pub fn mark_code(&mut self, offset: u32, len: u32) -> bool {
        self.code.mark(offset, len)
    }

    /// Address of the bytes on the host. Valid for as long as the RAM lives; nothing else may hold a reference into
    /// them.
    pub fn as_ptr(&self) -> *mut u8 {
        self.bytes.as_ptr()
    }
}

#[cfg(test)]
mod tests {
    use super::super::dram::Decoding;
    use super::*;

    fn ddr() -> Ram {
        let clock = Hz::new(100_000_000).unwrap();
        let (first_word_cycles, write_first_word_cycles) = (Cycles(20), Cycles(8));
        let beat_cycles = Cycles(1);
        Ram::new(
            4096,
            PortTiming {
                clock,
                first_word_cycles,
                write_first_word_cycles,
                beat_cycles,
                beat_bytes: 4,
                idle_grant_cycles: 0,
            },
        )
    }

    #[test]
    fn a_burst_pays_the_first_word_once() {
        // 16 bytes = 4 beats: 20 + 3 = 23 cycles of 10 ns.
        assert_eq!(ddr().transfer(Ps(0), 0, 16, Direction::Read), Ps(230_000));
        // A write is accepted after 8 + 3 cycles.
        assert_eq!(ddr().transfer(Ps(0), 0, 16, Direction::Write), Ps(110_000));
    }

    #[test]
    fn the_port_serves_one_transfer_at_a_time() {
        let mut ram = ddr();
        let first = ram.transfer(Ps(0), 0, 4, Direction::Read);
        assert_eq!(first, Ps(200_000));
        assert_eq!(ram.transfer(Ps(50_000), 0, 4, Direction::Read), Ps(400_000));
        assert_eq!(ram.transfer(Ps(1_000_001), 0, 4, Direction::Read), Ps(1_210_000));
    }

    #[test]
    fn an_sdram_adds_the_time_of_its_rows() {
        let (timing, dram) = (ddr().timing(), dram());
        let mut ram = Ram::try_new(1 << 20, timing, Some(dram)).unwrap();
        // The port's 20 + 3, and tRCD 3 + CL 5; with the row open only CL.
        assert_eq!(ram.transfer(Ps(0), 0, 16, Direction::Read), Ps(310_000));
        assert_eq!(ram.transfer(Ps(1_000_000), 64, 16, Direction::Read), Ps(1_280_000));
        // The controller accepts a write.
        assert_eq!(ram.transfer(Ps(2_000_000), 0x8000, 16, Direction::Write), Ps(2_110_000));
        assert!(!ram.is_idle(Ps(3_000_000)));
    }

    fn dram() -> DramTiming {
        DramTiming {
            banks: 8,
            row_bytes: 4096,
            decoding: Decoding::Interleaved,
            size_bytes: 1 << 20,
            cas_cycles: 5,
            activate_cycles: 3,
            precharge_cycles: 3,
            row_cycles: 6,
            write_recovery_cycles: 4,
            write_to_read_cycles: 4,
            burst_cycles: 4,
            refresh_interval_cycles: 1297,
            refresh_cycles: 27,
        }
    }

    #[test]
    fn a_write_reports_whether_it_met_code() {
        let mut ram = ddr();
        assert!(ram.mark_code(130, 4));
        assert!(!ram.write(126, &[1, 2, 3, 4]) && !ram.write(134, &[1]));
        assert!(ram.write(133, &[1, 2, 3, 4]));
        assert!(!ram.write(132, &[1, 2]), "the decoded code there has been reported");
        assert!(ram.write(0, &[0; 4096]));
    }
}
