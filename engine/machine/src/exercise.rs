//! Checks that snapshots have the whole state of devices and chips: for tests, and for authors of models.
//!
//! Two machines of a board get the same random accesses. In one of them all devices are replaced by new ones now and
//! then, which load the state of the old ones. The results must not differ.

mod polls;

pub use self::polls::{Polls, exercise_polls};

use super::Machine;
use engine::bus::device::{AccessResult, AccessSize, DeviceId, Reply};
use engine::bus::{Bus, Target};
use engine::dt::fault::BoardFault;
use engine::pins::{PINS_OF_PORT, Pin};
use engine::polling::Poll;
use engine::serial::FarEnd;
use engine::state::{Loader, State, saved};
use engine::time::{Cycles, Hz, Ps};
use engine::wire::chip::CONTROLS;
use engine::wire::spi::{Burst, Drive, Lines, Rate, SpiTarget};

/// Number of accesses after which all devices are replaced.
const BETWEEN: u32 = 500;
/// Number of accesses in a row that go to the same device.
const RUN: u64 = 24;
/// Bytes that are stored in windows of memories beforehand.
const STORED_BYTES: usize = 256;
/// Bytes of a burst by a device.
const BURST_BYTES: u32 = 32;
/// Characters that are typed at each serial port.
const TYPED: usize = 64;
/// The polling clock of the lists of state that are compared.
const POLLING: Hz = Hz::new(100_000_000).expect("it is not 0");

/// Commands of flashes, as first bytes of frames.
const COMMANDS: &[u8] =
    &[0x01, 0x02, 0x03, 0x05, 0x06, 0x06, 0x06, 0x0b, 0x20, 0x66, 0x75, 0x7a, 0x99, 0x9f, 0xb1, 0xb9, 0xd8, 0xeb];

/// Random numbers: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let once = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let twice = (once ^ once >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        twice ^ twice >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// A plausible value for a register: often with few bits, or with nearly all of them.
    fn value(&mut self) -> u32 {
        let (one, other, third) = (self.next() as u32, self.next() as u32, self.next() as u32);
        match self.below(8) {
            0 => 0,
            1 => u32::MAX,
            2 => 1 << (one % 32),
            3 => one & other & third,
            4 => one | other | third,
            5 => one % 256,
            _ => one,
        }
    }

    /// Time until the next access: mostly as between instructions, sometimes long enough for anything to end.
    fn pause(&mut self) -> Ps {
        let most = [20_000, 200_000, 2_000_000, 50_000_000][self.below(4) as usize];
        Ps(if self.below(200) == 0 { 2_000_000_000 } else { self.below(most) })
    }
}

/// An operation on a device.
#[derive(Clone, Copy, Debug)]
enum Act {
    Read(AccessSize),
    Write(AccessSize, u32),
    Burst,
    Pin(Option<bool>),
}

/// An access: its target and operation.
#[derive(Clone, Copy, Debug)]
struct Access {
    device: DeviceId,
    range: usize,
    offset: u32,
    act: Act,
}

impl Access {
    fn any(numbers: &mut Numbers, (device, range, bytes): (DeviceId, usize, u32)) -> Access {
        let size = [AccessSize::Word, AccessSize::Word, AccessSize::Half, AccessSize::Byte][numbers.below(4) as usize];
        let reach = [0x40, 0x100, 0x400, u64::from(u32::MAX)][numbers.below(4) as usize].min(bytes.into());
        let offset = numbers.below(reach) as u32 & !(size.bytes() - 1);
        let act = match numbers.below(16) {
            0..=7 => Act::Write(size, numbers.value() & (u32::MAX >> (32 - 8 * size.bytes()))),
            8 => Act::Burst,
            9 => Act::Pin([None, Some(false), Some(true)][numbers.below(3) as usize]),
            _ => Act::Read(size),
        };
        Access { device, range, offset, act }
    }

    /// Makes the access: returns its result, and the time of the answer.
    fn make(self, bus: &mut Bus, now: Ps) -> AccessResult {
        bus.run_events(now);
        bus.master = Some(0);
        let result = bus.with_device(self.device, now, |device, ctx| match self.act {
            Act::Read(size) => device.read(self.range, self.offset, size, ctx),
            Act::Write(size, value) => device.write(self.range, self.offset, size, value, ctx),
            Act::Burst => {
                let offset = self.offset & !(BURST_BYTES - 1);
                let is_memory = device.peek(self.range, offset, &mut [0; BURST_BYTES as usize]);
                let done = if is_memory { device.burst(self.range, offset, BURST_BYTES, ctx)? } else { now };
                Ok(Reply::written(done))
            }
            Act::Pin(_) => Ok(Reply::written(now)),
        });
        bus.master = None;
        if let Act::Pin(level) = self.act
            && bus.wires.is_port(self.device)
        {
            let pins = PINS_OF_PORT * bus.wires.banks(self.device);
            bus.drive_pin(Pin::new(self.device, self.offset % pins), level, now);
        }
        // A requested end of the run is ignored.
        (bus.exit, bus.failure) = (None, None);
        result
    }
}

