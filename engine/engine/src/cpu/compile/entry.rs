//! Entry to a region at any of its blocks: registers are loaded, and the code jumps to the block.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, Value};
use cranelift_frontend::Switch;

use super::emit::{Emitter, bits, own};
use super::ending::EndingWord;
use super::region::RegisterBits;
use crate::cpu::block::{FALLEN, Hot};
use crate::cpu::isa::Isa;

impl<I: Isa> Emitter<'_, I> {
    /// Begins the code, with `entered` as the [`Hot`] of any member.
    pub(super) fn enter_region(&mut self, entry: ir::Block, entered: Value) {
        self.b.switch_to_block(entry);
        for register in bits(RegisterBits::MAX) {
            if let Some(variable) = self.registers[register as usize] {
                let value = self.b.ins().load(I32, own(), self.core, I::register_offset(register) as i32);
                self.b.def_var(variable, value);
            }
        }
        self.b.def_var(self.hot, entered);
        if self.region.members.len() == 1 {
            self.b.ins().jump(self.places[0], &[]);
            return;
        }
        let head = self.blocks().hot_base() + self.region.members[0].index as usize * size_of::<Hot<I::Jump>>();
        let head = self.b.ins().iconst(I64, head as i64);
        let is_head = self.b.ins().icmp(IntCC::Equal, entered, head);
        let side_entry = self.b.create_block();
        self.b.ins().brif(is_head, self.places[0], &[], side_entry, &[]);
        self.b.seal_block(side_entry);
        self.b.switch_to_block(side_entry);
        self.b.def_var(self.hot, head);
        self.enter_at_side(entered);
    }

    /// Jumps to another member than the first. Its code may rely on lines of members that would have been entered
    /// before: those lines have to be in the cache, or the interpreter runs the member.
    fn enter_at_side(&mut self, entered: Value) {
        let base = self.blocks().hot_base() as i64;
        let base = self.b.ins().iconst(I64, base);
        let offset = self.b.ins().isub(entered, base);
        let index = self.b.ins().ushr_imm(offset, i64::from(size_of::<Hot<I::Jump>>().ilog2()));
        let refused = self.b.create_block();
        self.b.set_cold_block(refused);
        let (region, sure) = (self.region, self.sure_at());
        let seen = self.b.ins().load(I32, own(), sure, 0);
        let known = self.b.ins().icmp(IntCC::Equal, seen, self.epoch);
        self.rarely(known, |this| {
            for place in (0..region.members.len()).filter(|place| region.is_relied_on(*place)) {
                let fetched = this.is_fetched_at(region.members[place].index);
                this.go_on_if(fetched, refused);
            }
            this.b.ins().store(own(), this.epoch, sure, 0);
        });
        let mut switch = Switch::new();
        for (place, member) in region.members.iter().enumerate().skip(1) {
            switch.set_entry(u128::from(member.index), self.places[place]);
        }
        let number = self.b.ins().ireduce(I32, index);
        switch.emit(&mut self.b, number, refused);
        self.b.switch_to_block(refused);
        let ending = self.b.ins().bor_imm(index, EndingWord::interpret(0, 0, FALLEN).bits() as i64);
        self.b.ins().return_(&[ending]);
    }

    /// Address of the state of fetched lines in which the region may be entered at a side entry.
    fn sure_at(&mut self) -> Value {
        let at = self.blocks().sure_base() + self.region.members[0].index as usize * size_of::<u32>();
        self.b.ins().iconst(I64, at as i64)
    }
}
