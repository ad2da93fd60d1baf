use super::super::Seen;
use super::super::paths::Kind;
use super::*;
use crate::observe::profile::ProfileOptions;

const IRQ: Source = Source { name: "interrupt", number: Some(7), input: Some(7) };

/// A program with functions at 0x100, 0x200 ..., of which the first has begun.
fn program() -> Profile {
    let entries = (1..16).map(|number| 0x100 * number).collect();
    let options = ProfileOptions { entries, ..ProfileOptions::default() };
    let mut profile = Profile::new(&options, u32::MAX, Seen::default(), 0).unwrap();
    profile.begin(0x100, 0);
    profile
}

/// What the path that the core is on goes through: functions in hundreds.
fn path(profile: &Profile) -> Vec<u32> {
    let mut path = Vec::new();
    let mut at = Some(profile.here);
    while let Some(place) = at {
        let known = &profile.paths.all[place as usize];
        match &known.kind {
            Kind::Function(address) => path.push(address / 0x100),
            Kind::Exception(_) => path.push(99),
            Kind::Task(..) => {}
        }
        at = known.parent;
    }
    path.reverse();
    path
}

fn call(profile: &mut Profile, from: u32, to: u32, sp: u32, now: u64) {
    profile.follow(Flow::Call, from, 0x100 * to, sp, now);
}

fn calls_of(profile: &Profile, function: u32) -> Vec<(u64, u64)> {
    let all = profile.paths.all.iter().filter(|path| path.kind == Kind::Function(function * 0x100));
    all.map(|path| (path.calls, path.elapsed)).collect()
}

#[test]
fn calls_end_where_they_return_with_their_stack_pointer() {
    let mut profile = program();
    call(&mut profile, 0x110, 2, 0x8000, 10);
    call(&mut profile, 0x220, 3, 0x7f00, 20);
    assert_eq!(path(&profile), [1, 2, 3]);
    // To the right address, but within the function.
    profile.follow(Flow::Jump, 0x330, 0x220, 0x7e00, 25);
    assert_eq!(path(&profile), [1, 2, 3]);
    profile.follow(Flow::Jump, 0x330, 0x220, 0x7f00, 30);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 50);
    assert_eq!(path(&profile), [1]);
    assert_eq!((calls_of(&profile, 3), calls_of(&profile, 2)), (vec![(1, 10)], vec![(1, 40)]));
}

#[test]
fn recursion_has_a_path_for_each_depth() {
    let mut profile = program();
    for depth in 0..3 {
        call(&mut profile, 0x210, 2, 0x8000 - 16 * depth, u64::from(depth));
    }
    assert_eq!(path(&profile), [1, 2, 2, 2]);
    for depth in (0..3).rev() {
        profile.follow(Flow::Jump, 0x230, 0x210, 0x8000 - 16 * depth, 10 - u64::from(depth));
    }
    assert_eq!(path(&profile), [1]);
    assert_eq!(calls_of(&profile, 2), [(1, 10), (1, 8), (1, 6)]);
}

#[test]
fn a_tail_call_takes_the_place_of_its_caller() {
    let mut profile = program();
    call(&mut profile, 0x110, 2, 0x8000, 10);
    profile.follow(Flow::Jump, 0x230, 0x300, 0x8000, 20);
    assert_eq!(path(&profile), [1, 3]);
    profile.follow(Flow::Jump, 0x330, 0x110, 0x8000, 50);
    assert_eq!(path(&profile), [1]);
    assert_eq!((calls_of(&profile, 2), calls_of(&profile, 3)), (vec![(1, 10)], vec![(1, 30)]));
    // A jump to no function is one within the present one.
    profile.follow(Flow::Jump, 0x110, 0x150, 0x8000, 60);
    assert_eq!(path(&profile), [1]);
}

#[test]
fn longjmp_ends_all_calls_above() {
    let mut profile = program();
    call(&mut profile, 0x110, 2, 0x8000, 10);
    call(&mut profile, 0x220, 3, 0x7f00, 20);
    call(&mut profile, 0x330, 4, 0x7e00, 30);
    // Into the middle of the second function.
    profile.follow(Flow::Jump, 0x440, 0x228, 0x7f00, 40);
    assert_eq!(path(&profile), [1, 2]);
    assert_eq!((calls_of(&profile, 4), calls_of(&profile, 3)), (vec![(1, 10)], vec![(1, 20)]));
}

