use super::*;
use crate::time::Cycles;
use proptest::prelude::*;

static PROGRAM: Activity = Activity::new(Kind::Busy, "program", "a page");
static SHIFTING: Activity = Activity::new(Kind::Wire, "shifting", "clocks").joining();
static FRAME: Activity = Activity::new(Kind::Frame, "frame", "selected");

const ROOM: usize = 1 << 20;

fn flash() -> (Activities, Scope) {
    let activities = Activities::default();
    let scope = activities.scope("flash0");
    activities.start(Kinds::ALL, ROOM);
    (activities, scope)
}

/// The recorded spans: name, begin, end.
fn recorded(activities: &Activities) -> Vec<(&'static str, u64, u64)> {
    let tracks = activities.tracks();
    let all = activities.instances(Ps::ZERO, Ps(1_000_000_000), usize::MAX);
    all.into_iter().map(|span| (tracks[span.track as usize].activity.name, span.begin.0, span.end.0)).collect()
}

#[test]
fn nothing_is_recorded_before_it_is_asked_for_and_of_kinds_that_are_not() {
    let activities = Activities::default();
    let scope = activities.scope("flash0");
    scope.span(&PROGRAM, Ps(1), Ps(5), Detail::None);
    activities.start(Kinds::of(&[Kind::Wire]), ROOM);
    scope.span(&PROGRAM, Ps(6), Ps(9), Detail::None);
    scope.span(&SHIFTING, Ps(6), Ps(9), Detail::None);
    // A clone is made to try something, and records nothing.
    scope.clone().span(&SHIFTING, Ps(16), Ps(19), Detail::None);
    activities.end(Ps(20));
    scope.span(&SHIFTING, Ps(26), Ps(29), Detail::None);
    assert_eq!(recorded(&activities), [("shifting", 6, 9)]);
}

#[test]
fn an_end_can_be_recorded_later_and_changed() {
    let (activities, scope) = flash();
    scope.begin(&PROGRAM, Ps(10), Detail::None);
    scope.begin(&PROGRAM, Ps(12), Detail::None);
    assert_eq!(recorded(&activities), [("program", 10, 1_000_000_000)]);
    scope.end(&PROGRAM, Ps(20));
    scope.end(&PROGRAM, Ps(25));
    scope.span(&PROGRAM, Ps(30), Ps(90), Detail::None);
    scope.cut(&PROGRAM, Ps(50));
    scope.cut(&PROGRAM, Ps(70));
    assert_eq!(recorded(&activities), [("program", 10, 20), ("program", 30, 50)]);
    scope.ends_instead(&PROGRAM, Ps(70));
    activities.end(Ps(60));
    assert_eq!(recorded(&activities), [("program", 10, 20), ("program", 30, 60)]);
}

#[test]
fn what_is_awaited_goes_on_until_it_changes() {
    let (activities, scope) = flash();
    for (now, due) in [(10, Some(40)), (15, Some(40)), (20, Some(50)), (30, None), (60, Some(70)), (70, Some(80))] {
        scope.awaits(&PROGRAM, due.map(Ps), Ps(now), Detail::None);
    }
    let expected = [(10, 20), (20, 30), (60, 70), (70, 80)].map(|(begin, end)| ("program", begin, end));
    assert_eq!(recorded(&activities), expected);
}

#[test]
fn only_what_joins_is_joined() {
    let (activities, scope) = flash();
    for what in [&SHIFTING, &PROGRAM] {
        scope.span(what, Ps(10), Ps(20), Detail::None);
        scope.span(what, Ps(20), Ps(30), Detail::None);
        scope.span((what, 1), Ps(20), Ps(30), Detail::None);
    }
    let spans = recorded(&activities);
    let of = |name: &str| spans.iter().filter(|span| span.0 == name).map(|span| (span.1, span.2)).collect::<Vec<_>>();
    assert_eq!(of("shifting"), [(10, 30), (20, 30)]);
    assert_eq!(of("program"), [(10, 20), (20, 30), (20, 30)]);
}

#[test]
fn the_first_go_when_there_is_no_room() {
    let activities = Activities::default();
    let scope = activities.scope("flash0");
    activities.start(Kinds::ALL, 10 * size_of::<Span>());
    for at in 0..25 {
        scope.span(&PROGRAM, Ps(10 * at), Ps(10 * at + 5), Detail::None);
    }
    let summary = activities.summary();
    assert_eq!((summary.spans, summary.dropped, summary.complete_from), (10, 15, Ps(145)));
    assert_eq!(recorded(&activities)[0], ("program", 150, 155));
    activities.forget_before(Ps(200));
    assert_eq!((recorded(&activities).len(), activities.summary().dropped), (5, 15));
    (0..20).for_each(|_| scope.span(&PROGRAM, Ps(260), Ps::MAX, Detail::None));
    activities.end(Ps(270));
    assert_eq!(activities.summary().complete_from, Ps(270));
}

