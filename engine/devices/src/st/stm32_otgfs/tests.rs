//! The core at HCLK of 168 MHz, with its PHY at 48 MHz: 8 clocks of that are 166.6 ns.

use super::*;
use crate::bench::{Bench, read_plain_node};
use crate::registers::{Access, Row, walk};
use engine::bus::device::DeviceId;
use engine::clocks::User;
use engine::dt::wiring::ClockId;
use engine::time::Hz;

const PLL48: ClockId = ClockId(3);
const ENABLE: (u32, u32) = (0x34, 7);
const MS: u64 = 1000;

fn us(us: u64) -> Ps {
    Ps::from_us(us)
}

fn otg(part: &'static Part) -> Bench {
    let hz = |hz| Hz::new(hz).unwrap();
    let mut bench = Bench::new(Otg::new(Params {
        part,
        phy: KernelClock::new(ClockInput { rate: hz(48_000_000), id: Some(PLL48) }),
        bus_clock: ClockInput::fixed(hz(168_000_000)),
        reset_cycles: Cycles(12),
        flush_cycles: Cycles(8),
        mode_change: us(25 * MS),
        idle: us(3 * MS),
        interrupt: Some(IrqLine::Core { core: 0, bit: 5 }),
        gate: ClockGate::at(ENABLE.0, ENABLE.1),
    }));
    bench.bus.clocks.set_gates(ENABLE.0, 1 << ENABLE.1);
    bench.bus.clocks.add_user(PLL48, User::Device(DeviceId(0)));
    bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
    bench
}

fn notes(bench: &Bench) -> String {
    format!("{:?}", bench.bus.notes())
}

/// The first steps of all stacks: the internal PHY, a core reset, power for the transceiver.
fn set_up(bench: &mut Bench, gccfg: u32) {
    bench.write(Ps(0), GUSBCFG, GUSBCFG_PHYSEL).unwrap();
    assert_ne!(bench.value(Ps(0), GRSTCTL) & GRSTCTL_AHBIDL, 0);
    bench.write(Ps(0), GRSTCTL, GRSTCTL_CSRST).unwrap();
    assert_eq!(bench.value(us(1), GRSTCTL) & GRSTCTL_CSRST, 0);
    bench.write(us(1), GCCFG, gccfg).unwrap();
    bench.write(us(1), GUSBCFG, GUSBCFG_FDMOD | GUSBCFG_PHYSEL | 6 << 10).unwrap();
}

#[test]
fn the_core_keeps_its_table() {
    let special =
        ["OTG_GOTGCTL", "OTG_GRSTCTL", "OTG_GINTSTS", "OTG_GUSBCFG", "OTG_HNPTXSTS", "OTG_DCTL", "OTG_PCGCCTL"];
    let is_of_endpoint = |name: &str| ["CTL", "INT", "TXFSTS"].iter().any(|part| name.contains(part));
    let in_device_mode = |row: &&Row| !(HCFG..DCFG).contains(&row.offset);
    walk::table_is_sound(ALL.rows);
    for part in [&F4FS, &F4HS, &L4FS] {
        let mut bench = otg(part);
        for row in ALL.rows.iter().filter(in_device_mode) {
            let Some(own) = part.map.row(row.offset) else {
                assert_eq!(bench.value(Ps(0), row.offset), 0, "{}", row.name);
                continue;
            };
            let computed = row.name == "OTG_HNPTXSTS" || row.name.contains("TXFSTS");
            if !computed {
                assert_eq!(bench.value(Ps(0), row.offset), own.reset, "{}", row.name);
            }
            if own.access == Access::Rw && !special.contains(&row.name) && !is_of_endpoint(row.name) {
                bench.write(Ps(0), row.offset, u32::MAX).unwrap();
                assert_eq!(bench.value(Ps(0), row.offset), own.mask, "{}", row.name);
                bench.write(Ps(0), row.offset, own.reset).unwrap();
            }
        }
    }
}

