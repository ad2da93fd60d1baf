use super::paths::Kind;
use super::*;
use crate::cpu::calls::{Flow, MOST_FRAMES, Reached, TaskSwitch};
use crate::observe::profile::{Functions, LinuxKernel, ProfileOptions, Slices};

const IRQ: Source = Source { name: "interrupt", number: Some(7), input: Some(7) };

/// A core's profile, and its calls.
struct Followed {
    calls: Calls,
    profile: Option<Box<Profile>>,
}

impl std::ops::Deref for Followed {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        self.profile.as_ref().unwrap()
    }
}

impl std::ops::DerefMut for Followed {
    fn deref_mut(&mut self) -> &mut Profile {
        self.profile.as_mut().unwrap()
    }
}

impl Followed {
    /// The first of the functions at 0x100, 0x200 ... has begun, after `now` cycles of the core.
    fn with(options: ProfileOptions, now: u64) -> Followed {
        let entries: Vec<u32> = (1..16).map(|number| 0x100 * number).collect();
        let mut calls = Calls::new(u32::MAX);
        // Those from 0x800 on may be mere labels.
        calls.know(&Functions { whole: entries[..7].to_vec(), entries });
        let mut profile = Some(Box::new(Profile::new(&options, Seen::default(), now).unwrap()));
        calls.begin_profile(profile.as_ref().unwrap().first_task());
        calls.begin(&mut profile, 0x100, now);
        let mut followed = Followed { calls, profile };
        followed.arrive();
        followed
    }

    fn arrive(&mut self) {
        let here = self.calls.here();
        self.profile.as_mut().unwrap().arrive(here);
    }

    fn follow(&mut self, flow: Flow, return_pc: u32, target: u32, sp: u32, now: u64) {
        self.calls.follow(&mut self.profile, (flow, return_pc), target, (sp, now));
        self.arrive();
    }

    fn exception(&mut self, source: Source, pc: u32, sp: u32, now: u64) {
        self.calls.exception(&mut self.profile, source, (pc, sp), now);
        self.arrive();
    }

    fn handler(&mut self, pc: u32, now: u64) {
        self.calls.handler(&mut self.profile, pc, now);
        self.arrive();
    }

    fn chain(&mut self, source: Source, now: u64) {
        self.calls.chain(&mut self.profile, source, now);
        self.arrive();
    }

    fn exception_return(&mut self, pc: u32, sp: u32, now: u64) {
        self.calls.exception_return(&mut self.profile, pc, sp, now);
        self.arrive();
    }

    fn repeat(&mut self, times: u64, cycles: u64) {
        let accounts = crate::cpu::memory_system::Accounts::default();
        let Followed { calls, profile } = self;
        profile.as_mut().unwrap().repeat(calls, (times, cycles), Default::default(), &accounts);
    }
}

/// A program with functions at 0x100, 0x200 ...; the first one has begun.
fn program() -> Followed {
    Followed::with(ProfileOptions::default(), 0)
}

/// Functions on the core's current path, in hundreds.
fn path(profile: &Followed) -> Vec<u32> {
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

fn call(profile: &mut Followed, from: u32, to: u32, sp: u32, now: u64) {
    profile.follow(Flow::Call, from, 0x100 * to, sp, now);
}

fn calls_of(profile: &Followed, function: u32) -> Vec<(u64, u64)> {
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
fn a_tail_call_returns_together_with_its_caller() {
    let mut profile = program();
    call(&mut profile, 0x110, 2, 0x8000, 10);
    profile.follow(Flow::Jump, 0x230, 0x300, 0x8000, 20);
    assert_eq!(path(&profile), [1, 2, 3]);
    profile.follow(Flow::Jump, 0x330, 0x110, 0x8000, 50);
    assert_eq!(path(&profile), [1]);
    assert_eq!((calls_of(&profile, 2), calls_of(&profile, 3)), (vec![(1, 40)], vec![(1, 30)]));
    // A jump to an address without a function is one within the present one.
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
    // It returns from within the called function.
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
    // A call that yields continues after the instruction that requested it.
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
    assert_eq!(profile.calls.frames().count(), MOST_FRAMES);
    assert_eq!(profile.calls.lost, MOST_FRAMES as u64 + 1);
}

#[test]
fn calls_from_skipped_iterations_on_are_as_long_as_in_one() {
    let mut profile = program();
    profile.begin_repeating(100);
    call(&mut profile, 0x110, 2, 0x8000, 110);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 130);
    call(&mut profile, 0x110, 2, 0x8000, 140);
    profile.repeat(10, 500);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 661);
    let path = profile.paths.all.iter().find(|path| path.kind == Kind::Function(0x200)).unwrap();
    assert_eq!((path.calls, path.longest), (12, 21));
}

