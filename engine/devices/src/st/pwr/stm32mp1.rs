//! `st,stm32mp1,pwr-reg`: the power controller of STM32MP1 (RM0436, "Power control (PWR)").
//!
//! Modelled: DBP, which lets software write the backup domain, set as TF-A leaves it; the regulators REG11 and REG18,
//! the detector of USB's 3.3 V, the backup and the retention regulator, each ready `cyclescope,regulator-us` after its
//! enable and off at once; all other registers keep written values. REG11 and REG18 are on after reset, and ready when
//! a run begins.
//!
//! Not modelled: the supplies, so no detector sees a fall; Stop and Standby, and so the flags and pins that wake from
//! them; protection against a world that is not secure.

use crate::prelude::*;

use crate::support::activities::{POWER, VOLTAGE};
use crate::support::clock_gate::BACKUP_DOMAIN;

registers! {
    /// The register map (RM0436, "PWR register map").
    pub const MAP "PWR_" {
        CR1 0x00 rw reset CR1_DBP {
            LPDS 0, LPCFG 1, LVDS 2, PVDEN 4, PLS 5..8, DBP 8, AVDEN 16, ALS 17..19
        };
        CSR1 0x04 ro mask 0x0001_0010;
        CR2 0x08 rw { BREN 0, RREN 1, MONEN 4, BRRDY 16 ro, RRRDY 17 ro, LEVELS 20..24 ro };
        CR3 0x0c rw reset CR3_REG18EN | CR3_REG11EN {
            VBE 8, VBRS 9, DDRSREN 10, DDRSRDIS 11, DDRRETEN 12, POPL 17..22, USB33DEN 24, USB33RDY 26 ro, REG18EN 28,
            REG18RDY 29 ro, REG11EN 30, REG11RDY 31 ro
        };
        MPUCR 0x10 rw { PDDS 0, CSTBYDIS 3, FLAGS 5..8 ro, STANDBYWFIL2 15 ro };
        MCUCR 0x14 rw { PDDS 0, FLAGS 5..7 ro, DEEPSLEEP 15 ro };
        WKUPCR 0x20 rw { WKUPP 8..14, WKUPPUPD 16..28 };
        WKUPFR 0x24 ro mask 0x3f;
        MPUWKUPENR 0x28 rw mask 0x3f;
        MCUWKUPENR 0x2c rw mask 0x3f;
        VER 0x3f4 ro reset 0x11 mask 0xff;
        ID 0x3f8 ro reset 0x0001_0001;
        SID 0x3fc ro reset 0xa3c5_dd01;
    }
}

/// The regulators: register, enable, ready flag.
const REGULATORS: [(u32, u32, u32); 5] = [
    (CR3, CR3_REG11EN, CR3_REG11RDY),
    (CR3, CR3_REG18EN, CR3_REG18RDY),
    (CR3, CR3_USB33DEN, CR3_USB33RDY),
    (CR2, CR2_BREN, CR2_BRRDY),
    (CR2, CR2_RREN, CR2_RRRDY),
];

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(ClockGate::NONE))]
pub struct Pwr {
    /// From an enable to the ready flag.
    #[state(skip)]
    start: Ps,
    registers: Registers,
    /// The time at which each regulator is ready, if it is on.
    ready_at: [Ps; REGULATORS.len()],
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32mp1,pwr-reg"], 1, from_node).with_activities(POWER).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Pwr::new(reader.timing_ps("cyclescope,regulator-us", "from the enable of a regulator to its ready flag")))
}

impl Pwr {
    /// The device as TF-A leaves it, with the start time of its regulators.
    pub fn new(start: Ps) -> Pwr {
        Pwr { start, registers: Registers::new(&MAP), ready_at: [Ps::ZERO; REGULATORS.len()], alarm: Alarm::default() }
    }

