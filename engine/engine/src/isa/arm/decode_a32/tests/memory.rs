use super::*;
use crate::cpu::memory_system::access::how;
use crate::isa::arm::registers::{ADDRESS, SP, SPARE};

const ALIGNED: u8 = how::ALIGNED;
const REPORTED: u8 = how::ALIGNED | how::REPORTED;
const STORES: u8 = how::ALIGNED | how::STORE;

fn multiple(base: u8, flags: u8, words: u32, offset: i32) -> Op {
    op(Code::Multiple, [0, base, ZERO, flags], words | (offset << 8) as u32)
}

fn minus(offset: u32) -> u32 {
    offset.wrapping_neg()
}

#[test]
fn addressing_modes() {
    use TimingClass::{Load, Store};
    // ldr r0, [r1, #-4]; strb r0, [r1, r2]; ldrsh r0, [r1, r2]; ldr r0, [pc, #8]
    check(0xe511_0004, Load, &[op(Code::Ldr, [0, 1, ZERO, 0], minus(4))]);
    check(0xe7c1_0002, Store, &[op(Code::Strb, [0, 1, 2, 0], 0)]);
    check(0xe191_00f2, Load, &[op(Code::Ldrsh, [0, 1, 2, 0], 0)]);
    check(0xe59f_0008, Load, &[op(Code::Ldr, [0, ZERO, ZERO, 0], AT + 16)]);
    // ldrb r0, [r1, r2, lsl #2]; strh r0, [r1, -r2]
    let shift = op(Code::LslImm, [OPERAND, 0, 2, 0], 2);
    check(0xe7d1_0102, Load, &[shift, op(Code::Ldrb, [0, 1, OPERAND, 0], 0)]);
    let difference = op(Code::Sub, [ADDRESS, 1, 2, 0], 0);
    check(0xe101_00b2, Store, &[difference, op(Code::Strh, [0, ADDRESS, ZERO, 0], 0)]);
    // str pc, [r1]
    let pc = op(Code::Mov, [PC_VALUE, ZERO, ZERO, 0], AT + 8);
    check(0xe581_f000, Store, &[pc, op(Code::Str, [PC_VALUE, 1, ZERO, 0], 0)]);
}

#[test]
fn write_back_comes_last() {
    use TimingClass::{Load, Store};
    // ldr r0, [r1, #4]!; str r0, [r1], #-4; ldrsb r0, [r1, r2]!; str r0, [r1], -r2
    let add = |imm| op(Code::Add, [1, 1, ZERO, 0], imm);
    check(0xe5b1_0004, Load, &[op(Code::Ldr, [0, 1, ZERO, 0], 4), add(4)]);
    check(0xe401_0004, Store, &[op(Code::Str, [0, 1, ZERO, 0], 0), add(minus(4))]);
    check(0xe1b1_00d2, Load, &[op(Code::Ldrsb, [0, 1, 2, 0], 0), op(Code::Add, [1, 1, 2, 0], 0)]);
    check(0xe601_0002, Store, &[op(Code::Str, [0, 1, ZERO, 0], 0), op(Code::Sub, [1, 1, 2, 0], 0)]);
    // ldrt r0, [r1], #4
    check(0xe4b1_0004, Load, &[op(Code::Ldr, [0, 1, ZERO, how::UNPRIVILEGED], 0), add(4)]);
    // strht r0, [r1], r2
    let store = op(Code::Strh, [0, 1, ZERO, how::UNPRIVILEGED], 0);
    check(0xe0a1_00b2, Store, &[store, op(Code::Add, [1, 1, 2, 0], 0)]);
}

#[test]
fn a_loaded_register_is_base_or_offset_as_well() {
    // ldr r2, [r1, r2]!; ldr r2, [r1], r2; ldr r1, [r1], #4
    let sum = op(Code::Add, [ADDRESS, 1, 2, 0], 0);
    let back = op(Code::Mov, [1, 0, ADDRESS, 0], 0);
    check(0xe7b1_2002, TimingClass::Load, &[sum, op(Code::Ldr, [2, ADDRESS, ZERO, 0], 0), back]);
    check(0xe691_2002, TimingClass::Load, &[sum, op(Code::Ldr, [2, 1, ZERO, 0], 0), back]);
    check(0xe491_1004, TimingClass::Load, &[op(Code::Ldr, [1, 1, ZERO, 0], 0)]);
}

