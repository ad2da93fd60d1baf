//! The values of a register map, and their connection to the bus.

use std::ops::Index;

use engine::bus::device::{AccessResult, AccessSize, Ctx, Reply, SlaveError};
use engine::polling::{Poll, Polled};
use engine::state::{Damaged, Loader, Saver, State};
use engine::time::Ps;

use super::map::{Map, Row, Rule};
use super::port::Port;

/// The values of a device's registers. Registers are named by their offsets, the constants of [`super::registers!`].
#[derive(Clone, Debug)]
pub struct Registers {
    map: &'static Map,
    values: Box<[u32]>,
    /// The numbers of the rows that were written once, and can't be written again, as bits.
    used: u64,
}

/// Why a write of a register has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no register at the offset, or it is read-only.
    ReadOnly,
    /// It was written before, and takes one write after reset.
    Used,
    /// These bits of the register at this offset lock it.
    Locked(u32, u32),
    /// It was written without its key.
    Key,
}

/// No registers: for types that derive `Default`, and get the registers of their map in `new`.
impl Default for Registers {
    fn default() -> Registers {
        Registers::new(&Map::EMPTY)
    }
}

impl Registers {
    /// The registers after reset.
    pub fn new(map: &'static Map) -> Registers {
        Registers { map, values: map.rows.iter().map(|row| row.reset).collect(), used: 0 }
    }

    /// All registers return to their values after reset.
    pub fn reset(&mut self) {
        *self = Registers::new(self.map);
    }

    /// The map.
    pub const fn map(&self) -> &'static Map {
        self.map
    }

    /// The device sets a register, whatever software may do with it: the bits that exist. Nothing happens
    /// without a register at the offset.
    #[inline]
    pub fn set(&mut self, register: u32, value: u32) {
        if let Some((number, row)) = self.map.find(register) {
            self.values[number] = value & row.mask;
        }
    }

    /// The device sets bits of a register, or clears them.
    #[inline]
    pub fn put(&mut self, register: u32, bits: u32, on: bool) {
        let held = self[register];
        self.set(register, if on { held | bits } else { held & !bits });
    }

    /// True if any of `bits` is set.
    #[inline]
    pub fn has(&self, register: u32, bits: u32) -> bool {
        self[register] & bits != 0
    }

    /// The field of a register that `mask` selects, as a number.
    #[inline]
    pub fn field(&self, register: u32, mask: u32) -> u32 {
        super::field(self[register], mask)
    }

    /// The value of a register as software sees it, if the device does not compute it.
    #[inline]
    pub fn held(&self, register: u32) -> u32 {
        let Some((number, row)) = self.map.find(register) else { return 0 };
        match row.rule {
            Rule::Sets(of, true) | Rule::Clears(of, true) => self[of],
            Rule::Sets(..) | Rule::Clears(..) => 0,
            Rule::Volatile => row.reset,
            _ if row.is_stored() => self.values[number],
            _ => 0,
        }
    }

    /// Software has read a register: bits that a read clears are cleared.
    #[inline]
    pub fn was_read(&mut self, register: u32) {
        if let Some((number, row)) = self.map.find(register) {
            self.values[number] = row.after_read(self.values[number]);
        }
    }

    /// Software writes a register: the row, and the values before and after. Of a register that stores nothing, the
    /// value before is 0, and the one after is what was written. A write of an alias is one of its register.
    ///
    /// # Errors
    /// If the write has no effect.
    pub fn write(&mut self, register: u32, value: u32) -> Result<(&'static Row, u32, u32), Refused> {
        let (number, row) = self.map.find(register).ok_or(Refused::ReadOnly)?;
        match row.rule {
            Rule::Volatile => return Ok((row, 0, row.written(value))),
            Rule::Sets(of, _) => return self.store(of, self[of] | row.written(value)),
            Rule::Clears(of, _) => return self.store(of, self[of] & !row.written(value)),
            Rule::LockedBy(by, bits) if self.has(by, bits) => return Err(Refused::Locked(by, self[by] & bits)),
            Rule::Keyed(mask, key) if super::field(value, mask) != key => return Err(Refused::Key),
            Rule::Once if self.used >> number & 1 != 0 => return Err(Refused::Used),
            Rule::Once => self.used |= 1 << number,
            Rule::LockedBy(..) | Rule::Keyed(..) | Rule::Plain => {}
        }
        if !row.is_stored() {
            return Ok((row, 0, row.written(value)));
        }
        self.store(register, row.after_write(self[register], value))
    }

    fn store(&mut self, register: u32, value: u32) -> Result<(&'static Row, u32, u32), Refused> {
        let (number, row) = self.map.find(register).ok_or(Refused::ReadOnly)?;
        let old = std::mem::replace(&mut self.values[number], value & row.mask);
        Ok((row, old, self.values[number]))
    }
}

