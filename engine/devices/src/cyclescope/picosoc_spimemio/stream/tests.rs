//! The stream against the formulas, and against a model that takes one cycle at a time.

use engine::tiers::sized;
use proptest::prelude::*;

use super::super::mode::Width;
use super::*;

mod steps;

const MODES: [Width; 4] = [Width::SINGLE, Width::DUAL, Width::QUAD, Width::QUAD_DDR];

/// Lines that are not recorded.
struct Nothing;

impl Frames for Nothing {
    fn preamble(&mut self, _: u64, _: u64) {}
    fn frame(&mut self, _: u64, _: bool) {}
    fn address(&mut self, _: u64, _: u32) {}
    fn word(&mut self, _: u32, _: u64) {}
    fn cut(&mut self, _: u64, _: u32, _: u64) {}
}

/// Actions of the stream on the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Preamble(u64, u64),
    Frame(u64, bool),
    Address(u64, u32),
    Word(u32, u64),
    Cut(u64, u32),
}

impl Frames for Vec<Did> {
    fn preamble(&mut self, ready: u64, until: u64) {
        self.push(Did::Preamble(ready, until));
    }
    fn frame(&mut self, start: u64, command: bool) {
        self.push(Did::Frame(start, command));
    }
    fn address(&mut self, start: u64, address: u32) {
        self.push(Did::Address(start, address));
    }
    fn word(&mut self, address: u32, end: u64) {
        self.push(Did::Word(address, end));
    }
    fn cut(&mut self, at: u64, clocks: u32, _: u64) {
        self.push(Did::Cut(at, clocks));
    }
}

const fn mode(width: Width, continuous: bool, dummy_clocks: u32) -> Mode {
    Mode { width, continuous, dummy_clocks }
}

fn ask(stream: &mut Stream, at: u64, address: u32) -> u64 {
    stream.request(at, address, &mut Nothing)
}

/// Cycles of the word after the held one that have been on the pins before `at`.
fn passed(stream: &mut Stream, at: u64) -> u64 {
    match stream.look(at, &mut Nothing) {
        Position::Word { passed, .. } => passed,
        Position::Preamble { .. } => panic!("no word has been read"),
    }
}

/// A stream in `mode` that holds the word at 100h since the cycle that is returned with it.
fn streaming(mode: Mode) -> (Stream, u64) {
    let mut stream = Stream::reset();
    stream.restart(0, mode);
    let held = ask(&mut stream, 200, 0x100);
    (stream, held)
}

/// The same at rest: the word at 104h was read too, and held back its successor.
fn at_rest(mode: Mode) -> (Stream, u64) {
    let (stream, held) = streaming(mode);
    (stream, held + 1000)
}

#[test]
fn the_first_word_after_reset_comes_in_cycle_167() {
    assert_eq!(ask(&mut Stream::reset(), 1, 0x10_0000), 167);
    // The preamble is over after 54 cycles: a later request waits for its own address only.
    assert_eq!(ask(&mut Stream::reset(), 53, 0), 167);
    assert_eq!(ask(&mut Stream::reset(), 54, 0), 168);
}

#[test]
fn a_configuration_write_sends_the_preamble() {
    for width in MODES {
        for continuous in [false, true] {
            let mode = mode(width, continuous, 5);
            let read = mode.header_cycles() + 4 * mode.byte_cycles() + mode.capture_cycles();
            let mut stream = Stream::reset();
            stream.restart(1000, mode);
            assert_eq!(ask(&mut stream, 1004, 0x40), 1055 + read, "{mode:?}");
            stream.restart(5000, mode);
            assert_eq!(ask(&mut stream, 5100, 0x40), 5101 + read, "{mode:?}");
        }
    }
}

#[test]
fn a_jump_takes_what_the_mode_says() {
    for dummy_clocks in 0..=15 {
        let two_n = u64::from(2 * dummy_clocks);
        for (width, continuous, cycles) in [
            (Width::SINGLE, false, 131),
            (Width::DUAL, false, 83 + two_n),
            (Width::DUAL, true, 67 + two_n),
            (Width::QUAD, false, 51 + two_n),
            (Width::QUAD, true, 35 + two_n),
            (Width::QUAD_DDR, false, 36 + two_n),
            (Width::QUAD_DDR, true, 20 + two_n),
        ] {
            let mode = mode(width, continuous, dummy_clocks);
            let (mut stream, rest) = at_rest(mode);
            assert_eq!(ask(&mut stream, rest, 0x8000) - rest, cycles, "{mode:?}");
        }
    }
}

