//! VFP registers. Every change is written to the core at once; a register is not loaded again where its value in the
//! block is known.

use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value};
use std::mem::offset_of;

use super::super::super::architecture::Profile;
use super::super::super::instruction_set::{Arm, ArmSet};
use super::super::Emit;
use crate::cpu::compile::own;

const WORDS: usize = 64;

/// Known values of registers, by their first words. Of overlapping words, only the last one written is known.
#[derive(Clone, Copy, Debug)]
pub struct Values([Option<(Value, Size)>; WORDS]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Word,
    Double,
}

impl Default for Values {
    fn default() -> Values {
        Values([None; WORDS])
    }
}

impl Values {
    /// Forgets all values.
    pub fn forget(&mut self) {
        *self = Values::default();
    }

    /// True if a word of this double is known by itself, so that it may just have been written.
    pub fn is_in_words(&self, double: u32) -> bool {
        let at = double as usize;
        self.0[at..=at + 1].iter().flatten().any(|(_, size)| *size == Size::Word)
    }

    fn set(&mut self, word: u32, size: Size, value: Value) {
        let at = word as usize;
        let double = &mut self.0[at & !1];
        if double.is_some_and(|(_, size)| size == Size::Double) {
            *double = None;
        }
        self.0[at] = Some((value, size));
        if size == Size::Double {
            self.0[at + 1] = None;
        }
    }
}

fn size_of_type(of: Type) -> Size {
    if of.bytes() == 8 { Size::Double } else { Size::Word }
}

/// A double is only aligned like a word.
fn flags() -> MemFlags {
    MemFlags::new().with_notrap().with_alias_region(own().alias_region())
}

fn offset<P: Profile>(word: u32) -> i32 {
    (offset_of!(Arm<P>, isa) + offset_of!(ArmSet<P>, s)) as i32 + word as i32 * size_of::<u32>() as i32
}

/// The value of the register whose first word this is.
pub fn read<P: Profile>(e: &mut Emit<P>, as_type: Type, word: u32) -> Value {
    let value = match e.lazy.vfp.file.0[word as usize] {
        Some((value, size)) if size == size_of_type(as_type) => cast(e, as_type, value),
        _ => load(e, as_type, word),
    };
    know(e, word, value);
    value
}

/// Sets the register's value.
pub fn write<P: Profile>(e: &mut Emit<P>, word: u32, value: Value) {
    store(e, word, value);
    know(e, word, value);
}

/// Records that the register has this value, here and in the core.
pub fn know<P: Profile>(e: &mut Emit<P>, word: u32, value: Value) {
    let size = size_of_type(e.b.func.dfg.value_type(value));
    e.lazy.vfp.file.set(word, size, value);
}

/// Loads the core's value.
pub fn load<P: Profile>(e: &mut Emit<P>, as_type: Type, word: u32) -> Value {
    e.b.ins().load(as_type, flags(), e.core, offset::<P>(word))
}

/// Stores the value in the core.
pub fn store<P: Profile>(e: &mut Emit<P>, word: u32, value: Value) {
    e.b.ins().store(flags(), value, e.core, offset::<P>(word));
}

/// The same bits, as a number or an integer.
pub fn cast<P: Profile>(e: &mut Emit<P>, as_type: Type, value: Value) -> Value {
    if e.b.func.dfg.value_type(value) == as_type {
        return value;
    }
    e.b.ins().bitcast(as_type, MemFlags::new(), value)
}