#[test]
fn skipped_iterations_are_between_the_calls_before_them_and_the_last() {
    let slices = Slices { from: Ps::ZERO, to: Ps::MAX, most: 8 };
    let options = ProfileOptions { slices: Some(slices), ..ProfileOptions::default() };
    let mut profile = Followed::with(options, 0);
    let caller = profile.here;
    let kept = |profile: &Followed| {
        let kept = profile.slices.as_ref().unwrap().calls();
        kept.map(|(call, skipped)| (call.path, call.begun, call.cycles, *skipped)).collect::<Vec<_>>()
    };
    // The loop is examined within the function that it calls: the next call equals the last one.
    call(&mut profile, 0x110, 2, 0x8000, 90);
    let called = profile.here;
    profile.begin_repeating(100);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 130);
    call(&mut profile, 0x110, 2, 0x8000, 140);
    profile.repeat(10, 500);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 680);
    let expected = [(called, 90, 40, 0), (caller, 140, 500, 10), (called, 640, 40, 0)];
    assert_eq!(kept(&profile), expected);
    // It is examined outside of the called function.
    profile.begin_repeating(700);
    call(&mut profile, 0x110, 2, 0x8000, 710);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 720);
    profile.repeat(4, 200);
    assert_eq!(kept(&profile)[3..], [(called, 710, 10, 0), (caller, 750, 200, 4)]);
    // A loop without calls stays in its function, and every cycle is counted.
    profile.begin_repeating(1000);
    profile.repeat(4, 200);
    assert_eq!(kept(&profile).len(), 5);
}

#[test]
fn what_switches_stacks_in_skipped_iterations_is_there_as_if_they_had_been_run() {
    let slices = Slices { from: Ps::ZERO, to: Ps::MAX, most: 100 };
    let options = ProfileOptions { slices: Some(slices), ..ProfileOptions::default() };
    let task_slices = |profile: &Followed, now| profile.switches.as_ref().unwrap().task_slices(now).collect::<Vec<_>>();
    // Tasks that poll alternately: function 7 swaps their stacks.
    let iteration = |profile: &mut Followed, now| {
        call(profile, 0x120, 7, 0x8000, now + 10);
        profile.follow(Flow::Jump, 0x740, 0x310, 0x1f_ff00, now + 20);
        call(profile, 0x310, 7, 0x1f_ff00, now + 60);
        profile.follow(Flow::Jump, 0x740, 0x120, 0x8000, now + 70);
    };
    let run = |skipped: u64| {
        let mut profile = Followed::with(options.clone(), 5);
        call(&mut profile, 0x110, 7, 0x8000, 10);
        profile.follow(Flow::Jump, 0x740, 0x300, 0x20_0000, 20);
        call(&mut profile, 0x310, 7, 0x1f_ff00, 30);
        profile.follow(Flow::Jump, 0x740, 0x110, 0x8000, 40);
        // The loop is examined after one iteration.
        iteration(&mut profile, 100);
        profile.begin_repeating(200);
        iteration(&mut profile, 200);
        let mut now = 300;
        if skipped > 0 {
            profile.repeat(skipped, 100 * skipped);
            now += 100 * skipped;
        }
        profile.end_repeating();
        while now < 1000 {
            iteration(&mut profile, now);
            now += 100;
        }
        (task_slices(&profile, now), calls_of(&profile, 7))
    };
    let all = run(0);
    assert_eq!(all.0.len(), 3 + 2 * 9);
    assert_eq!(all.0[0], (0, 5, 20));
    assert!(all.0.windows(2).all(|task_slices| task_slices[0].2 == task_slices[1].1));
    assert_eq!(all, run(5));
    assert_eq!(all, run(7));
}

