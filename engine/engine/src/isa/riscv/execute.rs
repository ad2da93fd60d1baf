//! The inner loop: runs blocks, one after the other, until the core has to check for news. Blocks that run often are
//! compiled to host code.

use super::alu::match_operation;
use super::decode::ROWS;
use super::exceptions::{Exception, ExceptionCause};
use super::instruction_set::{Hart, LEAVE};
use super::op::{Code, Op};
use super::system::CsrContext;
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::cpu::access::{AccessRequest, Moves};
use crate::cpu::block::{FALLEN, TAKEN};
use crate::semihosting;

impl Hart {
    /// Runs the block `index`, whose first line has been fetched, from operation `at` on, and the blocks after it.
    pub(super) fn execute(&mut self, bus: &mut Bus, mut index: u32, mut at: usize) {
        loop {
            if at == 0 {
                let Some(resumed) = self.run_compiled(bus, index) else { return };
                (index, at) = (resumed.index, resumed.at);
            }
            let first = self.blocks.hot[index as usize].first_op as usize;
            // SAFETY: each block's operations are in `ops` and end with one that leaves the inner loop, so `ip` stays
            // within them; `ops` only grows outside this function.
            let begin = unsafe { self.blocks.ops.as_ptr().add(first) };
            // SAFETY: `at` comes from compiled code, which names operations of the block, or it is the first.
            let mut ip = unsafe { begin.add(at) };
            at = 0;
            macro_rules! at {
                () => {
                    // SAFETY: as above: both point into the same block.
                    unsafe { ip.offset_from_unsigned(begin) as u32 }
                };
            }
            let exit = loop {
                // SAFETY: as above.
                let op = unsafe { *ip };
                let a = self.x[op.rs1 as usize];
                let b = self.x[op.rs2 as usize];
                let imm = op.imm as u32;
                macro_rules! set {
                    ($value:expr) => {
                        self.x[op.rd as usize] = $value
                    };
                }
                macro_rules! load {
                    ($type:ty) => {{
                        let addr = a.wrapping_add(imm);
                        if let Some(value) = self.load_by_shortcut::<$type>(addr) {
                            set!(value as u32)
                        } else if !self.load_slowly(bus, index, at!(), op, addr) {
                            return;
                        }
                    }};
                }
                macro_rules! store {
                    ($type:ty) => {{
                        let addr = a.wrapping_add(imm);
                        if !self.store_by_shortcut(addr, b as $type) && !self.store_slowly(bus, index, at!(), op, addr)
                        {
                            return;
                        }
                    }};
                }
                match_operation! {
                    (op.code, a, b, imm)
                    value => set!(value),
                    taken => break usize::from(taken),
                    Code::Nop => {}
                    Code::Lb => load!(i8),
                    Code::Lh => load!(i16),
                    Code::Lw => load!(u32),
                    Code::Lbu => load!(u8),
                    Code::Lhu => load!(u16),
                    Code::Sb => store!(u8),
                    Code::Sh => store!(u16),
                    Code::Sw => store!(u32),
                    Code::Jal => {
                        set!(imm);
                        break TAKEN;
                    }
                    Code::Jalr => {
                        let target = a.wrapping_add(imm) & !1;
                        set!(self.blocks.hot[index as usize].end_pc);
                        self.jump_to(index, target);
                        break TAKEN;
                    }
                    Code::Fetch => {
                        let end_pc = imm.wrapping_add(u32::from(op.rd));
                        if !self.is_fetched(bus, imm, end_pc)
                            && !self.fetch_instruction(bus, index, at!(), imm, end_pc)
                        {
                            return;
                        }
                    }
                    Code::End if op.rs2 == LEAVE => return self.leave_here(index, at!()),
                    Code::End => break FALLEN,
                    _ => return self.system(bus, index, at!()),
                }
                // SAFETY: the last operation of a block breaks or returns above.
                ip = unsafe { ip.add(1) };
            };
            let Some(next) = self.next_block(index, exit) else { return };
            index = next;
        }
    }

