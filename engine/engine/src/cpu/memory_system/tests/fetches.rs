//! Instruction fetches.

use super::*;
use crate::cpu::memory_system::access::{Barrier, Lines};

impl Rig {
    /// A fetch past the cache: the cycles until the instruction can run.
    fn fetch(&mut self, pc: u32, end_pc: u32) -> u64 {
        let mut cycles = 0;
        loop {
            let now = self.now;
            let done = self.memory.fetch_uncached(&mut self.bus, &self.registers, now, pc, end_pc);
            let (waited, result) = self.passed(done);
            cycles += waited;
            if result.unwrap() {
                return cycles;
            }
        }
    }

    pub fn has_line(&mut self, line: u32) -> bool {
        let page = self.memory.code_page(&self.bus, &self.registers, line).unwrap();
        self.memory.has_fetch_line(page, line)
    }

    pub fn fetch_line(&mut self, line: u32) -> (u64, Result<bool, Abort<Refused>>) {
        let now = self.now;
        let done = self.memory.fetch_line(&mut self.bus, &self.registers, now, line);
        self.passed(done)
    }
}

#[test]
fn a_fetch_brings_as_much_as_the_bus_is_wide() {
    let mut rig = rig(all_off(), config());
    assert_eq!((rig.fetch(RAM, RAM + 4), rig.fetch(RAM + 4, RAM + 8), rig.fetch(RAM + 8, RAM + 12)), (READ, 0, READ));
    assert_eq!(rig.causes(), named(&[("fetch: ram", 12), ("interconnect: matrix", 12)]));
    // A longer one: 3 beats from the wanted beat to the end of the line.
    let mut rig = super::rig(
        all_off(),
        MemoryConfig { fetch: FetchPolicy::Chunks(Chunks { bytes: 32, ahead: false }), ..config() },
    );
    assert_eq!((rig.fetch(RAM + 12, RAM + 16), rig.fetch(RAM + 16, RAM + 18)), (READ + 6, 0));
}

#[test]
fn a_jump_fetches_anew() {
    let mut rig = rig(all_off(), config());
    assert_eq!(rig.fetch(RAM, RAM + 4), READ);
    // To itself.
    assert_eq!((rig.fetch(RAM, RAM + 4), rig.fetch(RAM, RAM + 4)), (READ, READ));
    assert_eq!((rig.fetch(RAM + 4, RAM + 8), rig.fetch(RAM, RAM + 4)), (0, READ));
}

#[test]
fn an_instruction_across_two_fetches_waits_for_both() {
    let mut rig = rig(all_off(), config());
    assert_eq!(rig.fetch(RAM + 6, RAM + 10), 2 * READ);
    assert_eq!(rig.fetch(RAM + 10, RAM + 12), 0);
}

#[test]
fn the_next_fetch_is_under_way_while_instructions_run() {
    let mut rig =
        rig(all_off(), MemoryConfig { fetch: FetchPolicy::Chunks(Chunks { bytes: 8, ahead: true }), ..config() });
    assert_eq!((rig.fetch(RAM, RAM + 4), rig.fetch(RAM + 4, RAM + 8)), (READ, 0));
    rig.now += 6;
    assert_eq!(rig.fetch(RAM + 8, RAM + 12), READ - 6);
    rig.now += 30;
    assert_eq!(rig.fetch(RAM + 12, RAM + 16), 0);
    assert_eq!(rig.fetch(RAM + 16, RAM + 20), 0);
    // A jump waits for the fetch under way.
    assert_eq!(rig.fetch(RAM + 0x100, RAM + 0x104), 2 * READ);
}

