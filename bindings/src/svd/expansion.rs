//! Expands the registers of a chip: arrays to all their elements, and derived items to what they derive from. A small
//! file may ask for any number of registers, and for any number of derivations: everything is counted before it is
//! made.

use std::fmt::Write;

use svd_parser::svd::{
    Cluster, DeriveFrom, Device, DimElement, MaybeArray, Name, Peripheral, Register, RegisterCluster,
    RegisterProperties,
};

/// The largest chips have some 50,000; a few lines of a file may claim any number.
pub const MOST_REGISTERS: u64 = 1 << 18;
/// The largest chips have some hundred.
const MOST_PERIPHERALS: u64 = 2048;
/// Text of all registers: some 40 bytes each.
const MOST_BYTES: u64 = 32 << 20;
/// Names that are compared, and elements of arrays.
const MOST_STEPS: u64 = 1 << 24;
/// The deepest nesting of clusters; no real file comes close to it.
const MOST_DEPTH: u32 = 16;
/// The longest chain of derived items.
const MOST_DERIVED: usize = 16;
/// The part of the text limit that an address range counts as.
const RANGE_BYTES: u64 = 16;

/// A peripheral: name, base address, its blocks of addresses from there (offset and size in bytes), registers.
pub type Described = (String, u64, Vec<(u32, u32)>, Vec<String>);

/// The block in which items are looked up.
type Block<'a> = &'a [RegisterCluster];

/// The expanded registers of a device, if they are within the limits.
pub struct Expansion<'a> {
    device: &'a Device,
    registers_left: u64,
    peripherals_left: u64,
    bytes_left: u64,
    steps_left: u64,
    depth: u32,
}

/// How an array is expanded.
#[derive(Clone)]
struct Dim<'a> {
    of: &'a DimElement,
    /// The indices of the item that it derives from, if it has none of its own.
    index: Option<&'a [String]>,
}

