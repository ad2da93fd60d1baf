use super::*;
use crate::bench::Bench;
use crate::registers::walk;
use engine::time::Hz;

const EN: u32 = CR_EN1;
const F4_TEN: u32 = CR_TEN1;
const F4_TSEL: u32 = 3;
const F4_SOFTWARE: u32 = F4.software;
const L4_TEN: u32 = L4_CR_TEN1;
const L4_TSEL: u32 = 2;
const CR_WAVE: u32 = 6;
const CR_MAMP: u32 = 8;

fn clock() -> Hz {
    Hz::new(42_000_000).unwrap()
}

fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

fn dac(has_sample_and_hold: bool, dma: Vec<IrqLine>) -> Bench {
    let params = Params {
        clock: ClockInput::fixed(clock()),
        interrupt: Some(IrqLine::Core { core: 0, bit: 4 }),
        has_sample_and_hold,
        reference_uv: 3_300_000,
        settling: Ps::from_us(3),
        wake_up: Ps::from_ns(6_500),
        prints: true,
        gate: ClockGate::NONE,
    };
    let mut bench = Bench::new(Dac::new(params, [DmaLine::new(dma), DmaLine::default()]));
    bench.record();
    bench
}

fn put(bench: &mut Bench, at: u64, offset: u32, value: u32) {
    bench.run(cycle(at));
    bench.write(cycle(at), offset, value).unwrap();
}

fn get(bench: &mut Bench, at: u64, offset: u32) -> u32 {
    bench.run(cycle(at));
    bench.value(cycle(at), offset)
}

fn trigger(bench: &mut Bench, at: u64, input: u32) {
    bench.run(cycle(at));
    bench.bus.with_device(engine::bus::device::DeviceId(0), cycle(at), |device, ctx| {
        device.irq_input(input, true, ctx);
        device.irq_input(input, false, ctx);
    });
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_map(&MAP, &["DAC_SWTRIGR"], &mut dac(false, Vec::new()));
    walk::device_keeps_its_map(&WITH_SAMPLE_AND_HOLD, &[], &mut dac(true, Vec::new()));
}

#[test]
fn a_code_is_taken_over_a_cycle_after_its_write() {
    let mut bench = dac(false, Vec::new());
    put(&mut bench, 0, DHR12R1, 0x123);
    assert_eq!(get(&mut bench, 9, DOR1), 0, "the channel is off");
    put(&mut bench, 10, CR, EN);
    assert_eq!((get(&mut bench, 10, DOR1), get(&mut bench, 11, DOR1)), (0, 0x123));
    // All alignments give the same code.
    for (offset, value, expected) in [
        (DHR12L1, 0x4560, [0x456, 0]),
        (DHR8R1, 0x78, [0x780, 0]),
        (DHR12RD, 0x0abc_0def, [0xdef, 0xabc]),
        (DHR12LD, 0x1230_4560, [0x456, 0x123]),
        (DHR8RD, 0x9a78, [0x780, 0x9a0]),
    ] {
        put(&mut bench, 20, CR, EN | EN << 16);
        put(&mut bench, 20, offset, value);
        assert_eq!([DOR1, DOR2].map(|it| get(&mut bench, 21, it)), expected, "{offset:#x}");
        assert_eq!(get(&mut bench, 21, offset), value);
        put(&mut bench, 21, DHR12RD, 0);
        put(&mut bench, 30, CR, 0);
    }
}

#[test]
fn triggers_take_one_cycle_by_software_and_three_by_a_timer() {
    let mut bench = dac(false, Vec::new());
    put(&mut bench, 0, CR, EN | F4_TEN | F4_SOFTWARE << F4_TSEL);
    put(&mut bench, 0, DHR12R1, 0xfff);
    assert_eq!(get(&mut bench, 9, DOR1), 0);
    put(&mut bench, 10, SWTRIGR, 1);
    assert_eq!((get(&mut bench, 10, DOR1), get(&mut bench, 11, DOR1)), (0, 0xfff));
    // TIM6 is trigger 0 of an STM32F4, and 5 of an STM32L4+.
    for (is_l4, control, input) in [(false, F4_TEN, 0), (true, L4_TEN | 5 << L4_TSEL, 5)] {
        let mut bench = dac(is_l4, Vec::new());
        put(&mut bench, 0, CR, EN | control);
        put(&mut bench, 0, DHR12R1, 0x800);
        trigger(&mut bench, 20, input);
        trigger(&mut bench, 20, input + 1);
        assert_eq!((get(&mut bench, 22, DOR1), get(&mut bench, 23, DOR1)), (0, 0x800));
        assert_eq!(bench.streamed(), "0.000000547 1 2048 1.650000\n");
    }
}

#[test]
fn a_request_that_is_not_served_is_an_underrun() {
    let mut bench = dac(false, vec![IrqLine::Core { core: 0, bit: 7 }]);
    put(&mut bench, 0, CR, EN | F4_TEN | CR_DMAEN1 | CR_DMAUDRIE1);
    trigger(&mut bench, 10, 0);
    put(&mut bench, 20, DHR12R1, 5);
    trigger(&mut bench, 30, 0);
    assert_eq!((get(&mut bench, 33, DOR1), get(&mut bench, 33, SR)), (5, 0));
    trigger(&mut bench, 40, 0);
    assert_eq!((get(&mut bench, 41, SR), bench.pending() & 1 << 4), (SR_DMAUDR1, 1 << 4));
    put(&mut bench, 50, SR, SR_DMAUDR1);
    assert_eq!((get(&mut bench, 51, SR), bench.pending() & 1 << 4), (0, 0));
}

#[test]
fn noise_and_triangles_are_added_within_their_amplitudes() {
    let mut bench = dac(false, Vec::new());
    let control = EN | F4_TEN | F4_SOFTWARE << F4_TSEL;
    // RM0090, "DAC conversion (SW trigger enabled) with LFSR wave generation": 0xaaa, 0xd55.
    put(&mut bench, 0, CR, control | 1 << CR_WAVE | 11 << CR_MAMP);
    let codes = |bench: &mut Bench, from: u64, count: u64| -> Vec<u32> {
        let code = |nth| {
            put(bench, from + 4 * nth, SWTRIGR, 1);
            get(bench, from + 4 * nth + 1, DOR1)
        };
        (0..count).map(code).collect()
    };
    assert_eq!(codes(&mut bench, 10, 2), [0xaaa, 0xd55]);
    put(&mut bench, 30, CR, 0);
    put(&mut bench, 31, CR, control | 2 << CR_WAVE | 1 << CR_MAMP);
    put(&mut bench, 31, DHR12R1, 100);
    assert_eq!(codes(&mut bench, 40, 8), [100, 101, 102, 103, 102, 101, 100, 101]);
}

#[test]
fn an_output_is_in_waveforms_and_is_nothing_while_the_channel_is_off() {
    let mut bench = dac(false, Vec::new());
    put(&mut bench, 0, CR, EN);
    put(&mut bench, 10, DHR12R1, 0x801);
    put(&mut bench, 20, CR, 0);
    bench.run(cycle(30));
    for bit in ["out1[0]", "out1[11]"] {
        assert_eq!(bench.recorded(bit), [(cycle(11), true), (cycle(20), false)]);
    }
    assert!(bench.recorded("out1[1]").is_empty());
}
