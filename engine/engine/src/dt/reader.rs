//! Reading a node's properties, typed and checked.
//!
//! A device's `from_node` asks for each property that it takes. A faulty property returns a harmless substitute and
//! records the fault, so that one pass over the board finds them all; the caller builds nothing while there are faults.

use std::any::Any;

use super::fault::{BoardFault, FaultKind, similar_names};
use super::inputs;
use super::interrupts::{self, Specifiers};
use super::linux;
use super::node::{Location, Node, Property};
use super::params::Parameter;
use super::wiring::{ClockId, IrqLine};

mod allowed;
mod clock;
mod declared;
mod dma;
mod references;
mod timing;

pub use allowed::{ANY, Allowed, MultipleOf, PowerOfTwo};
pub use clock::{FREQUENCIES_HZ, VARIABLE, declare_clock, frequency_property};
pub use declared::Declared;
pub use references::{cells_of_pin, pins_in_words};
pub use timing::most_of_unit;
use timing::sources;

/// The state that all readers of a board share.
pub struct Board<'a> {
    /// The root node.
    pub root: &'a Node,
    /// Faults found so far.
    pub faults: Vec<BoardFault>,
    /// Timing parameters read so far.
    pub parameters: Vec<Parameter>,
    /// Number of pins of a port whose pins can be wired; 0 for other nodes.
    pub pins: fn(&Node) -> u32,
    /// Resolves an interrupt specifier: controller's phandle and its cells.
    pub interrupts: &'a dyn Fn(u32, &[u32]) -> Option<IrqLine>,
    /// Models in addition to the engine's own, for devices with child nodes; the type is known only to those devices.
    pub external: Option<&'a dyn Any>,
    /// The properties that readers declare, if they are collected: for the reference of bindings.
    pub declared: Option<Vec<Declared>>,
}

/// Reads one node.
pub struct NodeReader<'a, 'b> {
    /// The node.
    pub node: &'a Node,
    board: &'b mut Board<'a>,
    asked: Vec<String>,
    sourced: Vec<String>,
    conditions: Vec<declared::Condition>,
    followed: Vec<ClockId>,
    interrupt_lines: Vec<IrqLine>,
}

impl<'a, 'b> NodeReader<'a, 'b> {
    /// A reader for `node`. Call [`NodeReader::finish`] at the end.
    pub fn new(node: &'a Node, board: &'b mut Board<'a>) -> NodeReader<'a, 'b> {
        NodeReader {
            node,
            board,
            asked: Vec::new(),
            sourced: Vec::new(),
            conditions: Vec::new(),
            followed: Vec::new(),
            interrupt_lines: Vec::new(),
        }
    }