impl<'a> Dim<'a> {
    fn new(of: &'a DimElement) -> Dim<'a> {
        Dim { of, index: of.dim_index.as_deref() }
    }

    /// The array that a derived item is. `chain` is the item and the items that it derives from in turn.
    fn derived<T: Name>(chain: &[&'a MaybeArray<T>]) -> Option<Dim<'a>> {
        let dim = |item: &&'a MaybeArray<T>| match item {
            MaybeArray::Single(_) => None,
            MaybeArray::Array(_, dim) => Some(Dim::new(dim)),
        };
        let (own, others) = chain.split_first()?;
        let mut found = dim(own);
        for other in others.iter().filter_map(dim) {
            match &mut found {
                None if own.name().contains("%s") => found = Some(other),
                Some(found) if found.of.dim == other.of.dim => found.index = found.index.or(other.index),
                _ => {}
            }
        }
        found
    }

    fn index(&self, number: u32) -> String {
        let named = self.index.and_then(|all| all.get(number as usize));
        named.cloned().unwrap_or_else(|| number.to_string())
    }

    /// The name of element `number` of an array with this dimension.
    fn name(&self, template: &str, number: u32) -> String {
        let index = self.index(number);
        let values = self.of.dim_array_index.iter().flat_map(|named| &named.values);
        let mut named = values.filter(|value| value.value.is_some_and(|value| value.to_string() == index));
        named.next().map_or_else(|| template.replace("[%s]", &index).replace("%s", &index), |named| named.name.clone())
    }

    /// The number of steps to name an element.
    fn steps(&self) -> u64 {
        1 + self.of.dim_array_index.as_ref().map_or(0, |named| named.values.len() as u64)
    }
}

impl<'a> Expansion<'a> {
    pub fn new(device: &'a Device) -> Expansion<'a> {
        Expansion {
            device,
            registers_left: MOST_REGISTERS,
            peripherals_left: MOST_PERIPHERALS,
            bytes_left: MOST_BYTES,
            steps_left: MOST_STEPS,
            depth: 0,
        }
    }

    /// All peripherals.
    ///
    /// # Errors
    /// If they have too many registers, or derive from an unknown item.
    pub fn peripherals(mut self) -> Result<Vec<Described>, String> {
        let mut all = Vec::new();
        for peripheral in &self.device.peripherals {
            let chain = self.peripheral_chain(peripheral)?;
            let defaults = chain
                .iter()
                .fold(RegisterProperties::default(), |all, one| all.derive_from(&one.default_register_properties));
            let defaults = defaults.derive_from(&self.device.default_register_properties);
            let mut lines = Vec::new();
            if let Some(registers) = chain.iter().find_map(|one| one.registers.as_deref()) {
                self.list(registers, ("", 0), &defaults, &mut lines)?;
            }
            let blocks = chain.iter().find_map(|one| one.address_block.as_deref()).unwrap_or_default();
            let blocks: Vec<_> = blocks.iter().map(|block| (block.offset, block.size)).collect();
            let dim = Dim::derived(&chain);
            let bytes = lines.iter().map(|line| line.len() as u64 + RANGE_BYTES).sum::<u64>();
            let bytes = bytes + (peripheral.name.len() + blocks.len()) as u64 * RANGE_BYTES;
            for number in 0..dim.as_ref().map_or(1, |dim| dim.of.dim) {
                self.count_peripheral(lines.len(), bytes, number > 0, dim.as_ref())?;
                let name = dim.as_ref().map(|dim| dim.name(&peripheral.name, number));
                let increment = dim.as_ref().map_or(0, |dim| u64::from(dim.of.dim_increment) * u64::from(number));
                let base = peripheral.base_address.saturating_add(increment);
                let name = word(name.as_ref().unwrap_or(&peripheral.name));
                all.push((name, base, blocks.clone(), lines.clone()));
            }
        }
        Ok(all)
    }

    /// Counts a peripheral; the registers of an array's first element are counted already.
    fn count_peripheral(&mut self, lines: usize, bytes: u64, again: bool, dim: Option<&Dim>) -> Result<(), String> {
        let too_many = || format!("it has more than {MOST_PERIPHERALS} peripherals");
        self.peripherals_left = self.peripherals_left.checked_sub(1).ok_or_else(too_many)?;
        self.count_registers(if again { lines as u64 } else { 0 }, bytes)?;
        self.step(dim.map_or(1, Dim::steps))
    }

    fn count_registers(&mut self, registers: u64, bytes: u64) -> Result<(), String> {
        let too_many = || format!("it has more than {MOST_REGISTERS} registers");
        self.registers_left = self.registers_left.checked_sub(registers).ok_or_else(too_many)?;
        let too_long = || format!("the names of its registers take more than {} MiB", MOST_BYTES >> 20);
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(too_long)?;
        Ok(())
    }

    fn step(&mut self, steps: u64) -> Result<(), String> {
        let too_many = || "it has too many arrays, or too much in it derives from something else".to_owned();
        self.steps_left = self.steps_left.checked_sub(steps).ok_or_else(too_many)?;
        Ok(())
    }

    /// Adds all registers of a block that a stub can have, those of clusters under their names. The block has a prefix
    /// for their names and an offset from the peripheral's base.
    fn list(
        &mut self,
        block: Block<'a>,
        (prefix, base): (&str, u64),
        defaults: &RegisterProperties,
        into: &mut Vec<String>,
    ) -> Result<(), String> {
        if self.depth == MOST_DEPTH {
            return Err(format!("its clusters are nested more than {MOST_DEPTH} deep"));
        }
        self.depth += 1;
        for item in block {
            match item {
                RegisterCluster::Register(register) => {
                    let chain = self.register_chain(register, block)?;
                    let properties =
                        chain.iter().fold(RegisterProperties::default(), |all, one| all.derive_from(&one.properties));
                    let properties = properties.derive_from(defaults);
                    let place = (base.saturating_add(register.address_offset.into()), prefix);
                    self.add(&register.name, Dim::derived(&chain).as_ref(), place, &properties, into)?;
                }
                RegisterCluster::Cluster(cluster) => {
                    let chain = self.cluster_chain(cluster, block)?;
                    let children = chain.iter().find(|one| !one.children.is_empty()).map(|one| &one.children[..]);
                    let own = chain.iter().fold(RegisterProperties::default(), |all, one| {
                        all.derive_from(&one.default_register_properties)
                    });
                    let (own, dim) = (own.derive_from(defaults), Dim::derived(&chain));
                    let base = base.saturating_add(cluster.address_offset.into());
                    for number in 0..dim.as_ref().map_or(1, |dim| dim.of.dim) {
                        self.step(dim.as_ref().map_or(1, Dim::steps))?;
                        let name = dim.as_ref().map(|dim| dim.name(&cluster.name, number));
                        let increment = dim.as_ref().map_or(0, |dim| u64::from(dim.of.dim_increment));
                        let prefix = format!("{prefix}{}_", name.as_ref().unwrap_or(&cluster.name));
                        self.count_registers(0, prefix.len() as u64)?;
                        let base = base.saturating_add(increment * u64::from(number));
                        self.list(children.unwrap_or_default(), (&prefix, base), &own, into)?;
                    }
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Adds a register, or all of an array.
    fn add(
        &mut self,
        name: &str,
        dim: Option<&Dim>,
        (offset, prefix): (u64, &str),
        properties: &RegisterProperties,
        into: &mut Vec<String>,
    ) -> Result<(), String> {
        for number in 0..dim.map_or(1, |dim| dim.of.dim) {
            self.step(dim.map_or(1, Dim::steps))?;
            self.count_registers(1, (prefix.len() + name.len()) as u64 + RANGE_BYTES)?;
            let increment = dim.map_or(0, |dim| u64::from(dim.of.dim_increment) * u64::from(number));
            let named = dim.map(|dim| dim.name(name, number));
            let name = format!("{prefix}{}", named.as_deref().unwrap_or(name));
            into.extend(line(&name, offset.saturating_add(increment), properties));
        }
        Ok(())
    }

    /// A peripheral, the one that it derives from, and so on.
    fn peripheral_chain(&mut self, peripheral: &'a Peripheral) -> Result<Vec<&'a Peripheral>, String> {
        let mut chain = vec![peripheral];
        while let Some(path) = chain[chain.len() - 1].derived_from.as_deref() {
            let found = self.peripheral(path)?;
            derive(&mut chain, found, "peripheral", path)?;
        }
        Ok(chain)
    }

    fn cluster_chain(&mut self, cluster: &'a Cluster, block: Block<'a>) -> Result<Vec<&'a Cluster>, String> {
        let (mut chain, mut block) = (vec![cluster], block);
        while let Some(path) = chain[chain.len() - 1].derived_from.as_deref() {
            let (within, name) = self.block_of(path, block)?;
            let mut found = None;
            for item in within.iter().rev() {
                if let RegisterCluster::Cluster(cluster) = item
                    && self.is_called(cluster, name)?
                {
                    found = Some(cluster);
                    break;
                }
            }
            let found = found.ok_or_else(|| format!("cluster {path} not found"))?;
            derive(&mut chain, found, "cluster", path)?;
            block = within;
        }
        Ok(chain)
    }

    fn register_chain(&mut self, register: &'a Register, block: Block<'a>) -> Result<Vec<&'a Register>, String> {
        let (mut chain, mut block) = (vec![register], block);
        while let Some(path) = chain[chain.len() - 1].derived_from.as_deref() {
            let (within, name) = self.block_of(path, block)?;
            let mut found = None;
            for item in within.iter().rev() {
                if let RegisterCluster::Register(register) = item
                    && self.is_called(register, name)?
                {
                    found = Some(register);
                    break;
                }
            }
            let found = found.ok_or_else(|| format!("register {path} not found"))?;
            derive(&mut chain, found, "register", path)?;
            block = within;
        }
        Ok(chain)
    }

    /// The block that a path leads to from another block, and the rest of the path, a name: "UART.FIFO.DATA", or "DATA"
    /// for one in the same block.
    fn block_of<'b>(&mut self, path: &'b str, block: Block<'a>) -> Result<(Block<'a>, &'b str), String> {
        let Some((block, name)) = path.rsplit_once('.') else { return Ok((block, path)) };
        if self.depth >= 2 * MOST_DEPTH {
            return Err(format!("{path} derives from itself"));
        }
        self.depth += 1;
        let mut names = block.split('.');
        let first = self.peripheral(names.next().unwrap_or_default())?;
        let chain = self.peripheral_chain(first)?;
        let mut within = chain.iter().find_map(|one| one.registers.as_deref()).unwrap_or_default();
        for wanted in names {
            let mut found = None;
            for item in within.iter().rev() {
                if let RegisterCluster::Cluster(cluster) = item
                    && self.is_called(cluster, wanted)?
                {
                    found = Some(cluster);
                    break;
                }
            }
            let found = found.ok_or_else(|| format!("cluster {block} not found"))?;
            let chain = self.cluster_chain(found, within)?;
            within = chain.iter().find(|one| !one.children.is_empty()).map_or(&[], |one| &one.children[..]);
        }
        self.depth -= 1;
        Ok((within, name))
    }

    fn peripheral(&mut self, name: &str) -> Result<&'a Peripheral, String> {
        let device = self.device;
        for peripheral in device.peripherals.iter().rev() {
            if self.is_called(peripheral, name)? {
                return Ok(peripheral);
            }
        }
        Err(format!("peripheral {name} not found"))
    }

    /// True if the item has this name, or is an array with an element of this name.
    fn is_called<T: Name>(&mut self, item: &MaybeArray<T>, name: &str) -> Result<bool, String> {
        self.step(1)?;
        let template = item.name();
        let MaybeArray::Array(_, dim) = item else { return Ok(template == name) };
        // The names of most items differ before the index.
        let begin = template.split(['[', '%']).next().unwrap_or_default();
        if template == name || (dim.dim_array_index.is_none() && !name.starts_with(begin)) {
            return Ok(template == name);
        }
        let dim = Dim::new(dim);
        for number in 0..dim.of.dim {
            self.step(dim.steps())?;
            if dim.name(template, number) == name {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Adds the item that the last one of a chain derives from.
fn derive<'a, T>(chain: &mut Vec<&'a T>, from: &'a T, kind: &str, path: &str) -> Result<(), String> {
    if chain.iter().any(|one| std::ptr::eq(*one, from)) {
        return Err(format!("{kind} {path} is self-derived"));
    }
    if chain.len() > MOST_DERIVED {
        return Err(format!("{kind} {path} derives from more than {MOST_DERIVED} others in turn"));
    }
    chain.push(from);
    Ok(())
}

/// A name that can be part of a string in a board's source: C identifiers, as the format requires, are unchanged.
pub fn word(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_[].-".contains(letter);
    name.trim().chars().map(|letter| if plain(letter) { letter } else { '_' }).collect()
}

fn line(name: &str, offset: u64, properties: &RegisterProperties) -> Option<String> {
    let offset = u32::try_from(offset).ok()?;
    let bits = match properties.size.unwrap_or(32) {
        1..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => return None,
    };
    if !offset.is_multiple_of(bits / 8) {
        return None;
    }
    let mut line = format!("{} {offset:#x}", word(name));
    if bits < 32 {
        let _ = write!(line, " bits {bits}");
    }
    match properties.access {
        Some(access) if !access.can_write() => line.push_str(" ro"),
        Some(access) if !access.can_read() => line.push_str(" wo"),
        _ => {}
    }
    let reset = properties.reset_value.unwrap_or(0) as u32 & u32::MAX >> (32 - bits);
    if reset != 0 {
        let _ = write!(line, " reset {reset:#x}");
    }
    Some(line)
}