#[test]
fn lines_are_filled_and_then_have_shortcuts() {
    let mut rig = rig(all_on(), MemoryConfig { tlb_cycles: 0, walk_hit_cycles: 0, ..config() });
    rig.word(RAM);
    assert_eq!(rig.memory.code_via(&rig.bus, &rig.registers, RAM + 0x40), Ok((Via::Cached, RAM + 0x40)));
    let epoch = rig.memory.fetch_epoch();
    assert_eq!(rig.fetch_line(RAM + 0x40), (READ + 9, Ok(false)));
    assert!(rig.has_line(RAM + 0x40) && !rig.has_line(RAM + 0x60));
    assert_eq!(rig.fetch_line(RAM + 0x40), (0, Ok(true)));
    assert_eq!(rig.memory.fetch_epoch(), epoch);
    rig.maintain(Maintenance::Icache(Lines::All));
    assert!(!rig.has_line(RAM + 0x40) && rig.memory.fetch_epoch() != epoch);
    rig.now += 100;
    assert_eq!(rig.fetch_line(RAM + 0x40).0, READ + 9);
}

#[test]
fn a_line_that_has_to_go_has_no_shortcut_any_more() {
    let mut rig = rig(all_on(), config());
    // 16 sets of 2 ways.
    for n in 0..3 {
        rig.now += 100;
        rig.fetch_line(RAM + 512 * n).1.unwrap();
    }
    let here = (0..3).filter(|n| rig.has_line(RAM + 512 * n)).count();
    assert_eq!(here, 2);
}

#[test]
fn the_line_goes_that_was_used_longest_ago_by_stamps_too() {
    let mut shape = config().icache.unwrap();
    shape.replacement = Replacement::LeastRecentlyUsed;
    let [a, b, c, d] = [0, 512, 1024, 1536].map(|offset| RAM + offset);
    let mut rig = rig(all_on(), MemoryConfig { icache: Some(shape), ..config() });
    let fill = |rig: &mut Rig, line: u32| {
        rig.now += 100;
        rig.fetch_line(line).1.unwrap();
    };
    fill(&mut rig, a);
    fill(&mut rig, b);
    // Both lines are present. `a` is used after `b`, and only a stamp records that.
    assert!(rig.memory.stamps_fetches() && rig.has_line(a) && rig.has_line(b));
    let (state, epoch) = (rig.memory.state(), rig.memory.fetch_epoch());
    rig.memory.stamp_fetch(b, 7);
    rig.memory.stamp_fetch(a, 8);
    assert!(!rig.memory.behaves_like(0, &state, 0), "another line goes next");
    assert_eq!(rig.memory.fetch_epoch(), epoch);
    fill(&mut rig, c);
    assert!(rig.has_line(a) && !rig.has_line(b) && rig.memory.fetch_epoch() != epoch);
    rig.memory.stamp_fetch(c, 9);
    rig.memory.stamp_fetch(a, 10);
    fill(&mut rig, d);
    assert!(rig.has_line(a) && !rig.has_line(c));
}

#[test]
fn barriers_drop_what_was_fetched() {
    let mut rig = rig(all_off(), config());
    assert_eq!(rig.fetch(RAM, RAM + 4), READ);
    rig.maintain(Maintenance::Barrier(Barrier::InstructionSynchronization));
    assert_eq!(rig.fetch(RAM + 4, RAM + 8), READ);
}

#[test]
fn registers_and_nothing_are_no_code() {
    let mut rig = rig(all_off(), config());
    let abort = rig.memory.code_via(&rig.bus, &rig.registers, DEVICE).unwrap_err();
    assert_eq!((abort.status, abort.bus), (Refused::External, Some(crate::faults::BusFaultKind::Slave)));
    let abort = rig.memory.code_via(&rig.bus, &rig.registers, 0x7000_0000).unwrap_err();
    assert_eq!(abort.bus, Some(crate::faults::BusFaultKind::Unmapped));
    assert!(!rig.memory.read_code(&rig.bus, &rig.registers, DEVICE, &mut [0; 4]));
    let done = rig.memory.fetch_uncached(&mut rig.bus, &rig.registers, 0, DEVICE, DEVICE + 4);
    assert!(rig.passed(done).1.is_err());
    assert!(rig.memory.read_code(&rig.bus, &rig.registers, RAM + 0x1_fffc, &mut [0; 4]));
    assert!(!rig.memory.read_code(&rig.bus, &rig.registers, RAM + 0x1_fffe, &mut [0; 4]));
}
