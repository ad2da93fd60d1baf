//! Write streaming: lines that stores write whole, in several orders.

use proptest::prelude::*;

use super::super::access::{Barrier, Lines};
use super::*;
use crate::cpu::memory_system::config::ReadAllocate;
use crate::tiers::sized;

/// A line's fill, or its burst: 4 beats through the RAM's port.
const LINE: u64 = READ + 3 * 3;
const LINE_BYTES: u32 = 32;
/// The offsets of a 64-byte block's double words, as a program stores them that never has a line whole in time.
const SHUFFLED: [u32; 8] = [40, 16, 56, 0, 32, 24, 48, 8];

fn streaming() -> MemoryConfig {
    let read_allocate = ReadAllocate { lines: 3, outer_lines: 0 };
    MemoryConfig { store_buffer_entries: 4, read_allocate, tlb_cycles: 0, walk_hit_cycles: 0, ..config() }
}

/// A rig whose TLBs know the RAM's page, and whose data cache is empty.
fn warm(config: MemoryConfig, registers: Registers) -> Rig {
    let mut rig = rig(registers, config);
    rig.memory.translation_changed(&rig.registers);
    rig.word(RAM);
    rig.maintain(Maintenance::Dcache { lines: Lines::All, clean: false, invalidate: true });
    rig.now += 100;
    rig
}

fn empty() -> Rig {
    warm(streaming(), all_on())
}

impl Rig {
    /// Stores the words of lines `first` to `last`, one a cycle beyond their waits, except for those of `holes`.
    fn fill(&mut self, first: u32, last: u32, holes: &[u32]) -> u64 {
        let words = (first * LINE_BYTES..(last + 1) * LINE_BYTES).step_by(4);
        words.filter(|at| !holes.contains(at)).map(|at| self.step(at)).sum()
    }

    /// Stores a word: its cycles.
    fn step(&mut self, at: u32) -> u64 {
        self.now += 1;
        1 + self.put(RAM + at, at)
    }

    /// Lines that the data cache has filled so far.
    fn fills(&self) -> u64 {
        self.memory.cache_counters()[1].fills
    }

    /// The lines that `what` fills.
    fn filled_by(&mut self, what: impl FnOnce(&mut Rig)) -> u64 {
        let before = self.fills();
        what(self);
        self.fills() - before
    }

    fn synchronize(&mut self) -> u64 {
        self.maintain(Maintenance::Barrier(Barrier::DataSynchronization))
    }
}

#[test]
fn after_three_whole_lines_stores_fill_no_more() {
    let mut rig = empty();
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(0, 2, &[])), 3);
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(3, 40, &[])), 0);
    // From then on a line takes the time of its burst; the next line is gathered meanwhile.
    assert_eq!(rig.fill(41, 50, &[]), 10 * LINE);
    // The last burst has just begun.
    assert_eq!(rig.synchronize(), LINE);
    assert_eq!(rig.word(RAM + 50 * LINE_BYTES), (LINE, 50 * LINE_BYTES));
}

#[test]
fn a_miss_in_the_mode_has_no_shortcut() {
    let mut rig = empty();
    rig.fill(0, 4, &[]);
    rig.put(RAM + 5 * LINE_BYTES, 1);
    let [filled, gone, gathered] = [2, 4, 5].map(|line| RAM + line * LINE_BYTES);
    assert!(rig.memory.store_shortcut(filled, 4).is_some());
    for line in [gone, gathered] {
        assert!(rig.memory.store_shortcut(line, 4).is_none() && rig.memory.load_shortcut(line, 4).is_none());
    }
}

#[test]
fn lines_written_by_turns_are_filled() {
    let mut rig = empty();
    let store = |rig: &mut Rig, order: [u32; 8]| {
        for at in (0..16).flat_map(|block| order.map(|at| 64 * block + at)) {
            rig.step(at);
            rig.step(at + 4);
        }
    };
    assert_eq!(rig.filled_by(|rig| store(rig, SHUFFLED)), 32);
    let mut rig = empty();
    assert_eq!(rig.filled_by(|rig| store(rig, [24, 8, 0, 16, 56, 48, 32, 40])), 3);
    // A line of each of two streams, then the next of each; or a word of each.
    let mut rig = empty();
    let by_lines = |rig: &mut Rig| (0..20).for_each(|n| _ = rig.fill(n / 2 + n % 2 * 64, n / 2 + n % 2 * 64, &[]));
    assert_eq!(rig.filled_by(by_lines), 3);
    let mut rig = empty();
    let by_words = |rig: &mut Rig| {
        (0..80).flat_map(|word| [4 * word, 4 * word + 0x800]).for_each(|at| _ = rig.step(at));
    };
    assert_eq!(rig.filled_by(by_words), 20);
}

#[test]
fn a_hole_ends_the_row() {
    let mut rig = empty();
    // In the third line: four lines more are filled.
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(0, 20, &[2 * LINE_BYTES + 8])), 6);
    // In the mode: what is gathered goes out as a shorter burst, and three lines are filled.
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(21, 30, &[22 * LINE_BYTES + 28])), 3);
}