#[test]
fn calls_from_two_places_have_two_paths_if_that_is_asked_for() {
    for (by_site, ways) in [(false, vec![(NO_SITE, 3)]), (true, vec![(0x110, 2), (0x120, 1)])] {
        let options = ProfileOptions { by_site, ..ProfileOptions::default() };
        let mut profile = Followed::with(options, 0);
        for (time, returns) in [(10, 0x110), (20, 0x120), (30, 0x110)] {
            call(&mut profile, returns, 2, 0x8000, time);
            // A tail call is on the path of the jumping function, and does not return to the place of the jump.
            profile.follow(Flow::Jump, 0x230, 0x300, 0x8000, time + 1);
            profile.follow(Flow::Jump, 0x330, returns, 0x8000, time + 5);
            assert_eq!(path(&profile), [1]);
        }
        let paths = &profile.paths.all;
        let of = |function: u32| paths.iter().filter(move |path| path.kind == Kind::Function(function * 0x100));
        assert_eq!(of(2).map(|path| (path.site, path.calls)).collect::<Vec<_>>(), ways);
        let jumped: Vec<_> = ways.iter().map(|(_, calls)| (NO_SITE, *calls)).collect();
        assert_eq!(of(3).map(|path| (path.site, path.calls)).collect::<Vec<_>>(), jumped);
        let parents = of(3).filter_map(|path| paths.get(path.parent? as usize));
        assert!(
            parents.clone().count() == ways.len() && parents.into_iter().all(|path| path.kind == Kind::Function(0x200))
        );
    }
}

#[test]
fn a_branch_to_a_function_is_a_tail_call_and_one_to_a_label_is_not() {
    let mut profile = program();
    call(&mut profile, 0x110, 2, 0x8000, 10);
    // With data on its stack, the function continues in another part of itself.
    profile.follow(Flow::On, 0x230, 0x300, 0x7f00, 15);
    assert_eq!(path(&profile), [1, 2]);
    // To its own start: a loop; to an address that may be a label.
    profile.follow(Flow::On, 0x230, 0x200, 0x8000, 16);
    profile.follow(Flow::On, 0x230, 0x900, 0x8000, 17);
    assert_eq!(path(&profile), [1, 2]);
    profile.follow(Flow::On, 0x230, 0x300, 0x8000, 20);
    assert_eq!(path(&profile), [1, 2, 3]);
    profile.follow(Flow::Jump, 0x330, 0x110, 0x8000, 50);
    assert_eq!((calls_of(&profile, 2), calls_of(&profile, 3)), (vec![(1, 40)], vec![(1, 30)]));
}

#[test]
fn functions_that_jump_to_each_other_for_ever_fill_no_memory() {
    let mut profile = program();
    call(&mut profile, 0x110, 2, 0x8000, 0);
    for round in 0..100 {
        profile.follow(Flow::Jump, 0x230, if round % 2 == 0 { 0x300 } else { 0x400 }, 0x8000, 10 + 10 * round);
    }
    assert_eq!(profile.calls.frames().count(), 4);
    profile.follow(Flow::Jump, 0x430, 0x110, 0x8000, 2000);
    assert_eq!((path(&profile), calls_of(&profile, 2)), (vec![1], vec![(1, 2000)]));
    let (counts, _): (Vec<u64>, Vec<u64>) = [3, 4].iter().flat_map(|of| calls_of(&profile, *of)).unzip();
    assert_eq!(counts, [50, 50]);
}

