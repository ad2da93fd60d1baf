//! Rows of register maps, and the maps.

/// How software may use a register, or a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only: writes have no effect.
    Ro,
    /// Write only: reads give 0 or what the datasheet says.
    Wo,
    /// Read and write.
    Rw,
    /// Writing 1 to a bit clears it.
    W1c,
    /// Writing 0 to a bit clears it.
    W0c,
    /// Writing 1 to a bit toggles it.
    W1t,
    /// Writing 1 to a bit sets it.
    W1s,
    /// A read clears it; a write has no effect.
    Rc,
}

impl Access {
    /// The word of [`super::registers!`] for it.
    pub const fn name(self) -> &'static str {
        match self {
            Access::Ro => "ro",
            Access::Wo => "wo",
            Access::Rw => "rw",
            Access::W1c => "w1c",
            Access::W0c => "w0c",
            Access::W1t => "w1t",
            Access::W1s => "w1s",
            Access::Rc => "rc",
        }
    }
}

/// A named bit of a register, or a field of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bit {
    /// The datasheet's name.
    pub name: &'static str,
    /// Its bits in the register.
    pub mask: u32,
    /// How software may use it.
    pub access: Access,
    /// True if it has a function in the model.
    pub is_modelled: bool,
}

/// What else a write of a register does, or needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nothing.
    Plain,
    /// Only the first write after reset counts.
    Once,
    /// Nothing is stored: the device computes the value, or a write only starts something.
    Volatile,
    /// Writes do nothing while any bit of a mask is set in the register at an offset.
    LockedBy(u32, u32),
    /// Writes do nothing unless the field of this mask has this value.
    Keyed(u32, u32),
    /// Ones set bits of the register at an offset; true if reads give that register.
    Sets(u32, bool),
    /// Ones clear bits of the register at an offset; true if reads give that register.
    Clears(u32, bool),
}

/// A register of a device: a row of its map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The datasheet's name.
    pub name: &'static str,
    /// Offset in bytes.
    pub offset: u32,
    /// How software may use it.
    pub access: Access,
    /// Value after reset.
    pub reset: u32,
    /// Bits that exist; the others read 0 and ignore writes.
    pub mask: u32,
    /// What else a write does, or needs.
    pub rule: Rule,
    /// Named bits, in their order.
    pub bits: &'static [Bit],
    /// Bits of each kind of access; bits without a name are of the register's kind.
    kinds: Kinds,
}

/// Masks of the bits of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kinds {
    writable: u32,
    w1c: u32,
    w0c: u32,
    w1t: u32,
    w1s: u32,
    rc: u32,
    unmodelled: u32,
}

impl Kinds {
    const fn of(row: Access, mask: u32, bits: &[Bit]) -> Kinds {
        let mut kinds = Kinds { writable: 0, w1c: 0, w0c: 0, w1t: 0, w1s: 0, rc: 0, unmodelled: 0 };
        let (mut others, mut index) = (mask, 0);
        while index < bits.len() {
            kinds = kinds.with(bits[index].access, bits[index].mask);
            if !bits[index].is_modelled {
                kinds.unmodelled |= bits[index].mask;
            }
            others &= !bits[index].mask;
            index += 1;
        }
        kinds.with(row, others)
    }

    const fn with(mut self, access: Access, mask: u32) -> Kinds {
        match access {
            Access::Ro => {}
            Access::Wo | Access::Rw => self.writable |= mask,
            Access::W1c => self.w1c |= mask,
            Access::W0c => self.w0c |= mask,
            Access::W1t => self.w1t |= mask,
            Access::W1s => self.w1s |= mask,
            Access::Rc => self.rc |= mask,
        }
        self
    }
}

impl Row {
    /// A row of a register map without named bits.
    pub const fn new(name: &'static str, offset: u32, access: Access, reset: u32, mask: u32) -> Row {
        Row::with_bits(name, offset, access, reset, mask, Rule::Plain, &[])
    }

