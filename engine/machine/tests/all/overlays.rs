//! Code and data in an overlay, and next to it: the results are those of the same memory at its own address, and those
//! without an overlay, interpreted and compiled.

use crate::whole::support::riscv;
use crate::{Machine, RunReport};
use engine::bus::{MapEntry, Target};
use engine::memory::ram::{PortTiming, Ram};
use engine::time::{Cycles, Ps};
use std::collections::BTreeMap;

const BYTES: u32 = 0x400;
/// Where the overlay begins in the DDR, and where the same memory is at its own address.
const INTO_DDR: u32 = 0x4100;
const OWN: u32 = 0x0d00_0100;

/// The results of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    cycles: Cycles,
    instructions: u64,
    /// By name: a range with an overlay has several entries in the map.
    causes: BTreeMap<String, u64>,
    counters: Vec<(String, u64)>,
}

fn seen(machine: &mut Machine) -> Seen {
    let report: RunReport = machine.run(Ps::from_us(20_000), |_| true);
    riscv::assert_exit(&report);
    let core = &report.cores[0];
    let mut causes = BTreeMap::new();
    core.causes().into_iter().for_each(|(name, cycles)| *causes.entry(name).or_default() += cycles.0);
    causes.retain(|_, cycles: &mut u64| *cycles > 0);
    Seen { cycles: core.cycles, instructions: core.instructions, causes, counters: core.counters.clone() }
}

/// Adds a memory that takes five cycles to a machine, over the DDR or at its own address.
fn lay(machine: &mut Machine, at: u32, cacheable: bool) {
    let bus = machine.bus();
    let ram = Target::Ram(bus.rams.len());
    bus.rams.push(Ram::new(BYTES, PortTiming::symmetric(riscv::clock(), Cycles(5), Cycles(1), 4)));
    let entry = MapEntry::new("fast", at, at + BYTES - 1, ram).on_route(Some(0)).kept_in_caches(cacheable);
    if at == OWN {
        bus.map.push(entry);
        bus.map.sort_by_key(|entry| entry.base);
    } else {
        bus.lay(entry);
    }
}

mod on_risc_v {
    use super::*;
    use crate::whole::support::riscv::*;

    const OVER: u32 = DDR + INTO_DDR;

    fn address(rd: u32, value: u32) -> [u32; 2] {
        [lui(rd, value.wrapping_add(0x800)), addi(rd, rd, (value << 20) as i32 >> 20)]
    }

    /// A machine whose program jumps to `code` with `x5` in x5, and the first address after the overlay in x8.
    fn machine_at(at: u32, x5: u32, caches: u32) -> Machine {
        let start = [&address(5, x5)[..], &address(8, OVER + BYTES), &address(6, at), &[jalr(0, 6, 0)]].concat();
        match caches {
            0 => machine_of(config(None, None), LOCAL, &start),
            ways => machine(LOCAL, &start, ways),
        }
    }

    /// 200 rounds with a literal of its own, words of the DDR on both sides of the overlay, and stores.
    fn rounds() -> Vec<u32> {
        let body = [
            lw(6, 5, 0x80),
            lw(7, 8, -(BYTES as i32) - 4),
            add(6, 6, 7),
            lw(7, 8, 0),
            add(6, 6, 7),
            sw(6, 5, 0x3fc),
            sw(6, 8, 4),
            lw(7, 5, 0x3fc),
            addi(10, 10, -1),
        ];
        let back = bne(10, 0, -4 * body.len() as i32);
        then_exit(&[&[addi(10, 0, 200)], &body[..], &[back]].concat())
    }

    #[test]
    fn a_loop_takes_the_time_of_its_memory() {
        for (caches, cacheable) in [(0, false), (1, false), (1, true), (4, true)] {
            let run = |at: u32, compile_after: u16| {
                let mut machine = machine_at(at, at, caches);
                super::lay(&mut machine, at, cacheable);
                put(&mut machine, at, &rounds());
                machine.compile_after(compile_after);
                let seen = seen(&mut machine);
                let words = [at + 0x3fc, OVER + BYTES + 4].map(|addr| machine.bus().peek_word(addr));
                (seen, words)
            };
            let own = run(OWN, 0);
            assert!(own.0.causes["fetch: fast"] > 0);
            for (at, compile_after) in [(OVER, 0), (OVER, 1), (OWN, 1)] {
                assert_eq!(run(at, compile_after), own, "{at:#x} {caches} {cacheable} {compile_after}");
            }
        }
    }