#[test]
fn a_line_that_takes_longer_than_its_fill_does_not_count() {
    let mut rig = empty();
    let slow = |rig: &mut Rig| {
        for at in (0..10 * LINE_BYTES).step_by(4) {
            rig.now += 2;
            rig.step(at);
        }
    };
    assert_eq!(rig.filled_by(slow), 10);
    // Its later stores are quick again.
    assert!(rig.memory.store_shortcut(RAM + 9 * LINE_BYTES, 4).is_some());
}

#[test]
fn only_a_read_of_the_line_itself_ends_the_mode() {
    let mut rig = empty();
    rig.fill(0, 9, &[]);
    // A barrier does not, between two lines.
    rig.synchronize();
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(10, 10, &[])), 0);
    rig.step(11 * LINE_BYTES);
    rig.synchronize();
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(11, 13, &[])), 3);
    rig.step(14 * LINE_BYTES);
    assert_eq!(rig.filled_by(|rig| _ = rig.word(RAM + 0x1000)), 1);
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(14, 15, &[14 * LINE_BYTES])), 0);
    rig.step(16 * LINE_BYTES);
    rig.now += 100;
    // The word that is gathered is written first.
    assert_eq!(rig.word(RAM + 16 * LINE_BYTES), (READ + LINE, 16 * LINE_BYTES));
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(17, 25, &[])), 3);
    // So does a read of the line whose burst is under way.
    assert_eq!(rig.word(RAM + 25 * LINE_BYTES), (2 * LINE, 25 * LINE_BYTES));
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(26, 30, &[])), 3);
}

#[test]
fn software_turns_it_off() {
    let mut rig = warm(streaming(), Registers { streams: [false, true], ..all_on() });
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(0, 19, &[])), 20);
    let mut rig = warm(MemoryConfig { store_buffer_entries: 0, ..streaming() }, all_on());
    assert_eq!(rig.filled_by(|rig| _ = rig.fill(0, 19, &[])), 20);
}

#[test]
fn the_second_level_takes_lines_until_it_streams_too() {
    for (streams, outer_lines, kept) in [(true, 0, 40), (true, 5, 3 + 5), (false, 5, 40)] {
        let read_allocate = ReadAllocate { lines: 3, outer_lines };
        let registers = Registers { streams: [true, streams], ..all_on() };
        let mut rig = with_outer(warm(MemoryConfig { read_allocate, ..streaming() }, registers), true);
        assert_eq!(rig.filled_by(|rig| _ = rig.fill(0, 39, &[])), 3);
        rig.synchronize();
        let outer = rig.bus.outer().unwrap();
        let lines = (0..outer.sets()).flat_map(|set| (0..4).map(move |way| (set, way)));
        assert_eq!(lines.filter(|(set, way)| outer.line_at(*set, *way).is_some()).count(), kept, "{outer_lines}");
    }
}

#[test]
fn a_full_second_level_sends_a_line_for_each() {
    let mut rig = with_outer(empty(), true);
    // 128 lines fill it; the bus takes 21 cycles for each further one.
    rig.fill(0, 299, &[]);
    assert_eq!(rig.fill(300, 399, &[]), 100 * LINE);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Stores to words in a row, the first at this offset, and some cycles between them.
    Fill(u32, u32, u64),
    Load(u32),
    Wait(u64),
    Synchronize,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let at = || (0u32..0x4000).prop_map(|at| at & !3);
    let step = prop_oneof![
        4 => (at(), 1u32..100, 1u64..4).prop_map(|(at, words, gap)| Step::Fill(at, words, gap)),
        2 => at().prop_map(Step::Load),
        1 => (0u64..60).prop_map(Step::Wait),
        1 => Just(Step::Synchronize),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(40, 200)))]

    /// With shortcuts, as compiled code uses them, everything takes the time that it takes without.
    #[test]
    fn shortcuts_change_no_time(steps in steps(), outer: bool, outer_lines in 0u32..4) {
        let config = MemoryConfig { read_allocate: ReadAllocate { lines: 3, outer_lines }, ..streaming() };
        let [mut quick, mut slow] = [(); 2].map(|()| {
            let rig = warm(config, all_on());
            if outer { with_outer(rig, true) } else { rig }
        });
        let store = |quick: &mut Rig, slow: &mut Rig, at: u32, gap: u64| {
            quick.now += gap;
            slow.now += gap;
            match quick.memory.store_shortcut(RAM + at, 4) {
                Some(_) => (0, slow.put(RAM + at, at)),
                None => (quick.put(RAM + at, at), slow.put(RAM + at, at)),
            }
        };
        for step in steps {
            match step {
                Step::Fill(at, words, gap) => {
                    for word in 0..words {
                        let (one, other) = store(&mut quick, &mut slow, (at + 4 * word) & 0x3fff, gap);
                        prop_assert_eq!(one, other);
                    }
                }
                Step::Load(at) => {
                    let shortcut = quick.memory.load_shortcut(RAM + at, 4).is_some();
                    let cycles = if shortcut { 0 } else { quick.word(RAM + at).0 };
                    prop_assert_eq!(cycles, slow.word(RAM + at).0);
                }
                Step::Wait(cycles) => {
                    quick.now += cycles;
                    slow.now += cycles;
                }
                Step::Synchronize => prop_assert_eq!(quick.synchronize(), slow.synchronize()),
            }
            prop_assert_eq!(quick.memory.state.streaming, slow.memory.state.streaming);
            prop_assert_eq!(quick.fills(), slow.fills());
        }
    }
}