    /// The ready flags of a register at a time.
    fn ready(&self, register: u32, now: Ps) -> u32 {
        let is_ready = |(index, (of, enable, _)): (usize, &(u32, u32, u32))| {
            *of == register && self.registers.has(register, *enable) && self.ready_at[index] <= now
        };
        REGULATORS.iter().enumerate().filter(|row| is_ready(*row)).fold(0, |flags, (_, (.., ready))| flags | ready)
    }

    /// Regulators of a register were turned on.
    fn start(&mut self, register: u32, rising: u32, ctx: &mut Ctx) {
        for (index, (of, enable, _)) in REGULATORS.iter().enumerate() {
            if *of == register && rising & enable != 0 {
                self.ready_at[index] = ctx.now.saturating_add(self.start);
                ctx.span((&VOLTAGE, index as u32), ctx.now, self.ready_at[index], Detail::None);
            }
        }
        self.await_next(ctx);
    }

    /// Asks for an event at the next ready flag, which wakes loops that poll it.
    fn await_next(&mut self, ctx: &mut Ctx) {
        if let Some(due) = self.ready_at.into_iter().filter(|at| *at > ctx.now).min() {
            self.alarm.set(due, 0, ctx);
        }
    }

    fn open_backup_domain(&self, ctx: &mut Ctx) {
        let (register, bit) = BACKUP_DOMAIN;
        ctx.bus.clocks.set_gates(register, flag(1 << bit, self.registers.has(CR1, CR1_DBP)));
        ctx.set_clocks(&[]);
    }
}

impl Table for Pwr {
    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        held | self.ready(register, ctx.now)
    }

    fn takes_write(&mut self, register: u32, ctx: &mut Ctx) -> bool {
        let is_protected = register == CR2 && !self.registers.has(CR1, CR1_DBP);
        if is_protected {
            ctx.note("PWR_CR2 was written while the backup domain is protected (PWR_CR1.DBP is 0): it keeps its value");
        }
        !is_protected
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CR1 if (old ^ new) & CR1_DBP != 0 => self.open_backup_domain(ctx),
            CR2 | CR3 => self.start(register, new & !old, ctx),
            _ => {}
        }
    }
}

impl Device for Pwr {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.open_backup_domain(ctx);
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.await_next(ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk::{self, Port as _};
    use engine::bus::device::DeviceId;

    fn pwr() -> Bench {
        let mut bench = Bench::new(Pwr::new(Ps::from_us(100)));
        bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.reset(ctx));
        bench
    }

    #[test]
    fn registers_are_those_of_the_manual() {
        walk::device_keeps_its_map(&MAP, &["PWR_CR2", "PWR_CR3"], &mut pwr());
        // REG11 and REG18 are ready.
        assert_eq!((pwr().get(CR3), pwr().get(CR2)), (0xf000_0000, 0));
    }

    #[test]
    fn a_regulator_is_ready_in_some_time_and_off_at_once() {
        let mut bench = pwr();
        bench.put(CR3, 1 << 24);
        assert_eq!(bench.value(Ps::from_us(99), CR3), 1 << 24);
        assert_eq!(bench.value(Ps::from_us(100), CR3), 1 << 24 | 1 << 26);
        bench.write(Ps::from_us(100), CR3, 1 << 28).unwrap();
        assert_eq!(bench.value(Ps::from_us(100), CR3), 1 << 28);
        assert_eq!(bench.value(Ps::from_us(200), CR3), 1 << 28 | 1 << 29);
    }

    #[test]
    fn the_backup_domain_is_open_while_dbp_is_set() {
        let (register, bit) = BACKUP_DOMAIN;
        let mut bench = pwr();
        assert!(bench.bus.clocks.is_running(register, bit));
        bench.put(CR2, CR2_BREN);
        bench.put(CR1, 0);
        bench.put(CR2, 0);
        assert!(!bench.bus.clocks.is_running(register, bit));
        assert_eq!((bench.value(Ps::from_us(100), CR2), bench.bus.notes().len()), (1 << 16 | 1, 1));
    }
}
