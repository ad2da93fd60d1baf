//! Iterations of a polling loop that are skipped, and iterations that are run.

use super::*;
use engine::polling::Poll;

/// The core's clock: three of its cycles are one of the controller's.
fn core_clock() -> Hz {
    Hz::new(498_000_000).unwrap()
}

fn look(rig: &mut Rig) -> Poll {
    let mut poll = Poll::look(core_clock(), core_clock().cycles_until_ceil(rig.now));
    assert!(rig.device(|device, _| device.polled(&mut poll)));
    poll
}

/// The loop's code comes from the window, its last access goes elsewhere.
fn iteration(rig: &mut Rig) {
    for offset in [0x100, 0x104, 0x108] {
        assert_eq!(rig.word(offset), word_at(offset));
    }
    rig.get(SR);
}

/// The visible state of the rig, and the results of its next iteration.
fn seen(rig: &mut Rig) -> (Vec<(String, u64)>, Ps, u32) {
    iteration(rig);
    let status = rig.get(SR);
    (rig.device(|device, _| device.counters()), rig.now, status)
}

#[test]
fn skipped_iterations_are_as_if_they_were_run() {
    let rig = || {
        let mut rig = Rig::reading(ifr::QUAD_READ);
        iteration(&mut rig);
        iteration(&mut rig);
        rig
    };
    let mut run = rig();
    (0..50).for_each(|_| iteration(&mut run));
    let mut skipped = rig();
    let before = look(&mut skipped);
    let begun = skipped.now;
    iteration(&mut skipped);
    let after = look(&mut skipped);
    assert!(after.repeats(&before));
    assert_eq!(after.deadline(&before), Ps::MAX);
    let mut list = after.skip(&before, 49);
    assert!(skipped.device(|device, _| device.polled(&mut list)));
    let edges = |at: Ps| clock().cycles_until_ceil(at).0;
    let iteration_cycles = edges(skipped.now) - edges(begun);
    skipped.now = clock().ps_at_floor(Cycles(edges(skipped.now) + 49 * iteration_cycles));
    assert_eq!(seen(&mut skipped), seen(&mut run));
}

#[test]
fn a_flash_that_becomes_ready_is_a_deadline() {
    let mut rig = Rig::memory();
    rig.put(MR, SMM | SMRM);
    rig.command(0x06);
    rig.put(IAR, 0x20_0000);
    rig.frame(0x02, ifr::INSTEN | ifr::ADDREN | ifr::DATAEN | ifr::WRITE);
    rig.put(TDR, 0x12);
    rig.last();
    let programmed = rig.now;
    let status = |rig: &mut Rig| {
        rig.frame(0x05, ifr::INSTEN | ifr::DATAEN);
        rig.until(SR_RDRF);
        rig.put(CR, CR_LASTXFER);
        let status = rig.get(RDR);
        rig.until(SR_INSTRE);
        status
    };
    assert_eq!((status(&mut rig), status(&mut rig)), (0x03, 0x03));
    let before = look(&mut rig);
    status(&mut rig);
    let after = look(&mut rig);
    assert!(after.repeats(&before));
    // A byte of eight that are programmed at once, of a page's 500 us.
    let deadline = after.deadline(&before);
    assert!(deadline < programmed + Ps::from_us(16) && deadline > programmed + Ps::from_us(14), "{deadline}");
    rig.now = deadline;
    assert_eq!(status(&mut rig), 0);
}

#[test]
fn a_controller_with_transfers_that_will_interrupt_is_not_skipped() {
    let mut rig = Rig::memory();
    rig.put(IER, SR_INSTRE);
    rig.put(ICR, 0x06);
    rig.put(IFR, ifr::INSTEN);
    let mut poll = Poll::look(core_clock(), core_clock().cycles_until_ceil(rig.now));
    assert!(!rig.device(|device, _| device.polled(&mut poll)));
}

#[test]
fn a_look_changes_nothing_where_the_clocks_have_no_edges_in_common() {
    let begun = || {
        let clock = Hz::new(16_384).unwrap().into();
        let mut rig = Rig::with(Params { clock, ..params() }).in_memory_mode();
        rig.put(ICR, 0x06);
        rig.put(IFR, ifr::INSTEN);
        rig
    };
    let ended = |rig: &mut Rig| {
        rig.until(SR_INSTRE);
        rig.put(IFR, ifr::INSTEN);
        rig.until(SR_INSTRE);
        rig.now
    };
    let (mut run, mut looked_at) = (begun(), begun());
    for _ in 0..5 {
        let list = look(&mut looked_at);
        assert!(!list.repeats(&list));
    }
    assert_eq!(ended(&mut looked_at), ended(&mut run));
}