#[test]
fn a_frame_has_its_bytes() {
    let (activities, scope) = flash();
    scope.begin(&FRAME, Ps(10), Detail::None);
    scope.bits(&FRAME, 4, Some(0x9), None);
    scope.bits(&FRAME, 4, Some(0xf), None);
    scope.bits(&FRAME, 24, None, Some(0x20_ba18));
    scope.bits(&FRAME, 8 * 100, None, Some(0x5a));
    scope.end(&FRAME, Ps(20));
    let spans = activities.spans(Ps::ZERO, Ps(30));
    let Detail::Data(data) = &spans[0].detail else { panic!("no bytes") };
    assert_eq!((data.sent.as_slice(), data.received_bytes, data.received.len()), (&[0x9f][..], 103, 64));
    assert!(spans[0].detail.to_string().starts_with("sent 9f; received 20 ba 18 ff ff"));
    assert!(spans[0].detail.to_string().ends_with(" and 39 more"));
}

#[test]
fn interrupt_lines_have_tracks_by_where_they_end() {
    let (activities, scope) = flash();
    let lines = [("core 0, input 1", true, 5), ("core 0, input 1", true, 6), ("core 0, input 7", true, 8)];
    for (line, level, at) in lines.into_iter().chain([("core 0, input 1", false, 9)]) {
        scope.interrupt(line.to_owned(), level, Ps(at));
    }
    let tracks: Vec<_> = activities.tracks().into_iter().map(|track| (track.part, track.line)).collect();
    assert_eq!(tracks, [(0, "core 0, input 1".to_owned()), (1, "core 0, input 7".to_owned())]);
    assert_eq!(recorded(&activities), [("interrupt", 5, 9), ("interrupt", 8, 1_000_000_000)]);
}

/// An iteration of a loop: waits, words on the wire, frames.
fn iterate(scope: &Scope, clock: Hz, begin: u64, cycles: u64) {
    let at = |cycle: u64| clock.ps_at_floor(Cycles(begin + cycle));
    scope.clocked_span(&SHIFTING, clock, at(1), at(3), Detail::None);
    scope.bits(&FRAME, 8, Some(0xff), Some(begin as u32 & 1));
    scope.end(&FRAME, at(4));
    scope.clocked_span((&SHIFTING, 1), clock, at(0), at(cycles), Detail::None);
    scope.begin(&FRAME, at(5), Detail::None);
    scope.bits(&FRAME, 16, None, Some(0x55aa));
    // A frame of a channel that is never deselected.
    scope.bits((&FRAME, 1), 8, Some(0x12), None);
}

proptest! {
    /// Skipped iterations record the same as iterations that run, to the picosecond, also on clocks without a whole
    /// period.
    #[test]
    fn skipped_iterations_are_recorded_as_if_they_ran(
        hz in prop::sample::select(vec![498_000_000, 99_038_462, 100_000_000, 33_333_333]),
        cycles in 6u64..40,
        count in 1u64..200,
        start in 0u64..1000,
    ) {
        let clock = Hz::new(hz).unwrap();
        let cycles = cycles * 2;
        let run = |skip: u64| {
            let (activities, scope) = flash();
            scope.begin((&FRAME, 1), Ps::ZERO, Detail::None);
            let mut begin = 2 * start;
            let mut left = count + 4;
            while left > 0 {
                let mark = activities.mark();
                iterate(&scope, clock, begin, cycles);
                (begin, left) = (begin + cycles, left - 1);
                // The first iteration differs from the others: no span was open before it.
                if left == count + 1 && skip > 0 {
                    assert!(activities.can_repeat(&mark, clock, cycles));
                    activities.repeat(&mark, clock, cycles, skip);
                    (begin, left) = (begin + skip * cycles, left - skip);
                }
            }
            let tracks = activities.tracks();
            let each = activities.instances(Ps::ZERO, Ps::MAX, usize::MAX);
            each.into_iter()
                .map(|span| {
                    let track = &tracks[span.track as usize];
                    (track.activity.name, track.part, span.begin, span.end, span.detail.to_string())
                })
                .collect::<Vec<_>>()
        };
        prop_assert_eq!(run(count), run(0));
    }

    /// The repetitions within a window are found.
    #[test]
    fn a_window_has_its_part(from in 0u64..3000, length in 0u64..500) {
        let (activities, scope) = flash();
        let clock = Hz::new(1_000_000_000_000).unwrap();
        let mark = activities.mark();
        scope.span(&PROGRAM, Ps(10), Ps(17), Detail::None);
        activities.repeat(&mark, clock, 20, 99);
        let (from, to) = (Ps(from), Ps(from + length));
        let expected = (0..100).map(|nth| (Ps(10 + 20 * nth), Ps(17 + 20 * nth)));
        let expected: Vec<_> = expected.filter(|(begin, end)| *end > from && *begin < to).collect();
        let spans = activities.spans(from, to);
        let found: Vec<_> = spans.iter().flat_map(|span| span.instances_within(from, to)).collect();
        prop_assert_eq!(&found, &expected);
        let sum: u64 = expected.iter().map(|(begin, end)| (end.min(&to).0) - (begin.max(&from).0)).sum();
        prop_assert_eq!(spans.iter().map(|span| span.within(from, to).0).sum::<u64>(), sum);
    }
}

