use super::*;
use proptest::prelude::*;
use std::cmp::Ordering;

const A: u8 = 5;
const B: u8 = 6;

/// An iteration in which register A grows by `step` and B stays.
fn counting(a: u32, step: u32, b: u32) -> Counting {
    let mut before = [0; MOST_RESULTS];
    (before[usize::from(A)], before[usize::from(B)]) = (a, b);
    let mut after = before;
    after[usize::from(A)] = a.wrapping_add(step);
    Counting::new(&before, &after).unwrap()
}

/// All results of a comparison that code may depend on.
fn outcomes(a: u32, b: u32) -> (Ordering, Ordering, bool) {
    (a.cmp(&b), (a as i32).cmp(&(b as i32)), (a.wrapping_sub(b) as i32) < 0)
}

#[test]
fn a_limit_is_reached_in_its_iteration() {
    // Counted down before it is compared with 0: 9 first, 0 in the tenth.
    let mut down = counting(10, u32::MAX, 0);
    down.add(A, A, u32::MAX);
    assert_eq!(down.compare(Operand::Register(A), Operand::Constant(0)), Some(()));
    assert_eq!(down.end(), Some(8));
    // Counted up to the value of a register.
    let mut up = counting(0, 3, 100);
    up.add(A, A, 3);
    assert_eq!(up.compare(Operand::Register(B), Operand::Register(A)), Some(()));
    assert_eq!(up.end(), Some(32));
}

#[test]
fn what_depends_on_a_counter_otherwise_does_not_go_on() {
    assert_eq!(counting(0, 1, 0).read(1 << A), None);
    assert_eq!(counting(0, 1, 0).read(1 << B), Some(()));
    assert_eq!(counting(0, 1, 0).may_write(A), None);
    assert!(counting(0, 1, 0).end().is_none(), "it does not count: nobody has added anything");
    let mut twice = counting(0, 1, 0);
    twice.add(A, A, 2);
    assert!(twice.end().is_none());
    let mut lost = counting(0, 1, 0);
    lost.write(A);
    assert!(lost.end().is_none());
    let mut equal = counting(7, 1, 7);
    assert!(equal.compare(Operand::Register(A), Operand::Register(B)).is_none());
    let mut unknown = counting(0, 1, 0);
    unknown.write(B);
    assert!(unknown.compare(Operand::Register(A), Operand::Register(B)).is_none());
    let before = [0; MOST_RESULTS];
    assert!(Counting::new(&before, &[1; MOST_RESULTS]).is_none());
}

#[test]
fn a_loop_whose_registers_stay_is_still() {
    let before = [7; MOST_RESULTS];
    let still = Counting::new(&before, &before).unwrap();
    assert!(still.is_still() && !counting(0, 1, 0).is_still());
    assert_eq!(still.end(), Some(u64::MAX));
}

/// Numbers close to the boundaries of orders, and any others.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        (-40_i32..40).prop_map(|near| near as u32),
        (-40_i32..40).prop_map(|near| (1_u32 << 31).wrapping_add_signed(near)),
        any::<u32>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn comparisons_come_out_the_same_for_so_many_iterations(
        now in number(), step in prop_oneof![-9_i32..10, any::<i32>()], fixed in number(),
    ) {
        let step = step as u32;
        prop_assume!(step != 0);
        let mut one = counting(now, step, fixed);
        let fits = one.compare(Operand::Register(A), Operand::Register(B)).is_some();
        let more = if fits { one.most } else { 0 };
        for iteration in (0..=more.min(200)).chain(more.saturating_sub(200)..=more) {
            let later = now.wrapping_add(step.wrapping_mul(iteration as u32));
            prop_assert_eq!(outcomes(later, fixed), outcomes(now, fixed), "{}", iteration);
        }
        let mut both = counting(now, step, 0);
        both.add(B, A, fixed);
        let fits = both.compare(Operand::Register(A), Operand::Register(B)).is_some();
        let more = if fits { both.most } else { 0 };
        for iteration in (0..=more.min(200)).chain(more.saturating_sub(200)..=more) {
            let later = now.wrapping_add(step.wrapping_mul(iteration as u32));
            let other = later.wrapping_add(fixed);
            prop_assert_eq!(outcomes(later, other), outcomes(now, now.wrapping_add(fixed)), "{}", iteration);
        }
    }
}

/// An iteration of a loop that begins with the time 100 in register A; register B is constant, register C the elapsed
/// time since 90, which follows the time by `step`.
fn clock_loop(step: u32) -> (Results, Counting) {
    const C: usize = 7;
    let mut before = [0; MOST_RESULTS];
    (before[usize::from(A)], before[usize::from(B)], before[C]) = (100, 50, 10);
    let after = before;
    let mut follows = [0; MOST_RESULTS];
    follows[C] = step;
    (before, Counting::of_clock(&before, &after, A, &follows).unwrap())
}

#[test]
fn a_wait_for_a_time_ends_after_its_ticks() {
    let (before, mut counting) = clock_loop(1);
    counting.add(7, A, 90_u32.wrapping_neg());
    assert_eq!(counting.compare(Operand::Register(7), Operand::Register(B)), Some(()));
    counting.read_time(A, 8).unwrap();
    let (ticks, steps) = counting.end_of_clock(&before).unwrap();
    assert_eq!((ticks, steps[7], steps[usize::from(A)]), (39, 1, 0));
    // The remaining time, from a constant register: it shrinks.
    let (before, mut counting) = clock_loop(1);
    let mut after = before;
    after[7] = 50_u32.wrapping_sub(100);
    counting.after = after;
    let left = counting.difference(B, A).unwrap();
    counting.subtract(7, left);
    counting.read_time(A, 8).unwrap();
    assert_eq!(counting.end_of_clock(&before).unwrap().1[7], u32::MAX);
}

#[test]
fn a_loop_with_another_use_of_the_time_does_not_go_on() {
    // The time of the iteration before, equal by chance.
    assert!(clock_loop(1).1.read(1 << 7).is_none());
    assert!(clock_loop(0).1.read(1 << 7).is_some());
    assert!(clock_loop(0).1.read(1 << A).is_none());
    let (before, mut twice) = clock_loop(0);
    twice.read_time(A, 8).unwrap();
    assert!(twice.read_time(B, 8).is_none());
    assert!(twice.read(1 << A).is_none(), "nor may the next time be used");
    let (_, never_written) = clock_loop(1);
    assert!(never_written.end_of_clock(&before).is_none());
    let (before, mut other) = clock_loop(0);
    other.add(7, A, 1);
    assert!(other.end_of_clock(&before).is_none(), "register 7 has another value");
}
