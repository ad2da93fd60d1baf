//! The inner loop: runs operations one after the other for as long as nothing needs a second look.
//!
//! Each operation goes through a scoreboard: an instruction waits until the registers that it reads are ready, and its own result is ready at once or
//! some cycles later. So a program takes the same time however often the loop is left and entered.

use super::alu::{self, hi_lo, match_operation};
use super::core::Mips;
use super::op::{Code, HI, LO, Op};
use super::pages::{Found, PAGE_BYTES};
use super::system::Exception;
use crate::bus::Bus;
use crate::memory::first_level::Way;

/// Where the loop is.
#[derive(Clone, Copy)]
struct Place {
    /// The operation of `first_pc`.
    first: *const Op,
    /// The address of its page, or of the one instruction.
    first_pc: u32,
    /// Fetches of the page's lines have to be looked at.
    cached: bool,
}

impl Place {
    fn of(core: &Mips, found: Found) -> Place {
        Place { first: core.pages.ops(found).as_ptr(), first_pc: found.page, cached: found.way == Way::Cached }
    }
}

impl Mips {
    /// Runs the instruction at the current address, which is fetched and decoded, and those behind it; only that one if it has to go `alone`.
    pub(super) fn execute(&mut self, bus: &mut Bus, found: Found, alone: bool) {
        let place = Place::of(self, found);
        self.run_from(bus, place, alone);
    }

    /// Runs the instruction at the current address, which is `op`.
    pub(super) fn execute_one(&mut self, bus: &mut Bus, op: Op) {
        let one = [op];
        self.run_from(bus, Place { first: one.as_ptr(), first_pc: self.pc, cached: false }, true);
    }

    /// The place of an instruction, if the loop may go on there without another look: its page is known, and so is its line.
    #[inline(always)]
    fn enter(&self, place: Place, pc: u32) -> Option<Place> {
        if pc & 3 != 0 {
            return None;
        }
        let next = if pc.wrapping_sub(place.first_pc) < PAGE_BYTES {
            place
        } else {
            Place::of(self, self.pages.find(pc).filter(|found| found.way != Way::Uncached)?)
        };
        (!next.cached || self.memory.has_fetch_line(pc & !(self.line_bytes - 1))).then_some(next)
    }

