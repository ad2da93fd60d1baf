//! The pins in single cycles, as the configuration register shows them while the interface is on.

use proptest::prelude::*;

use super::modes::{SINGLE, Setup, WIDE, leave_and_set_up};
use super::*;

/// Chip select high, and IO0 driven low; the other lines are pulled up.
const GAP: u32 = 0x12e;
/// The same, selected.
const QUIET: u32 = 0x10e;

/// The pin bits in each of the next `cycles`.
fn look(soc: &mut Soc, cycles: usize) -> Vec<u32> {
    (0..cycles).map(|_| soc.config() & PINS).collect()
}

/// A command byte: each bit for two cycles, in the second with the clock high.
fn command(byte: u8) -> impl Iterator<Item = u32> {
    (0..16).map(move |cycle| QUIET | (cycle % 2) << 4 | u32::from(byte) >> (7 - cycle / 2) & 1)
}

/// The pins after a configuration write, until `rest` cycles after the command.
fn preamble(opcode: u8, rest: usize) -> Vec<u32> {
    let mut pins = vec![GAP; 3];
    for byte in [0xff, 0xab] {
        pins.extend(command(byte).chain([QUIET, GAP]));
    }
    pins.extend(command(opcode).chain(std::iter::repeat_n(QUIET, rest)));
    pins
}

/// The pins from the first cycle of a word of the stream to the fourth byte's first.
fn three_bytes(setup: Setup, word: u32) -> Vec<u32> {
    let [ddr, quad] = [CFG_DDR, CFG_QSPI].map(|bit| setup.bits & bit != 0);
    let bytes = word.to_le_bytes();
    // Bits at once, and the cycles for which they stay.
    let (lines, cycles) = match (quad, ddr) {
        (false, false) => (1, 2),
        (false, true) => (2, 2),
        (true, false) => (4, 2),
        (true, true) => (4, 1),
    };
    let pins = |cycle: usize| {
        let first = cycle / cycles * lines;
        let bits = u32::from(bytes[first / 8] << (first % 8)) >> (8 - lines) & ((1 << lines) - 1);
        let levels = match lines {
            1 => 0x10c | bits << 1,
            2 => 0xc | bits,
            _ => bits,
        };
        levels | (cycle as u32 % 2) << 4
    };
    (0..=setup.word_cycles() as usize / 4 * 3).map(pins).collect()
}

/// An interface and a flash that are set up for each other.
fn soc(setup: Setup) -> Soc {
    let mut soc = Soc::new();
    leave_and_set_up(&mut soc, SINGLE, setup.latency);
    soc.configure(setup.config());
    soc
}

fn setups() -> impl Iterator<Item = Setup> {
    WIDE.into_iter().map(|bits| Setup { bits, latency: 4 }).chain([SINGLE])
}

#[test]
fn the_preamble_stands_on_the_pins_with_its_gaps() {
    // Cycle 0 is the one after the write that reset counts as.
    assert_eq!(look(&mut Soc::new(), 58), preamble(0x03, 3));
    let opcodes = [0xbb, 0xbb, 0xeb, 0xeb, 0xed, 0xed, 0x03];
    for (setup, opcode) in setups().zip(opcodes) {
        let mut soc = soc(setup);
        soc.cycle += 1;
        assert_eq!(look(&mut soc, 62), preamble(opcode, 8)[1..], "{setup:?}");
        assert_eq!(soc.word(0x1000).1, word_at(0x1000), "{setup:?}");
        assert_eq!(soc.bus.notes(), [""; 0]);
    }
}

#[test]
fn looks_between_commands_find_each_as_far_as_it_is() {
    // In the first bit of FFh, after ABh and in the gap there, and in the last bit of 03h.
    for (cycle, pins) in [(3, 0x10f), (4, 0x11f), (37, QUIET), (38, GAP), (39, QUIET), (54, 0x11f), (55, QUIET)] {
        let mut soc = Soc::new();
        soc.cycle = cycle;
        assert_eq!(look(&mut soc, 1), [pins], "{cycle}");
        soc.cycle = 57;
        assert_eq!((soc.word(0x1000).1, soc.counter("sck_clocks")), (word_at(0x1000), 24 + 24 + 32));
    }
}

#[test]
fn words_stand_on_the_pins_bit_by_bit_and_rest_before_their_last_byte() {
    for setup in setups() {
        let mut soc = soc(setup);
        soc.word(0x1000);
        let length = setup.word_cycles() as usize;
        // The word after a first one is read without a request. The next one's first cycle is the one in which it is
        // held; DDR: the one before that.
        let late = usize::from(setup.bits & (CFG_DDR | CFG_QSPI) == CFG_DDR | CFG_QSPI);
        soc.cycle += (length - 1 - late) as u64;
        let pins = three_bytes(setup, word_at(0x1008));
        let (rest, moving) = pins.split_last().unwrap();
        assert_eq!(look(&mut soc, pins.len() + 5), [moving, &[*rest; 6]].concat(), "{setup:?}");
        // Looks change nothing.
        assert_eq!(soc.word(0x1004), (0, word_at(0x1004)), "{setup:?}");
        let last = (length / 4 + 1 + late) as u64;
        assert_eq!(soc.word(0x1008), (last, word_at(0x1008)), "{setup:?}");
    }
}

#[test]
fn one_byte_by_hand() {
    // The word at 1004h begins with 61h, whose first clock is half over when the word before is answered.
    let mut soc = Soc::new();
    soc.word(0x1000);
    let (low, high) = ([0x10c, 0x11c], [0x10e, 0x11e]);
    let pins = [low, high, high, low, low, low, low, high].concat();
    assert_eq!((word_at(0x1004).to_le_bytes()[0], look(&mut soc, 15)), (0x61, pins[1..].to_vec()));
}