#[test]
fn an_interrupt_lies_on_what_it_interrupts() {
    let mut profile = program();
    call(&mut profile, 0x110, 2, 0x8000, 10);
    profile.exception(IRQ, 0x234, 0x7f80, 20);
    profile.handler(0x500, 32);
    call(&mut profile, 0x510, 6, 0x7000, 40);
    assert_eq!(path(&profile), [1, 2, 99, 5, 6]);
    // It returns from within what it called.
    profile.exception_return(0x234, 0x7f80, 60);
    assert_eq!(path(&profile), [1, 2]);
    assert_eq!((calls_of(&profile, 5), calls_of(&profile, 6)), (vec![(1, 28)], vec![(1, 20)]));
}

#[test]
fn a_return_that_leads_elsewhere_switches_tasks() {
    let mut profile = program();
    call(&mut profile, 0x110, 2, 0x8000, 10);
    profile.exception(IRQ, 0x234, 0x7f80, 20);
    profile.handler(0x500, 32);
    profile.exception_return(0x300, 0x20_0000, 60);
    assert_eq!(path(&profile), [3]);
    call(&mut profile, 0x310, 4, 0x1f_ff00, 70);
    profile.exception(IRQ, 0x444, 0x1f_fe00, 80);
    profile.handler(0x500, 92);
    profile.exception_return(0x234, 0x7f80, 99);
    assert_eq!(path(&profile), [1, 2]);
    // A call that yields goes on behind the instruction that asked for it.
    profile.exception(IRQ, 0x238, 0x7f80, 110);
    profile.handler(0x500, 122);
    profile.exception_return(0x446, 0x1f_fe00, 130);
    assert_eq!(path(&profile), [3, 4]);
    profile.follow(Flow::Jump, 0x450, 0x310, 0x1f_ff00, 140);
    assert_eq!((path(&profile), calls_of(&profile, 4)), (vec![3], vec![(1, 70)]));
}

#[test]
fn a_function_that_swaps_stacks_returns_in_the_other_task() {
    let mut profile = program();
    call(&mut profile, 0x110, 7, 0x8000, 10);
    // Function 7 switches to a new stack, and jumps to the task's function.
    profile.follow(Flow::Jump, 0x740, 0x300, 0x20_0000, 20);
    assert_eq!(path(&profile), [3]);
    call(&mut profile, 0x310, 7, 0x1f_ff00, 30);
    profile.follow(Flow::Jump, 0x740, 0x110, 0x8000, 40);
    assert_eq!(path(&profile), [1]);
    call(&mut profile, 0x120, 7, 0x8000, 50);
    profile.follow(Flow::Jump, 0x740, 0x310, 0x1f_ff00, 60);
    assert_eq!(path(&profile), [3]);
    assert_eq!(calls_of(&profile, 7), [(1, 30), (1, 30)]);
}

#[test]
fn calls_that_never_return_and_too_many_paths_fill_no_memory() {
    let mut profile = program();
    for call_number in 0..2 * MOST_FRAMES as u32 {
        call(&mut profile, 0x210, 2 + call_number % 7, 0x8000_0000 - 16 * call_number, 1);
    }
    assert_eq!(profile.stacks.current.frames.len(), MOST_FRAMES);
    assert_eq!(profile.stacks.lost, MOST_FRAMES as u64 + 1);
}

#[test]
fn calls_from_skipped_iterations_on_are_as_long_as_in_one() {
    let mut profile = program();
    profile.begin_repeating(100);
    call(&mut profile, 0x110, 2, 0x8000, 110);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 130);
    call(&mut profile, 0x110, 2, 0x8000, 140);
    let accounts = crate::cpu::memory::Accounts::default();
    profile.repeat((10, 500), Default::default(), Default::default(), &accounts);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 661);
    let path = profile.paths.all.iter().find(|path| path.kind == Kind::Function(0x200)).unwrap();
    assert_eq!((path.calls, path.longest), (12, 21));
}