    fn run_from(&mut self, bus: &mut Bus, mut place: Place, alone: bool) {
        let timing = self.config.timing;
        let load_use = u64::from(timing.load_use);
        let (mut cycles, mut limit, mut busy) = (self.cycles, self.deadline.limit, self.busy_until);
        // SAFETY of all pointers below: `place.first` points to the operations of a whole page, or to a single one that is run alone. `ip` is at the
        // one of an address in that page, and only goes up to `end`, which is at most one behind the last. Pages are only dropped outside of this function.
        let mut ip = unsafe { place.first.add((self.pc.wrapping_sub(place.first_pc) / 4) as usize) };
        loop {
            // What runs without a look at lines and branches: up to the line's end, or a delay slot.
            let begin = ip;
            let mut slot_end = std::ptr::null();
            let mut end = if alone || self.delayed.is_some() {
                // SAFETY: see above.
                unsafe { ip.add(1) }
            } else {
                // SAFETY: see above.
                let at = unsafe { ip.offset_from_unsigned(place.first) };
                let line = if place.cached { self.line_bytes as usize / 4 } else { PAGE_BYTES as usize / 4 };
                // SAFETY: see above: lines divide pages.
                unsafe { place.first.add((at | (line - 1)) + 1) }
            };
            if self.delayed.is_some() {
                slot_end = end;
            }
            macro_rules! pc {
                () => {
                    // SAFETY: see above.
                    place.first_pc.wrapping_add(4 * unsafe { ip.offset_from_unsigned(place.first) } as u32)
                };
            }
            macro_rules! ran {
                () => {
                    // SAFETY: see above.
                    unsafe { ip.offset_from_unsigned(begin) as u64 }
                };
            }
            let mut counted = 0;
            // Leaves the state as it is before the current instruction.
            macro_rules! leave {
                () => {{
                    self.pc = pc!();
                    (self.cycles, self.busy_until) = (cycles, busy);
                    self.instructions += ran!() - counted;
                }};
            }
            macro_rules! raise {
                ($exception:expr) => {{
                    leave!();
                    self.spent.exceptions += 1;
                    return self.raise(bus, $exception);
                }};
            }
            // Does something slow, which gives None if it raised an exception.
            macro_rules! slowly {
                ($access:expr) => {{
                    leave!();
                    counted = ran!();
                    let Some(value) = $access else {
                        self.spent.exceptions += 1;
                        return;
                    };
                    cycles = self.cycles;
                    limit = if self.look { 0 } else { self.deadline.limit };
                    value
                }};
            }
            while ip != end {
                if cycles >= limit {
                    return leave!();
                }
                // SAFETY: see above.
                let op = unsafe { *ip };
                let rd = usize::from(op.rd);
                if cycles < busy {
                    let ready = self.ready[usize::from(op.rs)].max(self.ready[usize::from(op.rt)]);
                    let stall = ready.saturating_sub(cycles);
                    cycles += stall;
                    self.spent.operand_wait += stall;
                    self.ready[rd] = 0;
                }
                cycles += 1;
                let (a, b, imm) = (self.x[usize::from(op.rs)], self.x[usize::from(op.rt)], op.imm as u32);
                macro_rules! ready_in {
                    ($register:expr, $cycles:expr) => {{
                        let ready = cycles + $cycles;
                        self.ready[$register] = ready;
                        busy = busy.max(ready);
                    }};
                }
                macro_rules! unit {
                    ($cycles:expr) => {{
                        let begins = self.unit_free.max(cycles - 1);
                        self.spent.operand_wait += begins - (cycles - 1);
                        cycles = begins + 1;
                        self.unit_free = begins + u64::from($cycles);
                    }};
                }
                macro_rules! load {
                    ($addr:expr, $bytes:literal, $type:ty) => {{
                        let addr: u32 = $addr;
                        if let Some(host) = self.memory.quick_load(addr, $bytes) {
                            // SAFETY: a shortcut's line lies inside a RAM that lives as long as the machine.
                            unsafe { host.cast::<$type>().read_unaligned() }
                        } else {
                            slowly!(self.load_slowly(bus, a.wrapping_add(imm), op.code)) as $type
                        }
                    }};
                }
                macro_rules! loaded {
                    ($value:expr) => {{
                        self.x[rd] = $value;
                        ready_in!(rd, load_use);
                    }};
                }
                macro_rules! store {
                    ($bytes:literal, $type:ty) => {{
                        let addr = a.wrapping_add(imm);
                        if let Some(host) = self.memory.quick_store(addr, $bytes) {
                            // SAFETY: as for loads.
                            unsafe { host.cast::<$type>().write_unaligned(b as $type) }
                        } else {
                            slowly!(self.store_slowly(bus, addr, op.code, b));
                        }
                    }};
                }
                macro_rules! store_part {
                    ($merge:path) => {{
                        let addr = a.wrapping_add(imm);
                        if let Some(host) = self.memory.quick_store(addr & !3, 4) {
                            let host = host.cast::<u32>();
                            // SAFETY: as for loads.
                            unsafe { host.write_unaligned($merge(addr, host.read_unaligned(), b)) }
                        } else {
                            slowly!(self.store_part_slowly(bus, addr, op.code, b));
                        }
                    }};
                }
                // The next instruction is the branch's delay slot.
                macro_rules! delay {
                    ($target:expr) => {{
                        self.delayed = Some($target);
                        // SAFETY: see above.
                        ip = unsafe { ip.add(1) };
                        if ip != end {
                            // SAFETY: see above: the slot lies before the end.
                            end = unsafe { ip.add(1) };
                            slot_end = end;
                        }
                        continue;
                    }};
                }
                macro_rules! predicted {
                    ($taken:expr, $target:expr, $otherwise:ident) => {{
                        let pc = pc!();
                        let right = self.predictor.resolve(pc, $taken, $target);
                        let extra = if !right {
                            self.mispredictions += 1;
                            self.spent.mispredicted += u64::from(timing.$otherwise);
                            u64::from(timing.$otherwise)
                        } else if $taken {
                            self.spent.jump += u64::from(timing.taken_branch) - 1;
                            u64::from(timing.taken_branch) - 1
                        } else {
                            0
                        };
                        cycles += extra;
                        pc
                    }};
                }
                match_operation! { (op.code, a, b, imm, self.x[rd], hi_lo(self.x[usize::from(HI)], self.x[usize::from(LO)]))
                    value => {
                        self.x[rd] = value;
                        if op.code == Code::Mul {
                            unit!(timing.multiply);
                            ready_in!(rd, u64::from(timing.multiply_use));
                        }
                    },
                    checked => match checked {
                        Some(value) => self.x[rd] = value as u32,
                        None => raise!(Exception::Overflow),
                    },
                    product => {
                        (self.x[usize::from(HI)], self.x[usize::from(LO)]) = ((product >> 32) as u32, product as u32);
                        let ready = if matches!(op.code, Code::Div | Code::Divu) {
                            unit!(timing.divide);
                            u64::from(timing.divide) - 1
                        } else {
                            unit!(timing.multiply);
                            u64::from(timing.multiply_use)
                        };
                        ready_in!(usize::from(HI), ready);
                        ready_in!(usize::from(LO), ready);
                    },
                    taken => {
                        let pc = predicted!(taken, imm, mispredicted_branch);
                        let behind = pc.wrapping_add(8);
                        if matches!(op.code, Code::Bltzal | Code::Bgezal) {
                            self.x[rd] = behind;
                        }
                        delay!(if taken { imm } else { behind })
                    },
                    taken => {
                        let pc = predicted!(taken, imm, mispredicted_branch);
                        let behind = pc.wrapping_add(8);
                        if matches!(op.code, Code::Bltzall | Code::Bgezall) {
                            self.x[rd] = behind;
                        }
                        if taken {
                            delay!(imm);
                        }
                        // The slot goes down the pipeline for nothing.
                        cycles += 1;
                        self.spent.annulled += 1;
                        self.delayed = Some(behind);
                        // SAFETY: see above.
                        ip = unsafe { ip.add(1) };
                        slot_end = ip;
                        break;
                    },
                    trapped => if trapped {
                        raise!(Exception::Trap)
                    },
                    Code::Lw => loaded!(load!(a.wrapping_add(imm), 4, u32)),
                    Code::Lbu => loaded!(u32::from(load!(a.wrapping_add(imm), 1, u8))),
                    Code::Lb => loaded!(load!(a.wrapping_add(imm), 1, i8) as u32),
                    Code::Lhu => loaded!(u32::from(load!(a.wrapping_add(imm), 2, u16))),
                    Code::Lh => loaded!(load!(a.wrapping_add(imm), 2, i16) as u32),
                    Code::Sw => store!(4, u32),
                    Code::Sb => store!(1, u8),
                    Code::Sh => store!(2, u16),
                    Code::J | Code::Jal => {
                        let pc = predicted!(true, imm, unpredicted_jump);
                        if op.code == Code::Jal {
                            self.x[rd] = pc.wrapping_add(8);
                        }
                        delay!(imm)
                    }
                    Code::Jr | Code::Jalr => {
                        let pc = predicted!(true, a, mispredicted_branch);
                        if op.code == Code::Jalr {
                            self.x[rd] = pc.wrapping_add(8);
                        }
                        delay!(a)
                    }
                    Code::Nop | Code::Pref => {}
                    Code::Lwl => {
                        let addr = a.wrapping_add(imm);
                        loaded!(alu::load_left(addr, load!(addr & !3, 4, u32), b))
                    }
                    Code::Lwr => {
                        let addr = a.wrapping_add(imm);
                        loaded!(alu::load_right(addr, load!(addr & !3, 4, u32), b))
                    }
                    Code::Swl => store_part!(alu::store_left),
                    Code::Swr => store_part!(alu::store_right),
                    Code::Ll => {
                        loaded!(load!(a.wrapping_add(imm), 4, u32));
                        self.system.link();
                    }
                    Code::Sc => {
                        let linked = self.system.take_link();
                        if linked {
                            store!(4, u32);
                        }
                        loaded!(u32::from(linked))
                    }
                    Code::Undecoded => {
                        // It will come again.
                        cycles -= 1;
                        return leave!();
                    }
                    _ => {
                        leave!();
                        return self.system_instruction(bus, op);
                    }
                }
                // SAFETY: see above.
                ip = unsafe { ip.add(1) };
            }
            // The operations to run without a look are done. They may end behind a delay slot.
            let next = if slot_end == ip
                && let Some(target) = self.delayed.take()
            {
                target
            } else {
                pc!()
            };
            self.instructions += ran!() - counted;
            match self.enter(place, next) {
                Some(entered) if !alone => place = entered,
                _ => {
                    self.pc = next;
                    (self.cycles, self.busy_until) = (cycles, busy);
                    return;
                }
            }
            // SAFETY: see above.
            ip = unsafe { place.first.add((next.wrapping_sub(place.first_pc) / 4) as usize) };
        }
    }
}
