//! A converter with HCLK of 80 MHz divided by two, and an asynchronous clock of 16 MHz.

use super::*;
use crate::bench::Bench;
use crate::registers::{flag, walk};
use crate::st::adc::CHANNELS;
use engine::bus::device::DeviceId;
use engine::clocks::User;
use engine::dt::wiring::ClockId;
use engine::time::Hz;

const HCLK: ClockId = ClockId(3);
const ASYNCHRONOUS: ClockId = ClockId(4);
const READY: u64 = 2000;
/// ADC_CCR: HCLK / 2, all internal channels.
const COMMON: u32 = 2 << 16 | CCR_VREFEN | CCR_CH17SEL | CCR_CH18SEL;
const ON: u32 = CR_ADVREGEN | CR_ADEN;

fn hclk() -> Hz {
    Hz::new(80_000_000).unwrap()
}

fn at(cycle: u64) -> Ps {
    hclk().ps_at_floor(Cycles(cycle))
}

struct Rig(Bench);

impl Rig {
    /// A converter after its reset.
    fn new() -> Rig {
        let mut channels_uv = [0; CHANNELS];
        channels_uv[..4].copy_from_slice(&[AT.vrefint_uv, 1_650_000, 3_299_999, 825_000]);
        channels_uv[AT.temperature] = 747_500;
        channels_uv[AT.vbat] = 1_100_000;
        let params = Params {
            clocks: [
                ClockInput { rate: hclk(), id: Some(HCLK) },
                ClockInput { rate: Hz::new(16_000_000).unwrap(), id: Some(ASYNCHRONOUS) },
            ],
            inputs: Inputs { channels_uv, reference_uv: 3_300_000 },
            regulator: Ps::from_us(20),
            calibration: Cycles(116),
            power_up: Cycles(15),
            latency: Cycles(2),
            interrupt: Some(IrqLine::Core { core: 0, bit: 3 }),
            gate: ClockGate::default(),
        };
        Rig(Bench::new(Adc::new(params, DmaLine::default())))
    }

    /// An enabled converter, with these registers; its edges are in even cycles.
    fn ready(registers: &[(u32, u32)]) -> Rig {
        let mut rig = Rig::new();
        rig.put(0, CR, CR_ADVREGEN);
        rig.put(0, CCR, COMMON);
        rig.put(1600, CR, ON);
        rig.put(READY, ISR, ISR_ADRDY);
        registers.iter().for_each(|(register, value)| rig.put(READY, *register, *value));
        rig
    }

    /// A converter after its reset, with the asynchronous clock.
    fn asynchronous() -> Rig {
        let mut rig = Rig::new();
        rig.0.bus.clocks.add_user(ASYNCHRONOUS, User::Device(DeviceId(0)));
        rig
    }

    fn put(&mut self, cycle: u64, register: u32, value: u32) {
        self.0.run(at(cycle));
        self.0.write(at(cycle), register, value).unwrap();
    }

    fn get(&mut self, cycle: u64, register: u32) -> u32 {
        self.0.run(at(cycle));
        self.0.value(at(cycle), register)
    }

    /// A bit of a register changes in this cycle.
    #[track_caller]
    fn changes(&mut self, cycle: u64, register: u32, bit: u32) {
        let (before, after) = (self.get(cycle - 1, register) & bit, self.get(cycle, register) & bit);
        assert_eq!(before ^ after, bit, "around {cycle}");
    }
}

#[test]
fn the_device_keeps_its_table() {
    let special = ["ADC_ISR", "ADC_CR"];
    walk::device_keeps_its_map(&MAP, &special, &mut Rig::new().0);
}

#[test]
fn it_starts_by_its_steps() {
    let mut rig = Rig::new();
    assert_eq!(rig.get(0, CR), CR_DEEPPWD);
    rig.put(0, CCR, COMMON);
    rig.put(0, CR, CR_ADVREGEN);
    // 20 us are 1600 cycles: one too early is noted.
    rig.put(1599, CR, CR_ADVREGEN | CR_ADCAL);
    assert!(rig.0.bus.notes()[0].contains("before its regulator has started"));
    // From the edge in cycle 1600 on, 116 clocks of two cycles; then 15 from ADEN to ADRDY.
    rig.changes(1600 + 232, CR, CR_ADCAL);
    rig.put(1900, CR, ON);
    rig.put(1910, CR, ON | CR_ADSTART);
    assert!(rig.0.bus.notes()[1].contains("before the converter is ready"), "{:?}", rig.0.bus.notes());
    rig.changes(1900 + 30, ISR, ISR_ADRDY);
    rig.put(1950, CR, ON | CR_ADDIS);
    assert_eq!(rig.get(1951, CR), CR_ADVREGEN);
    rig.put(1960, CR, CR_DEEPPWD);
    assert_eq!(rig.get(1960, CR), CR_DEEPPWD);
}