/// The result of `build`.
type Built = Result<Machine, Vec<BoardFault>>;

/// Makes `accesses` accesses to the devices of a board, and as many steps on the wires of its chips. Returns
/// differences, a line each; the first one ends the check.
///
/// # Errors
/// The errors of `build`.
pub fn exercise(mut build: impl FnMut() -> Built, seed: u64, accesses: u32) -> Result<Vec<String>, Vec<BoardFault>> {
    let mut numbers = Numbers(seed);
    let (mut plain, mut replaced) = (build()?, build()?);
    let ranges = ranges_of(plain.bus());
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    let typed: Vec<u8> = (0..TYPED).map(|_| numbers.next() as u8).collect();
    for machine in [&mut plain, &mut replaced] {
        type_characters(machine, &typed);
        store_something(machine.bus(), &ranges, &typed);
    }
    let (mut now, mut place) = (Ps::ZERO, 0);
    for number in 0..accesses {
        if number % BETWEEN == BETWEEN - 1 {
            let mut new = build()?;
            type_characters(&mut new, &[]);
            if let Err(what) = replace(replaced.bus(), new.bus()) {
                return Ok(vec![what]);
            }
        }
        if numbers.below(RUN) == 0 {
            place = numbers.below(ranges.len() as u64) as usize;
        }
        let access = Access::any(&mut numbers, ranges[place]);
        let [one, other] = [&mut plain, &mut replaced].map(|machine| access.make(machine.bus(), now));
        if one != other {
            let name = &plain.bus().device_names[access.device.0 as usize];
            let what = format!("{name}: {access:x?} at {now}: {one:x?}, and after a load {other:x?}");
            return Ok(vec![what]);
        }
        now = now.max(one.map_or_else(|error| error.done, |reply| reply.done)).saturating_add(numbers.pause());
        now = now.min(Ps(u64::MAX / 4));
    }
    let differ = differences(plain.bus(), replaced.bus(), now);
    if differ.is_empty() { exercise_chips(build, &mut numbers, accesses) } else { Ok(differ) }
}

/// Devices with their ranges and the sizes of the ranges in bytes.
fn ranges_of(bus: &Bus) -> Vec<(DeviceId, usize, u32)> {
    let of_device = bus.map.iter().filter_map(|entry| match entry.target {
        Target::Device(device, range) => Some((device, range, (entry.last - entry.base).saturating_add(1))),
        Target::Ram(_) => None,
    });
    let mut ranges: Vec<_> = of_device.collect();
    ranges.sort_unstable();
    ranges.dedup_by_key(|(device, range, _)| (*device, *range));
    ranges
}

fn type_characters(machine: &mut Machine, characters: &[u8]) {
    for port in machine.serial_ports() {
        machine.attach(&port, FarEnd::typing(characters.to_vec()));
    }
}

fn store_something(bus: &mut Bus, ranges: &[(DeviceId, usize, u32)], pattern: &[u8]) {
    let bytes: Vec<u8> = pattern.iter().copied().cycle().take(STORED_BYTES).collect();
    for (device, range, _) in ranges {
        if let Some(device) = &mut bus.devices[device.0 as usize] {
            device.preload(*range, 0, &bytes);
        }
    }
}

/// Replaces all devices, and the wires, by those of a new machine, which load their state.
fn replace(bus: &mut Bus, new: &mut Bus) -> Result<(), String> {
    for index in 0..bus.devices.len() {
        let name = &bus.device_names[index];
        let (Some(before), Some(after)) = (&mut bus.devices[index], &mut new.devices[index]) else { continue };
        before.learn();
        move_state(before.as_ref(), after.as_mut(), name)?;
        std::mem::swap(before, after);
    }
    move_state(&bus.wires, &mut new.wires, "wires")?;
    std::mem::swap(&mut bus.wires, &mut new.wires);
    Ok(())
}

/// Loads the state of one object into another, and checks that both are equal then.
fn move_state<S: State + ?Sized>(from: &S, to: &mut S, name: &str) -> Result<(), String> {
    let mut saver = engine::state::Saver::default();
    from.save(&mut saver);
    if let Some(why) = saver.refusal() {
        return Err(format!("{name}: it can't be saved: {why}"));
    }
    let bytes = saver.into_bytes();
    let mut loader = Loader::new(&bytes);
    let loaded = to.load(&mut loader);
    match (loaded, loader.is_over()) {
        (Err(error), _) => Err(format!("{name}: {}", loader.refusal().map_or(error.to_string(), str::to_owned))),
        (Ok(()), false) => Err(format!("{name}: more was saved than is loaded")),
        (Ok(()), true) if saved(to) != bytes => Err(format!("{name}: what was loaded is saved as something else")),
        (Ok(()), true) => Ok(()),
    }
}

