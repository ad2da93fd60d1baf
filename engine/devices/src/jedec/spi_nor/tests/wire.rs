//! Whole bytes and single clocks on the wire, and arbitrary signals.

use proptest::prelude::*;

use super::super::commands::{self, Command, n25q};
use super::*;

/// The parts of a frame in the property tests.
#[derive(Clone, Debug)]
enum Piece {
    Select,
    Deselect,
    Wait(u64),
    Shift(Burst),
}

fn lines() -> impl Strategy<Value = Lines> {
    prop_oneof![Just(Lines::Single), Just(Lines::Dual), Just(Lines::Quad)]
}

fn burst() -> impl Strategy<Value = Burst> {
    (lines(), any::<bool>(), any::<bool>(), 1u32..=32, any::<u32>()).prop_map(
        |(lines, double, driven, clocks, bits)| {
            let rate = if double { Rate::Double } else { Rate::Single };
            let clocks = clocks.min(32 / (lines as u32 * rate as u32));
            let width = clocks * lines as u32 * rate as u32;
            let (drive, bits) =
                if driven { (Drive::Controller, bits & (u32::MAX >> (32 - width))) } else { (Drive::Target, 0) };
            Burst { lines, rate, drive, clocks, bits }
        },
    )
}

/// A select and a command of the table on one line, often with a plausible rest.
fn opening(commands: &'static [Command]) -> impl Strategy<Value = Vec<Piece>> {
    (0..commands.len(), any::<u8>(), lines(), any::<u32>(), any::<bool>()).prop_map(|case| {
        let (index, low, lines, rest, write_enable) = case;
        let command = &commands[index];
        let mut pieces = Vec::new();
        if write_enable {
            pieces.extend([Piece::Select, Piece::Shift(Burst::byte_out(Lines::Single, 0x06)), Piece::Deselect]);
        }
        pieces.extend([Piece::Select, Piece::Shift(Burst::byte_out(Lines::Single, command.opcode))]);
        if let Some(lines) = command.address {
            for byte in [0, 0, low] {
                pieces.push(Piece::Shift(Burst::byte_out(lines, byte)));
            }
        }
        let bits = rest & (u32::MAX >> (32 - 8 * lines as u32));
        pieces.push(Piece::Shift(Burst { lines, rate: Rate::Single, drive: Drive::Controller, clocks: 8, bits }));
        pieces
    })
}

fn pieces(commands: &'static [Command]) -> impl Strategy<Value = Vec<Piece>> {
    let any_piece = prop_oneof![
        4 => opening(commands),
        1 => Just(vec![Piece::Select]),
        2 => Just(vec![Piece::Deselect]),
        1 => (0u64..2_000_000_000_000).prop_map(|wait| vec![Piece::Wait(wait)]),
        8 => burst().prop_map(|burst| vec![Piece::Shift(burst)]),
    ];
    proptest::collection::vec(any_piece, 1..60).prop_map(|pieces| pieces.concat())
}

/// Plays the pieces; with `by_clock` each burst clock by clock, which never takes the path for whole bytes.
fn play(bench: &mut Bench, pieces: &[Piece], by_clock: bool) -> Vec<u32> {
    let mut seen = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Select => bench.select(),
            Piece::Deselect => bench.deselect(),
            Piece::Wait(wait) => bench.wait(Ps(*wait)),
            Piece::Shift(burst) if by_clock => {
                let width = burst.bits_per_clock();
                let start = bench.now;
                let mut sampled = 0_u32;
                for clock in 1..=burst.clocks {
                    let bits = burst.bits >> ((burst.clocks - clock) * width) & ((1 << width) - 1);
                    bench.now = start + Ps(CLOCK_PS * u64::from(clock));
                    let one = Burst { clocks: 1, bits, ..*burst };
                    sampled = sampled.unbounded_shl(width) | bench.flash.shift(one, bench.now);
                }
                seen.push(sampled);
            }
            Piece::Shift(burst) => seen.push(bench.burst(*burst)),
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whole_bytes_and_single_clocks_give_the_same(pieces in pieces(&n25q::COMMANDS)) {
        // Nonvolatile configuration register, bits 11 to 9 (XIP) with a reserved value: XIP is allowed, and not active.
        let xip = [("cyclescope,nonvolatile-configuration-register", cell(0xfbff))];
        let (mut whole, mut single) = (Bench::with(&xip), Bench::with(&xip));
        // A wait lies between frames only: within one, a burst's clocks are taken to be evenly spread over it.
        let pieces: Vec<Piece> = settle(pieces);
        prop_assert_eq!(play(&mut whole, &pieces, false), play(&mut single, &pieces, true));
        prop_assert_eq!(whole.notes(), single.notes());
        prop_assert_eq!(whole.flash.counters(), single.flash.counters());
        prop_assert_eq!(whole.flash.xip, single.flash.xip);
        prop_assert_eq!(format!("{:?}", whole.flash.registers), format!("{:?}", single.flash.registers));
        let (mut a, mut b) = (vec![0; 4096], vec![0; 4096]);
        prop_assert!(whole.flash.peek(0, &mut a) && single.flash.peek(0, &mut b));
        prop_assert_eq!(a, b);
    }

    #[test]
    fn an_fl_l_takes_whole_bytes_as_single_clocks_too(pieces in pieces(&commands::fl_l::COMMANDS)) {
        compare_fl_l(&settle(pieces))?;
    }

    #[test]
    fn no_signal_makes_it_panic(pieces in pieces(&n25q::COMMANDS), quad in any::<bool>()) {
        let register = if quad { 0xff77 } else { 0xf9ff }; // the quad protocol, or XIP from the start
        let mut bench = Bench::with(&[("cyclescope,nonvolatile-configuration-register", cell(register))]);
        play(&mut bench, &pieces, false);
        bench.flash.finish(bench.now).unwrap();
    }
}

