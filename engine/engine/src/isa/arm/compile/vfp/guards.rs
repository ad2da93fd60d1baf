//! Conditions for an instruction to be done in place, and the two ways to do it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::super::architecture::Profile;
use super::super::{Emit, FPSCR, calls};
use super::{Double, FLUSH, INEXACT, Instruction, MODE, Precision, file};

/// How far above [`Precision::least`] results may be, in the terms of [`is_plain`]: up to infinity, or not at all if
/// FPSCR has a special mode, or would get IXC.
pub fn span<P: Profile>(e: &mut Emit<P>, precision: Precision) -> Value {
    let place = usize::from(precision == Double);
    if let Some(span) = e.lazy.vfp.spans[place] {
        return span;
    }
    let fpscr = e.register(FPSCR);
    let asked = e.b.ins().band_imm(fpscr, i64::from(MODE | FLUSH | INEXACT));
    let usual = e.b.ins().icmp_imm(IntCC::Equal, asked, i64::from(INEXACT));
    let full = precision.twice(precision.infinite() - precision.least());
    let [full, none] = [full, 0].map(|span| e.b.ins().iconst(precision.integer(), span));
    let span = e.b.ins().select(usual, full, none);
    e.lazy.vfp.spans[place] = Some(span);
    span
}

/// True if FPSCR is as required by [`span`].
pub fn is_usual<P: Profile>(e: &mut Emit<P>, precision: Precision) -> Value {
    let span = span(e, precision);
    e.b.ins().icmp_imm(IntCC::NotEqual, span, 0)
}

/// The bits of a number without its sign, times 2.
pub fn twice<P: Profile>(e: &mut Emit<P>, precision: Precision, number: Value) -> Value {
    let bits = file::cast(e, precision.integer(), number);
    e.b.ins().ishl_imm(bits, 1)
}

/// True for +0 and -0.
pub fn is_zero<P: Profile>(e: &mut Emit<P>, precision: Precision, number: Value) -> Value {
    let twice = twice(e, precision, number);
    e.b.ins().icmp_imm(IntCC::Equal, twice, 0)
}

/// True if a result is finite and large enough, and FPSCR as required: in one comparison.
pub fn is_plain<P: Profile>(e: &mut Emit<P>, precision: Precision, result: Value) -> Value {
    let twice = twice(e, precision, result);
    let above = e.b.ins().iadd_imm(twice, -precision.twice(precision.least()));
    let span = span(e, precision);
    e.b.ins().icmp(IntCC::UnsignedLessThan, above, span)
}

/// Code that tests a condition.
type Look<'a, P> = &'a dyn Fn(&mut Emit<P>) -> Value;

/// Writes the value of `result` to `to` if `plain` holds, or else if `zero` does; otherwise calls the interpreter's
/// function.
pub fn quickly<P: Profile>(
    e: &mut Emit<P>,
    i: Instruction,
    plain: Value,
    zero: Option<Look<P>>,
    to: u32,
    result: impl FnOnce(&mut Emit<P>) -> Value,
) {
    let [quick, slow, after] = [(); 3].map(|()| e.b.create_block());
    e.b.set_cold_block(slow);
    match zero {
        None => _ = e.b.ins().brif(plain, quick, &[], slow, &[]),
        Some(zero) => {
            let look = e.b.create_block();
            e.b.set_cold_block(look);
            e.b.ins().brif(plain, quick, &[], look, &[]);
            e.b.seal_block(look);
            e.b.switch_to_block(look);
            let zero = zero(e);
            e.b.ins().brif(zero, quick, &[], slow, &[]);
        }
    }
    [quick, slow].into_iter().for_each(|block| e.b.seal_block(block));
    e.b.switch_to_block(quick);
    let result = result(e);
    file::store(e, to, result);
    e.b.ins().jump(after, &[result.into()]);
    let as_type = e.b.func.dfg.value_type(result);
    let merged = e.b.append_block_param(after, as_type);
    e.b.switch_to_block(slow);
    call(e, i);
    let result = file::load(e, as_type, to);
    e.b.ins().jump(after, &[result.into()]);
    e.b.seal_block(after);
    e.b.switch_to_block(after);
    file::know(e, to, merged);
}

/// Calls the interpreter's function for the instruction.
pub fn call<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    calls::vfp(e, i.op, i.at);
}

/// As [`call`], for an instruction whose changed registers are not known.
pub fn leave_to_call<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    call(e, i);
    e.lazy.vfp.file.forget();
}