#[test]
fn spans_that_cannot_be_repeated_exactly_prevent_a_skip() {
    let (activities, scope) = flash();
    let clock = Hz::new(498_000_000).unwrap();
    let mark = activities.mark();
    // Its begin is between two edges.
    scope.span(&PROGRAM, Ps(3_001), Ps(5_000), Detail::None);
    assert!(!activities.can_repeat(&mark, clock, 10));
    // 249 cycles are a whole number of picoseconds.
    assert!(activities.can_repeat(&mark, clock, 249));
    let mark = activities.mark();
    scope.cut(&PROGRAM, Ps(4_000));
    assert!(!activities.can_repeat(&mark, clock, 249));
    let mark = activities.mark();
    scope.begin(&FRAME, Ps(6_000), Detail::None);
    assert!(!activities.can_repeat(&mark, clock, 249), "what goes on did not before");
}

/// The time of `from..to` by activity, programs before shifting, in picoseconds.
fn shared(activities: &Activities, from: u64, to: u64) -> Vec<(&'static str, u64)> {
    let tracks = activities.tracks();
    let rank = |candidate: Candidate| match candidate.activity.kind {
        Kind::Busy => Some(0),
        Kind::Wire => Some(1),
        _ => None,
    };
    let mut found = Vec::new();
    activities.share(&[(Ps(from), Ps(to))], &mut Ranks::default(), rank, |_, shares| {
        found.extend(shares.iter().map(|(track, time)| (tracks[*track as usize].activity.name, time.0)));
    });
    found.sort_unstable();
    found
}

#[test]
fn what_one_core_wants_no_more_is_kept_for_the_others() {
    let activities = Activities::default();
    let scope = activities.scope("flash0");
    activities.start_for_waits(2);
    scope.span(&PROGRAM, Ps(10), Ps(20), Detail::None);
    scope.span(&PROGRAM, Ps(30), Ps(40), Detail::None);
    activities.waited_to(0, Ps(50));
    assert_eq!(shared(&activities, 0, 50), [("program", 20)]);
    activities.waited_to(1, Ps(25));
    assert_eq!(shared(&activities, 0, 50), [("program", 10)]);
}

proptest! {
    /// The search by tracks finds the same spans as a look at each picosecond.
    #[test]
    fn an_interval_is_shared_out_as_each_picosecond_of_it_would_be(
        steps in proptest::collection::vec((0..2u8, 1..20u64, 1..20u64, 1..4u64), 1..30),
        from in 0..300u64,
        length in 1..200u64,
    ) {
        let activities = Activities::default();
        let scope = activities.scope("flash0");
        activities.start_for_waits(1);
        let clock = Hz::new(1_000_000_000_000).unwrap();
        let (mut ends, mut all) = ([0, 0], Vec::new());
        for (which, pause, busy, times) in steps {
            let end = &mut ends[which as usize];
            let activity = if which == 0 { &PROGRAM } else { &SHIFTING };
            let mark = activities.mark();
            let begin = *end + pause;
            scope.span(activity, Ps(begin), Ps(begin + busy), Detail::None);
            let step = pause + busy;
            if activities.can_repeat(&mark, clock, step) && times > 1 {
                activities.repeat(&mark, clock, step, times - 1);
                *end += times * step;
                all.extend((0..times).map(|nth| (which, begin + nth * step, begin + nth * step + busy)));
            } else {
                *end += step;
                all.push((which, begin, begin + busy));
            }
        }
        let is_in = |at: u64, (_, begin, end): &(u8, u64, u64)| (*begin..*end).contains(&at);
        let goes_on = |which: u8, at: u64| all.iter().any(|span| span.0 == which && is_in(at, span));
        let picoseconds = from..from + length;
        let programs = picoseconds.clone().filter(|at| goes_on(0, *at)).count() as u64;
        let shifting = picoseconds.filter(|at| !goes_on(0, *at) && goes_on(1, *at)).count() as u64;
        let expected: Vec<_> =
            [("program", programs), ("shifting", shifting)].into_iter().filter(|(_, time)| *time > 0).collect();
        prop_assert_eq!(shared(&activities, from, from + length), expected);
    }
}
