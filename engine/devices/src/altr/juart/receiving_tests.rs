//! The read FIFO: its register, its interrupt, and a host that waits while it is full.

use super::*;
use crate::bench::Bench;
use engine::time::{Cycles, Hz};

/// Time of a character.
const CHARACTER: u64 = 10_000_000;
const IRQ: u32 = 1 << 19;

fn uart() -> Bench {
    let port = AxiLitePort { clock: Hz::new(100_000_000).unwrap(), read_cycles: Cycles(1), write_cycles: Cycles(0) };
    Bench::new(Juart::new(port, Ps(CHARACTER), Some(IrqLine::Core { core: 0, bit: 19 })))
}

fn read(bench: &mut Bench, at: u64) -> u32 {
    bench.run(Ps(at));
    bench.value(Ps(at), DATA)
}

#[test]
fn nobody_types() {
    let mut bench = uart();
    bench.write(Ps(0), CONTROL, CONTROL_RE).unwrap();
    assert_eq!((read(&mut bench, 100 * CHARACTER), bench.pending()), (0, 0));
}

#[test]
fn characters_come_at_the_hosts_rate_with_the_number_of_those_left() {
    let mut bench = uart();
    bench.type_at(Ps(500), "ab");
    assert_eq!(read(&mut bench, 500 + CHARACTER - 1), 0);
    bench.run(Ps(500 + 2 * CHARACTER));
    assert_eq!(read(&mut bench, 500 + 2 * CHARACTER), u32::from(b'a') | DATA_RVALID | 1 << RAVAIL_SHIFT);
    assert_eq!(read(&mut bench, 500 + 2 * CHARACTER), u32::from(b'b') | DATA_RVALID);
    assert_eq!(read(&mut bench, 500 + 2 * CHARACTER), 0);
}

#[test]
fn the_host_waits_while_the_fifo_is_full() {
    let mut bench = uart();
    bench.type_at(Ps(0), &"x".repeat(66));
    bench.run(Ps(1000 * CHARACTER));
    assert_eq!(read(&mut bench, 1000 * CHARACTER) >> RAVAIL_SHIFT, 63);
    bench.run(Ps(1001 * CHARACTER - 1));
    assert_eq!(read(&mut bench, 1001 * CHARACTER - 1) >> RAVAIL_SHIFT, 62);
    // The place of the first read is taken a character later, that of the second a character after that.
    bench.run(Ps(1002 * CHARACTER));
    assert_eq!(read(&mut bench, 1002 * CHARACTER) >> RAVAIL_SHIFT, 63);
    let counters = bench.bus.devices[0].as_ref().unwrap().counters();
    assert_eq!(counters[1..], [("rx_characters".to_owned(), 66), ("rx_lost_characters".to_owned(), 0)]);
}

#[test]
fn the_interrupt_comes_when_the_host_pauses_or_few_places_are_left() {
    let mut bench = uart();
    bench.write(Ps(0), CONTROL, CONTROL_RE).unwrap();
    bench.type_at(Ps(0), "ab");
    bench.run(Ps(3 * CHARACTER - 1));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps(3 * CHARACTER));
    assert_eq!((bench.pending(), bench.value(Ps(3 * CHARACTER), CONTROL) & CONTROL_RI), (IRQ, CONTROL_RI));
    read(&mut bench, 3 * CHARACTER);
    assert_eq!(bench.pending(), 0, "one read answers a pause");
    // The 55th of the 60 characters makes it 56 of 64.
    bench.type_at(Ps(10 * CHARACTER), &"x".repeat(60));
    bench.run(Ps(65 * CHARACTER - 1));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps(65 * CHARACTER));
    assert_eq!(bench.pending(), IRQ);
}