/// The value of a register; 0 without a register at the offset.
impl Index<u32> for Registers {
    type Output = u32;

    #[inline]
    fn index(&self, register: u32) -> &u32 {
        self.values.get(self.map.number(register)).unwrap_or(&0)
    }
}

/// A snapshot holds the values in the order of the map, also those that the device has set in a register which keeps
/// nothing that is written. People see the others, by their names.
impl State for Registers {
    fn save(&self, to: &mut Saver) {
        to.begin("Registers");
        for (row, value) in self.map.rows.iter().zip(&self.values) {
            if row.is_stored() || !to.is_shown() {
                to.field(row.name);
                value.save(to);
            }
        }
        if !to.is_shown() {
            self.used.save(to);
        }
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.values.iter_mut().try_for_each(|value| value.load(from))?;
        self.used.load(from)
    }
}

impl Polled for Registers {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.values.iter().for_each(|value| poll.state(*value));
        true
    }
}

/// A device's registers, and the port by which the bus reaches them. `#[derive(RegisterBank)]` takes the field
/// `registers`, and the port from the attribute `#[port(EXPRESSION)]`. With `#[banks(FIELD, BANKS)]`, each element of
/// that field has `registers`, too, at the place that the [`super::Banks`] give.
pub trait RegisterBank {
    /// Its registers.
    fn registers(&mut self) -> &mut Registers;

    /// The port by which the bus reaches them.
    fn port(&self) -> Port;

    /// The registers among which the one at `offset` is, and its offset there: a channel has registers of its own.
    fn bank(&mut self, offset: u32) -> (&mut Registers, u32) {
        (self.registers(), offset)
    }
}

/// A device that is a table: what is left to say of its registers.
pub trait Table: RegisterBank {
    /// True if [`Table::update`] follows reads as well as writes.
    const UPDATES_AFTER_READS: bool = false;

    /// An access arrives, whether the device has its clock or not.
    fn arrives(&mut self, _is_write: bool) {}

    /// An access reaches the registers: the device brings its state up to `ctx.now`.
    fn settle(&mut self, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
    }

    /// Brings the state up to `now`, if it follows from the time alone.
    fn pass_to(&mut self, _now: Ps) {}

    /// Software reads a register, which holds `held`: the value that it gets. Effects of the read happen here.
    fn shown(&mut self, _register: u32, held: u32, _ctx: &mut Ctx) -> u32 {
        held
    }

    /// A read is complete: bits that it clears are cleared.
    fn was_read(&mut self, _register: u32, ctx: &mut Ctx) {
        if Self::UPDATES_AFTER_READS {
            self.update(ctx);
        }
    }

    /// Software is about to write a register: false, with a note, if the device does not take the write now.
    fn takes_write(&mut self, _register: u32, _ctx: &mut Ctx) -> bool {
        true
    }

    /// Software wrote a register: its effects. `old` and `new` are what it held and holds; of a register that stores
    /// nothing, `new` is what was written.
    fn wrote(&mut self, _register: u32, _old: u32, _new: u32, _ctx: &mut Ctx) {}

    /// Software wrote a register, with no effect.
    fn refused(&mut self, _register: u32, _why: Refused, _ctx: &mut Ctx) {}

    /// Software set bits without a function in the model.
    fn unmodelled(&mut self, row: &'static Row, bits: u32, ctx: &mut Ctx) {
        unmodelled(row, 0, bits).into_iter().for_each(|note| ctx.note(&note));
    }

