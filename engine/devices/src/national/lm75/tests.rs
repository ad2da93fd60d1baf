use super::*;

const CONVERSION: Ps = Ps::from_us(100_000);

fn ms(ms: u64) -> Ps {
    Ps::from_us(1000 * ms)
}

fn chip(millicelsius: i32) -> Lm75 {
    Lm75::new(CONVERSION, millicelsius)
}

/// Writes bytes in a frame that ends with a STOP.
fn write(chip: &mut Lm75, bytes: &[u32], now: Ps) {
    assert_eq!(chip.address(Direction::Write, now), Answer::ACK);
    bytes.iter().for_each(|byte| assert_eq!(chip.write(*byte as u8, now), Answer::ACK));
    chip.stop(now);
}

/// Reads this many bytes, from the register in the pointer.
fn read(chip: &mut Lm75, bytes: usize, now: Ps) -> Vec<u8> {
    assert_eq!(chip.address(Direction::Read, now), Answer::ACK);
    let read = (0..bytes).map(|_| chip.read(now).byte).collect();
    chip.stop(now);
    read
}

/// As firmware reads a register: the pointer, a repeated START.
fn read_register(chip: &mut Lm75, pointer: u32, bytes: usize, now: Ps) -> Vec<u8> {
    chip.address(Direction::Write, now);
    chip.write(pointer as u8, now);
    chip.repeated_start(now);
    read(chip, bytes, now)
}

#[test]
fn registers_are_those_of_power_up() {
    let mut chip = chip(25_000);
    assert_eq!(read_register(&mut chip, CONFIGURATION, 1, ms(0)), [0]);
    assert_eq!(read_register(&mut chip, THYST, 2, ms(0)), [0x4b, 0]);
    assert_eq!(read_register(&mut chip, TOS, 2, ms(0)), [0x50, 0]);
    // The pointer stays; bytes beyond the register begin again.
    assert_eq!(read(&mut chip, 4, ms(0)), [0x50, 0, 0x50, 0]);
    assert_eq!(chip.take_notes(), [""; 0]);
}

#[test]
fn temperatures_have_steps_of_half_a_degree() {
    // DS012658, 1.4: 125, 25, 0.5, -0.5 and -25 degrees; between steps the one below.
    for (millicelsius, bytes) in [
        (125_000, [0x7d, 0]),
        (25_000, [0x19, 0]),
        (25_499, [0x19, 0]),
        (25_500, [0x19, 0x80]),
        (500, [0, 0x80]),
        (-500, [0xff, 0x80]),
        (-25_000, [0xe7, 0]),
        (-55_000, [0xc9, 0]),
    ] {
        let mut chip = chip(millicelsius);
        assert_eq!(read(&mut chip, 2, ms(100)), bytes, "{millicelsius}");
    }
}

#[test]
fn the_first_value_is_there_after_a_conversion() {
    let mut chip = chip(25_000);
    chip.advance(ms(100) - Ps(1));
    assert_eq!(chip.registers[TEMPERATURE], 0);
    chip.advance(ms(100));
    assert_eq!((chip.registers[TEMPERATURE], chip.counters()), (0x1900, vec![("conversions", 1)]));
    chip.advance(ms(1250));
    assert_eq!(chip.counters(), [("conversions", 12)]);
}

#[test]
fn who_reads_too_often_stops_the_conversions() {
    let mut chip = chip(25_000);
    for time in (0..1000).step_by(90) {
        assert_eq!(read(&mut chip, 2, ms(time)), [0, 0], "{time} ms");
    }
    // The last read was at 990 ms. Reads of other registers do not matter.
    read_register(&mut chip, TOS, 2, ms(1050));
    assert_eq!(read_register(&mut chip, TEMPERATURE, 2, ms(1090)), [0x19, 0]);
}

#[test]
fn limits_have_nine_bits() {
    let mut chip = chip(25_000);
    write(&mut chip, &[TOS, 0x12, 0xff], ms(0));
    write(&mut chip, &[THYST, 0xff, 0x7f], ms(0));
    assert_eq!(read_register(&mut chip, TOS, 2, ms(0)), [0x12, 0x80]);
    assert_eq!(read_register(&mut chip, THYST, 2, ms(0)), [0xff, 0]);
    assert_eq!(chip.take_notes(), [""; 0]);
    write(&mut chip, &[TEMPERATURE, 1, 2], ms(0));
    write(&mut chip, &[7], ms(0));
    assert_eq!(chip.take_notes().len(), 2);
}

/// A chip at 25 degrees whose limits are 20 and 10, from 5 ms on: it is too hot.
fn hot(configuration: u32) -> Lm75 {
    let mut chip = chip(25_000);
    write(&mut chip, &[CONFIGURATION, configuration], ms(5));
    write(&mut chip, &[THYST, 10, 0], ms(5));
    write(&mut chip, &[TOS, 20, 0], ms(5));
    chip
}

