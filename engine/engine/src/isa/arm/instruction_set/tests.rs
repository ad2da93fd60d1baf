//! Blocks of Thumb code.

use super::super::config::CoreConfig;
use super::super::m_profile::SystemConfig;
use super::super::timing::{CoreTiming, ThreeStage};
use super::CortexM;
use crate::bus::{Bus, MapEntry, Target};
use crate::core::Core;
use crate::cpu::memory_system::MemoryConfig;
use crate::memory::ram::{PortTiming, Ram};
use crate::time::{Cycles, Hz, Ps};

const RAM_BYTES: u32 = 0x2000;
const ADDS_R0_1: u16 = 0x3001;
const IT_EQ: u16 = 0xbf08;
const ADD_R0_R0: u16 = 0x4400;
const TO_ITSELF: u16 = 0xe7fe;

/// A Cortex-M4 that has run for a microsecond: `before` additions from `start` on, one in an IT block, some more.
fn run(start: u32, before: usize) -> CortexM {
    let clock = Hz::new(100_000_000).unwrap();
    let mut bus = Bus::default();
    bus.rams = vec![Ram::new(RAM_BYTES, PortTiming::symmetric(clock, Cycles(0), Cycles(1), 4))];
    let (name, target) = ("ram".to_owned(), Target::Ram(0));
    bus.map = vec![MapEntry::new(name, 0, RAM_BYTES - 1, target)];
    bus.add_core();
    let code = [vec![ADDS_R0_1; before], vec![IT_EQ, ADD_R0_R0], vec![ADDS_R0_1; 4], vec![TO_ITSELF]].concat();
    for (word, at) in [RAM_BYTES, start | 1].into_iter().zip([0, 4]) {
        assert!(bus.poke(at, &word.to_le_bytes()));
    }
    for (half, at) in code.into_iter().zip((start..).step_by(2)) {
        assert!(bus.poke(at, &half.to_le_bytes()));
    }
    let three_stage = ThreeStage { load: 2, register_jump: 2, memory_jump: 3, ..ThreeStage::default() };
    let mut core = CortexM::new(CoreConfig {
        name: "cpu".to_owned(),
        index: 0,
        clock,
        timing: CoreTiming { three_stage: Some(three_stage), taken_branch: 2, ..CoreTiming::default() },
        memory: MemoryConfig::unbuffered(clock, None, None),
        system: SystemConfig::cortex_m4(false, 1, 4, 0),
    });
    core.reset(&mut bus);
    core.run(&mut bus, Ps(1_000_000));
    core
}

/// Blocks at which the core started, by address.
fn blocks(core: &CortexM) -> Vec<(u32, u8)> {
    core.blocks.cold.iter().map(|block| (block.entry.pc & !1, block.entry.context.it)).collect()
}

#[test]
fn no_block_ends_inside_an_it_block() {
    // The longest block's last instruction is the IT; and that is the last one in its page.
    for (start, before) in [(0x400, 63), (0x1000 - 2 * 40, 39)] {
        let core = run(start, before);
        let after = start + 2 * before as u32;
        assert_eq!(core.x[0], before as u32 + 4);
        assert_eq!(blocks(&core)[..2], [(start, 0), (after, 0)], "{start:#x}");
    }
}