#[test]
fn resets_and_flushes_clear_their_bits_after_their_clocks() {
    let mut bench = otg(&F4FS);
    bench.write(Ps(0), GRSTCTL, GRSTCTL_CSRST).unwrap();
    // 12 clocks of 48 MHz.
    assert_eq!(bench.value(Ps(249_999), GRSTCTL), GRSTCTL_AHBIDL | GRSTCTL_CSRST);
    assert_eq!(bench.value(Ps(250_000), GRSTCTL), GRSTCTL_AHBIDL);
    let all = GRSTCTL_TXFFLSH | ALL_FIFOS << 6;
    bench.write(us(1), GRSTCTL, all).unwrap();
    assert_eq!(bench.value(us(1) + Ps(166_665), GRSTCTL), GRSTCTL_AHBIDL | all);
    assert_eq!(bench.value(us(1) + Ps(166_666), GRSTCTL) & GRSTCTL_TXFFLSH, 0);
    bench.write(us(2), GRSTCTL, GRSTCTL_RXFFLSH).unwrap();
    assert_eq!(bench.value(us(2), GRSTCTL) & GRSTCTL_RXFFLSH, GRSTCTL_RXFFLSH);
    assert_eq!(bench.value(us(3), GRSTCTL), GRSTCTL_AHBIDL);
    // A core reset restores the registers, except for the speed.
    for (offset, value) in [(GAHBCFG, 1), (GINTMSK, GINTSTS_USBSUSP), (DCFG, 3 | 5 << 4), (GCCFG, GCCFG_PWRDWN)] {
        bench.write(us(3), offset, value).unwrap();
    }
    bench.write(us(3), GRSTCTL, GRSTCTL_CSRST).unwrap();
    let kept = [GAHBCFG, GINTMSK, DCFG, GCCFG].map(|offset| bench.value(us(4), offset));
    assert_eq!(kept, [0, 0, 0x0220_0003, GCCFG_PWRDWN]);
}

#[test]
fn a_reset_waits_for_the_clock_of_the_phy() {
    let mut bench = otg(&F4FS);
    bench.bus.clocks.stop(PLL48, Some("the PLL's output Q, which is off (RCC_CR.PLLON)".to_owned()));
    bench.bus.set_clocks(&[], Ps(0));
    bench.write(Ps(0), GRSTCTL, GRSTCTL_CSRST).unwrap();
    assert_eq!(bench.value(us(100), GRSTCTL) & GRSTCTL_CSRST, GRSTCTL_CSRST);
    assert!(notes(&bench).contains("RCC_CR.PLLON"), "{}", notes(&bench));
    bench.bus.set_clocks(&[(PLL48, Hz::new(48_000_000).unwrap())], us(100));
    assert_eq!(bench.value(us(101), GRSTCTL), GRSTCTL_AHBIDL);
    // The OTG_HS uses the external PHY until PHYSEL is set.
    let mut bench = otg(&F4HS);
    bench.write(Ps(0), GRSTCTL, GRSTCTL_CSRST).unwrap();
    assert_eq!(bench.value(us(100), GRSTCTL) & GRSTCTL_CSRST, GRSTCTL_CSRST);
    assert!(notes(&bench).contains("GUSBCFG.PHYSEL"), "{}", notes(&bench));
    bench.write(us(100), GUSBCFG, GUSBCFG_PHYSEL).unwrap();
    assert_eq!(bench.value(us(101), GRSTCTL), GRSTCTL_AHBIDL);
}

#[test]
fn a_mode_is_forced_after_its_time() {
    let mut bench = otg(&F4FS);
    // A host's registers are not accessible to a device.
    bench.write(Ps(0), 0x440, 1 << 12).unwrap();
    assert_eq!(bench.value(Ps(0), GINTSTS), GINTSTS_PTXFE | GINTSTS_NPTXFE | GINTSTS_MMIS);
    bench.write(Ps(0), GINTSTS, u32::MAX).unwrap();
    bench.write(Ps(0), GUSBCFG, GUSBCFG_FHMOD).unwrap();
    assert_eq!(bench.value(us(25 * MS) - Ps(1), GINTSTS), GINTSTS_PTXFE | GINTSTS_NPTXFE);
    assert_eq!(bench.value(us(25 * MS), GINTSTS) & GINTSTS_CMOD, GINTSTS_CMOD);
    bench.write(us(26 * MS), 0x440, 1 << 12).unwrap();
    // Power for a port without a device: no PCSTS.
    assert_eq!((bench.value(us(99 * MS), 0x440), bench.value(us(99 * MS), 0x404)), (1 << 12, 0xea60));
    // A channel halts at once, and reports that.
    bench.write(us(99 * MS), CHANNELS + 0x20 + 0xc, HCINT_CHH).unwrap();
    bench.write(us(99 * MS), CHANNELS + 0x20, HCCHAR_CHENA | HCCHAR_CHDIS | 64).unwrap();
    let seen = [CHANNELS + 0x20, CHANNELS + 0x28, HAINT].map(|offset| bench.value(us(99 * MS), offset));
    assert_eq!(seen, [64, HCINT_CHH, 2]);
    bench.write(us(100 * MS), GUSBCFG, GUSBCFG_FDMOD).unwrap();
    assert_eq!(bench.value(us(124 * MS), GINTSTS) & GINTSTS_CMOD, GINTSTS_CMOD);
    assert_eq!(bench.value(us(125 * MS), GINTSTS) & GINTSTS_CMOD, 0);
}