#[test]
fn a_conversion_takes_its_latency_its_sampling_and_its_bits() {
    // RES and SMP of channel 1: 2 and 2.5 + 12.5; 2 and 2.5 + 6.5; 2 and 640.5 + 12.5, in two cycles each.
    for (res, sample, cycles) in [(0, 0, 34), (3, 0, 22), (0, 7, 1310)] {
        let mut rig = Rig::ready(&[(CFGR, res << 3), (SMPR1, sample << 3), (SQR1, 1 << 6), (IER, ISR_EOC)]);
        // An odd cycle waits for the next edge.
        rig.put(READY + 1, CR, ON | CR_ADSTART);
        let end = READY + 2 + cycles;
        rig.0.run(at(end) - Ps(1));
        assert_eq!(rig.0.pending(), 0);
        rig.changes(end, ISR, ISR_EOC | ISR_EOS);
        assert_eq!((rig.0.pending(), rig.get(end, CR)), (1 << 3, ON));
        assert_eq!(rig.get(end, DR), 2048 >> (2 * res));
        assert_eq!((rig.0.pending(), rig.get(end, ISR)), (0, ISR_EOS));
    }
}

#[test]
fn sequences_go_through_their_places() {
    // Channels 3, 2, 17, 0 and 18; data are read as they come.
    let (first, second) = (4 | 3 << 6 | 2 << 12 | 17 << 18, 18);
    let mut rig = Rig::ready(&[(SQR1, first), (SQR1 + 4, second), (CFGR, CFGR_CONT)]);
    rig.put(READY, CR, ON | CR_ADSTART);
    let mut end = READY + 4;
    for round in 0..2 {
        for (place, code) in [1024, 4095, 927, 1504, 1365].into_iter().enumerate() {
            end += 30;
            assert_eq!(rig.get(end, ISR) & (ISR_EOC | ISR_EOS), ISR_EOC | flag(ISR_EOS, place == 4 || round == 1));
            assert_eq!(rig.get(end, DR), code, "{place}");
        }
    }
    rig.put(end + 3, CR, ON | CR_ADSTP);
    assert_eq!((rig.get(end + 100, CR), rig.get(end + 100, ISR) & ISR_EOC), (ON, 0));
}

#[test]
fn data_that_nobody_reads_are_overrun() {
    for (mode, code) in [(0, 2048), (CFGR_OVRMOD, 4095)] {
        let mut rig = Rig::ready(&[(SQR1, 1 | 1 << 6 | 2 << 12), (CFGR, mode)]);
        rig.put(READY, CR, ON | CR_ADSTART);
        assert_eq!(rig.get(READY + 63, ISR) & ISR_OVR, 0);
        assert_eq!(rig.get(READY + 64, ISR) & ISR_OVR, ISR_OVR);
        assert_eq!(rig.get(READY + 64, DR), code);
    }
    // With AUTDLY the next conversion waits for the read.
    let mut rig = Rig::ready(&[(SQR1, 1 | 1 << 6 | 2 << 12), (CFGR, CFGR_AUTDLY)]);
    rig.put(READY, CR, ON | CR_ADSTART);
    assert_eq!(rig.get(READY + 100, DR), 2048);
    rig.changes(READY + 130, ISR, ISR_EOC);
    assert_eq!((rig.get(READY + 130, ISR) & ISR_OVR, rig.get(READY + 130, DR)), (0, 4095));
    // The same happens when firmware clears EOC.
    let mut rig = Rig::ready(&[(SQR1, 1 | 1 << 6 | 2 << 12), (CFGR, CFGR_AUTDLY)]);
    rig.put(READY, CR, ON | CR_ADSTART);
    rig.put(READY + 100, ISR, ISR_EOC);
    rig.changes(READY + 130, ISR, ISR_EOC);
    assert_eq!((rig.get(READY + 130, ISR) & ISR_OVR, rig.get(READY + 130, DR)), (0, 4095));
}

#[test]
fn the_watchdog_alignment_and_the_oversampler_do_their_part() {
    // Only channel 1 is watched: above half.
    let window = (TR1, 2047 << 16);
    let watch = CFGR_AWD1EN | CFGR_AWD1SGL | 1 << 26;
    for (channel, seen) in [(1, ISR_AWD1), (2, 0)] {
        let mut rig = Rig::ready(&[window, (SQR1, channel << 6), (CFGR, watch | CFGR_ALIGN)]);
        rig.put(READY, CR, ON | CR_ADSTART);
        assert_eq!(rig.get(READY + 34, ISR) & ISR_AWD1, seen);
        assert_eq!(rig.get(READY + 34, DR), if channel == 1 { 2048 << 4 } else { 4095 << 4 });
    }
    // 16 conversions, 2 bits dropped: 14 bits.
    let mut rig = Rig::ready(&[(CFGR2, CFGR2_ROVSE | 3 << 2 | 2 << 5), (SQR1, 1 << 6)]);
    rig.put(READY, CR, ON | CR_ADSTART);
    rig.changes(READY + 4 + 16 * 30, ISR, ISR_EOC);
    assert_eq!(rig.get(READY + 500, DR), 2048 << 2);
}