#[test]
fn words_stream_without_gaps_while_the_core_waits() {
    for (width, cycles) in [(Width::SINGLE, 64), (Width::DUAL, 32), (Width::QUAD, 16), (Width::QUAD_DDR, 8)] {
        let (mut stream, mut held) = streaming(mode(width, false, 3));
        for word in 1..20 {
            let answered = ask(&mut stream, held + 1 + word % 5, 0x100 + 4 * word as u32);
            assert_eq!(answered, held + cycles, "{width:?}");
            held = answered;
        }
    }
}

#[test]
fn the_held_word_is_there_at_once_and_lets_its_successor_come() {
    for (width, cycles) in [(Width::SINGLE, 18), (Width::DUAL, 10), (Width::QUAD, 6), (Width::QUAD_DDR, 5)] {
        let (mut stream, rest) = at_rest(mode(width, true, 3));
        assert_eq!(ask(&mut stream, rest, 0x104), rest, "{width:?}");
        assert_eq!(ask(&mut stream, rest + 1, 0x108), rest + cycles, "{width:?}");
    }
}

#[test]
fn asking_for_the_successor_lets_it_come_too() {
    let (mut stream, rest) = at_rest(mode(Width::QUAD, false, 0));
    assert_eq!(ask(&mut stream, rest, 0x108), rest + 6);
    assert_eq!(ask(&mut stream, rest + 7, 0x10c), rest + 6 + 16);
}

#[test]
fn the_word_after_a_first_one_comes_in_any_case() {
    let (mut stream, held) = streaming(Mode::RESET);
    // The successor has replaced it in the cycle of the request itself.
    assert_eq!(ask(&mut stream, held + 64, 0x104), held + 64);
    // That request is late for the cycle before, so the third word's last byte waited for it, but no longer than
    // its first three bytes took anyway.
    assert_eq!(ask(&mut stream, held + 65, 0x108), held + 128);
}

#[test]
fn a_request_in_the_last_cycle_before_a_word_holds_nothing_back() {
    let (mut stream, held) = streaming(Mode::RESET);
    assert_eq!(ask(&mut stream, held + 63, 0x100), held + 63);
    // 104h came at held + 64, and 108h follows at held + 128 without a request.
    assert_eq!(ask(&mut stream, held + 500, 0x108), held + 500);

    let (mut stream, held) = streaming(Mode::RESET);
    assert_eq!(ask(&mut stream, held + 62, 0x100), held + 62);
    assert_eq!(ask(&mut stream, held + 500, 0x108), held + 518);
}

#[test]
fn two_words_ahead_and_one_after_are_jumps() {
    for address in [0x10c, 0x100, 0x0fc] {
        let (mut stream, rest) = at_rest(Mode::RESET);
        assert_eq!(ask(&mut stream, rest, address), rest + 131, "{address:#x}");
    }
    // Before 104h comes, 108h is two ahead.
    let (mut stream, held) = streaming(Mode::RESET);
    assert_eq!(ask(&mut stream, held + 63, 0x108), held + 63 + 131);
    let (mut stream, held) = streaming(Mode::RESET);
    assert_eq!(ask(&mut stream, held + 64, 0x108), held + 128);
}

#[test]
fn a_second_masters_request_waits_for_the_firsts_answer() {
    let (mut stream, rest) = at_rest(Mode::RESET);
    let held = ask(&mut stream, rest, 0x2000);
    assert_eq!(ask(&mut stream, rest + 5, 0x2000), held + 1);
    assert_eq!(ask(&mut stream, rest + 5, 0x1000), held + 2 + 131);
}

#[test]
fn the_last_word_is_followed_by_the_first() {
    let (mut stream, rest) = at_rest(Mode::RESET);
    let held = ask(&mut stream, rest, 0xff_fffc);
    assert_eq!(ask(&mut stream, held + 1, 0), held + 64);
}

#[test]
fn straight_code_a_branch_and_a_jump_take_the_worked_examples_times() {
    // A word comes at T. A jump at T requests its target at T + 6; a branch has its fall-through read first.
    for (mode, jump, branch) in [(Mode::RESET, 137, 197), (mode(Width::DUAL, false, 8), 105, 133)] {
        let (mut stream, held) = streaming(mode);
        let target = ask(&mut stream, held + 6, 0x2000);
        assert_eq!(target - held, jump);
        let fall_through = ask(&mut stream, target + 6, 0x2004);
        assert_eq!(ask(&mut stream, fall_through + 2, 0x1000) - target, branch);
    }
}

