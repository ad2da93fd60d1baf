//! From power-up to ready.

use super::*;

#[test]
fn cmd0_needs_74_clocks_and_a_correct_crc() {
    let mut bench = Bench::cold(&[]);
    bench.card.idle_clocks(73, Ps(73 * BYTE_PS / 8));
    bench.now = Ps(10 * BYTE_PS);
    bench.select();
    assert_eq!(bench.command(0, 0), 0xff);
    assert_eq!(bench.notes(), ["CMD0 ignored: 73 clocks with chip select high before it, the card needs 74"]);
    bench.deselect();
    // Clocks of a controller that shifts bytes while chip select is high count too.
    bench.exchange(0xff);
    bench.select();
    let mut wrong = command_frame(0, 0);
    wrong[5] ^= 2;
    bench.send(&wrong);
    assert_eq!(bench.bytes(8), [0xff; 8], "a card in SD mode answers nothing on this line");
    assert_eq!(bench.command(58, 0), 0xff);
    assert_eq!(bench.command(0, 0), 0x01);
}

#[test]
fn acmd41_reports_ready_when_its_time_has_come() {
    let mut bench = Bench::cold(&[]);
    bench.power_up();
    assert_eq!(bench.command(0, 0), 0x01);
    // 1000 us from the end of the first ACMD41.
    bench.send(&command_frame(55, 0));
    bench.bytes(2);
    bench.send(&command_frame(41, 0));
    let ready = bench.now + Ps::from_us(1_000);
    assert_eq!(bench.bytes(2), [0xff, 0x01]);
    while bench.now + Ps(14 * BYTE_PS) < ready {
        assert_eq!(bench.application(41, 0), 0x01);
    }
    bench.application(41, 0);
    assert_eq!(bench.application(41, 0), 0x00);
    assert_eq!(bench.command(55, 0), 0x00);
}

#[test]
fn cmd1_initialises_too() {
    let mut bench = Bench::cold(&[]);
    bench.power_up();
    bench.command(0, 0);
    assert_eq!(bench.command(1, 0), 0x01);
    bench.now += Ps::from_us(1_000);
    assert_eq!(bench.command(1, 0), 0x00);
}

#[test]
fn before_the_end_of_the_initialisation_few_commands_are_legal() {
    let mut bench = Bench::cold(&[]);
    bench.power_up();
    bench.command(0, 0);
    for index in 0..64 {
        bench.power_up();
        let legal = [0, 1, 8, 55, 58, 59].contains(&index);
        assert_eq!(bench.command(index, 0), if legal { 0x01 } else { 0x05 }, "CMD{index}");
        bench.deselect();
        bench.select();
        bench.command(0, 0);
    }
    assert!(bench.notes().contains(&"CMD17 is an illegal command before the initialisation has ended".to_owned()));
}

#[test]
fn a_high_capacity_card_waits_for_a_host_that_knows_it() {
    for (asks, hcs, becomes_ready) in [(true, 1 << 30, true), (true, 0, false), (false, 1 << 30, false)] {
        let mut bench = Bench::cold(&[high()]);
        bench.power_up();
        bench.command(0, 0);
        if asks {
            bench.command(8, 0x1aa);
            bench.bytes(4);
        }
        bench.application(41, hcs);
        bench.now += Ps::from_us(5_000);
        assert_eq!(bench.application(41, hcs), u8::from(!becomes_ready));
    }
}

#[test]
fn cmd0_begins_anew_with_crc_off() {
    let mut bench = Bench::new();
    bench.command(59, 1);
    bench.write(0, &pattern(0));
    bench.command(16, 64);
    assert_eq!(bench.command(0, 0), 0x01);
    assert_eq!(bench.command(9, 0), 0x05);
    bench.command(1, 0);
    bench.now += Ps::from_us(1_000);
    bench.command(1, 0);
    bench.send(&[0x4d, 0, 0, 0, 0, 0]);
    assert_eq!(bench.bytes(3), [0xff, 0, 0], "no CRC asked for");
}