#[test]
fn channels_that_are_not_connected_and_what_is_not_modelled() {
    let mut rig = Rig::ready(&[(CCR, COMMON & !CCR_VREFEN), (SQR1, 0)]);
    rig.put(READY, CR, ON | CR_ADSTART);
    assert_eq!(rig.get(READY + 34, DR), 0);
    let before = rig.0.bus.notes().len();
    rig.put(READY + 40, CFGR, 1 << 10);
    rig.put(READY + 40, JSQR, 1);
    rig.put(READY + 40, CCR, 0);
    assert_eq!(rig.0.bus.notes().len(), before + 3, "{:?}", rig.0.bus.notes());
    assert_eq!(rig.get(READY + 40, CCR), 2 << 16);
}

#[test]
fn what_is_left_goes_on_by_the_new_clock() {
    let mut rig = Rig::ready(&[(SQR1, 1 << 6)]);
    rig.0.bus.clocks.add_user(HCLK, User::Device(DeviceId(0)));
    rig.put(READY, CR, ON | CR_ADSTART);
    // After 14 of 34 cycles HCLK has half its rate.
    let slow = Hz::new(40_000_000).unwrap();
    rig.0.run(at(READY + 14));
    rig.0.bus.set_clocks(&[(HCLK, slow)], at(READY + 14));
    let end = slow.ps_at_floor(Cycles((READY + 14) / 2 + 20));
    rig.0.run(end - Ps(1));
    assert_eq!(rig.0.value(end - Ps(1), ISR) & ISR_EOC, 0);
    rig.0.run(end);
    assert_eq!(rig.0.value(end, ISR) & ISR_EOC, ISR_EOC);
}

#[test]
fn by_the_asynchronous_clock_it_runs_at_a_rate_of_its_own() {
    let mut rig = Rig::new();
    rig.put(0, CR, CR_ADVREGEN);
    // 16 MHz / 4.
    rig.put(0, CCR, 2 << 18);
    rig.put(0, SQR1, 1 << 6);
    rig.put(1600, CR, ON);
    // 15 clocks of 20 cycles of HCLK, from 1600 on, which is an edge.
    rig.changes(1600 + 300, ISR, ISR_ADRDY);
    rig.put(2000, CR, ON | CR_ADSTART);
    rig.changes(2000 + 17 * 20, ISR, ISR_EOC);
}

#[test]
fn the_clock_is_not_chosen_during_a_calibration() {
    let mut rig = Rig::new();
    rig.put(0, CCR, COMMON);
    rig.put(0, CR, CR_ADVREGEN);
    rig.put(1600, CR, CR_ADVREGEN | CR_ADCAL);
    // HCLK undivided, which would be faster; bits that do not select a clock are written.
    rig.put(1700, CCR, 1 << 16 | CCR_VREFEN);
    assert!(rig.0.bus.notes()[0].contains("(ADC_CCR) was changed while"), "{:?}", rig.0.bus.notes());
    assert_eq!(rig.get(1700, CCR), 2 << 16 | CCR_VREFEN);
    rig.changes(1600 + 232, CR, CR_ADCAL);
    rig.put(1900, CCR, 1 << 16);
    assert_eq!(rig.get(1900, CCR), 1 << 16);
}

#[test]
fn it_stands_while_the_source_of_its_clock_is_off() {
    let mut rig = Rig::asynchronous();
    rig.0.bus.clocks.stop(ASYNCHRONOUS, Some("nothing, as RCC_CCIPR selects none".into()));
    rig.0.bus.set_clocks(&[], at(0));
    rig.put(0, CR, CR_ADVREGEN);
    rig.put(1600, CR, CR_ADVREGEN | CR_ADCAL);
    assert!(rig.0.bus.notes()[0].contains("comes from nothing, as RCC_CCIPR selects none"), "{:?}", rig.0.bus.notes());
    assert_eq!(rig.get(9999, CR), CR_ADVREGEN | CR_ADCAL);
    // 16 MHz from cycle 10000 on: 116 clocks of 5 cycles of HCLK, from the next edge on.
    rig.0.bus.set_clocks(&[(ASYNCHRONOUS, Hz::new(16_000_000).unwrap())], at(10_000));
    rig.changes(10_000 + 117 * 5, CR, CR_ADCAL);
    // It stops again during a conversion of 17 cycles, after 10 of them.
    rig.put(11_000, CR, ON);
    rig.put(11_100, SQR1, 1 << 6);
    rig.put(11_100, CR, ON | CR_ADSTART);
    rig.0.bus.clocks.stop(ASYNCHRONOUS, None);
    rig.0.bus.set_clocks(&[], at(11_150));
    assert_eq!(rig.get(20_000, ISR) & ISR_EOC, 0);
    rig.0.bus.set_clocks(&[(ASYNCHRONOUS, Hz::new(16_000_000).unwrap())], at(20_000));
    rig.changes(20_000 + 35, ISR, ISR_EOC);
}