    /// [`Board::external`].
    pub fn external(&self) -> Option<&'a dyn Any> {
        self.board.external
    }

    /// True if the node is only read to collect declarations: nothing is built.
    pub fn is_documenting(&self) -> bool {
        self.board.declared.is_some()
    }

    /// Reads a child node (a chip on a wire) with a reader of its own, and finishes it.
    pub fn child<T>(&mut self, child: &'a Node, read: impl FnOnce(&mut NodeReader<'a, '_>) -> T) -> T {
        let mut reader = NodeReader::new(child, self.board);
        let result = read(&mut reader);
        reader.finish();
        result
    }

    /// The enabled children.
    pub fn children(&self) -> Vec<&'a Node> {
        self.node.children.iter().filter(|child| child.is_enabled()).collect()
    }

    /// A required number. `meaning` describes it, and also what is `allowed` where that has no description of its own,
    /// as a clause ("this controller has 16 or 256").
    pub fn u32(&mut self, name: &str, allowed: impl Allowed, meaning: &str) -> u32 {
        self.required_u32(name, allowed, meaning, meaning)
    }

    /// As [`NodeReader::u32`], with `range` to describe what is allowed, as a clause, instead of `meaning`.
    pub fn required_u32(&mut self, name: &str, allowed: impl Allowed, meaning: &str, range: &str) -> u32 {
        self.note(|| Declared { range: allowed.in_words(), ..Declared::new(name, "number", meaning).required() });
        if self.node.property(name).is_none() {
            self.asked.push(name.to_owned());
            self.missing(name, meaning);
            return 0;
        }
        self.number(name, 0, allowed, range)
    }

    /// A number, or `default` where the node has none.
    pub fn u32_or(&mut self, name: &str, default: u32, allowed: impl Allowed, meaning: &str) -> u32 {
        self.optional_u32(name, default, allowed, meaning, meaning)
    }

    /// As [`NodeReader::u32_or`], with `range` to describe what is allowed, as a clause, instead of `meaning`.
    pub fn optional_u32(&mut self, name: &str, default: u32, allowed: impl Allowed, meaning: &str, range: &str) -> u32 {
        let known = Some(default.to_string());
        self.note(|| Declared { default: known, range: allowed.in_words(), ..Declared::new(name, "number", meaning) });
        self.number(name, default, allowed, range)
    }

    fn number(&mut self, name: &str, default: u32, allowed: impl Allowed, meaning: &str) -> u32 {
        let Some(property) = self.get(name) else { return default };
        self.single(property, allowed, meaning).unwrap_or(default)
    }

    /// True if the node has the (empty) property.
    pub fn flag(&mut self, name: &str, meaning: &str) -> bool {
        self.note(|| Declared::new(name, "flag", meaning));
        match self.get(name) {
            None => false,
            Some(property) => {
                if !property.value.is_empty() {
                    self.wrong_type(property, "empty (a flag has no value)");
                }
                true
            }
        }
    }

    /// One of a few words, or the first of them where the node has none.
    pub fn word_or_first<T: Copy>(&mut self, name: &str, words: &[(&str, T)], meaning: &str) -> T {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        self.note(|| Declared::of_words(name, &known, meaning));
        let Some(property) = self.get(name) else { return words[0].1 };
        let value = match property.strings().as_deref() {
            Some([value]) => (*value).to_owned(),
            _ => {
                self.wrong_type(property, "a single string");
                return words[0].1;
            }
        };
        if let Some((_, found)) = words.iter().find(|(word, _)| *word == value) {
            return *found;
        }
        let kind = FaultKind::OutOfRange {
            property: name.to_owned(),
            value: format!("\"{value}\""),
            allowed: format!("it is one of {}", known.join(", ")),
        };
        self.fault(&property.at, kind);
        words[0].1
    }

    /// Properties of Linux's bindings that the node may have and that change nothing here.
    pub fn known(&mut self, names: &[&str]) {
        for name in names {
            self.note(|| Declared { ignored: true, ..Declared::new(name, "any", linux::meaning(name)) });
        }
        self.allow(names);
    }

    /// Properties that the node may have whether or not they are read.
    pub fn allow(&mut self, names: &[&str]) {
        self.asked.extend(names.iter().map(|name| (*name).to_owned()));
    }

    /// The node may have any property of another part's binding, and their sources.
    pub fn allow_all(&mut self) {
        self.asked.extend(self.node.properties.iter().map(|property| property.name.clone()));
        self.sourced.extend(sources(self.node).into_iter().map(|(property, _)| property));
    }

    /// True if a property of that name has been read, or was declared as known.
    pub fn is_known(&self, name: &str) -> bool {
        self.asked.iter().any(|asked| asked == name)
    }

    /// A string, if the node has the property.
    pub fn string(&mut self, name: &str, meaning: &str) -> Option<&'a str> {
        self.note(|| Declared::new(name, "string", meaning));
        let property = self.get(name)?;
        match property.strings().as_deref() {
            Some([value]) => Some(value),
            _ => {
                self.wrong_type(property, "a single string");
                None
            }
        }
    }

    /// Strings; empty if the node does not have the property.
    pub fn strings(&mut self, name: &str, meaning: &str) -> Vec<&'a str> {
        self.note(|| Declared::new(name, "strings", meaning));
        let Some(property) = self.get(name) else { return Vec::new() };
        property.strings().unwrap_or_else(|| {
            self.wrong_type(property, "strings");
            Vec::new()
        })
    }

    /// Bytes, if the node has the property.
    pub fn bytes(&mut self, name: &str, meaning: &str) -> Option<&'a [u8]> {
        self.note(|| Declared::new(name, "numbers", meaning));
        self.get(name).map(|property| property.value.as_slice())
    }

    /// Any number of cells; empty if the node does not have the property.
    pub fn numbers(&mut self, name: &str, meaning: &str) -> Vec<u32> {
        self.note(|| Declared::new(name, "numbers", meaning));
        let Some(property) = self.get(name) else { return Vec::new() };
        property.cells().unwrap_or_else(|| {
            self.wrong_type(property, "cells");
            Vec::new()
        })
    }

    /// Pairs of numbers, none by default. `expected` is for the fault if they are not sound.
    #[inline]
    pub fn pairs(
        &mut self,
        name: &str,
        meaning: &str,
        expected: &str,
        are_sound: impl Fn(&[[u32; 2]]) -> bool,
    ) -> Vec<[u32; 2]> {
        let numbers = self.numbers(name, meaning);
        let (pairs, rest) = numbers.as_chunks::<2>();
        if rest.is_empty() && are_sound(pairs) {
            return pairs.to_vec();
        }
        self.fault_at(name, FaultKind::WrongType { property: name.to_owned(), expected: expected.to_owned() });
        Vec::new()
    }

    /// A fixed number of cells, if the node has the property. `allowed` checks them; `meaning` describes them and what
    /// is allowed, as a clause.
    pub fn cells<const N: usize>(
        &mut self,
        name: &str,
        allowed: impl Fn([u32; N]) -> bool,
        meaning: &str,
    ) -> Option<[u32; N]> {
        self.note(|| Declared::new(name, "numbers", meaning));
        let property = self.get(name)?;
        let cells = property.cells().and_then(|cells| <[u32; N]>::try_from(cells).ok());
        if cells.is_none() {
            self.wrong_type(property, &format!("{N} cells: {meaning}"));
        }
        let cells = cells?;
        if !allowed(cells) {
            let value = format!("<{}>", cells.map(|cell| format!("{cell:#x}")).join(" "));
            let kind = FaultKind::OutOfRange { property: name.to_owned(), value, allowed: meaning.to_owned() };
            self.fault(&property.at, kind);
            return None;
        }
        Some(cells)
    }

    /// `riscv,isa-extensions` of the node. Each must be among the `known` ones of a core called `core`.
    pub fn isa_extensions(&mut self, core: &str, known: &[&str]) -> Vec<&'a str> {
        const NAME: &str = "riscv,isa-extensions";
        let meaning = format!("extensions of the instruction set: {core} has {}", known.join(", "));
        self.note(|| Declared::new(NAME, "words", &meaning));
        let Some(property) = self.get(NAME) else { return Vec::new() };
        let Some(extensions) = property.strings() else {
            self.wrong_type(property, "strings, one for each extension");
            return Vec::new();
        };
        for extension in extensions.iter().filter(|extension| !known.contains(extension)) {
            let allowed = format!("{core} has {}", known.join(", "));
            let kind = FaultKind::OutOfRange { property: NAME.into(), value: format!("\"{extension}\""), allowed };
            self.fault_at(NAME, kind);
        }
        extensions
    }

    /// All interrupt lines of the node, in order. `meaning` describes them.
    pub fn interrupts(&mut self, meaning: &str) -> Vec<Option<IrqLine>> {
        self.note(|| Declared::new("interrupts", "interrupts", meaning));
        let count = self.specifiers().map_or(0, |(_, specifiers)| specifiers.list.len());
        (0..count).map(|index| self.interrupt(index, meaning)).collect()
    }

    /// The node's interrupt line number `index`, by `interrupts` and `interrupt-parent` or by `interrupts-extended`;
    /// `None` where the node has no such line, and where it leads to a disabled core. `meaning` describes the line.
    pub fn interrupt(&mut self, index: usize, meaning: &str) -> Option<IrqLine> {
        self.note_item("interrupts", "interrupts", index, false, meaning);
        let (property, specifiers) = self.specifiers()?;
        if let Some(expected) = specifiers.expected {
            self.wrong_type(property, &expected);
            return None;
        }
        let specifier = specifiers.list.get(index)?;
        if interrupts::is_of_idle_core(self.board.root, specifier.controller) {
            return None;
        }
        let input = specifier.input(self.board.root);
        let line = input.and_then(|input| (self.board.interrupts)(specifier.controller, &[input]));
        if line.is_none() {
            let known = inputs::in_words(self.board.root.by_phandle(specifier.controller));
            let expected = format!("an enabled interrupt controller and an input that it has{known}");
            self.fault(&property.at, FaultKind::BadReference { property: "interrupts".into(), expected });
        }
        self.interrupt_lines.extend(line);
        line
    }

    /// Number of application cores that the board runs: they are its first cores.
    pub fn application_cores(&self) -> usize {
        let cpus = self.board.root.children.iter().find(|node| node.name == "cpus");
        let is_one =
            |node: &&Node| node.is_enabled() && node.compatibles().iter().any(|name| name.starts_with("arm,cortex-a"));
        cpus.map_or(0, |cpus| cpus.children.iter().filter(is_one).count())
    }

    /// The interrupt lines that have been read so far.
    pub fn interrupt_lines(&self) -> &[IrqLine] {
        &self.interrupt_lines
    }

    fn specifiers(&mut self) -> Option<(&'a Property, Specifiers)> {
        let property = self.get("interrupts-extended").or_else(|| self.get("interrupts"))?;
        Some((property, interrupts::specifiers(self.board.root, self.node, property)))
    }

    /// The (base, size) pairs of `reg`, one cell each; faults if there are fewer than `ranges`.
    pub fn reg(&mut self, ranges: usize) -> Vec<(u32, u32)> {
        let meaning = if ranges > 1 {
            "addresses and sizes of its ranges, in the document's order"
        } else {
            "its address and size"
        };
        let range = (ranges > 1).then(|| format!("{ranges} ranges"));
        self.note(|| Declared { range, ..Declared::new("reg", "ranges", meaning).required() });
        let Some(property) = self.node.property("reg") else {
            self.missing("reg", "its addresses");
            return Vec::new();
        };
        let cells = property.cells().unwrap_or_default();
        if cells.len() < ranges * 2 || !cells.len().is_multiple_of(2) {
            self.wrong_type(property, &format!("{ranges} pairs of address and size, one cell each"));
            return Vec::new();
        }
        cells.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// Records a fault at a property (or, where that is missing, at the node).
    pub fn fault_at(&mut self, property: &str, kind: FaultKind) {
        let at = self.node.property(property).map_or(&self.node.at, |property| &property.at).clone();
        self.fault(&at, kind);
    }

    /// Reports that a property has a value that is not allowed.
    pub fn out_of_range(&mut self, property: &str, value: impl ToString, allowed: impl Into<String>) {
        let (value, allowed) = (value.to_string(), allowed.into());
        self.fault_at(property, FaultKind::OutOfRange { property: property.to_owned(), value, allowed });
    }

    /// Checks at the end that all properties were asked for, and that all sources belong to a property: others are
    /// faults.
    pub fn finish(mut self) {
        for property in &self.node.properties {
            let name = property.name.as_str();
            if !linux::is_common(name) && !self.asked.iter().any(|asked| asked == name) {
                let similar = similar_names(name, self.asked.iter().map(String::as_str));
                self.fault(&property.at, FaultKind::UnknownProperty { property: name.to_owned(), similar });
            }
        }
        for (property, _) in sources(self.node) {
            if property != timing::ALL_OTHERS && !self.sourced.contains(&property) {
                self.fault_at("cyclescope,sources", FaultKind::SourceWithoutProperty { property });
            }
        }
    }

    /// The number in a property, if it is a single cell and `allowed`; `meaning` describes what is allowed.
    fn single(&mut self, property: &Property, allowed: impl Allowed, meaning: &str) -> Option<u32> {
        let Some([value]) = property.cells().and_then(|cells| <[u32; 1]>::try_from(cells).ok()) else {
            self.wrong_type(property, "a single cell");
            return None;
        };
        if allowed.allows(value) {
            return Some(value);
        }
        let (property_name, allowed) = (property.name.clone(), meaning.to_owned());
        let kind = FaultKind::OutOfRange { property: property_name, value: value.to_string(), allowed };
        self.fault(&property.at, kind);
        None
    }

    fn get(&mut self, name: &str) -> Option<&'a Property> {
        self.asked.push(name.to_owned());
        self.node.property(name)
    }

    fn missing(&mut self, name: &str, meaning: &str) {
        let kind = FaultKind::Missing { property: name.to_owned(), meaning: meaning.to_owned() };
        let at = self.node.at.clone();
        self.fault(&at, kind);
    }

    fn wrong_type(&mut self, property: &Property, expected: &str) {
        let kind = FaultKind::WrongType { property: property.name.clone(), expected: expected.to_owned() };
        self.fault(&property.at, kind);
    }

    fn fault(&mut self, at: &Location, kind: FaultKind) {
        self.board.faults.push(BoardFault { at: at.clone(), node: self.node.name.clone(), kind });
    }
}