#[test]
fn a_call_that_was_left_without_a_return_is_over_when_its_caller_makes_it_again() {
    let mut profile = program();
    for round in 0..100 {
        call(&mut profile, 0x110, 2, 0x8000, 10 * round);
    }
    assert_eq!((path(&profile), calls_of(&profile, 2)), (vec![1, 2], vec![(99, 990)]));
}

#[test]
fn a_handler_ends_where_another_is_taken_in_its_place() {
    const LATE: Source = Source { name: "interrupt", number: Some(3), input: Some(3) };
    let mut profile = program();
    call(&mut profile, 0x110, 2, 0x8000, 10);
    profile.exception(IRQ, 0x234, 0x7f80, 20);
    // It arrives before the handler has begun.
    profile.chain(LATE, 30);
    profile.handler(0x300, 32);
    profile.chain(IRQ, 50);
    profile.handler(0x500, 56);
    // Another one of the same source.
    profile.chain(IRQ, 70);
    profile.handler(0x500, 76);
    profile.exception_return(0x234, 0x7f80, 90);
    assert_eq!(path(&profile), [1, 2]);
    assert_eq!((calls_of(&profile, 3), calls_of(&profile, 5)), (vec![(1, 18)], vec![(2, 28)]));
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 100);
    assert_eq!(calls_of(&profile, 2), [(1, 90)]);
}

#[test]
fn calls_that_are_asked_for_are_counted_in_all_stacks() {
    let mut profile = program();
    call(&mut profile, 0x110, 2, 0x8000, 10);
    profile.calls.ask_for(&[0x200, 0x400].into());
    assert!(profile.calls.are_under_way(0x200) && !profile.calls.are_under_way(0x400));
    profile.exception(IRQ, 0x234, 0x7f80, 20);
    profile.handler(0x500, 32);
    profile.exception_return(0x300, 0x20_0000, 60);
    assert!(profile.calls.are_under_way(0x200) && !profile.calls.take_change());
    call(&mut profile, 0x310, 4, 0x1f_ff00, 70);
    assert!(profile.calls.take_change() && profile.calls.are_under_way(0x400));
    profile.exception(IRQ, 0x444, 0x1f_fe00, 80);
    profile.handler(0x500, 92);
    profile.exception_return(0x234, 0x7f80, 99);
    profile.follow(Flow::Jump, 0x230, 0x110, 0x8000, 100);
    assert!(!profile.calls.are_under_way(0x200) && profile.calls.are_under_way(0x400));
}

// ---- A kernel that says which task runs

/// Tasks by the addresses of their structures.
const IDLE: u32 = 0xc100_0000;
const FIRST: u32 = 0xc200_0000;

/// The function at 0x300 switches tasks.
fn kernel() -> Followed {
    let linux = LinuxKernel { switches: 0x300, ..LinuxKernel::default() };
    let mut profile = Followed::with(ProfileOptions { linux: Some(linux.clone()), ..Default::default() }, 0);
    profile.calls.follow_kernel(Some(&linux));
    profile
}

/// Calls it, with the stack pointer `sp`, and goes on at `target` with that of the other task.
fn switch(profile: &mut Followed, (from, to): (Option<u32>, u32), sp: u32, (target, with): (u32, u32), now: u64) {
    call(profile, 0x118, 3, sp, now);
    assert_eq!(profile.calls.take_reached(), Some(Reached::Switch));
    profile.calls.expect_switch(TaskSwitch { from, to });
    // What it calls returns to it.
    call(profile, 0x310, 6, sp, now + 1);
    profile.follow(Flow::Jump, 0x620, 0x310, sp, now + 2);
    profile.follow(Flow::Jump, 0x320, target, with, now + 3);
}

