use super::*;

const RX: u32 = ISR_RXNE | ISR_ORE | ISR_IDLE | ISR_RXFF | ISR_RXFT;

fn received(bench: &mut Bench, at: u64) -> u32 {
    bench.run(cycle(at));
    status(bench, at) & RX
}

fn read(bench: &mut Bench, at: u64) -> u32 {
    bench.run(cycle(at));
    bench.value(cycle(at), RDR)
}

#[test]
fn a_character_is_there_when_its_stop_bit_has_ended_and_the_line_idle_a_frame_later() {
    let mut bench = uart(CR1_RXNEIE, 0);
    bench.type_at(cycle(START), "ab");
    assert_eq!((received(&mut bench, START + FRAME - 1), bench.pending()), (0, 0));
    assert_eq!((received(&mut bench, START + FRAME), bench.pending()), (ISR_RXNE, 3 << 4));
    assert_eq!(read(&mut bench, START + FRAME + 1), u32::from(b'a'));
    assert_eq!((received(&mut bench, START + FRAME + 2), bench.pending()), (0, 0));
    assert_eq!(received(&mut bench, START + 2 * FRAME), ISR_RXNE);
    assert_eq!(read(&mut bench, START + 2 * FRAME), u32::from(b'b'));
    assert_eq!(received(&mut bench, START + 3 * FRAME - 1), 0);
    assert_eq!(received(&mut bench, START + 3 * FRAME), ISR_IDLE);
    bench.write(cycle(START + 3 * FRAME), ICR, ICR_IDLECF).unwrap();
    assert_eq!(received(&mut bench, START + 9 * FRAME), 0, "once after a character");
}

#[test]
fn without_a_fifo_the_second_character_is_lost_or_overwrites() {
    for (cr3, left, flags) in [(0, 'a', ISR_RXNE | ISR_ORE), (CR3_OVRDIS, 'b', ISR_RXNE)] {
        let mut bench = fresh();
        for (register, value) in [(BRR, 556), (CR3, cr3), (CR1, ON | CR1_RXNEIE)] {
            bench.write(Ps(0), register, value).unwrap();
        }
        bench.type_at(cycle(START), "ab");
        assert_eq!(received(&mut bench, START + 2 * FRAME), flags);
        assert_eq!(read(&mut bench, START + 2 * FRAME), left as u32);
        // ORE alone keeps the interrupt active.
        assert_eq!(bench.pending() != 0, flags & ISR_ORE != 0);
        bench.write(cycle(START + 2 * FRAME), ICR, ICR_ORECF).unwrap();
        assert_eq!((received(&mut bench, START + 2 * FRAME), bench.pending()), (0, 0));
    }
}

#[test]
fn the_fifo_takes_sixteen_and_reports_by_its_threshold() {
    let mut bench = fresh();
    // RXFTCFG 2: half of the FIFO.
    for (register, value) in
        [(BRR, 556), (CR3, 2 << CR3_RXFTCFG.trailing_zeros() | CR3_RXFTIE), (CR1, CR1_FIFOEN), (CR1, CR1_FIFOEN | ON)]
    {
        bench.write(Ps(0), register, value).unwrap();
    }
    bench.type_at(cycle(START), "0123456789abcdefg");
    assert_eq!((received(&mut bench, START + 8 * FRAME - 1), bench.pending()), (ISR_RXNE, 0));
    assert_eq!((received(&mut bench, START + 8 * FRAME), bench.pending()), (ISR_RXNE | ISR_RXFT, 3 << 4));
    assert_eq!(received(&mut bench, START + 16 * FRAME), ISR_RXNE | ISR_RXFT | ISR_RXFF);
    assert_eq!(received(&mut bench, START + 17 * FRAME), ISR_RXNE | ISR_RXFT | ISR_RXFF | ISR_ORE);
    for character in b"0123456789abcdef" {
        assert_eq!(read(&mut bench, START + 17 * FRAME), u32::from(*character));
    }
    assert_eq!(received(&mut bench, START + 17 * FRAME), ISR_ORE);
}

#[test]
fn rts_holds_who_sends_until_there_is_room() {
    let mut bench = fresh();
    for (register, value) in [(BRR, 556), (CR3, CR3_RTSE), (CR1, ON)] {
        bench.write(Ps(0), register, value).unwrap();
    }
    bench.type_at(cycle(START), "ab");
    assert_eq!(received(&mut bench, START + 5 * FRAME), ISR_RXNE | ISR_IDLE);
    assert_eq!(read(&mut bench, START + 5 * FRAME), u32::from(b'a'));
    assert_eq!(received(&mut bench, START + 6 * FRAME - 1) & ISR_RXNE, 0);
    assert_eq!(received(&mut bench, START + 6 * FRAME) & (ISR_RXNE | ISR_ORE), ISR_RXNE);
}

#[test]
fn a_flush_and_the_end_of_ue_drop_what_was_received() {
    let mut bench = uart(0, 0);
    bench.type_at(cycle(START), "ab");
    assert_eq!(received(&mut bench, START + FRAME), ISR_RXNE);
    bench.write(cycle(START + FRAME), RQR, RQR_RXFRQ).unwrap();
    assert_eq!(received(&mut bench, START + FRAME), 0);
    assert_eq!(received(&mut bench, START + 2 * FRAME), ISR_RXNE);
    bench.write(cycle(START + 2 * FRAME), CR1, 0).unwrap();
    assert_eq!(received(&mut bench, START + 4 * FRAME), 0);
}

#[test]
fn the_time_out_comes_so_many_bits_after_the_last_character() {
    let mut bench = uart(CR1_RTOIE, CR2_RTOEN);
    bench.write(cycle(START), RTOR, 25).unwrap();
    bench.type_at(cycle(START), "ab");
    // 25 bits of 556 clocks after the second one.
    let end = START + 2 * FRAME + 25 * 556;
    bench.run(cycle(end - 1));
    assert_eq!((status(&mut bench, end - 1) & ISR_RTOF, bench.pending()), (0, 0));
    bench.run(cycle(end));
    assert_eq!((status(&mut bench, end) & ISR_RTOF, bench.pending()), (ISR_RTOF, 3 << 4));
    bench.write(cycle(end), ICR, ICR_RTOCF).unwrap();
    bench.run(cycle(end + 10 * FRAME));
    assert_eq!((status(&mut bench, end + 10 * FRAME) & ISR_RTOF, bench.pending()), (0, 0));
}

#[test]
fn an_idle_line_interrupts_if_it_is_to() {
    let mut bench = uart(CR1_IDLEIE, 0);
    bench.type_at(cycle(START), "a");
    assert_eq!((received(&mut bench, START + 2 * FRAME - 1), bench.pending()), (ISR_RXNE, 0));
    assert_eq!((received(&mut bench, START + 2 * FRAME), bench.pending()), (ISR_RXNE | ISR_IDLE, 3 << 4));
}
