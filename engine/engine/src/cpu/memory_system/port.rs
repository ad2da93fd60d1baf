//! A core's port to memory without a cache: one request at a time, in the core's own cycles.
//!
//! A request is on the port from the start of cycle V and answered in cycle R; R = V is an answer in the same cycle.
//! Instruction fetches and data share the port, so a core that wants both makes one request after the other. Memories
//! on the port itself (no interconnect, the core's clock, no other master) answer without a call to the bus; other
//! accesses use the bus.

use crate::bus::device::AccessSize;
use crate::bus::path::InStep;
use crate::bus::{Access, Bus, BusFault, MapEntry, Target};
use crate::time::{Cycles, Hz, Ps};

/// A request's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The value read, right-aligned; 0 for a write.
    pub value: u32,
    /// The cycle R in which it is answered.
    pub done_cycles: u64,
    /// The map entry that answered.
    pub entry: usize,
    /// The part of the time from V to R spent on interconnects.
    pub interconnect_cycles: u64,
}

/// A memory on the port itself.
#[derive(Clone, Copy, Debug)]
struct OnPort {
    base: u32,
    /// The address of the last word.
    last_word: u32,
    /// Host address of simulated address 0, as if the memory extended down to there.
    host_zero: usize,
    read_cycles: u64,
    write_cycles: u64,
    entry: usize,
}

impl OnPort {
    /// The host address of the word at `addr`, a multiple of 4.
    #[inline(always)]
    fn host(&self, addr: u32) -> Option<*mut u8> {
        (addr >= self.base && addr <= self.last_word)
            .then(|| std::ptr::with_exposed_provenance_mut(self.host_zero.wrapping_add(addr as usize)))
    }
}

/// Most memories on the port itself; accesses to others use the bus, and take the same time.
const MOST_ON_PORT: usize = 2;
/// No memory.
const NOTHING: OnPort = OnPort { base: 1, last_word: 0, host_zero: 0, read_cycles: 0, write_cycles: 0, entry: 0 };

/// The device on the port itself that was read last: without an interconnect, on a clock in step with the core's.
#[derive(Clone, Copy, Debug)]
struct Window {
    base: u32,
    last: u32,
    /// The address of the first byte of its range, without overlays.
    origin: u32,
    entry: usize,
    device: usize,
    range: usize,
    in_step: InStep,
}

impl Window {
    const NOWHERE: Window = Window { base: 1, last: 0, origin: 1, entry: 0, device: 0, range: 0, in_step: InStep::NOT };

    #[inline(always)]
    fn holds(&self, addr: u32) -> bool {
        self.base <= addr && addr <= self.last
    }

    /// The window at an address. Also `None` if other cores may access it.
    #[inline(never)]
    fn find(bus: &Bus, addr: u32) -> Option<Window> {
        let entry = bus.entry_at(addr)?;
        let MapEntry { base, last, origin, target, .. } = bus.map[entry];
        let Target::Device(id, range) = target else { return None };
        let (in_step, routed) = bus.path_in_step(entry)?;
        let alone = !routed && bus.core_irqs.len() == 1;
        alone.then_some(Window { base, last, origin, entry, device: id.0 as usize, range, in_step })
    }
}

/// A port. [`Port::attach`] it before use.
#[derive(Debug)]
pub struct Port {
    clock: Hz,
    on_port: [OnPort; MOST_ON_PORT],
    window: Window,
    attached: bool,
}

impl Port {
    /// A port of a core with this clock.
    pub fn new(clock: Hz) -> Port {
        Port { clock, on_port: [NOTHING; MOST_ON_PORT], window: Window::NOWHERE, attached: false }
    }

    /// Finds the memories on the port itself. The map does not change while a machine runs.
    pub fn attach(&mut self, bus: &Bus) {
        if std::mem::replace(&mut self.attached, true) || bus.has_several_masters() {
            return;
        }
        let found = bus.map.iter().enumerate().filter_map(|(index, _)| self.memory_on_port(bus, index));
        let found: Vec<OnPort> = found.take(MOST_ON_PORT).collect();
        self.on_port[..found.len()].copy_from_slice(&found);
    }

    fn memory_on_port(&self, bus: &Bus, index: usize) -> Option<OnPort> {
        let entry = &bus.map[index];
        let Target::Ram(ram) = entry.target else { return None };
        let (ram, timing) = (&bus.rams[ram], bus.rams[ram].timing());
        let whole_words = entry.base.is_multiple_of(4) && entry.last.wrapping_sub(entry.base) >= 3 && !entry.is_empty();
        let one_beat = bus.path(index).is_on_port() && timing.beat_bytes >= 4;
        (whole_words && one_beat).then(|| OnPort {
            base: entry.base,
            last_word: entry.last - 3,
            host_zero: ram.as_ptr().expose_provenance().wrapping_sub(entry.origin as usize),
            read_cycles: timing.first_word_cycles.0,
            write_cycles: timing.write_first_word_cycles.0,
            entry: index,
        })
    }

