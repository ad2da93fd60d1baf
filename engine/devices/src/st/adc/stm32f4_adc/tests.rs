//! Converters at 84 MHz, with ADCCLK a quarter of that: 21 MHz.

use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::polled::{Access, Loop};
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use crate::st::adc::CHANNELS;
use engine::bus::device::DeviceId;
use engine::time::Hz;

const DIVIDER: u64 = 4;

fn clock() -> Hz {
    Hz::new(84_000_000).unwrap()
}

fn at(cycle: u64) -> Ps {
    clock().ps_at_floor(Cycles(cycle))
}

fn adc(dma: [DmaLine; 3]) -> Adc {
    let mut channels_uv = [0; CHANNELS];
    channels_uv[..4].copy_from_slice(&[0, 1_650_000, 3_299_999, 825_000]);
    channels_uv[AT.vrefint] = AT.vrefint_uv;
    let params = Params {
        clock: ClockInput::fixed(clock()),
        converters: 2,
        inputs: Inputs { channels_uv, reference_uv: 3_300_000 },
        sensor_shares_vbat: false,
        interrupt: Some(IrqLine::Core { core: 0, bit: 3 }),
        gate: ClockGate::default(),
    };
    Adc::new(params, dma)
}

struct Rig(Bench);

fn rig(registers: &[(u32, u32)]) -> Rig {
    let mut rig = Rig(Bench::new(adc(Default::default())));
    rig.put(0, CCR, 1 << 16);
    registers.iter().for_each(|(register, value)| rig.put(0, *register, *value));
    rig
}

impl Rig {
    fn put(&mut self, cycle: u64, register: u32, value: u32) {
        self.0.run(at(cycle));
        self.0.write(at(cycle), register, value).unwrap();
    }

    fn get(&mut self, cycle: u64, register: u32) -> u32 {
        self.0.run(at(cycle));
        self.0.value(at(cycle), register)
    }

    /// A bit of ADC_SR is set in this cycle.
    #[track_caller]
    fn sets(&mut self, cycle: u64, bit: u32) {
        assert_eq!((self.get(cycle - 1, SR) & bit, self.get(cycle, SR) & bit), (0, bit), "around {cycle}");
    }
}

const START: u32 = CR2_ADON | CR2_SWSTART;

#[test]
fn a_conversion_takes_its_sampling_and_a_cycle_a_bit() {
    // Channel 1, 3 cycles of sampling and 12 of conversion (RM0090, "Fast conversion mode": 15); SWSTART in cycle 9
    // takes effect on ADCCLK's edge in cycle 12.
    let mut rig = rig(&[(SQR3, 1), (CR1, CR1_EOCIE)]);
    rig.put(9, CR2, START);
    rig.sets(12 + 15 * DIVIDER, SR_EOC);
    assert_eq!((rig.0.pending(), rig.get(100, SR)), (1 << 3, SR_EOC | SR_STRT));
    assert_eq!((rig.get(100, DR), rig.get(100, SR), rig.0.pending()), (2048, SR_STRT, 0));
    // 84 cycles of sampling, 6 bits.
    rig.put(200, SMPR2, 4 << 3);
    rig.put(200, CR1, 3 << 24);
    rig.put(200, CR2, START);
    rig.sets(200 + 90 * DIVIDER, SR_EOC);
    assert_eq!(rig.get(2000, DR), 32);
}

#[test]
fn a_sequence_goes_through_its_channels() {
    let settings = [(SQR1, 2 << 20), (SQR3, 1 | 2 << 5 | 3 << 10), (CR1, CR1_SCAN)];
    let mut rig = rig(&settings);
    rig.put(0, CR2, START);
    // EOC comes with the last conversion, and the data register has its code.
    rig.sets(45 * DIVIDER, SR_EOC);
    assert_eq!(rig.get(200, DR), 1024);
    // With EOCS it comes with each conversion.
    rig.put(400, CR2, START | CR2_EOCS);
    for (place, code) in [2048, 4095, 1024].into_iter().enumerate() {
        let end = 400 + 15 * DIVIDER * (place as u64 + 1);
        rig.sets(end, SR_EOC);
        assert_eq!(rig.get(end, DR), code);
    }
}

#[test]
fn data_that_nobody_reads_are_overrun() {
    let mut rig = rig(&[(SQR3, 1)]);
    rig.put(0, CR1, CR1_OVRIE);
    rig.put(0, CR2, START | CR2_EOCS | CR2_CONT);
    rig.sets(30 * DIVIDER, SR_OVR);
    assert_eq!((rig.0.pending(), rig.get(1000, DR)), (1 << 3, 2048));
    let conversions = rig.0.bus.devices[0].as_ref().unwrap().counters()[0].1;
    assert_eq!(conversions, 2, "it has stopped");
}