#[test]
fn skipped_iterations_are_between_the_calls_before_them_and_the_last() {
    let entries = (1..16).map(|number| 0x100 * number).collect();
    let slices = crate::observe::profile::Slices { from: Ps::ZERO, to: Ps::MAX, most: 8 };
    let options = ProfileOptions { entries, slices: Some(slices), ..ProfileOptions::default() };
    let mut profile = Profile::new(&options, u32::MAX, Seen::default(), 0).unwrap();
    profile.begin(0x100, 0);
    let caller = profile.here;
    let accounts = crate::cpu::memory::Accounts::default();
    let kept = |profile: &Profile| {
        let kept = profile.slices.as_ref().unwrap().calls();
        kept.map(|(call, skipped)| (call.path, call.begun, call.cycles, *skipped)).collect::<Vec<_>>()
    };
    // The loop is looked at within the function that it calls: the next call is the last one's.
    call(&mut profile, 0x110, 2, 0x8000, 90);
    let called = profile.here;
    profile.begin_repeating(100);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 130);
    call(&mut profile, 0x110, 2, 0x8000, 140);
    profile.repeat((10, 500), Default::default(), Default::default(), &accounts);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 680);
    let expected = [(called, 90, 40, 0), (caller, 140, 500, 10), (called, 640, 40, 0)];
    assert_eq!(kept(&profile), expected);
    // It is looked at where it calls nothing.
    profile.begin_repeating(700);
    call(&mut profile, 0x110, 2, 0x8000, 710);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 720);
    profile.repeat((4, 200), Default::default(), Default::default(), &accounts);
    assert_eq!(kept(&profile)[3..], [(called, 710, 10, 0), (caller, 750, 200, 4)]);
    // A loop without calls is in its function, of which nothing is missing.
    profile.begin_repeating(1000);
    profile.repeat((4, 200), Default::default(), Default::default(), &accounts);
    assert_eq!(kept(&profile).len(), 5);
}

#[test]
fn what_switches_stacks_in_skipped_iterations_is_there_as_if_they_had_been_run() {
    let entries = (1..16).map(|number| 0x100 * number).collect();
    let slices = crate::observe::profile::Slices { from: Ps::ZERO, to: Ps::MAX, most: 100 };
    let options = ProfileOptions { entries, slices: Some(slices), ..ProfileOptions::default() };
    let turns = |profile: &Profile, now| profile.switches.as_ref().unwrap().turns(now).collect::<Vec<_>>();
    // Tasks that look at something in turns: function 7 swaps their stacks.
    let iteration = |profile: &mut Profile, now| {
        call(profile, 0x120, 7, 0x8000, now + 10);
        profile.follow(Flow::Jump, 0x740, 0x310, 0x1f_ff00, now + 20);
        call(profile, 0x310, 7, 0x1f_ff00, now + 60);
        profile.follow(Flow::Jump, 0x740, 0x120, 0x8000, now + 70);
    };
    let run = |skipped: u64| {
        let mut profile = Profile::new(&options, u32::MAX, Seen::default(), 5).unwrap();
        profile.begin(0x100, 5);
        call(&mut profile, 0x110, 7, 0x8000, 10);
        profile.follow(Flow::Jump, 0x740, 0x300, 0x20_0000, 20);
        call(&mut profile, 0x310, 7, 0x1f_ff00, 30);
        profile.follow(Flow::Jump, 0x740, 0x110, 0x8000, 40);
        // The loop is looked at when it has run once.
        iteration(&mut profile, 100);
        profile.begin_repeating(200);
        iteration(&mut profile, 200);
        let mut now = 300;
        if skipped > 0 {
            let accounts = crate::cpu::memory::Accounts::default();
            profile.repeat((skipped, 100 * skipped), Default::default(), Default::default(), &accounts);
            now += 100 * skipped;
        }
        profile.end_repeating();
        while now < 1000 {
            iteration(&mut profile, now);
            now += 100;
        }
        (turns(&profile, now), calls_of(&profile, 7))
    };
    let all = run(0);
    assert_eq!(all.0.len(), 3 + 2 * 9);
    assert_eq!(all.0[0], (0, 5, 20));
    assert!(all.0.windows(2).all(|turns| turns[0].2 == turns[1].1));
    assert_eq!(all, run(5));
    assert_eq!(all, run(7));
}

#[test]
fn calls_from_two_places_have_two_paths_if_that_is_asked_for() {
    for (by_site, ways) in [(false, vec![(NO_SITE, 3)]), (true, vec![(0x110, 2), (0x120, 1)])] {
        let entries = (1..16).map(|number| 0x100 * number).collect();
        let options = ProfileOptions { entries, by_site, ..ProfileOptions::default() };
        let mut profile = Profile::new(&options, u32::MAX, Seen::default(), 0).unwrap();
        profile.begin(0x100, 0);
        for (time, returns) in [(10, 0x110), (20, 0x120), (30, 0x110)] {
            call(&mut profile, returns, 2, 0x8000, time);
            // A tail call stands in the place of the call.
            profile.follow(Flow::Jump, 0x230, 0x300, 0x8000, time + 1);
            profile.follow(Flow::Jump, 0x330, returns, 0x8000, time + 5);
            assert_eq!(path(&profile), [1]);
        }
        for function in [2, 3] {
            let all = profile.paths.all.iter().filter(|path| path.kind == Kind::Function(function * 0x100));
            assert_eq!(all.map(|path| (path.site, path.calls)).collect::<Vec<_>>(), ways);
        }
    }
}