    /// A load without a shortcut. True if the block continues.
    #[cold]
    #[inline(never)]
    pub(super) fn load_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        self.load(bus, index, at, request(op.code, addr), |core, value| core.x[usize::from(op.rd)] = value)
    }

    /// A store without a shortcut. True if the block continues.
    #[cold]
    #[inline(never)]
    pub(super) fn store_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let value = self.x[usize::from(op.rs2)];
        self.store(bus, index, at, request(op.code, addr), value)
    }

    /// Executes the last operation of a block, if it changes more than registers.
    fn system(&mut self, bus: &mut Bus, index: u32, at: u32) {
        let info = self.blocks.info(index, at);
        let instr = self.blocks.instrs_of(index)[usize::from(info.instr)];
        let op = instr.op;
        let exception = match op.code {
            Code::Ecall => Some(Exception::new(ExceptionCause::MachineEcall, 0)),
            Code::Ebreak => {
                self.leave_in_the_middle(index, info.instr);
                return self.ebreak(bus, u32::from(instr.len_bytes));
            }
            Code::Illegal => Some(Exception::new(ExceptionCause::IllegalInstruction, op.imm as u32)),
            Code::Mret | Code::Wfi | Code::FenceI => None,
            _ => self.access_csr(bus, op, u64::from(info.begins_cycles) - 1, u64::from(info.instr)).err(),
        };
        if let Some(exception) = exception {
            self.leave_in_the_middle(index, info.instr);
            return self.raise(bus, exception);
        }
        self.leave_in_the_middle(index, info.instr + 1);
        match op.code {
            Code::Mret => {
                self.pc = self.isa.csrs.leave_trap();
                self.follow_exception_return(bus);
            }
            Code::Wfi => self.wait(bus),
            Code::FenceI => {
                self.memory.forget_fetched();
                self.drop_unreported_blocks();
            }
            _ => {}
        }
    }

    /// A CSR instruction (unprivileged specification, chapter 6). `at` is the number of instructions of the block
    /// before it.
    fn access_csr(&mut self, bus: &Bus, op: Op, start_cycles: u64, at: u64) -> Result<(), Exception> {
        let (cycle, instructions) = (self.shell.cycles + start_cycles, self.shell.instructions + at);
        let pending = self.shell.irqs.up(bus, cycle).low();
        let cycles = self.shell.had(cycle);
        let context = CsrContext { cycles, instructions, pending };
        let number = op.imm as u32;
        let immediate = matches!(op.code, Code::Csrrwi | Code::Csrrsi | Code::Csrrci);
        let operand = if immediate { u32::from(op.rs1) } else { self.x[op.rs1 as usize] };
        let swap = matches!(op.code, Code::Csrrw | Code::Csrrwi);
        let refused = || Exception::new(ExceptionCause::IllegalInstruction, encoding(op));
        let old = if swap && op.rd == 0 { 0 } else { self.isa.csrs.read(number, context).ok_or_else(refused)? };
        let new = match op.code {
            Code::Csrrw | Code::Csrrwi => Some(operand),
            _ if op.rs1 == 0 => None,
            Code::Csrrs | Code::Csrrsi => Some(old | operand),
            _ => Some(old & !operand),
        };
        if let Some(new) = new {
            self.isa.csrs.write(number, new, context).ok_or_else(refused)?;
        }
        if op.rd != 0 {
            self.x[op.rd as usize] = old;
        }
        Ok(())
    }

    /// Executes ebreak at the current address: a semihosting call between the two marker instructions, else an
    /// exception.
    fn ebreak(&mut self, bus: &mut Bus, len_bytes: u32) {
        let pc = self.pc;
        if !semihosting::is_riscv_call(bus, pc) {
            return self.raise(bus, Exception::new(ExceptionCause::Breakpoint, pc));
        }
        self.shell.instructions += 1;
        self.shell.cycles += 1;
        self.shell.fixed.issue += 1;
        self.shell.fixed.never_compiled += 1;
        self.profile_instruction(pc);
        self.pc = pc.wrapping_add(len_bytes);
        self.call_host(bus);
    }

    /// Makes the semihosting call of the instruction before the current address, or tries it again.
    pub(super) fn call_host(&mut self, bus: &mut Bus) {
        let answer = semihosting::call(self.caller(bus), self.x[10], self.x[11]);
        if let Some(value) = self.host_answered(answer) {
            self.x[10] = value;
        }
        // Its output may be needed at once.
        self.update_limit(bus);
    }
}

fn request(code: Code, addr: u32) -> AccessRequest {
    AccessRequest { addr, moves: moves(code), how: 0 }
}

/// Size and direction of a load or store.
pub(super) fn moves(code: Code) -> Moves {
    match code {
        Code::Lb => Moves::load_signed(AccessSize::Byte),
        Code::Lbu => Moves::load(AccessSize::Byte),
        Code::Lh => Moves::load_signed(AccessSize::Half),
        Code::Lhu => Moves::load(AccessSize::Half),
        Code::Lw => Moves::load(AccessSize::Word),
        Code::Sb => Moves::store(AccessSize::Byte),
        Code::Sh => Moves::store(AccessSize::Half),
        _ => Moves::store(AccessSize::Word),
    }
}

/// The encoding of a CSR instruction, for mtval.
fn encoding(op: Op) -> u32 {
    let bits = ROWS.iter().find(|row| row.code == op.code).map_or(0, |row| row.bits);
    bits | (op.imm as u32) << 20 | u32::from(op.rs1) << 15 | u32::from(op.rd) << 7
}
