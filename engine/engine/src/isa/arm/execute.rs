//! The inner loop: runs blocks, one after the other, until the core has to check for news.

use super::alu::{holds, match_arithmetic};
use super::architecture::Profile;
use super::instruction_set::{Arm, LEAVE};
use super::op::{Code, Op};
use crate::bus::Bus;
use crate::cpu::block::{FALLEN, TAKEN};
use crate::cpu::memory_system::access::how;

impl<P: Profile> Arm<P> {
    /// Runs the block `index`, whose first line has been fetched, from operation `at` on, and the blocks after it.
    pub(super) fn execute(&mut self, bus: &mut Bus, mut index: u32, mut at: usize) {
        loop {
            if at == 0 {
                let Some(resumed) = self.run_compiled(bus, index) else { return };
                (index, at) = (resumed.index, resumed.at);
            }
            let first = self.blocks.hot[index as usize].first_op as usize;
            // SAFETY: each block's operations are in `ops` and end with one that leaves the inner loop, so `ip` stays
            // within them, and skips stay in their instruction; `ops` only grows outside this function.
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
                // SAFETY: as above. Nothing writes to the operation while it is being done.
                let op = unsafe { &*ip };
                macro_rules! x {
                    ($register:ident) => {
                        self.x[usize::from(op.$register)]
                    };
                }
                macro_rules! address {
                    () => {
                        x!(rn).wrapping_add(x!(rm)).wrapping_add(op.imm)
                    };
                }
                macro_rules! load {
                    ($type:ty) => {{
                        let addr = address!();
                        if op.ra & how::UNPRIVILEGED == 0
                            && let Some(value) = self.load_by_shortcut::<$type>(addr)
                        {
                            x!(rd) = value as u32;
                        } else if !self.load_slowly(bus, index, at!(), *op, addr) {
                            return;
                        }
                    }};
                }
                macro_rules! store {
                    ($type:ty) => {{
                        let addr = address!();
                        let stored = op.ra & how::UNPRIVILEGED == 0 && self.store_by_shortcut(addr, x!(rd) as $type);
                        if !stored && !self.store_slowly(bus, index, at!(), *op, addr) {
                            return;
                        }
                    }};
                }
                let x = &mut self.x;
                match_arithmetic! {
                    (x, op)
                    done => (),
                    Code::Ldr => load!(u32),
                    Code::Ldrb => load!(u8),
                    Code::Ldrh => load!(u16),
                    Code::Ldrsb => load!(i8),
                    Code::Ldrsh => load!(i16),
                    Code::Str => store!(u32),
                    Code::Strb => store!(u8),
                    Code::Strh => store!(u16),
                    Code::Multiple => {
                        let addr = x!(rn).wrapping_add((op.imm as i32 >> 8) as u32);
                        if !self.have_shortcuts(addr, op.imm & 0xff, op.ra)
                            && !self.load_store_multiple(bus, index, at!(), *op, addr) {
                            return;
                        }
                    }
                    Code::Fetch => {
                        let end_pc = op.imm.wrapping_add(u32::from(op.rd));
                        if !self.is_fetched(bus, op.imm, end_pc)
                            && !self.fetch_instruction(bus, index, at!(), op.imm, end_pc)
                        {
                            return;
                        }
                    }
                    Code::FetchLines => {
                        if !self.has_lines_of_code(op.imm, u32::from(op.rd)) && !self.fetch_lines(bus, index) {
                            return;
                        }
                    }
                    Code::InBlock => {
                        if let Err(exception) = self.isa.system.execute_in_block(&mut self.x, op) {
                            self.raise_at(bus, index, at!(), exception);
                            return;
                        }
                    }
                    Code::SkipUnless => {
                        if !holds(&self.x, op.rd) {
                            // The block's time includes it.
                            self.shell.cycles = self.shell.cycles.wrapping_sub(u64::from(op.ra));
                            self.shell.spent.saved += u64::from(op.ra);
                            self.charge_at(index, at!());
                            // SAFETY: as above.
                            ip = unsafe { ip.add(op.imm as usize) };
                        }
                    }
                    Code::EndEarly => {
                        self.end_early(op);
                        self.charge_at(index, at!());
                    }
                    Code::Grant => {
                        let cycles = self.memory.grant_cycles(address!());
                        self.wait_in_block(index, at!(), cycles);
                    }
                    Code::AskForGrant => self.memory.ask_for_grant(address!()),
                    Code::AskForNone => self.memory.ask_for_none(),
                    Code::AwaitGrant => {
                        let cycles = self.memory.asked_cycles();
                        self.wait_in_block(index, at!(), cycles);
                    }
                    Code::LoadedMemory => self.memory.remember_memory(address!()),
                    Code::OtherMemory => {
                        let cycles = self.memory.other_memory_cycles(address!(), u64::from(op.ra));
                        self.wait_in_block(index, at!(), cycles);
                    }
                    Code::Jump => break TAKEN,
                    Code::JumpIf => break usize::from(holds(&self.x, op.rd)),
                    Code::JumpIfZero => break usize::from(x!(rn) == 0),
                    Code::JumpIfNotZero => break usize::from(x!(rn) != 0),
                    Code::JumpTo => {
                        let target = x!(rm);
                        self.jump_to(index, if target & 1 != 0 { target } else { target & !3 });
                        break TAKEN;
                    }
                    Code::JumpToSame => {
                        let (target, thumb) = (x!(rm), self.blocks.hot[index as usize].pc & 1);
                        self.jump_to(index, if thumb != 0 { target | 1 } else { target & !3 });
                        break TAKEN;
                    }
                    Code::End if op.rm == LEAVE => return self.leave_here(index, at!()),
                    Code::End => break FALLEN,
                    _ => {
                        if !self.execute_rare(bus, index, at!(), *op) {
                            return;
                        }
                    }
                }
                // SAFETY: the last operation of a block breaks or returns above.
                ip = unsafe { ip.add(1) };
            };
            let Some(next) = self.next_block(index, exit) else { return };
            index = next;
        }
    }

    /// True if all `words` from `addr` up have shortcuts, as far as a cheap test can show.
    #[inline(always)]
    pub(super) fn have_shortcuts(&self, addr: u32, words: u32, how: u8) -> bool {
        let has_shortcut = |addr: u32| {
            if how & how::STORE == 0 {
                self.memory.load_shortcut(addr, 4).is_some()
            } else {
                self.memory.store_shortcut(addr, 4).is_some()
            }
        };
        // This many words lie in two or three of such lines.
        let here = has_shortcut(addr) && has_shortcut(addr.wrapping_add(4 * words).wrapping_sub(4));
        here && how & how::UNPRIVILEGED == 0
            && self.data_line_bytes >= 32
            && (words <= 9 || words <= 17 && has_shortcut(addr.wrapping_add(32)))
    }

    /// Prepares a division that may be shorter than the longest one, which the block's time includes.
    #[inline(never)]
    fn end_early(&mut self, op: &Op) {
        let Some(division) = &self.timing.early_division else { return };
        let [dividend, divisor] = [op.rn, op.rm].map(|register| self.x[usize::from(register)]);
        let saved = u64::from(division.saved_cycles(dividend, divisor, op.imm != 0));
        self.shell.cycles = self.shell.cycles.wrapping_sub(saved);
        self.shell.spent.saved += saved;
    }

    /// The rare micro-operations. True if the block continues; otherwise it has been left.
    #[cold]
    #[inline(never)]
    fn execute_rare(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> bool {
        match op.code {
            Code::Media => {
                super::media::execute(&mut self.x, &op);
                true
            }
            Code::Pld => true,
            Code::TrapIfZero => match P::divide_by_zero() {
                Some(exception) if self.x[usize::from(op.rm)] == 0 => self.raise_at(bus, index, at, exception),
                _ => true,
            },
            Code::Ldrex => self.load_exclusive(bus, index, at, op),
            Code::Strex => self.store_exclusive(bus, index, at, op),
            Code::Clrex => {
                self.isa.system.clear_reservation();
                true
            }
            Code::Vldr | Code::Vstr => self.access_vfp(bus, index, at, op),
            Code::Swap | Code::LdrUser | Code::StrUser => P::special(self, bus, index, at, op),
            Code::Vfp => self.vfp(bus, index, at, op),
            _ => {
                self.system_instruction(bus, index, at, op);
                false
            }
        }
    }
}
