//! Program and erase suspend and resume.

use super::*;

fn erasing() -> Bench {
    let mut bench = Bench::new();
    bench.send(&[0x06]);
    bench.send(&[0xd8, 0x01, 0, 0]);
    bench
}

#[test]
fn an_erase_suspends_after_its_latency_and_resumes_for_the_rest() {
    let mut bench = erasing();
    let deselected = bench.now;
    bench.now = deselected + Ps::from_us(100_000);
    bench.send(&[0x75]);
    // 15 us from the deselection of 75h, whose 8 clocks take 0.16 us.
    let ready = deselected + Ps::from_us(100_015) + Ps(8 * CLOCK_PS);
    bench.now = ready - Ps(8 * CLOCK_PS) - Ps(1);
    assert_eq!(bench.ask(&[0x70], 2), [0x00, 0xc0]);
    assert_eq!(bench.status(), 0x00);
    // 700 ms less 100.00016 ms remain.
    let resumed = {
        bench.send(&[0x7a]);
        bench.now
    };
    let end = resumed + Ps::from_us(600_000) - Ps(8 * CLOCK_PS);
    assert_eq!(bench.flash.status(end - Ps(1)) & 1, 1);
    assert_eq!(bench.flash.flag_status(end - Ps(1)), 0x00);
    assert_eq!(bench.flash.flag_status(end), 0x80);
}

#[test]
fn other_sectors_can_be_read_and_programmed_meanwhile() {
    let mut bench = erasing();
    bench.send(&[0x75]);
    bench.wait(Ps::from_us(15));
    bench.program(0x02_0000, &[0x12]);
    assert_eq!(bench.contents(0x02_0000, 1), [0x12]);
    bench.program(0x01_0000, &[0x12]);
    bench.write(&[0x20, 0x05, 0, 0]);
    assert_eq!(
        bench.notes(),
        [
            "command 02h ignored: not allowed while a program or erase there is suspended",
            "command 20h ignored: not allowed while a program or erase there is suspended",
        ]
    );
    bench.send(&[0x7a]);
    assert_eq!(bench.status() & 1, 1);
}

#[test]
fn a_program_within_a_suspended_erase_resumes_first() {
    let mut bench = erasing();
    bench.send(&[0x75]);
    bench.wait(Ps::from_us(15));
    bench.send(&[0x06]);
    bench.send(&[&[0x02, 0x02, 0, 0][..], &[0; 256]].concat());
    bench.send(&[0x75]);
    bench.wait(Ps::from_us(7));
    assert_eq!(bench.flag_status(), 0xc4);
    bench.send(&[0x7a]);
    bench.wait(Ps::from_us(500));
    assert_eq!(bench.flag_status(), 0xc0);
    bench.send(&[0x7a]);
    bench.wait(Ps::from_us(700_000));
    assert_eq!(bench.flag_status(), 0x80);
}

#[test]
fn a_cycle_about_to_end_is_not_suspended() {
    let mut bench = Bench::new();
    bench.send(&[0x06]);
    bench.send(&[0x02, 0, 0, 0, 0]); // 15.625 us
    bench.wait(Ps::from_us(10));
    bench.send(&[0x75]);
    bench.wait(Ps::from_us(6));
    assert_eq!(bench.flag_status(), 0x80);
}

#[test]
fn nothing_to_suspend_or_resume_is_noted() {
    let mut bench = Bench::new();
    bench.send(&[0x75]);
    bench.send(&[0x7a]);
    bench.send(&[0x06]);
    bench.send(&[0xc7]);
    bench.send(&[0x75]);
    assert_eq!(bench.status() & 1, 1, "a bulk erase can't be suspended");
    assert_eq!(
        bench.notes(),
        [
            "command 75h ignored: there is nothing to suspend or resume",
            "command 7Ah ignored: there is nothing to suspend or resume",
        ]
    );
}