#[test]
fn without_a_host_the_bus_is_suspended_where_d_plus_is_pulled_up() {
    let without_sensing = GCCFG_PWRDWN | GCCFG_NOVBUSSENS;
    for (part, gccfg) in [(&F4FS, without_sensing), (&F4HS, without_sensing), (&L4FS, GCCFG_PWRDWN)] {
        let mut bench = otg(part);
        set_up(&mut bench, gccfg);
        if part == &L4FS {
            bench.write(us(1), GOTGCTL, GOTGCTL_BVALOEN | GOTGCTL_BVALOVAL).unwrap();
        }
        assert_eq!(bench.value(us(1), GOTGCTL) & GOTGCTL_BSVLD, GOTGCTL_BSVLD);
        assert_eq!(bench.value(us(1), GINTSTS) & GINTSTS_SRQINT, GINTSTS_SRQINT);
        bench.write(us(1), GINTSTS, u32::MAX).unwrap();
        bench.write(us(1), GINTMSK, GINTSTS_USBSUSP).unwrap();
        bench.write(us(1), GAHBCFG, GAHBCFG_GINTMSK).unwrap();
        // Connected at 1 ms.
        bench.write(us(1), DCTL, DCTL_SDIS).unwrap();
        bench.write(us(MS), DCTL, 0).unwrap();
        let flags = |bench: &mut Bench, at| bench.value(at, GINTSTS) & (GINTSTS_ESUSP | GINTSTS_USBSUSP);
        assert_eq!(flags(&mut bench, us(4 * MS) - Ps(1)), 0);
        assert_eq!(flags(&mut bench, us(4 * MS)), GINTSTS_ESUSP);
        bench.run(us(7 * MS) - Ps(1));
        assert_eq!((bench.pending(), bench.value(us(7 * MS) - Ps(1), DSTS) & 1), (0, 0));
        bench.run(us(7 * MS));
        assert_eq!((bench.pending(), bench.value(us(7 * MS), DSTS) & 1), (1 << 5, 1));
        bench.write(us(8 * MS), GINTSTS, GINTSTS_USBSUSP | GINTSTS_ESUSP).unwrap();
        bench.run(us(99 * MS));
        // The suspend comes once, and again if the device reconnects.
        assert_eq!((bench.pending(), flags(&mut bench, us(99 * MS))), (0, 0));
        bench.write(us(100 * MS), DCTL, DCTL_SDIS).unwrap();
        assert_eq!(bench.value(us(101 * MS), DSTS) & 1, 0);
        bench.write(us(102 * MS), DCTL, 0).unwrap();
        bench.run(us(108 * MS));
        assert_eq!(bench.pending(), 1 << 5);
        assert!(notes(&bench).contains("nothing is plugged in"));
    }
}

#[test]
fn where_vbus_is_sensed_nothing_comes() {
    for (part, senses) in [(&F4FS, 1 << 19), (&L4FS, GCCFG_NOVBUSSENS)] {
        let mut bench = otg(part);
        set_up(&mut bench, GCCFG_PWRDWN | senses);
        bench.write(us(1), DCTL, 0).unwrap();
        bench.write(us(1), GINTSTS, u32::MAX).unwrap();
        assert_eq!(bench.value(us(1), GOTGCTL), 1 << 16);
        assert_eq!(bench.value(us(99 * MS), GINTSTS), GINTSTS_PTXFE | GINTSTS_NPTXFE);
        assert_eq!(bench.bus.events.next_due(), Ps::MAX, "nobody waits");
    }
}