    /// Reads the word at `addr`, a multiple of 4, if it is in a memory on the port itself; the request is on the port
    /// in cycle `begins`.
    #[inline(always)]
    pub fn read_on_port(&self, addr: u32, begins: u64) -> Option<Answer> {
        self.on_port.iter().find_map(|memory| {
            let host = memory.host(addr)?;
            // SAFETY: the word lies inside a RAM that lives as long as the machine; nothing holds a reference into it.
            let value = u32::from_le(unsafe { host.cast::<u32>().read_unaligned() });
            let done_cycles = begins + memory.read_cycles;
            Some(Answer { value, done_cycles, entry: memory.entry, interconnect_cycles: 0 })
        })
    }

    /// Reads `bytes` at `addr`, a multiple of them, from a device on the port itself, if the read reaches nothing else
    /// ([`crate::bus::device::Device::read_alone`]); no event is due before cycle `until`.
    #[inline(always)]
    pub fn read_alone(&mut self, bus: &mut Bus, addr: u32, bytes: u32, begins: u64, until: u64) -> Option<Answer> {
        if !self.window.holds(addr) {
            self.window = Window::find(bus, addr)?;
        }
        let Window { origin, entry, device, range, in_step, .. } = &self.window;
        let edge = in_step.arrival(begins);
        if in_step.cycle(edge) >= until {
            return None;
        }
        let device = bus.devices[*device].as_deref_mut()?;
        let (value, answered) = device.read_alone(*range, addr.wrapping_sub(*origin), bytes, edge)?;
        let done_cycles = in_step.times(edge, answered).done;
        Some(Answer { value, done_cycles, entry: *entry, interconnect_cycles: 0 })
    }

    /// Reads `size` at `addr`, a multiple of it, with the request on the port in cycle `begins`; no event is due before
    /// cycle `until`.
    ///
    /// # Errors
    ///
    /// [`BusFault`] if the bus does not answer, or answers with an error.
    #[inline(always)]
    pub fn read(
        &mut self,
        bus: &mut Bus,
        addr: u32,
        size: AccessSize,
        begins: u64,
        until: u64,
    ) -> Result<Answer, BusFault> {
        if let Some(answer) = self.read_on_port(addr & !3, begins) {
            return Ok(Answer { value: size.extracted(answer.value, addr), ..answer });
        }
        if let Some(answer) = self.read_alone(bus, addr, size.bytes(), begins, until) {
            return Ok(answer);
        }
        self.over_bus(bus, addr, begins, |bus, at| bus.read(at, addr, size))
    }

    /// Writes the low `size` of `value` at `addr`, a multiple of `size`, with the request on the port in cycle
    /// `begins`.
    ///
    /// # Errors
    ///
    /// [`BusFault`] if the bus does not answer, or answers with an error.
    #[inline(always)]
    pub fn write(
        &self,
        bus: &mut Bus,
        addr: u32,
        size: AccessSize,
        value: u32,
        begins: u64,
    ) -> Result<Answer, BusFault> {
        for memory in &self.on_port {
            if let Some(word) = memory.host(addr & !3) {
                let host = word.wrapping_add((addr & 3) as usize);
                let bytes = value.to_le_bytes();
                // SAFETY: the bytes lie inside a RAM that lives as long as the machine; nothing holds a reference into
                // it.
                unsafe { host.copy_from_nonoverlapping(bytes.as_ptr(), size.bytes() as usize) };
                let done_cycles = begins + memory.write_cycles;
                return Ok(Answer { value: 0, done_cycles, entry: memory.entry, interconnect_cycles: 0 });
            }
        }
        self.over_bus(bus, addr, begins, |bus, at| bus.write(at, addr, size, value))
    }