#[test]
fn loads_of_the_program_counter_jump() {
    // ldr pc, [r1], #4
    let add = op(Code::Add, [1, 1, ZERO, 0], 4);
    let jump = op(Code::JumpTo, [0, 0, RESULT, 0], 0);
    check(0xe491_f004, TimingClass::IndirectBranch, &[op(Code::Ldr, [RESULT, 1, ZERO, 0], 0), add, jump]);
}

#[test]
fn doublewords() {
    use TimingClass::{LoadMultiple, StoreMultiple};
    // ldrd r2, r3, [r1, #-8]; strd r2, r3, [r1, #8]!
    let loads = [op(Code::Ldr, [2, 1, ZERO, REPORTED], minus(8)), op(Code::Ldr, [3, 1, ZERO, REPORTED], minus(4))];
    check(0xe141_20d8, LoadMultiple, &[multiple(1, ALIGNED, 2, -8), loads[0], loads[1]]);
    let stores = [op(Code::Str, [2, 1, ZERO, REPORTED], 8), op(Code::Str, [3, 1, ZERO, REPORTED], 12)];
    let add = op(Code::Add, [1, 1, ZERO, 0], 8);
    check(0xe1e1_20f8, StoreMultiple, &[multiple(1, STORES, 2, 8), stores[0], stores[1], add]);
    // ldrd r2, r3, [r2, r3]
    let sum = op(Code::Add, [ADDRESS, 2, 3, 0], 0);
    let loads = [op(Code::Ldr, [SPARE, ADDRESS, ZERO, REPORTED], 0), op(Code::Ldr, [3, ADDRESS, ZERO, REPORTED], 4)];
    let last = op(Code::Mov, [2, 0, SPARE, 0], 0);
    check(0xe182_20d3, LoadMultiple, &[sum, multiple(ADDRESS, ALIGNED, 2, 0), loads[0], loads[1], last]);
    // ldrd r2, r3, [r1], r3
    let sum = op(Code::Add, [ADDRESS, 1, 3, 0], 0);
    let loads = [op(Code::Ldr, [2, 1, ZERO, REPORTED], 0), op(Code::Ldr, [3, 1, ZERO, REPORTED], 4)];
    let back = op(Code::Mov, [1, 0, ADDRESS, 0], 0);
    check(0xe081_20d3, LoadMultiple, &[sum, multiple(1, ALIGNED, 2, 0), loads[0], loads[1], back]);
}

#[test]
fn loads_of_several_registers() {
    use TimingClass::{IndirectBranch, LoadMultiple};
    let load = |rd, rn, imm| op(Code::Ldr, [rd, rn, ZERO, REPORTED], imm);
    // ldmia r1!, {r2, r3}; ldmdb r1, {r2, r3}; ldmib r1, {r2, r3}; ldmda r1, {r2, r3}
    let add = op(Code::Add, [1, 1, ZERO, 0], 8);
    check(0xe8b1_000c, LoadMultiple, &[multiple(1, ALIGNED, 2, 0), load(2, 1, 0), load(3, 1, 4), add]);
    check(0xe911_000c, LoadMultiple, &[multiple(1, ALIGNED, 2, -8), load(2, 1, minus(8)), load(3, 1, minus(4))]);
    check(0xe991_000c, LoadMultiple, &[multiple(1, ALIGNED, 2, 4), load(2, 1, 4), load(3, 1, 8)]);
    check(0xe811_000c, LoadMultiple, &[multiple(1, ALIGNED, 2, -4), load(2, 1, minus(4)), load(3, 1, 0)]);
    // ldm r1, {r0, r1, pc}
    let base = op(Code::Mov, [1, 0, SPARE, 0], 0);
    let jump = op(Code::JumpTo, [0, 0, RESULT, 0], 0);
    let loads = [load(0, 1, 0), load(SPARE, 1, 4), load(RESULT, 1, 8)];
    check(0xe891_8003, IndirectBranch, &[multiple(1, ALIGNED, 3, 0), loads[0], loads[1], loads[2], base, jump]);
    // pop {r0} as ldm
    let add = op(Code::Add, [SP, SP, ZERO, 0], 4);
    check(0xe8bd_0001, LoadMultiple, &[op(Code::Ldr, [0, SP, ZERO, ALIGNED], 0), add]);
}