#[test]
fn a_word_cut_off_has_had_its_clocks_up_to_then() {
    let (mut stream, held) = streaming(Mode::RESET);
    let mut did = Vec::new();
    stream.request(held + 20, 0x2000, &mut did);
    let jump = held + 20;
    let expected = [
        // The successor's first clock began with the end of the word, a cycle before that was held.
        Did::Cut(jump, 10),
        Did::Frame(jump + 2, true),
        Did::Address(jump + 18, 0x2000),
        Did::Word(0x2000, jump + 130),
    ];
    assert_eq!(did, expected);
}

#[test]
fn a_word_held_back_has_had_three_bytes() {
    let (mut stream, rest) = at_rest(mode(Width::QUAD_DDR, true, 1));
    let mut did = Vec::new();
    stream.request(rest, 0x2000, &mut did);
    let held = rest - 1000 + 8;
    let expected = [
        Did::Word(0x104, held - 2),
        Did::Cut(rest, 3),
        Did::Frame(rest + 2, false),
        Did::Address(rest + 2, 0x2000),
        Did::Word(0x2000, rest + 20),
    ];
    assert_eq!(did, expected);
}

#[test]
fn the_successors_cycles_pass_on_the_pins_and_its_last_byte_waits() {
    let (mut stream, held) = streaming(Mode::RESET);
    // The word's last cycle stands on the pins in the one before it is held; its successor's first from then on.
    let looks = [1, 2, 63, 64, 65, 64 + 46, 64 + 47, 64 + 48, 500];
    let seen = looks.map(|later| passed(&mut stream, held + later));
    assert_eq!(seen, [1, 2, 63, 0, 1, 46, 47, 48, 48]);
    // With a request, the rest follows: first on the pins in the second cycle after it.
    assert_eq!(ask(&mut stream, held + 500, 0x104), held + 500);
    assert_eq!([501, 502, 503, 517, 518].map(|later| passed(&mut stream, held + later)), [48, 48, 49, 63, 0]);
}

#[test]
fn at_the_double_rate_the_word_after_begins_before_its_predecessor_is_held() {
    let (mut stream, held) = streaming(mode(Width::QUAD_DDR, false, 1));
    assert_eq!([1, 6, 7, 8, 9].map(|later| passed(&mut stream, held + later)), [2, 7, 8, 1, 2]);
}

#[test]
fn a_second_masters_look_sees_the_cycle_of_the_answer() {
    let (mut stream, rest) = at_rest(Mode::RESET);
    let held = ask(&mut stream, rest, 0x2000);
    assert_eq!([rest + 3, held].map(|at| passed(&mut stream, at)), [0, 0]);
}

#[test]
fn a_stop_cuts_the_preamble_or_the_word() {
    let mut did = Vec::new();
    Stream::reset().stop(7, &mut did);
    let (mut stream, held) = streaming(Mode::RESET);
    stream.stop(held + 64 + 47, &mut did);
    stream.stop(held + 64 + 49, &mut did);
    let expected =
        [Did::Preamble(54, 7), Did::Word(0x104, held + 63), Did::Cut(held + 64 + 47, 24), Did::Cut(held + 64 + 49, 24)];
    assert_eq!(did, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(400, 2_000)))]

    /// The arithmetic is what a machine does that goes through every cycle.
    #[test]
    fn it_answers_as_the_machine_that_takes_each_cycle(
        width in 0..MODES.len(),
        continuous: bool,
        dummy_clocks in 0..=15u32,
        requests in proptest::collection::vec((0..14u8, 0..6u32, 0..140u64), 1..60),
    ) {
        let mode = mode(MODES[width], continuous, dummy_clocks);
        let mut stream = Stream::reset();
        let mut steps = steps::Machine::new(Mode::RESET, 54);
        let (mut at, mut address, mut fresh) = (0, 0x40, true);
        for (index, (what, words, gap)) in requests.into_iter().enumerate() {
            // Most requests follow each other closely; some come in the cycle after the answer.
            at += 1 + if what % 3 == 0 { gap } else { gap % 8 };
            if index == 3 || what == 11 {
                stream.stop(at, &mut Nothing);
                stream.restart(at, mode);
                steps.restart(at, mode);
                fresh = true;
                continue;
            }
            if what > 11 {
                if !fresh {
                    prop_assert_eq!(passed(&mut stream, at), steps.look(at), "look {} at {}", index, at);
                }
                continue;
            }
            fresh = false;
            address = if what < 4 { address + 4 } else { 0x40 + 4 * words };
            let answered = ask(&mut stream, at, address);
            prop_assert_eq!(answered, steps.request(at, address), "request {} at {}", index, at);
            at = answered;
        }
    }
}
