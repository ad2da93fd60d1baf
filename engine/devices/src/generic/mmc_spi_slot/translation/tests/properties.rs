//! Whatever the host does: time goes forward, and totals explain the time that the flash took.

use proptest::prelude::*;

use super::*;
use engine::polling::{Poll, Polled};
use engine::time::{Cycles, Hz};

#[derive(Clone, Debug)]
enum Operation {
    /// First sector, sectors, announced.
    Write(u32, u32, u32),
    Read(u32, u32),
    Erase(u32, u32),
    Wait(u64),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    // Often near the end of the card, which has half a block there, and often in a small place.
    let sector = prop_oneof![0..CARD, CARD - 300..CARD, START..START + 300];
    let count = prop_oneof![Just(1_u32), 1..10_u32, 1..600_u32];
    let write = (sector.clone(), count.clone(), 0..10_u32).prop_map(|(lba, n, more)| match more {
        0..4 => Operation::Write(lba, n, n),
        4..7 => Operation::Write(lba, n, 0),
        _ => Operation::Write(lba, n, n + more - 8),
    });
    let operation = prop_oneof![
        6 => write,
        2 => (sector.clone(), count.clone()).prop_map(|(lba, n)| Operation::Read(lba, n)),
        1 => (sector, prop_oneof![count, Just(CARD)]).prop_map(|(lba, n)| Operation::Erase(lba, n)),
        1 => (0..5_000_000_000_u64).prop_map(Operation::Wait),
    ];
    prop::collection::vec(operation, 1..60)
}

const CARD: u32 = 256 * 100 + 128;

/// Carries out an operation, which the end of the card cuts short; every answer must be `now` or later.
fn carry_out(card: &mut Translation, operation: &Operation, now: Ps) -> Ps {
    let mut time = now;
    let mut after = |answer: Ps| {
        assert!(answer >= time, "{answer} is before {time}");
        time = answer;
        time
    };
    match *operation {
        Operation::Write(lba, sectors, announced) => {
            card.begin_write(lba, announced, now);
            let mut at = now;
            for sector in lba..(lba + sectors).min(CARD) {
                at = after(card.block(sector, at));
            }
            after(card.end_write(at))
        }
        Operation::Read(lba, sectors) => {
            let mut at = now;
            for sector in lba..(lba + sectors).min(CARD) {
                at = after(card.read(sector, sector != lba, at));
            }
            at
        }
        Operation::Erase(lba, sectors) => after(card.erase(lba, (lba + sectors - 1).min(CARD - 1), now)),
        Operation::Wait(ps) => now + Ps(ps),
    }
}

proptest! {
    #[test]
    fn time_goes_forward_and_totals_explain_it(operations in operations(), open_blocks in 1..4_usize) {
        let geometry = Geometry { card: CARD, open_blocks, ..GEOMETRY };
        let times = Times { stop: Ps::ZERO, read_access: Ps::ZERO, page_read: Ps::ZERO, ..TIMES };
        let mut card = Translation::new(geometry, times);
        let (mut now, mut waited) = (Ps::ZERO, Ps::ZERO);
        for operation in &operations {
            let end = carry_out(&mut card, operation, now);
            if matches!(operation, Operation::Wait(_)) {
                waited += end - now;
            }
            now = end;
        }
        let total = |name| card.counters().into_iter().find(|(known, _)| *known == name).unwrap().1;
        let flash = 830 * total("pages_programmed")
            + 500 * total("sectors_copied")
            + 1_100 * total("pages_copied")
            + 1_500 * total("blocks_erased");
        // The host takes no time and waits for the card after each command: the rest of the time is the flash's.
        prop_assert_eq!(now - waited, us(flash));
    }

    /// A slower host is never done sooner.
    #[test]
    fn a_slower_host_is_not_done_sooner(sectors in 1..200_u32, gap in 0..3_000_u64, more in 0..1_000_u64, known: bool) {
        let time = |gap| {
            let mut host = Host::with_open_block(4);
            host.gap = us(gap);
            host.write(START + 4, sectors, if known { sectors } else { 0 })
        };
        prop_assert!(time(gap) <= time(gap + more));
        prop_assert!(time(gap + more) <= time(gap) + us(u64::from(sectors) * more));
    }
}

#[test]
fn any_call_is_a_change_for_a_polling_loop() {
    let clock = Hz::new(1_000_000).unwrap();
    let look = |card: &mut Translation, cycle| {
        let mut poll = Poll::look(clock, Cycles(cycle));
        card.polled(&mut poll);
        poll
    };
    let mut card = Host::with_open_block(4).card;
    let before = look(&mut card, 10);
    assert!(look(&mut card, 20).repeats(&before));
    let calls: [fn(&mut Translation) -> Ps; 4] = [
        |card| card.block(START + 4, us(1)),
        |card| card.end_write(us(1)),
        |card| card.read(START, false, us(1)),
        |card| card.erase(START, START, us(1)),
    ];
    for call in calls {
        let before = look(&mut card, 30);
        call(&mut card);
        assert!(!look(&mut card, 40).repeats(&before));
    }
}