#[test]
fn blocks_that_system_code_has() {
    use TimingClass::{Exception, LoadMultiple, StoreMultiple};
    // ldm sp!, {r0, pc}^
    let load = |rd, imm| op(Code::Ldr, [rd, SP, ZERO, REPORTED], imm);
    let add = op(Code::Add, [SP, SP, ZERO, 0], 8);
    let back = op(Code::ExceptionReturn, [0, 0, RESULT, 0], 0);
    check(0xe8fd_8001, Exception, &[multiple(SP, ALIGNED, 2, 0), load(0, 0), load(RESULT, 4), add, back]);
    // ldm r0, {r0, sp}^: the base register last
    let load = |rd, imm| op(Code::LdrUser, [rd, 0, ZERO, REPORTED], imm);
    check(0xe8d0_2001, LoadMultiple, &[multiple(0, ALIGNED, 2, 0), load(SP, 4), load(0, 0)]);
    // stmdb r0, {sp, lr}^
    let store = |rd, imm| op(Code::StrUser, [rd, 0, ZERO, REPORTED], imm);
    check(0xe940_6000, StoreMultiple, &[multiple(0, STORES, 2, -8), store(SP, minus(8)), store(LR, minus(4))]);
}

#[test]
fn stores_of_several_registers() {
    // push {r1, lr}; stm r1, {r0, pc}
    let store = |rd, rn, imm| op(Code::Str, [rd, rn, ZERO, REPORTED], imm);
    let add = op(Code::Add, [SP, SP, ZERO, 0], minus(8));
    let stores = [store(1, SP, minus(8)), store(LR, SP, minus(4))];
    check(0xe92d_4002, TimingClass::StoreMultiple, &[multiple(SP, STORES, 2, -8), stores[0], stores[1], add]);
    let pc = op(Code::Mov, [PC_VALUE, ZERO, ZERO, 0], AT + 8);
    let stores = [store(0, 1, 0), store(PC_VALUE, 1, 4)];
    check(0xe881_8001, TimingClass::StoreMultiple, &[pc, multiple(1, STORES, 2, 0), stores[0], stores[1]]);
}

#[test]
fn exclusive_accesses() {
    use TimingClass::Exclusive;
    // ldrex r2, [r1]; ldrexd r2, r3, [r1]; strexb r2, r3, [r1]; strexd r2, r4, r5, [r1]; swpb r2, r3, [r1]
    check(0xe191_2f9f, Exclusive, &[op(Code::Ldrex, [2, 1, 0, 0], 4)]);
    check(0xe1b1_2f9f, Exclusive, &[op(Code::Ldrex, [2, 1, 0, 3], 8)]);
    check(0xe1c1_2f93, Exclusive, &[op(Code::Strex, [2, 1, 3, 0], 1)]);
    check(0xe1a1_2f94, Exclusive, &[op(Code::Strex, [2, 1, 4, 5], 8)]);
    check(0xe141_2093, Exclusive, &[op(Code::Swap, [2, 1, 3, 0], 1)]);
    // Status in the stored register, in the address, ldrexd of an odd register, ldaex of ARMv8.
    undefined(&[0xe181_2f92, 0xe181_1f93, 0xe1b1_3f9f, 0xe191_2e9f]);
}

#[test]
fn loads_and_stores_that_mean_nothing() {
    // Write-back to pc; pc as offset; ldrb pc; ldrt pc; ldrd of an odd register, of lr; ldrd as from User mode; ldm of
    // nothing, from pc, of its base register with write-back.
    undefined(&[0xe5bf_0004, 0xe791_000f, 0xe5d1_f000, 0xe4b1_f004, 0xe1c1_30d0, 0xe1c1_e0d0, 0xe0e1_20d0]);
    undefined(&[0xe891_0000, 0xe89f_0001, 0xe8b1_0003]);
}