/// Differences between the devices of two machines.
fn differences(one: &mut Bus, other: &mut Bus, now: Ps) -> Vec<String> {
    let mut found = Vec::new();
    for index in 0..one.devices.len() {
        let id = DeviceId(index as u32);
        let polled = [&mut *one, &mut *other].map(|bus| {
            bus.with_device(id, now, |device, _| {
                device.learn();
                let mut poll = Poll::look(POLLING, POLLING.cycles_until_ceil(now));
                let is_listed = device.polled(&mut poll);
                (
                    saved(device),
                    is_listed.then(|| format!("{poll:?}")),
                    device.counters(),
                    device.results().map(<[u32]>::to_vec),
                )
            })
        });
        if polled[0] != polled[1] {
            found.push(format!("{}: its state is another one in the end", one.device_names[index]));
        }
    }
    if saved(&one.wires) != saved(&other.wires) {
        found.push("wires: their state is another one in the end".to_owned());
    }
    if one.notes() != other.notes() {
        let beside = one.notes().iter().zip(other.notes()).find(|(one, other)| one != other);
        found.push(format!("the notes are others in the end: {beside:?}"));
    }
    found
}

/// Exercises the chips on SPI, each alone.
fn exercise_chips(
    mut build: impl FnMut() -> Built,
    numbers: &mut Numbers,
    steps: u32,
) -> Result<Vec<String>, Vec<BoardFault>> {
    let (mut plain, mut replaced) = (build()?, build()?);
    for index in 0..plain.bus().devices.len() {
        let name = plain.bus().device_names[index].clone();
        let mut new = build()?;
        let mut devices = [&mut plain, &mut replaced, &mut new].map(|machine| machine.bus().devices[index].take());
        let [Some(plain), Some(replaced), Some(new)] = &mut devices else { continue };
        let chips = plain.chips().into_iter().zip(replaced.chips()).zip(new.chips());
        for (number, ((plain, replaced), new)) in chips.enumerate() {
            let name = format!("{name}, chip {number}");
            let mut wire = ChipWire { numbers, now: Ps::ZERO, is_selected: false };
            if let Err(what) = wire.exercise([plain, replaced, new], steps, &name) {
                return Ok(vec![what]);
            }
        }
    }
    Ok(Vec::new())
}

/// A chip's wire, with random transfers.
struct ChipWire<'a> {
    numbers: &'a mut Numbers,
    now: Ps,
    is_selected: bool,
}

impl ChipWire<'_> {
    /// The second chip's state is loaded into the third one, and back, now and then.
    fn exercise(&mut self, chips: [&mut dyn SpiTarget; 3], steps: u32, name: &str) -> Result<(), String> {
        let [plain, mut replaced, mut new] = chips;
        for step in 0..steps {
            if step % BETWEEN == BETWEEN - 1 {
                move_state(&*replaced, new, name)?;
                std::mem::swap(&mut replaced, &mut new);
            }
            let (seed, now, is_selected) = (self.numbers.next(), self.now, self.is_selected);
            let [one, other] = [&mut *plain, &mut *replaced].map(|chip| {
                (self.now, self.is_selected) = (now, is_selected);
                (self.step(chip, &mut Numbers(seed)), chip.wakes_at(), chip.interrupt(), chip.take_notes())
            });
            if one != other {
                return Err(format!("{name} at {now}: {one:x?}, and after a load {other:x?}"));
            }
        }
        let same = saved(plain) == saved(replaced) && plain.counters() == replaced.counters();
        if same { Ok(()) } else { Err(format!("{name}: its state is another one in the end")) }
    }

    fn step(&mut self, chip: &mut dyn SpiTarget, numbers: &mut Numbers) -> u32 {
        self.now = self.now.saturating_add(numbers.pause());
        chip.advance(self.now);
        match (numbers.below(12), self.is_selected) {
            (0, true) => {
                chip.deselect(self.now);
                self.is_selected = false;
            }
            (0, false) => chip.idle_clocks(numbers.below(100) as u32, self.now),
            (1, _) if numbers.below(8) == 0 => {
                let (_, _, pin, _) = CONTROLS[numbers.below(2) as usize];
                chip.control(pin, numbers.below(2) == 0, self.now);
            }
            (_, false) => {
                chip.select(self.now);
                self.is_selected = true;
                return self.shift(chip, numbers, COMMANDS);
            }
            (_, true) => return self.shift(chip, numbers, &[]),
        }
        0
    }

    /// Shifts a byte; if the controller drives, often one in `often`.
    fn shift(&mut self, chip: &mut dyn SpiTarget, numbers: &mut Numbers, often: &[u8]) -> u32 {
        let lines = [Lines::Single, Lines::Single, Lines::Single, Lines::Quad][numbers.below(4) as usize];
        let drive = if numbers.below(4) == 0 { Drive::Target } else { Drive::Controller };
        let clocks = 8 / lines as u32;
        let chosen = often.get(numbers.below(2 * often.len() as u64) as usize).map(|byte| u32::from(*byte));
        let bits = if drive == Drive::Controller { chosen.unwrap_or(numbers.value() & 0xff) } else { 0 };
        self.now = self.now.saturating_add(POLLING.ps_at_floor(Cycles(u64::from(clocks))));
        chip.shift(Burst { lines, rate: Rate::Single, drive, clocks, bits }, self.now)
    }
}