#[test]
fn the_comparator_follows_its_limits() {
    let mut chip = hot(0);
    // Active low, at the end of the first conversion.
    assert_eq!((chip.interrupt(), chip.wakes_at()), (Some(true), Some(ms(100))));
    chip.advance(ms(100));
    assert_eq!((chip.interrupt(), chip.wakes_at()), (Some(false), None));
    // A read changes nothing.
    read(&mut chip, 2, ms(150));
    assert_eq!(chip.interrupt(), Some(false));
    // At the limit itself it stays, below THYST it ends.
    write(&mut chip, &[THYST, 25, 0], ms(150));
    assert_eq!(chip.wakes_at(), None);
    write(&mut chip, &[TOS, 40, 0], ms(150));
    write(&mut chip, &[THYST, 25, 0x80], ms(150));
    let due = chip.wakes_at().unwrap();
    chip.advance(due);
    assert_eq!((due, chip.interrupt()), (ms(200), Some(true)));
}

#[test]
fn the_fault_queue_takes_its_conversions() {
    for (queue, conversions) in [(0, 1), (1, 2), (2, 4), (3, 6)] {
        let mut chip = hot(queue << 3 | CONFIGURATION_POLARITY);
        assert_eq!((chip.interrupt(), chip.wakes_at()), (Some(false), Some(ms(100 * conversions))));
        chip.advance(ms(100 * conversions) - Ps(1));
        assert_eq!(chip.interrupt(), Some(false));
        chip.advance(ms(100 * conversions));
        assert_eq!(chip.interrupt(), Some(true));
        // It ends with the first one below THYST.
        let now = ms(100 * conversions + 1);
        write(&mut chip, &[TOS, 40, 0], now);
        write(&mut chip, &[THYST, 30, 0], now);
        assert_eq!(chip.wakes_at(), Some(ms(100 * conversions + 100)));
        chip.advance(ms(100 * conversions + 100));
        assert_eq!(chip.interrupt(), Some(false));
    }
}

#[test]
fn an_interrupt_lasts_until_a_register_is_read() {
    let mut chip = hot(CONFIGURATION_INTERRUPT);
    chip.advance(ms(100));
    assert_eq!(chip.interrupt(), Some(false));
    read_register(&mut chip, CONFIGURATION, 1, ms(110));
    // It is still hot: nothing happens until it has been below THYST.
    assert_eq!((chip.interrupt(), chip.wakes_at()), (Some(true), None));
    write(&mut chip, &[THYST, 30, 0], ms(120));
    assert_eq!(chip.wakes_at(), Some(ms(200)));
    chip.advance(ms(200));
    assert_eq!(chip.interrupt(), Some(false));
    // Shutdown ends it, too.
    write(&mut chip, &[CONFIGURATION, CONFIGURATION_INTERRUPT | CONFIGURATION_SHUTDOWN], ms(210));
    assert_eq!((chip.interrupt(), chip.wakes_at()), (Some(true), None));
}

#[test]
fn shutdown_stops_conversions_and_its_end_begins_one() {
    let mut chip = chip(25_000);
    write(&mut chip, &[CONFIGURATION, CONFIGURATION_SHUTDOWN], ms(50));
    chip.advance(ms(1000));
    assert_eq!(chip.counters(), [("conversions", 0)]);
    write(&mut chip, &[CONFIGURATION, 0], ms(1030));
    chip.advance(ms(1130) - Ps(1));
    assert_eq!(chip.counters(), [("conversions", 0)]);
    chip.advance(ms(1130));
    assert_eq!(chip.counters(), [("conversions", 1)]);
}

#[test]
fn no_conversion_time_is_no_conversion() {
    let mut chip = Lm75::new(Ps::ZERO, 25_000);
    chip.advance(ms(1000));
    assert_eq!((chip.counters(), chip.wakes_at()), (vec![("conversions", 0)], None));
}

#[test]
fn it_goes_on_after_a_load() {
    for at in 0..400u64 {
        let mut one = chip(81_000);
        let step = |chip: &mut Lm75, number: u64| {
            let now = Ps::from_us(7_000 * number);
            let byte = (number * 37) as u8;
            chip.advance(now);
            let answer = match number % 9 {
                0 => u32::from(chip.address(Direction::Write, now).ack),
                1 => u32::from(chip.write(byte % 4, now).ack),
                2 => u32::from(chip.write(byte & 0x1e, now).ack),
                3 => u32::from(chip.write(byte, now).ack),
                4 => u32::from(chip.address(Direction::Read, now).ack),
                5..=7 => u32::from(chip.read(now).byte),
                _ => {
                    chip.stop(now);
                    0
                }
            };
            (answer, chip.wakes_at(), chip.interrupt(), chip.take_notes(), chip.counters())
        };
        (0..at).for_each(|number| drop(step(&mut one, number)));
        let bytes = engine::state::saved(&one);
        let mut other = chip(81_000);
        let mut loader = engine::state::Loader::new(&bytes);
        assert_eq!((engine::state::State::load(&mut other, &mut loader), loader.is_over()), (Ok(()), true));
        for number in at..at + 40 {
            assert_eq!(step(&mut one, number), step(&mut other, number), "step {number}, loaded at {at}");
        }
        assert_eq!(engine::state::saved(&one), engine::state::saved(&other));
    }
}