    /// The note of an access that the device answers with an error; it then does nothing else.
    fn error(&self, _register: u32, _is_write: bool) -> Option<&'static str> {
        None
    }

    /// A write is complete: the device drives its lines, and asks for its events.
    fn update(&mut self, _ctx: &mut Ctx) {}
}

/// The note of a write that sets bits without a function in the model; `None` if it sets none.
pub fn unmodelled(row: &Row, old: u32, new: u32) -> Option<String> {
    let bits = row.unmodelled() & new & !old;
    let names: Vec<&str> = row.names(bits).collect();
    (bits != 0).then(|| format!("{}.{} is not modelled: the device works as without it", row.name, names.join(", ")))
}

/// A read of a device's registers.
///
/// # Errors
/// If [`Table::error`] says so; a device without its clock answers 0.
pub fn read(device: &mut impl Table, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
    device.arrives(false);
    let port = device.port();
    if !port.takes_reads(ctx) {
        return Ok(port.read(0, offset, size, ctx.now));
    }
    device.settle(ctx);
    let register = port.offset(offset) & !3;
    let error = device.error(register, false);
    let mut value = 0;
    if error.is_none() {
        let (bank, within) = device.bank(register);
        let held = bank.held(within);
        value = device.shown(register, held, ctx);
        let (bank, within) = device.bank(register);
        bank.was_read(within);
    }
    device.was_read(register, ctx);
    answer(port.read(value, offset, size, ctx.now), error, ctx)
}

/// The answer to an access, or an error with its note.
fn answer(reply: Reply, error: Option<&str>, ctx: &mut Ctx) -> AccessResult {
    let Some(note) = error else { return Ok(reply) };
    ctx.note(note);
    Err(SlaveError { done: reply.done })
}

/// A write of a device's registers.
///
/// # Errors
/// If [`Table::error`] says so; a device without its clock ignores the write.
pub fn write(device: &mut impl Table, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
    device.arrives(true);
    let port = device.port();
    if !port.takes_writes(ctx) {
        return Ok(port.written(ctx.now));
    }
    device.settle(ctx);
    let register = port.offset(offset) & !3;
    let error = device.error(register, true);
    if error.is_none() {
        let (bank, within) = device.bank(register);
        let word = port.word(bank.held(within), value, offset, size);
        store(device, register, word, ctx);
    }
    device.update(ctx);
    answer(port.written(ctx.now), error, ctx)
}

/// A write of a whole register, and its effects.
fn store(device: &mut impl Table, register: u32, word: u32, ctx: &mut Ctx) {
    if !device.takes_write(register, ctx) {
        return;
    }
    let (bank, within) = device.bank(register);
    if bank.map().row(within).is_some_and(Row::is_read_only) {
        return device.refused(register, Refused::ReadOnly, ctx);
    }
    match bank.write(within, word) {
        Ok((row, old, new)) => {
            let asked = row.unmodelled() & new & !old;
            device.wrote(register - within + row.offset, old, new, ctx);
            if asked != 0 {
                device.unmodelled(row, asked, ctx);
            }
        }
        Err(why) => device.refused(register, why, ctx),
    }
}

/// In an `impl Device`: the bus reaches the registers of the [`Table`], in the first range. With the name of a field,
/// an [`engine::bus::device::Alarm`] or a part that has one, an event brings the device up to the event's time, and
/// then lets it drive its lines.
#[macro_export]
macro_rules! by_table {
    ($alarm:ident) => {
        $crate::by_table!();

        fn event(&mut self, _token: u32, ctx: &mut engine::bus::device::Ctx) {
            self.$alarm.rang(ctx.now);
            $crate::registers::Table::settle(self, ctx);
            $crate::registers::Table::update(self, ctx);
        }
    };
    () => {
        fn read(
            &mut self,
            _range: usize,
            offset: u32,
            size: engine::bus::device::AccessSize,
            ctx: &mut engine::bus::device::Ctx,
        ) -> engine::bus::device::AccessResult {
            $crate::registers::read(self, offset, size, ctx)
        }

        fn write(
            &mut self,
            _range: usize,
            offset: u32,
            size: engine::bus::device::AccessSize,
            value: u32,
            ctx: &mut engine::bus::device::Ctx,
        ) -> engine::bus::device::AccessResult {
            $crate::registers::write(self, offset, size, value, ctx)
        }
    };
}
