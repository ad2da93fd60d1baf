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