/// The same of an FL-L, with QUAD set and a short latency.
fn compare_fl_l(pieces: &[Piece]) -> Result<(), TestCaseError> {
    let (mut whole, mut single) = (fl_l::bench(), fl_l::bench());
    for bench in [&mut whole, &mut single] {
        fl_l::set_up(bench, 1);
    }
    prop_assert_eq!(play(&mut whole, pieces, false), play(&mut single, pieces, true));
    prop_assert_eq!(whole.notes(), single.notes());
    prop_assert_eq!(whole.flash.counters(), single.flash.counters());
    prop_assert_eq!(format!("{:?}", whole.flash.registers), format!("{:?}", single.flash.registers));
    Ok(())
}

/// Moves each wait to after the next deselection.
fn settle(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut settled = Vec::new();
    let mut owed = 0;
    for piece in pieces {
        match piece {
            Piece::Wait(wait) => owed += wait,
            Piece::Deselect => settled.extend([Piece::Deselect, Piece::Wait(std::mem::take(&mut owed))]),
            other => settled.push(other),
        }
    }
    settled
}

#[test]
fn a_burst_may_hold_several_bytes_and_phases() {
    let mut bench = Bench::new();
    bench.program(0x12_3456, &[0xde, 0xad, 0xbe, 0xef]);
    bench.select();
    bench.shift(Lines::Single, Drive::Controller, 32, 0x0b12_3456);
    bench.shift(Lines::Single, Drive::Controller, 8, 0xff);
    assert_eq!(bench.shift(Lines::Single, Drive::Target, 32, 0), 0xdead_beef);
    assert_eq!(bench.shift(Lines::Single, Drive::Target, 3, 0), 0b111);
}

#[test]
fn clocks_without_selection_do_nothing() {
    let mut bench = Bench::new();
    bench.out(Lines::Single, &[0x06]);
    bench.deselect();
    assert_eq!(bench.read(Lines::Single, 1), [0xff]);
    assert_eq!(bench.status(), 0);
}

#[test]
fn an_unknown_or_partial_command_is_noted() {
    let mut bench = Bench::new();
    assert_eq!(bench.ask(&[0x35], 1), [0xff]);
    bench.select();
    bench.shift(Lines::Single, Drive::Controller, 5, 0);
    bench.deselect();
    assert_eq!(
        bench.notes(),
        [
            "command 35h ignored: the N25Q128A has no such command in this protocol",
            "a frame ended within its command byte: ignored",
        ]
    );
}

#[test]
fn a_controller_that_drives_against_the_chip_is_noted() {
    let mut bench = Bench::new();
    bench.select();
    bench.out(Lines::Single, &[0x6b, 0, 0, 0]);
    bench.dummies(Lines::Quad, 8);
    assert_eq!(bench.shift(Lines::Quad, Drive::Controller, 2, 0x5a), 0x5a, "the controller reads back its own bits");
    assert_eq!(bench.notes(), ["command 6Bh: the controller drives the lines on which the chip puts out data"]);
}