#[test]
fn endpoints_are_enabled_and_disabled() {
    let mut bench = otg(&F4FS);
    let [into, out] = [IN_ENDPOINTS + 0x20, OUT_ENDPOINTS + 0x20];
    bench.write(Ps(0), 0x104, 32 << 16 | 0x80).unwrap();
    bench.write(Ps(0), into, DIEPCTL_USBAEP | 2 << 18 | 1 << 22 | DIEPCTL_SNAK | DIEPCTL_SD0PID | 64).unwrap();
    assert_eq!(bench.value(Ps(0), into), DIEPCTL_USBAEP | 2 << 18 | 1 << 22 | DIEPCTL_NAKSTS | 64);
    assert_eq!(bench.value(Ps(0), into + INTERRUPT), DIEPINT_TXFE | DIEPINT_INEPNE);
    let enabled = DIEPCTL_USBAEP | 2 << 18 | 1 << 22 | 64;
    bench.write(Ps(0), into, enabled | DIEPCTL_EPENA | DIEPCTL_CNAK).unwrap();
    assert_eq!(bench.value(Ps(0), into), enabled | DIEPCTL_EPENA);
    for _ in 0..20 {
        bench.write(Ps(0), FIFOS + 0x1000, 0x1234_5678).unwrap();
    }
    assert_eq!((bench.value(Ps(0), into + FIFO_STATUS), bench.value(Ps(0), into + INTERRUPT)), (12, 0));
    bench.write(Ps(0), DIEPMSK, DIEPINT_EPDISD).unwrap();
    bench.write(Ps(0), DAINTMSK, 2 << 16 | 2).unwrap();
    bench.write(Ps(0), into, enabled | DIEPCTL_EPENA | DIEPCTL_EPDIS | DIEPCTL_SNAK).unwrap();
    assert_eq!(bench.value(Ps(0), into), enabled | DIEPCTL_NAKSTS);
    assert_eq!(bench.value(Ps(0), GINTSTS) & (GINTSTS_IEPINT | GINTSTS_OEPINT), GINTSTS_IEPINT);
    bench.write(Ps(0), into + INTERRUPT, DIEPINT_EPDISD).unwrap();
    assert_eq!((bench.value(Ps(0), DAINT), bench.value(Ps(0), GINTSTS) & GINTSTS_IEPINT), (0, 0));
    bench.write(Ps(0), GRSTCTL, GRSTCTL_TXFFLSH | 1 << 6).unwrap();
    assert_eq!((bench.value(Ps(0), into + FIFO_STATUS), bench.value(Ps(0), into + INTERRUPT)), (32, 0xc0));
    // OUT, by the global NAK; endpoint 0 stays.
    bench.write(Ps(0), DOEPMSK, DIEPINT_EPDISD).unwrap();
    bench.write(Ps(0), out, enabled | DIEPCTL_EPENA | DIEPCTL_CNAK).unwrap();
    bench.write(Ps(0), OUT_ENDPOINTS, DIEPCTL_EPENA).unwrap();
    bench.write(Ps(0), DCTL, DCTL_SGONAK).unwrap();
    assert_eq!(bench.value(Ps(0), GINTSTS) & GINTSTS_GONAKEFF, GINTSTS_GONAKEFF);
    bench.write(Ps(0), out, enabled | DIEPCTL_EPDIS | DIEPCTL_SNAK).unwrap();
    bench.write(Ps(0), OUT_ENDPOINTS, DIEPCTL_EPDIS).unwrap();
    assert_eq!((bench.value(Ps(0), out), bench.value(Ps(0), DAINT)), (enabled | DIEPCTL_NAKSTS, 2 << 16));
    assert_eq!(bench.value(Ps(0), OUT_ENDPOINTS), DIEPCTL_USBAEP | DIEPCTL_EPENA);
    bench.write(Ps(0), DCTL, DCTL_CGONAK).unwrap();
    assert_eq!(bench.value(Ps(0), GINTSTS) & GINTSTS_GONAKEFF, 0);
}

#[test]
fn the_rcc_gates_and_resets_it() {
    let mut bench = otg(&F4FS);
    set_up(&mut bench, GCCFG_PWRDWN | GCCFG_NOVBUSSENS);
    bench.bus.clocks.set_resets(ENABLE.0, 1 << ENABLE.1);
    bench.bus.set_clocks(&[], us(9));
    assert_eq!([GCCFG, GUSBCFG, GINTSTS].map(|offset| bench.value(us(9), offset)), [0, 0xa00, 0x0400_0020]);
    bench.bus.clocks.set_resets(ENABLE.0, 0);
    bench.bus.clocks.set_gates(ENABLE.0, 0);
    assert_eq!(bench.value(us(10), GINTSTS), 0);
    assert!(notes(&bench).contains("its clock is off"));
}

#[test]
fn a_node_gives_its_times() {
    let properties: &[(&str, &[u32])] = &[
        ("cyclescope,reset-cycles", &[12]),
        ("cyclescope,flush-cycles", &[8]),
        ("cyclescope,mode-change-us", &[25_000]),
        ("cyclescope,idle-us", &[3000]),
    ];
    let (mut bench, mut faults) = read_plain_node(from_node, properties);
    faults.retain(|fault| !fault.contains("cyclescope,sources"));
    assert!(faults.is_empty(), "{faults:?}");
    bench.write(Ps(0), GRSTCTL, GRSTCTL_RXFFLSH).unwrap();
    // 8 clocks of 100 MHz.
    assert_eq!(bench.value(Ps(79_999), GRSTCTL) & GRSTCTL_RXFFLSH, GRSTCTL_RXFFLSH);
    assert_eq!(bench.value(Ps(80_000), GRSTCTL), GRSTCTL_AHBIDL);
}