#[test]
fn settings_that_read_wrong_data_show_them() {
    // The flash has 8 dummy clocks, and takes no command on four lines.
    for config in [0x8047_0000, 0x8049_0000, 0x8028_0000, 0x8068_0000] {
        let mut soc = Soc::new();
        soc.configure(config);
        soc.word(0x1000);
        let dual = config & CFG_QSPI == 0;
        let levels = if dual {
            // The register while the clock is high, over three bytes; the first clock began in the cycle of the answer.
            let pins = look(&mut soc, 23);
            assert_eq!(pins[0] & 0x10, 0x10);
            pins.iter().step_by(2).fold(0, |bits, pins| bits << 2 | pins & 3)
        } else {
            look(&mut soc, 5).iter().fold(0xff_ffff, |bits, pins| bits & ((pins & 0xf) * 0x11_1111))
        };
        let next = soc.word(0x1004).1;
        assert_ne!(next, word_at(0x1004), "{config:#x}");
        assert_eq!(levels, next.swap_bytes() >> 8, "{config:#x}");
    }
}

/// The pins at the ends of cycles, as waveforms have them.
fn recorded(soc: &Soc, cycles: &[u64]) -> Vec<u32> {
    let names = ["io0", "io1", "io2", "io3", "sck", "cs0"];
    let signals = soc.bus.waves.signals();
    let mut levels: Vec<bool> = signals.iter().map(|signal| signal.first).collect();
    let mut changes = soc.bus.waves.recorded().unwrap().map(Result::unwrap).peekable();
    let mut pins = Vec::new();
    for cycle in cycles {
        let end = Soc::clock().ps_at_floor(Cycles(cycle + 1));
        while let Some(change) = changes.next_if(|change| change.at < end) {
            levels[change.signal as usize] = change.level;
        }
        let level = |name: &&str| signals.iter().zip(&levels).any(|(signal, level)| signal.name == **name && *level);
        pins.push(names.iter().enumerate().map(|(bit, name)| u32::from(level(name)) << bit).sum());
    }
    pins
}

#[test]
fn waveforms_have_the_pins_that_the_register_shows() {
    for setup in setups() {
        // Requests, each followed by some cycles in which the register is read: the next word, the held one,
        // jumps.
        let words = [(0x1000, 90), (0x1004, 3), (0x1008, 60), (0x100c, 0), (0x2000, 7), (0x2004, 200), (0x1000, 20)];
        let play = |looks: bool| {
            let mut soc = soc(setup);
            if !looks {
                soc.call(|device, ctx| device.reset(ctx));
                soc.bus.waves.start();
            }
            soc.configure(setup.config());
            let mut seen = Vec::new();
            for (address, cycles) in [(None, 62)].into_iter().chain(words.map(|(word, cycles)| (Some(word), cycles))) {
                if let Some(address) = address {
                    soc.word(address);
                }
                if looks {
                    let begin = soc.cycle;
                    seen.extend((begin..).zip(look(&mut soc, cycles)));
                } else {
                    soc.cycle += cycles as u64;
                }
            }
            soc.call(|device, ctx| device.finish(ctx.now));
            (soc, seen)
        };
        let (_, seen) = play(true);
        // As a configuration write takes effect, the frame before it may not have ended.
        let seen = &seen[4..];
        let cycles: Vec<u64> = seen.iter().map(|(cycle, _)| *cycle).collect();
        let shown = recorded(&play(false).0, &cycles);
        for (index, ((cycle, pins), shown)) in seen.iter().zip(&shown).enumerate() {
            assert_eq!(shown & 0x30, pins & 0x30, "{setup:?}, cycle {cycle}: chip select and clock");
            let rises_next = seen.get(index + 1).is_some_and(|(next, pins)| *next == cycle + 1 && pins & 0x10 != 0);
            if pins & 0x20 == 0 && (pins & 0x10 != 0 || rises_next) {
                assert_eq!(shown & 0xf, pins & 0xf, "{setup:?}, cycle {cycle}: data");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A run with looks in it has the same times, words, clocks and notes as one without.
    #[test]
    fn looks_change_nothing(
        bits in 0..=WIDE.len(),
        latency in 0..=15u32,
        wrong in 0..8u32,
        steps in proptest::collection::vec(
            (0..10u8, 0..6u32, 0..90u64, proptest::collection::vec(1..30u64, 0..4)),
            1..40,
        ),
    ) {
        let bits = WIDE.get(bits).copied().unwrap_or(0);
        let config = Setup { bits, latency: if wrong == 0 { latency ^ 1 } else { latency } }.config();
        let run = |looks: bool| {
            let mut soc = soc(Setup { bits, latency });
            soc.configure(config);
            let (mut address, mut answers) = (0x1000, Vec::new());
            for (what, words, gap, looked) in &steps {
                let next = soc.cycle + if what % 3 == 0 { *gap } else { gap % 8 };
                for ahead in looked.iter().filter(|_| looks) {
                    soc.cycle += ahead;
                    if soc.cycle < next {
                        soc.config();
                    }
                }
                soc.cycle = next;
                if *what == 9 {
                    soc.configure(config);
                    continue;
                }
                address = if *what < 5 { address + 4 } else { 0x1000 + 4 * words };
                answers.push(soc.word(address));
            }
            let end = Soc::clock().ps_at_floor(Cycles(soc.cycle));
            soc.call(|device, _| device.finish(end));
            let counters = soc.bus.devices[0].as_ref().unwrap().counters();
            (answers, counters, soc.bus.notes().to_vec())
        };
        prop_assert_eq!(run(true), run(false));
    }
}
