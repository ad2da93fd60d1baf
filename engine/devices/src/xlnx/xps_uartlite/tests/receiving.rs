//! The receiver: FIFO, status, interrupt, times.

use super::*;
use engine::polling::{Poll, Polled};

const CHARACTER: u64 = 10 * BIT;
const RX: u32 = STAT_RX_FIFO_VALID_DATA | STAT_RX_FIFO_FULL | STAT_OVERRUN_ERROR;

fn received(bench: &mut Bench, at: u64) -> u32 {
    bench.run(Ps(at));
    bench.value(Ps(at), STAT) & RX
}

#[test]
fn a_character_is_in_the_fifo_when_its_stop_bit_has_ended() {
    let mut bench = uart();
    bench.type_at(Ps::ZERO, "ab");
    assert_eq!(received(&mut bench, CHARACTER - 1), 0);
    assert_eq!(received(&mut bench, CHARACTER), STAT_RX_FIFO_VALID_DATA);
    assert_eq!(bench.read(Ps(CHARACTER), RX_FIFO), Ok((u32::from(b'a'), Ps(CHARACTER + 40_000))));
    assert_eq!(received(&mut bench, 2 * CHARACTER - 1), 0);
    assert_eq!(received(&mut bench, 2 * CHARACTER), STAT_RX_FIFO_VALID_DATA);
    assert_eq!(bench.value(Ps(2 * CHARACTER), RX_FIFO), u32::from(b'b'));
    assert!(bench.read(Ps(2 * CHARACTER), RX_FIFO).is_err());
}

#[test]
fn the_seventeenth_character_is_lost_and_a_look_at_the_status_forgets_that() {
    let mut bench = uart();
    bench.type_at(Ps::ZERO, "0123456789abcdefg");
    assert_eq!(received(&mut bench, 16 * CHARACTER), STAT_RX_FIFO_VALID_DATA | STAT_RX_FIFO_FULL);
    assert_eq!(received(&mut bench, 17 * CHARACTER), RX);
    assert_eq!(received(&mut bench, 17 * CHARACTER), STAT_RX_FIFO_VALID_DATA | STAT_RX_FIFO_FULL);
    for character in b"0123456789abcdef" {
        assert_eq!(bench.value(Ps(17 * CHARACTER), RX_FIFO), u32::from(*character));
    }
    assert_eq!(received(&mut bench, 17 * CHARACTER), 0);
}

#[test]
fn a_reset_of_the_receive_fifo_empties_it() {
    let mut bench = uart();
    bench.type_at(Ps::ZERO, "a");
    assert_eq!(received(&mut bench, CHARACTER), STAT_RX_FIFO_VALID_DATA);
    bench.write(Ps(CHARACTER), CTRL, CTRL_RST_RX_FIFO).unwrap();
    assert_eq!(received(&mut bench, CHARACTER), 0);
}

/// An interrupt controller that writes down when its input rises.
#[derive(engine::state::State)]
struct Edges(#[state(skip)] std::sync::Arc<std::sync::Mutex<Vec<Ps>>>);

impl Device for Edges {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::written(ctx.now))
    }

    fn irq_input(&mut self, _: u32, level: bool, ctx: &mut Ctx) {
        if level {
            self.0.lock().unwrap().push(ctx.now);
        }
    }
}

impl Polled for Edges {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[test]
fn the_interrupt_comes_when_the_empty_fifo_gets_a_character() {
    let edges = std::sync::Arc::default();
    let line = IrqLine::Device { device: DeviceId(1), input: 0 };
    let mut bench =
        Bench::new(Uartlite::device(params(8, false), Some(line))).and(Edges(std::sync::Arc::clone(&edges)));
    bench.write(Ps::ZERO, CTRL, CTRL_ENABLE_INTR).unwrap();
    bench.type_at(Ps::ZERO, "abc");
    bench.run(Ps(2 * CHARACTER));
    bench.value(Ps(2 * CHARACTER), RX_FIFO);
    bench.value(Ps(2 * CHARACTER), RX_FIFO);
    bench.run(Ps(4 * CHARACTER));
    // With the first, and with the third, which finds it empty again.
    assert_eq!(*edges.lock().unwrap(), [Ps(CHARACTER), Ps(3 * CHARACTER)]);
}

#[test]
fn a_loop_that_waits_for_a_character_repeats_until_it_comes() {
    let mut bench = uart();
    bench.type_at(Ps::ZERO, "a");
    let mut look = |clock: u64| {
        let mut poll = Poll::look(Hz::new(100_000_000).unwrap(), Cycles(clock));
        bench.run(poll.now());
        bench.value(poll.now(), STAT);
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let (before, after) = (look(100), look(110));
    assert!(after.repeats(&before));
    assert!(!look(104_160).repeats(&after));
}