    #[test]
    fn what_is_beside_an_overlay_is_as_without() {
        let length = 4 * rounds().len() as u32;
        for (code, caches) in
            [(OVER - length, 0), (OVER - length, 1), (OVER + BYTES + 0x40, 0), (OVER + BYTES + 0x40, 1)]
        {
            let run = |overlay: bool, compile_after: u16| {
                let mut machine = machine_at(code, OVER + BYTES + 0x400, caches);
                if overlay {
                    super::lay(&mut machine, OVER, true);
                }
                put(&mut machine, code, &rounds());
                machine.compile_after(compile_after);
                let seen = seen(&mut machine);
                (seen, machine.bus().peek_word(OVER + BYTES + 0x7fc), machine.bus().peek_word(OVER + BYTES + 4))
            };
            let without = run(false, 0);
            for compile_after in [0, 1] {
                assert_eq!(run(true, compile_after), without, "{code:#x} {caches} {compile_after}");
            }
        }
    }

    #[test]
    fn code_goes_on_into_an_overlay_and_out_of_it() {
        // A short instruction, so that others lie across both ends: 2 bytes, then addi x10, x10, 1.
        let count = (BYTES + 0x80) / 4;
        let words = then_exit(&vec![addi(10, 10, 1); count as usize]);
        let bytes =
            [&[0x01, 0x00][..], &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()].concat();
        let start = OVER - 0x40;
        for (caches, cacheable) in [(0, false), (1, false), (1, true)] {
            let run = |compile_after: u16| {
                let mut machine = machine_at(start, start, caches);
                super::lay(&mut machine, OVER, cacheable);
                assert!(machine.bus().poke(start, &bytes));
                machine.compile_after(compile_after);
                let seen = seen(&mut machine);
                assert_eq!(seen.instructions, 7 + 1 + u64::from(count) + EXIT_CYCLES);
                seen
            };
            assert_eq!(run(1), run(0), "{caches} {cacheable}");
        }
    }

    #[test]
    fn code_that_is_written_over_in_an_overlay_is_decoded_anew() {
        // In the first round, the loop makes its first instruction addi x10, x10, 16.
        for caches in [0, 1] {
            let run = |at: u32| {
                let body = [addi(10, 10, 1), lw(6, 5, 0x80), sw(6, 5, 4), FENCE_I, addi(11, 11, -1)];
                let back = bne(11, 0, -4 * body.len() as i32);
                let code = then_exit(&[&[addi(11, 0, 20)], &body[..], &[back, sw(10, 5, 0x84)]].concat());
                let mut machine = machine_at(at, at, caches);
                super::lay(&mut machine, at, true);
                put(&mut machine, at, &code);
                put(&mut machine, at + 0x80, &[addi(10, 10, 16)]);
                machine.compile_after(1);
                let seen = seen(&mut machine);
                assert_eq!(machine.bus().peek_word(at + 0x84), Some(1 + 19 * 16));
                seen
            };
            assert_eq!(run(OVER), run(OWN), "{caches}");
        }
    }
}

mod on_mips {
    use super::*;
    use crate::whole::support::mips::*;

    const OVER: u32 = DDR + INTO_DDR;

    /// Rounds that call a function in the same page of the DDR, or of another.
    fn run(at: u32, cacheable: bool, compile_after: u16) -> Seen {
        let beside = DDR + INTO_DDR - 0x40;
        let code = KSEG0 + at;
        let start = [NORMAL, la(S0, code), ori(S0, S0, code & 0xffff), la(S1, KSEG0 + beside)];
        let start = [&start[..], &[ori(S1, S1, beside & 0xffff), addiu(T0, ZERO, 100), jr(S0), NOP]].concat();
        let mut machine = machine(PROGRAM, &start);
        super::lay(&mut machine, at, cacheable);
        // jalr ra, s1; lw in its delay slot.
        let call = [register(0x09, RA, S1, 0), lw(T1, S0, 0x80), addiu(T0, T0, -1), sw(T2, S0, 0x3fc)];
        let body = [&call[..], &[bne(T0, ZERO, -(call.len() as i32 + 1)), NOP]].concat();
        put(&mut machine, code, &then_exit(&body));
        put(&mut machine, code + 0x80, &[3]);
        put(&mut machine, KSEG0 + beside, &[addu(T2, T2, T1), jr(RA), NOP]);
        machine.compile_after(compile_after);
        let seen = seen(&mut machine);
        assert_eq!(machine.bus().peek_word(at + 0x3fc), Some(300));
        seen
    }

    #[test]
    fn a_page_may_be_in_part_of_another_memory() {
        for cacheable in [false, true] {
            let own = run(OWN, cacheable, 0);
            assert!(own.causes["fetch: fast"] > 0);
            for (at, compile_after) in [(OVER, 0), (OVER, 1), (OWN, 1)] {
                assert_eq!(run(at, cacheable, compile_after), own, "{at:#x} {cacheable} {compile_after}");
            }
        }
    }
}