    /// An access over the bus, in the core's cycles.
    fn over_bus(
        &self,
        bus: &mut Bus,
        addr: u32,
        begins: u64,
        access: impl FnOnce(&mut Bus, Ps) -> Result<Access, BusFault>,
    ) -> Result<Answer, BusFault> {
        let at = self.clock.ps_at_floor(Cycles(begins));
        bus.run_events_before(at, addr);
        let access = access(bus, at)?;
        let edge = |time| self.clock.cycles_until_ceil(time).0;
        let done_cycles = edge(access.done);
        let interconnect_cycles = match bus.path(access.entry).route {
            None => 0,
            Some(_) => done_cycles - begins - (edge(access.answered) - edge(access.arrived)),
        };
        Ok(Answer { value: access.value, done_cycles, entry: access.entry, interconnect_cycles })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Route;
    use crate::memory::ram::{PortTiming, Ram};

    const MHZ_12: u64 = 12_000_000;

    /// A memory on the port at 0, one behind an interconnect of a slower clock at 0x1000.
    fn bus() -> Bus {
        let mut bus = Bus::default();
        let (clock, slow) = (Hz::new(MHZ_12).unwrap(), Hz::new(MHZ_12 / 2).unwrap());
        bus.routes.push(Route {
            name: "bus".into(),
            clock: slow,
            request_cycles: Cycles(1),
            response_cycles: Cycles(1),
        });
        for (name, base, clock, route) in [("near", 0, clock, None), ("far", 0x1000, slow, Some(0))] {
            let target = Target::Ram(bus.rams.len());
            bus.rams.push(Ram::new(0x100, PortTiming::symmetric(clock, Cycles(3), Cycles(1), 4)));
            bus.map.push(MapEntry::new(name, base, base + 0xff, target).on_route(route));
        }
        bus.add_core();
        bus.set_core_clocks(vec![clock]);
        bus.master = Some(0);
        bus
    }

    fn accesses(bus: &mut Bus) -> Vec<Answer> {
        let mut port = Port::new(Hz::new(MHZ_12).unwrap());
        port.attach(bus);
        let mut answers = Vec::new();
        for base in [0, 0x1000] {
            let from = answers.len() as u64 * 100;
            answers.push(port.write(bus, base + 4, AccessSize::Word, 0x8765_4321, from + 10).unwrap());
            answers.push(port.write(bus, base + 7, AccessSize::Byte, 0xff, from + 30).unwrap());
            answers.push(port.read(bus, base + 6, AccessSize::Half, from + 50, 0).unwrap());
            answers.push(port.read(bus, base + 4, AccessSize::Word, from + 71, 0).unwrap());
        }
        answers
    }

    #[test]
    fn answers_are_in_the_cores_cycles() {
        let mut bus = bus();
        let answers = accesses(&mut bus);
        let times: Vec<u64> = answers.iter().map(|answer| answer.done_cycles).collect();
        // Behind the interconnect: 1 clock for the request, 3 for the memory, 1 for the response, in the slow clock,
        // from its next edge on.
        assert_eq!(times, [13, 33, 53, 74, 420, 440, 460, 482]);
        assert_eq!(answers[4].interconnect_cycles, 4);
        assert_eq!(answers[7].interconnect_cycles, 5);
        let values: Vec<u32> = answers.iter().map(|answer| answer.value).collect();
        assert_eq!(values, [0, 0, 0xff65, 0xff65_4321, 0, 0, 0xff65, 0xff65_4321]);
        assert_eq!(answers[0].entry, 0);
        assert_eq!(answers[4].entry, 1);
    }

    #[test]
    fn an_overlay_answers_in_its_own_time_and_the_rest_where_it_was() {
        let mut bus = bus();
        let clock = Hz::new(MHZ_12).unwrap();
        bus.rams.push(Ram::new(0x40, PortTiming::symmetric(clock, Cycles(7), Cycles(1), 4)));
        bus.lay(MapEntry::new("overlay", 0x40, 0x7f, Target::Ram(2)));
        let mut port = Port::new(clock);
        port.attach(&bus);
        for (value, (addr, cycles)) in (1..).zip([(0x3c, 3), (0x40, 7), (0x7c, 7), (0x80, 3), (0xfc, 3)]) {
            let at = 100 * u64::from(value);
            assert_eq!(port.write(&mut bus, addr, AccessSize::Word, value, at).unwrap().done_cycles, at + cycles);
            let read = port.read(&mut bus, addr, AccessSize::Word, at + 50, 0).unwrap();
            assert_eq!((read.value, read.done_cycles), (value, at + 50 + cycles), "{addr:#x}");
        }
        let word = |ram: usize, offset| bus.rams[ram].value(offset, 4);
        assert_eq!([word(0, 0x3c), word(2, 0), word(2, 0x3c), word(0, 0x80), word(0, 0xfc)], [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_memory_with_other_masters_answers_over_the_bus_in_the_same_time() {
        let mut shared = bus();
        shared.add_core();
        assert_eq!(accesses(&mut shared), accesses(&mut bus()));
        // There, transfers of other masters are waited for.
        let mut port = Port::new(Hz::new(MHZ_12).unwrap());
        port.attach(&shared);
        shared.read_burst(Hz::new(MHZ_12).unwrap().ps_at_floor(Cycles(1000)), 0, 64).unwrap();
        assert_eq!(port.read(&mut shared, 0, AccessSize::Word, 1001, 0).unwrap().done_cycles, 1000 + 3 + 15 + 3);
    }

    #[test]
    fn nothing_answers_where_nothing_is() {
        let mut bus = bus();
        let mut port = Port::new(Hz::new(MHZ_12).unwrap());
        port.attach(&bus);
        assert_eq!(port.read(&mut bus, 0xfffc, AccessSize::Word, 1, 0).unwrap_err().addr, 0xfffc);
        assert_eq!(port.read_on_port(0x100, 1), None);
        assert!(port.read_on_port(0xfc, 1).is_some());
    }
}