    /// A row of a register map.
    pub const fn with_bits(
        name: &'static str,
        offset: u32,
        access: Access,
        reset: u32,
        mask: u32,
        rule: Rule,
        bits: &'static [Bit],
    ) -> Row {
        let kinds = Kinds::of(access, mask, bits);
        Row { name, offset, access, reset, mask, rule, bits, kinds }
    }

    /// The same row, of a register with another value after reset and other bits.
    #[must_use]
    pub const fn with(self, reset: u32, mask: u32) -> Row {
        Row::with_bits(self.name, self.offset, self.access, reset, mask, self.rule, self.bits)
    }

    /// The register's value after a write of `value` over `held`, by the access of its bits alone.
    pub const fn after_write(&self, held: u32, value: u32) -> u32 {
        let Kinds { writable, w1c, w0c, w1t, w1s, .. } = self.kinds;
        let plain = held & !writable | value & (writable | w1s);
        (plain & !(value & w1c) & !(!value & w0c)) ^ (value & w1t)
    }

    /// The register's value after a read of `held`.
    pub const fn after_read(&self, held: u32) -> u32 {
        held & !self.kinds.rc
    }

    /// What a write passes to the model of a register that stores nothing: the bits that exist.
    pub const fn written(&self, value: u32) -> u32 {
        value & self.mask
    }

    /// The bits that have no function in the model.
    pub const fn unmodelled(&self) -> u32 {
        self.kinds.unmodelled
    }

    /// True if values are stored. A register whose ones set its own bits has these.
    pub const fn is_stored(&self) -> bool {
        match self.rule {
            Rule::Volatile => false,
            Rule::Sets(of, _) | Rule::Clears(of, _) => of == self.offset,
            _ => !matches!(self.access, Access::Wo),
        }
    }

    /// True if a write has no effect: a value is stored, and the register and all its bits are read-only.
    pub const fn is_read_only(&self) -> bool {
        let Kinds { writable, w1c, w0c, w1t, w1s, .. } = self.kinds;
        self.is_stored() && matches!(self.access, Access::Ro) && writable | w1c | w0c | w1t | w1s == 0
    }

    /// The names of the bits of `set` that have one.
    pub fn names(&self, set: u32) -> impl Iterator<Item = &'static str> {
        self.bits.iter().filter(move |bit| bit.mask & set != 0).map(|bit| bit.name)
    }
}

/// Rows of a map that may be written once: [`super::Registers`] has a bit for each.
const MOST_ONCE: usize = u64::BITS as usize;

/// No row.
pub const NO_ROW: u16 = u16::MAX;

/// A register map.
#[derive(Debug, PartialEq, Eq)]
pub struct Map {
    /// The registers, in the order of their offsets.
    pub rows: &'static [Row],
    /// The number of the row at each unit of offsets, or [`NO_ROW`].
    index: &'static [u16],
    /// Bytes from one register to the next, a power of two: 4, or 1 for chips with byte registers.
    pub unit_bytes: u32,
}

/// Registers that a device has several times, one after the other: those of its channels.
#[derive(Clone, Copy, Debug)]
pub struct Banks {
    /// The offset of the first bank.
    pub first: u32,
    /// Bytes from one bank to the next.
    pub bytes: u32,
    /// The number of banks.
    pub count: usize,
    /// The offset that a bank's first register has in the map of one bank.
    pub begin: u32,
}

impl Banks {
    /// The number of the bank that has the register at `offset`, and the register's offset in the map of a bank.
    pub fn at(&self, offset: u32) -> Option<(usize, u32)> {
        let within = offset.checked_sub(self.first)?;
        let index = (within / self.bytes) as usize;
        (index < self.count).then_some((index, self.begin + within % self.bytes))
    }
}

impl Map {
    /// A map without registers.
    pub const EMPTY: Map = Map::new(&[], &[], 4);