#[test]
fn alignment_watchdog_and_internal_channels() {
    let mut rig = rig(&[(SQR3, 1), (HTR, 2000), (CR1, CR1_AWDEN | CR1_AWDSGL | 1)]);
    rig.put(0, CR2, START | CR2_ALIGN);
    rig.sets(15 * DIVIDER, SR_AWD);
    assert_eq!(rig.get(100, DR), 0x8000);
    rig.put(100, SQR3, 17);
    rig.put(100, CR2, START);
    assert_eq!(rig.get(300, DR), 0, "TSVREFE is 0");
    rig.put(300, CCR, 1 << 16 | CCR_TSVREFE);
    rig.put(300, CR2, START);
    assert_eq!(rig.get(600, DR), 1501);
    assert_eq!(rig.get(600, CSR), SR_STRT | SR_AWD);
}

/// Reads the data register like a DMA controller, and keeps the times of requests.
#[derive(engine::state::State)]
struct Controller(#[state(skip)] Arc<Mutex<Vec<Ps>>>);

impl Device for Controller {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::written(ctx.now))
    }

    fn irq_input(&mut self, _: u32, level: bool, ctx: &mut Ctx) {
        if level {
            self.0.lock().unwrap().push(ctx.now);
            ctx.schedule(ctx.now, 0);
        }
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        ctx.bus.with_device(DeviceId(0), ctx.now, |adc, ctx| adc.read(0, DR, AccessSize::Word, ctx)).unwrap();
    }
}

impl Polled for Controller {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[test]
fn each_conversion_asks_for_a_transfer() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let line = DmaLine::new(vec![IrqLine::Device { device: DeviceId(1), input: 0 }]);
    let dma = [line, DmaLine::default(), DmaLine::default()];
    let mut rig = Rig(Bench::new(adc(dma)).and(Controller(Arc::clone(&kept))));
    rig.put(0, CCR, 1 << 16);
    rig.put(0, CR2, START | CR2_DMA | CR2_CONT);
    rig.0.run(at(46 * DIVIDER));
    assert_eq!(*kept.lock().unwrap(), [at(60), at(120), at(180)]);
    assert_eq!(rig.get(46 * DIVIDER, SR) & SR_OVR, 0);
}

#[test]
fn the_node_gives_inputs_and_temperature() {
    walk::table_is_sound(MAP.rows);
    let properties: &[(&str, &[u32])] = &[
        ("interrupts-extended", &[CPU_INTC, 3]),
        ("cyclescope,inputs-microvolts", &[0, 3_300_000]),
        ("cyclescope,temperature-millicelsius", &[(-10_000_i32) as u32]),
    ];
    let (mut bench, faults) = read_plain_node(from_node, properties);
    assert!(faults.is_empty(), "{faults:?}");
    bench.write(Ps(0), CCR, CCR_TSVREFE).unwrap();
    bench.write(Ps(0), SQR3, 16).unwrap();
    bench.write(Ps(0), CR2, START).unwrap();
    bench.run(Ps::from_us(10));
    // 0.76 V - 35 * 2.5 mV = 0.6725 V.
    assert_eq!(bench.value(Ps::from_us(10), DR), 672_500 * 4096 / 3_300_000);
}

#[test]
fn the_sensor_of_an_f411_is_where_vbat_is() {
    let (mut bench, faults) = read_plain_node(from_node, &[("cyclescope,sensor-shares-vbat", &[])]);
    assert!(faults.is_empty(), "{faults:?}");
    let mut number = 0;
    let mut converted = |common: u32, channel: u32| {
        number += 10;
        let begin = Ps::from_us(number);
        bench.write(begin, CCR, common).unwrap();
        bench.write(begin, SQR3, channel).unwrap();
        bench.write(begin, CR2, START).unwrap();
        bench.value(begin + Ps::from_us(5), DR)
    };
    let code = |uv: u32| (u64::from(uv) * 4096 / 3_300_000) as u32;
    assert_eq!([16, 18].map(|channel| converted(CCR_TSVREFE, channel)), [0, code(760_000)]);
    assert_eq!(converted(CCR_TSVREFE | CCR_VBATE, 18), code(825_000));
    assert_eq!(converted(0, 18), 0);
}

#[test]
fn a_wait_for_the_end_is_skipped() {
    let make = || {
        let mut rig = rig(&[(SMPR2, 7)]);
        rig.put(0, CR2, START);
        rig.0
    };
    assert!(Loop::even(clock(), 5, &[Access::Read(SR)]).assert_skipped_as_run(make, 10, 300));
    assert!(!Loop::even(clock(), 5, &[Access::Read(SR)]).assert_skipped_as_run(make, 10, 500), "it ends");
}