#[test]
fn a_kernel_says_which_task_runs() {
    let mut profile = kernel();
    switch(&mut profile, (Some(IDLE), FIRST), 0xc900, (0x400, 0xd800), 10);
    assert_eq!(path(&profile), [4]);
    // A jump to an entry with another stack pointer is no switch.
    call(&mut profile, 0x410, 5, 0xd700, 20);
    profile.follow(Flow::Jump, 0x520, 0x700, 0xd000, 24);
    assert_eq!(path(&profile), [4, 5]);
    switch(&mut profile, (Some(FIRST), IDLE), 0xd600, (0x118, 0xc900), 30);
    assert_eq!(path(&profile), [1]);
    switch(&mut profile, (Some(IDLE), FIRST), 0xc900, (0x118, 0xd600), 40);
    assert_eq!(path(&profile), [4, 5]);
    // The task ends. Another one begins in its memory, and on its stack.
    switch(&mut profile, (Some(FIRST), IDLE), 0xd600, (0x118, 0xc900), 50);
    switch(&mut profile, (Some(IDLE), FIRST), 0xc900, (0x700, 0xd800), 60);
    assert_eq!(path(&profile), [7]);
    switch(&mut profile, (Some(FIRST), IDLE), 0xd600, (0x118, 0xc900), 70);
    switch(&mut profile, (Some(IDLE), FIRST), 0xc900, (0x118, 0xd600), 80);
    assert_eq!(path(&profile), [7]);
}

fn exception_return(profile: &mut Followed, to: (u32, u32), is_privileged: bool, now: u64) {
    profile.calls.return_in_kernel(&mut profile.profile, to, is_privileged, now);
    profile.arrive();
}

#[test]
fn in_a_kernel_an_exception_stays_in_its_task() {
    let mut profile = kernel();
    // A program begins in a task that was the kernel's only.
    exception_return(&mut profile, (0x200, 0x8000), false, 10);
    assert_eq!(path(&profile), [2]);
    call(&mut profile, 0x210, 4, 0x7f00, 20);
    profile.exception(IRQ, 0x420, 0x7e00, 30);
    profile.handler(0x500, 32);
    // Its handler goes on in another mode.
    exception_return(&mut profile, (0x600, 0xd000), true, 40);
    assert_eq!(path(&profile), [2, 4, 99, 6]);
    // A signal: the program's handler begins, and ends.
    exception_return(&mut profile, (0x704, 0x7d00), false, 50);
    assert_eq!(profile.paths.all[profile.here as usize].kind, Kind::Function(0x704));
    profile.exception(IRQ, 0x710, 0x7d00, 60);
    profile.handler(0x500, 62);
    exception_return(&mut profile, (0x420, 0x7e00), false, 70);
    assert_eq!(path(&profile), [2, 4]);
    // Another program replaces it.
    profile.exception(IRQ, 0x424, 0x7e00, 80);
    profile.handler(0x500, 82);
    exception_return(&mut profile, (0x700, 0x8f00), false, 90);
    assert_eq!(path(&profile), [7]);
}

#[test]
fn functions_for_which_there_is_no_room_are_below_their_task() {
    let (mut counters, mut paths) = (Counters::new(), Paths::new(Vec::new(), false));
    let task = paths.add_task(&mut counters, 0, String::new()).unwrap();
    let mut deepest = task;
    for address in (0x100..).step_by(4) {
        let next = paths.function(&mut counters, deepest, address, NO_SITE);
        if paths.shortened > 0 {
            break;
        }
        deepest = next;
    }
    let further = paths.function(&mut counters, deepest, 0x10, NO_SITE);
    assert_eq!(paths.function(&mut counters, task, 0x10, NO_SITE), further);
    let exception = paths.exception(&mut counters, deepest, IRQ);
    for path in [further, exception] {
        assert_eq!(paths.all[path as usize].parent, Some(task));
    }
    assert_eq!((paths.shortened, paths.merged), (4, 0));
    // Another task has its own.
    let other = paths.add_task(&mut counters, 0, String::new()).unwrap();
    assert_ne!(paths.function(&mut counters, other, 0x10, NO_SITE), further);
}
