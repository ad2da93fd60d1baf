//! Entry to compiled code, and exit from it.
//!
//! Regions are functions of the `tail` calling convention that jump to one another, with two arguments: the core's
//! address, and the address of the entered block's [`Hot`]. Both stay in their registers from region to region.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, MemFlags, Signature, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use std::mem::offset_of;

use super::compiler::Compiler;
use super::ending::EndingWord;
use super::matrix_switches::MatrixStubs;
use super::slow_access;
use crate::cpu::block::{Blocks, FALLEN, Hot};
use crate::cpu::isa::Isa;
use crate::cpu::memory_system::Memory;

/// Type of the entry: its arguments are the core, and the [`Hot`] of a block of the core's. It always returns a word;
/// the compiler makes sure that it is not 0, and everything that depends on it is checked.
pub type Enter = unsafe extern "C" fn(core: *mut (), hot: *mut ()) -> Option<EndingWord>;

/// Addresses of the stubs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stubs {
    /// An [`Enter`].
    pub enter: usize,
    /// Code of blocks without compiled code.
    pub uncompiled: usize,
    /// Calls [`slow_access::access`] and preserves all registers of the host, so that the code around it can use them
    /// all.
    pub access: usize,
    /// The stubs for accesses that may switch a bus matrix, if the core is on one.
    pub matrix: Option<MatrixStubs>,
    /// Memory that the stubs take.
    pub bytes: usize,
}

/// Signature of a function whose arguments are the core and a [`Hot`], and which returns an ending.
pub fn signature(convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend([AbiParam::new(I64); 2]);
    signature.returns.push(AbiParam::new(I64));
    signature
}

/// Begins such a function; returns its parameters, too.
pub fn begin<'a>(
    func: &'a mut Function,
    context: &'a mut FunctionBuilderContext,
    convention: CallConv,
) -> (FunctionBuilder<'a>, Value, Value) {
    func.signature = signature(convention);
    let mut b = FunctionBuilder::new(func, context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let (core, hot) = (b.block_params(entry)[0], b.block_params(entry)[1]);
    (b, core, hot)
}

impl<I: Isa> Compiler<I> {
    pub(super) fn make_stubs(&mut self, blocks: &Blocks<I>, memory: &Memory) -> Option<Stubs> {
        let enter = self.make_enter()?;
        let uncompiled = self.make_uncompiled(blocks)?;
        let access = self.make_access()?;
        let matrix = if memory.is_on_matrix() { Some(self.make_matrix_stubs(blocks, memory, access)?) } else { None };
        Some(Stubs { enter, uncompiled, access, matrix, bytes: self.memory.used })
    }

    fn make_enter(&mut self) -> Option<usize> {
        let convention = self.isa.default_call_conv();
        let (mut b, core, hot) = begin(&mut self.context.func, &mut self.builder, convention);
        let code = b.ins().load(I64, MemFlags::trusted(), hot, offset_of!(Hot<I::Jump>, code) as i32);
        let signature = b.import_signature(signature(CallConv::Tail));
        let call = b.ins().call_indirect(signature, code, &[core, hot]);
        let ending = b.inst_results(call)[0];
        b.ins().return_(&[ending]);
        b.seal_all_blocks();
        b.finalize();
        self.finish()
    }

    fn make_access(&mut self) -> Option<usize> {
        let called = slow_access::signature(self.isa.default_call_conv());
        self.context.func.signature = slow_access::signature(CallConv::PreserveAll);
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let arguments = b.block_params(entry).to_vec();
        let signature = b.import_signature(called);
        let function = b.ins().iconst(I64, slow_access::access::<I> as *const () as i64);
        b.ins().call_indirect(signature, function, &arguments);
        b.ins().return_(&[]);
        b.seal_all_blocks();
        b.finalize();
        self.finish()
    }

    fn make_uncompiled(&mut self, blocks: &Blocks<I>) -> Option<usize> {
        let (mut b, _, hot) = begin(&mut self.context.func, &mut self.builder, CallConv::Tail);
        let base = b.ins().iconst(I64, blocks.hot_base() as i64);
        let offset = b.ins().isub(hot, base);
        let index = b.ins().udiv_imm(offset, size_of::<Hot<I::Jump>>() as i64);
        let index = b.ins().ireduce(I32, index);
        let index = b.ins().uextend(I64, index);
        let ending = b.ins().bor_imm(index, EndingWord::interpret(0, 0, FALLEN).bits() as i64);
        b.ins().return_(&[ending]);
        b.seal_all_blocks();
        b.finalize();
        self.finish()
    }
}
