//! What instructions cost a core of three stages without forwarding to addresses: a Cortex-M4.
//!
//! A load or store of one register has its address cycle, then its data cycle. The address cycle of one right behind a
//! load goes along with that one's data cycle, if it doesn't need the loaded register for its address. A store to an
//! immediate offset has its data cycle while the next instruction executes. (Cortex-M4 TRM, Load/store timings.)

use super::{CoreTiming, Cost, HAS_FPU, LONGEST_INSTRUCTION_CYCLES, Pending, cycles};
use crate::dt::reader::NodeReader;
use crate::isa::arm::decoded::Decoded;
use crate::isa::arm::op::{Instr, TimingClass};

/// The table of such a core, beyond that of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreeStage {
    /// Stall of a load or store whose address depends on the result of the arithmetic instruction before it.
    pub address_use: u8,
    /// A load of one register, or a store to an offset in a register, by itself.
    pub load: u8,
    /// A load or store multiple, beyond a cycle for each register.
    pub multiple: u8,
    /// Further cycles of a jump to an address in a register.
    pub register_jump: u8,
    /// Further cycles of a jump to an address from memory.
    pub memory_jump: u8,
    /// Further cycle of any jump to an instruction of four bytes in the middle of a word.
    pub straddled_target: u8,
    /// Floating-point state that goes to or comes from the stack in an exception, or later.
    pub floating_frame: u8,
    /// From a return to the next exception's handler: tail-chaining. Also, of an exception's entry, what reading its
    /// vector takes.
    pub tail_chain: u8,
}

impl ThreeStage {
    /// Reads its table from a `cpu` node.
    pub fn from_node(reader: &mut NodeReader, vfp: bool) -> ThreeStage {
        let meaning = "cycles of floating-point state to or from the stack";
        let frame = "cyclescope,floating-frame-cycles";
        let floating_frame = reader.only_if(vfp, HAS_FPU, |reader| reader.instruction_cycles(frame, 0, meaning));
        ThreeStage {
            address_use: cycles(
                reader,
                "address-use",
                0,
                "stall of a load or store right behind what its address depends on",
            ),
            load: cycles(reader, "load", 1, "cycles of a load, or a store to an offset in a register, by itself"),
            multiple: cycles(reader, "several", 0, "cycles of a load or store of several registers beyond one each"),
            register_jump: cycles(reader, "register-jump", 0, "further cycles of a jump to an address in a register"),
            memory_jump: cycles(reader, "memory-jump", 0, "further cycles of a jump to an address from memory"),
            straddled_target: cycles(
                reader,
                "straddled-target",
                0,
                "further cycles of a jump into the middle of a word",
            ),
            floating_frame: floating_frame.unwrap_or(0),
            tail_chain: cycles(reader, "tail-chain", 1, "cycles from a return to the next exception's handler"),
        }
    }

    /// Lets one instruction pass, as [`CoreTiming::step`] does.
    pub fn step(&self, table: &CoreTiming, decoded: &Decoded, pending: &mut Pending) -> Cost {
        let instr = &decoded.instr;
        let (single, pipelines) = kinds(instr);
        let stall_cycles = if accesses(instr) { pending.latest_of(instr.reads_early, pending.early) } else { 0 };
        let follows = single && pending.pairs && pending.latest_of(instr.reads_early, pending.ready) == 0;
        let issue_cycles = self.issue_cycles(table, instr, follows && stall_cycles == 0);
        let refill_cycles = if pending.jumped && decoded.straddles { u32::from(self.straddled_target) } else { 0 };
        *pending = Pending { pairs: pipelines, ..Pending::NONE };
        // Ready tells what has been loaded, early what has been worked out.
        let worked_out = if accesses(instr) { 0 } else { instr.writes & !decoded.loaded };
        pending.set(worked_out, [0, self.address_use]);
        pending.set(decoded.loaded, [1, 0]);
        Cost { stall_cycles, issue_cycles, refill_cycles }
    }

    fn issue_cycles(&self, table: &CoreTiming, instr: &Instr, follows: bool) -> u32 {
        use TimingClass::*;
        let multiple = (u32::from(self.multiple) + u32::from(instr.words)).clamp(1, LONGEST_INSTRUCTION_CYCLES);
        match instr.class {
            Load | Exclusive if follows => 1,
            Load | Exclusive => u32::from(self.load),
            // The index is a second register that the address depends on.
            Store if instr.reads_early.count_ones() > 1 && !follows => u32::from(self.load),
            LoadMultiple | StoreMultiple | VfpLoad | VfpStore => multiple,
            IndirectBranch if instr.words > 0 => multiple,
            Exception => 1,
            _ => table.issue_cycles(instr),
        }
    }

