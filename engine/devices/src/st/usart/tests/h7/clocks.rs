//! Changes of the kernel clock; an LPUART's clock; requests to a DMA controller.

use super::*;

/// Records the levels of its inputs.
#[derive(Default, engine::state::State)]
struct Requests(u32);

impl Device for Requests {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(self.0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::written(ctx.now))
    }

    fn irq_input(&mut self, input: u32, level: bool, _: &mut Ctx) {
        self.0 = self.0 & !(1 << input) | u32::from(level) << input;
    }
}

impl Polled for Requests {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

const CLOCK: ClockId = ClockId(7);

fn following(rate: u64, more: Params) -> Bench {
    let clock = KernelClock::new(ClockInput { rate: Hz::new(rate).unwrap(), id: Some(CLOCK) });
    let mut bench = Bench::new(Usart::device(&GENERATION, Params { clock, ..more }));
    bench.bus.clocks.add_user(CLOCK, engine::clocks::User::Device(DeviceId(0)));
    bench
}

#[test]
fn what_is_on_the_line_goes_on_at_the_new_rate() {
    let mut bench = following(1_000_000, params(clock()));
    bench.write(Ps(0), BRR, 100).unwrap();
    bench.write(Ps(0), CR1, CR1_UE | CR1_TE).unwrap();
    let us = Ps::from_us;
    bench.run(us(2000));
    // From edge 2002 on, for 1000 edges. At 2302.5 us edge 2302 has passed: 700 are left, of 0.5 us each from 2303 us
    // on; the first is at 2303 us.
    bench.write(us(2000), TDR, 0x61).unwrap();
    bench.write(us(2010), TDR, 0x62).unwrap();
    bench.run(Ps(2_302_500_000));
    bench.bus.set_clocks(&[(CLOCK, Hz::new(2_000_000).unwrap())], Ps(2_302_500_000));
    let end = Ps(2_302_500_000 + 700 * 500_000);
    bench.run(Ps(end.0 - 1));
    assert_eq!(bench.streamed(), "");
    bench.run(end);
    assert_eq!(bench.streamed(), "a");
    bench.run(Ps(end.0 + 500_000_000 - 1));
    assert_eq!(bench.streamed(), "");
    bench.run(Ps(end.0 + 500_000_000));
    assert_eq!(bench.streamed(), "b");
}

#[test]
fn an_edge_counts_once_where_both_rates_have_it() {
    let mut bench = following(1_000_000, params(clock()));
    bench.write(Ps(0), BRR, 100).unwrap();
    bench.write(Ps(0), CR1, CR1_UE | CR1_TE).unwrap();
    bench.run(Ps::from_us(2000));
    bench.write(Ps::from_us(2000), TDR, 0x61).unwrap();
    // 999 edges at 1 MHz, the last one at 3001 us; the remaining one comes a quarter of a microsecond later.
    bench.run(Ps::from_us(3001));
    bench.bus.set_clocks(&[(CLOCK, Hz::new(4_000_000).unwrap())], Ps::from_us(3001));
    bench.run(Ps(3_001_250_000 - 1));
    assert_eq!(bench.streamed(), "");
    bench.run(Ps(3_001_250_000));
    assert_eq!(bench.streamed(), "a");
}

#[test]
fn an_lpuart_divides_its_clock_by_256ths() {
    // 32768 Hz at 9600 baud: 256 * 32768 / 9600 is 873.8, so 0x369 (RM0432, LPUART_BRR's example): 10 bits are
    // 8730 / 256, 34 whole clocks.
    let mut bench = Bench::new(Usart::device(&LPUART, params(Hz::new(32_768).unwrap())));
    let edge = |number| Hz::new(32_768).unwrap().ps_at_floor(Cycles(number));
    bench.write(Ps(0), BRR, 0x369).unwrap();
    assert_eq!(bench.value(Ps(0), BRR), 0x369);
    bench.write(Ps(0), CR1, CR1_UE | CR1_TE).unwrap();
    bench.write(edge(100), TDR, 0x61).unwrap();
    bench.run(Ps(edge(102 + 34).0 - 1));
    assert_eq!(bench.streamed(), "");
    bench.run(edge(102 + 34));
    assert_eq!(bench.streamed(), "a");
}

#[test]
fn an_lpuart_takes_dividers_of_20_bits_from_0x300_on() {
    let mut bench = Bench::new(Usart::device(&LPUART, params(clock())));
    bench.write(Ps(0), BRR, 0xffff_ffff).unwrap();
    assert_eq!(bench.value(Ps(0), BRR), 0xf_ffff);
    bench.write(Ps(0), BRR, 0x2ff).unwrap();
    bench.write(Ps(0), CR1, CR1_UE | CR1_TE).unwrap();
    bench.write(Ps(0), TDR, 0x61).unwrap();
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn fifos_of_eight_fill_by_their_eighths() {
    let mut bench = Bench::new(Usart::device(&GENERATION, Params { fifo_characters: 8, ..params(clock()) }));
    bench.write(Ps(0), BRR, 556).unwrap();
    // TXFTCFG 5: the whole FIFO.
    bench.write(Ps(0), CR3, 5 << CR3_TXFTCFG.trailing_zeros()).unwrap();
    bench.write(Ps(0), CR1, CR1_FIFOEN).unwrap();
    bench.write(Ps(0), CR1, CR1_FIFOEN | ON).unwrap();
    assert_eq!(status(&mut bench, START), ISR_TC | ISR_TXE | ISR_TXFE | ISR_TXFT);
    for index in 0..9 {
        send(&mut bench, START + 10 * index, 'a');
    }
    assert_eq!(status(&mut bench, START + 100), 0);
    assert_eq!(status(&mut bench, START + 2 + FRAME), ISR_TXE);
}

#[test]
fn a_dma_controller_is_asked_while_there_is_room_or_a_character() {
    let line = |input| vec![IrqLine::Device { device: DeviceId(1), input }];
    let asking = Params { dma: [line(0), line(1)], ..params(clock()) };
    let mut bench = Bench::new(Usart::device(&GENERATION, asking)).and(Requests::default());
    let requests = |bench: &mut Bench| {
        bench.bus.with_device(DeviceId(1), Ps(0), |device, ctx| device.read(0, 0, AccessSize::Word, ctx)).unwrap().value
    };
    bench.write(Ps(0), BRR, 556).unwrap();
    bench.write(Ps(0), CR3, CR3_DMAT | CR3_DMAR).unwrap();
    assert_eq!(requests(&mut bench), 0);
    bench.write(Ps(0), CR1, ON).unwrap();
    assert_eq!(requests(&mut bench), 1);
    bench.run(cycle(START));
    send(&mut bench, START, 'a');
    assert_eq!(requests(&mut bench), 0);
    bench.run(cycle(START + 2));
    assert_eq!(requests(&mut bench), 1);
    bench.type_at(cycle(START + 10), "b");
    bench.run(cycle(START + 10 + FRAME));
    assert_eq!(requests(&mut bench), 3);
    bench.value(cycle(START + 10 + FRAME), RDR);
    assert_eq!(requests(&mut bench), 1);
}