    /// A map of rows, with their [`index_of`]; for [`super::registers!`] and [`super::joined!`].
    pub const fn new(rows: &'static [Row], index: &'static [u16], unit_bytes: u32) -> Map {
        assert!(unit_bytes.is_power_of_two(), "registers are a power of two apart");
        Map { rows, index, unit_bytes }
    }

    /// The number of the row of the register at `offset`; without a register, [`NO_ROW`].
    #[inline]
    pub fn number(&self, offset: u32) -> usize {
        // A shift, not a division: each access to a device comes here several times.
        let unit = offset >> self.unit_bytes.trailing_zeros();
        self.index.get(unit as usize).map_or(usize::from(NO_ROW), |number| usize::from(*number))
    }

    /// The row of the register at `offset`, and its number.
    #[inline]
    pub fn find(&self, offset: u32) -> Option<(usize, &'static Row)> {
        let number = self.number(offset);
        self.rows.get(number).map(|row| (number, row))
    }

    /// The row of the register at `offset`.
    pub fn row(&self, offset: u32) -> Option<&'static Row> {
        self.find(offset).map(|(_, row)| row)
    }
}

/// The number of units that the index of a list of rows needs.
pub const fn units(rows: &[Row], unit_bytes: u32) -> usize {
    if rows.is_empty() { 0 } else { (rows[rows.len() - 1].offset / unit_bytes + 1) as usize }
}

/// The number of the row at each unit of offsets. Evaluated when the engine is compiled.
///
/// # Panics
/// If the rows are not in order, overlap, or have impossible values.
pub const fn index_of<const UNITS: usize>(rows: &[Row], unit_bytes: u32) -> [u16; UNITS] {
    let mut index = [NO_ROW; UNITS];
    let mut number = 0;
    while number < rows.len() {
        let row = &rows[number];
        assert!(row.offset.is_multiple_of(unit_bytes), "a register does not begin at a unit");
        assert!(number == 0 || rows[number - 1].offset < row.offset, "registers overlap, or are out of order");
        assert!(
            number < MOST_ONCE || !matches!(row.rule, Rule::Once),
            "a register that is written once comes too late"
        );
        assert!(row.reset & !row.mask == 0, "a register resets bits that it does not have");
        let (mut bit, mut named) = (0, 0);
        while bit < row.bits.len() {
            assert!(row.bits[bit].mask & named == 0, "bits of a register overlap");
            assert!(row.bits[bit].mask & !row.mask == 0, "a named bit is not among the bits that exist");
            named |= row.bits[bit].mask;
            bit += 1;
        }
        index[(row.offset / unit_bytes) as usize] = number as u16;
        number += 1;
    }
    index
}

/// The rows of several maps, in the order of their offsets. Evaluated when the engine is compiled.
pub const fn sorted<const COUNT: usize>(parts: &[&[Row]]) -> [Row; COUNT] {
    let mut rows = [Row::new("", 0, Access::Ro, 0, 0); COUNT];
    let (mut count, mut part) = (0, 0);
    while part < parts.len() {
        let mut number = 0;
        while number < parts[part].len() {
            let row = parts[part][number];
            let mut place = count;
            while place > 0 && rows[place - 1].offset > row.offset {
                rows[place] = rows[place - 1];
                place -= 1;
            }
            rows[place] = row;
            (count, number) = (count + 1, number + 1);
        }
        part += 1;
    }
    rows
}

/// A map of the rows of several maps: what generations of a chip have in common, and what one of them adds.
#[macro_export]
macro_rules! joined {
    ($($map:expr),+ $(,)?) => {{
        const COUNT: usize = 0 $(+ $map.rows.len())+;
        const ROWS: [$crate::registers::Row; COUNT] = $crate::registers::sorted(&[$($map.rows),+]);
        const UNIT: u32 = [$($map.unit_bytes),+][0];
        const UNITS: usize = $crate::registers::units(&ROWS, UNIT);
        const INDEX: [u16; UNITS] = $crate::registers::index_of(&ROWS, UNIT);
        $crate::registers::Map::new(&ROWS, &INDEX, UNIT)
    }};
}