    /// Further cycles of a jump.
    pub fn refill_cycles(&self, table: &CoreTiming, instr: &Instr) -> u32 {
        u32::from(match (instr.class, instr.words) {
            (TimingClass::IndirectBranch, 0) => self.register_jump,
            (TimingClass::IndirectBranch, _) => self.memory_jump,
            _ => table.taken_branch.max(1) - 1,
        })
    }
}

/// True for a load or store of one register; and true if another of these can go along with its data cycle.
fn kinds(instr: &Instr) -> (bool, bool) {
    use TimingClass::*;
    match instr.class {
        Load | Exclusive => (true, true),
        Store => (true, false),
        _ => (false, false),
    }
}

fn accesses(instr: &Instr) -> bool {
    use TimingClass::*;
    matches!(instr.class, Load | Store | LoadMultiple | StoreMultiple | Exclusive | VfpLoad | VfpStore)
        || instr.class == IndirectBranch && instr.words > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::arm::registers::RegisterSet;

    const STAGES: ThreeStage = ThreeStage {
        address_use: 1,
        load: 2,
        multiple: 1,
        register_jump: 2,
        memory_jump: 3,
        straddled_target: 1,
        floating_frame: 17,
        tail_chain: 6,
    };

    fn load(to: u32, from: &[u32]) -> Decoded {
        let base = from.iter().fold(0, |set, register| set | 1 << register);
        decoded(TimingClass::Load, 1 << to, base, base, 1 << to, 1)
    }

    fn store(value: u32, to: &[u32]) -> Decoded {
        let base = to.iter().fold(0, |set, register| set | 1 << register);
        decoded(TimingClass::Store, 0, base | 1 << value, base, 0, 1)
    }

    fn add(to: u32, from: u32) -> Decoded {
        decoded(TimingClass::Alu, 1 << to, 1 << from, 0, 0, 0)
    }

    fn decoded(
        class: TimingClass,
        writes: RegisterSet,
        reads: RegisterSet,
        reads_early: RegisterSet,
        loaded: RegisterSet,
        words: u8,
    ) -> Decoded {
        let instr = Instr { len_bytes: 2, class, reads, reads_early, writes, words, ends_block: false };
        Decoded { instr, loaded, it: 0, straddles: false, is_left: false }
    }

    fn total(program: &[Decoded]) -> u32 {
        let table = CoreTiming { three_stage: Some(STAGES), taken_branch: 2, ..CoreTiming::default() };
        let mut pending = Pending::NONE;
        program.iter().map(|decoded| table.step(decoded, &mut pending).cycles()).sum()
    }

    #[test]
    fn the_manuals_pairs_of_loads_and_stores() {
        assert_eq!(total(&[load(0, &[1]), load(1, &[2])]), 3);
        assert_eq!(total(&[load(0, &[1, 2]), store(0, &[3])]), 3);
        assert_eq!(total(&[load(0, &[1, 2]), store(1, &[3, 2])]), 3);
        assert_eq!(total(&[load(0, &[1, 5]), load(1, &[2]), load(2, &[3])]), 4);
        assert_eq!(total(&[store(0, &[1]), store(0, &[1])]), 2);
        assert_eq!(total(&[store(0, &[1, 2]), load(0, &[1])]), 4, "nothing goes along with such a store");
        assert_eq!(total(&[load(0, &[1]), load(1, &[0])]), 4, "an address from memory");
    }

    #[test]
    fn an_address_waits_for_arithmetic_and_arithmetic_for_nothing() {
        assert_eq!(total(&[add(0, 1), load(2, &[0])]), 4);
        assert_eq!(total(&[add(0, 1), store(0, &[2])]), 2);
        assert_eq!(total(&[add(0, 1), add(3, 1), load(2, &[0])]), 4);
        assert_eq!(total(&[load(0, &[1]), add(2, 0)]), 3);
    }

    #[test]
    fn several_registers_take_one_cycle_more() {
        let pop = |words| decoded(TimingClass::LoadMultiple, 0xf, 1 << 13, 1 << 13, 0xf, words);
        assert_eq!(total(&[pop(2)]), 3);
        assert_eq!(total(&[pop(8)]), 9);
        assert_eq!(total(&[load(0, &[1]), pop(3)]), 6);
    }

    #[test]
    fn a_jump_into_the_middle_of_a_word_waits_for_the_rest_of_the_instruction() {
        let table = CoreTiming { three_stage: Some(STAGES), ..CoreTiming::default() };
        let wide = Decoded { straddles: true, ..add(0, 1) };
        for (target, expected) in [(wide, 2), (add(0, 1), 1)] {
            let mut pending = Pending::NONE;
            pending.jump(2);
            pending.jumped = true;
            assert_eq!(table.step(&target, &mut pending).cycles(), expected);
            assert_eq!(table.step(&wide, &mut pending).cycles(), 1);
        }
    }
}
