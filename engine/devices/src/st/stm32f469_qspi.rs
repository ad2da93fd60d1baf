//! `st,stm32f469-qspi`: the QUADSPI interface of STM32F4, F7 and MP1 (RM0436, "Quad-SPI interface (QUADSPI)"), with a
//! memory on one to four data lines. It is the generation before OCTOSPI: the same commands, FIFO, polling, window and
//! times, with other registers: [`super::stm32_ospi`] does the work.
//!
//! The second range of `reg` is the window of memory-mapped mode. Programs can be loaded there.
//!
//! Modelled: commands of instruction, address, alternate bytes, dummy cycles and data; indirect reads and writes with
//! the FIFO of 32 bytes, status polling, memory-mapped reads with prefetch and its timeout; prescaler, clock modes 0
//! and 3, CSHT, FSIZE, double data rate (DDRM); abort; interrupts. A command starts with the write of QUADSPI_CCR, of
//! QUADSPI_AR if it has an address, or of QUADSPI_DR if it writes data.
//!
//! Not modelled: a second memory (FSEL, DFM), DMA requests to the MDMA, DHHC, and SSHIFT, which has no effect: bits are
//! sampled as the memory drives them.

use super::stm32_ospi::registers as ospi;
use super::stm32_ospi::{Names, Ospi};
use crate::prelude::*;
use engine::bus::device::PortId;
use engine::observe::spi::SPI_WINDOW;
use engine::wire::spi::SpiTarget;

registers! {
    /// The register map (RM0436, "QUADSPI registers").
    const MAP "QUADSPI_" {
        CR 0x00 rw mask 0xffdf_1fdd {
            EN 0, DMAEN 2, TCEN 3, SSHIFT 4, DFM 6 unmodelled, FSEL 7 unmodelled, FTHRES 8..13, ENABLES 16..21, APMS 22,
            PMM 23, PRESCALER 24..32,
        };
        DCR 0x04 rw { CKMODE 0, CSHT 8..11, FSIZE 16..21 };
        SR 0x08 ro volatile mask 0x3f3f;
        FCR 0x0c wo mask 0x1b;
        DLR 0x10 rw;
        CCR 0x14 rw {
            INSTRUCTION 0..8, IMODE 8..10, ADMODE 10..12, ADSIZE 12..14, ABMODE 14..16, ABSIZE 16..18, DCYC 18..23,
            DMODE 24..26, FMODE 26..28, SIOO 28, FRCM 29 unmodelled, DHHC 30 unmodelled, DDRM 31,
        };
        AR 0x18 rw;
        ABR 0x1c rw;
        DR 0x20 rw volatile;
        PSMKR 0x24 rw;
        PSMAR 0x28 rw;
        PIR 0x2c rw mask 0xffff;
        LPTR 0x30 rw mask 0xffff;
    }
}

/// A write of 1 to this bit of QUADSPI_CR ends the present operation; it reads 0.
const CR_ABORT: u32 = 1 << 1;
/// Names that differ in notes.
const NAMES: Names = Names(&[
    ("OCTOSPI_DCR1.DEVSIZE", "QUADSPI_DCR.FSIZE"),
    ("OCTOSPI_CR.FMODE", "QUADSPI_CCR.FMODE"),
    ("OCTOSPI", "QUADSPI"),
]);
/// Registers that OCTOSPI has at another offset.
const SAME: [(u32, u32); 9] = [
    (FCR, ospi::FCR),
    (DLR, ospi::DLR),
    (AR, ospi::AR),
    (ABR, ospi::ABR),
    (DR, ospi::DR),
    (PSMKR, ospi::PSMKR),
    (PSMAR, ospi::PSMAR),
    (PIR, ospi::PIR),
    (LPTR, ospi::LPTR),
];

/// The controller.
#[derive(State, Polled)]
pub struct Quadspi {
    registers: Registers,
    ospi: Ospi,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Spi, &["st,stm32f469-qspi"], 2, from_node).with_activities(SPI_WINDOW).naming(MAP.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["reg-names"]);
    Box::new(Quadspi { registers: Registers::new(&MAP), ospi: Ospi::from_node(reader, NAMES) })
}

/// OCTOSPI's register for one that both have.
fn same(register: u32) -> Option<u32> {
    SAME.iter().find(|(ours, _)| *ours == register).map(|(_, other)| *other)
}

/// OCTOSPI_CCR for QUADSPI_CCR: each phase has its lines, 3 for four of them, and one bit for the double rate, and two
/// for its bytes.
fn phases(ccr: u32) -> u32 {
    let double = flag(1 << 3, ccr & CCR_DDRM != 0);
    let address = field(ccr, CCR_ADMODE) | double | field(ccr, CCR_ADSIZE) << 4;
    let alternate = field(ccr, CCR_ABMODE) | double | field(ccr, CCR_ABSIZE) << 4;
    let data = field(ccr, CCR_DMODE) | double;
    field(ccr, CCR_IMODE) | address << 8 | alternate << 16 | data << 24 | flag(ospi::CCR_SIOO, ccr & CCR_SIOO != 0)
}

impl Quadspi {
    fn put(&mut self, register: u32, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.ospi.write(0, register, AccessSize::Word, value, ctx)
    }

    /// QUADSPI_CR: FMODE is in another register, and the prescaler in this one.
    fn set_control(&mut self, value: u32, ctx: &mut Ctx) -> AccessResult {
        let mode = self.ospi.held(ospi::CR) & ospi::CR_FMODE;
        let prescaler = field(value, CR_PRESCALER);
        if prescaler != self.ospi.held(ospi::DCR2) {
            self.put(ospi::DCR2, prescaler, ctx)?;
        }
        self.put(ospi::CR, value & !(CR_PRESCALER | CR_SSHIFT) & (MAP_CR | CR_ABORT) | mode, ctx)
    }

    /// QUADSPI_CCR: the parts of a command in OCTOSPI's registers, the instruction, which may start it, last.
    fn set_command(&mut self, value: u32, ctx: &mut Ctx) -> AccessResult {
        let control = self.ospi.held(ospi::CR) & !ospi::CR_FMODE;
        let mode = field(value, CCR_FMODE) << ospi::CR_FMODE.trailing_zeros();
        self.put(ospi::CR, control | mode, ctx)?;
        self.put(ospi::TCR, field(value, CCR_DCYC), ctx)?;
        self.put(ospi::CCR, phases(value), ctx)?;
        self.put(ospi::IR, field(value, CCR_INSTRUCTION), ctx)
    }

    fn set_register(&mut self, register: u32, value: u32, ctx: &mut Ctx) -> AccessResult {
        let Ok((row, _, new)) = self.registers.write(register, value) else { return Ok(Reply::written(ctx.now)) };
        if let Some(note) = crate::registers::unmodelled(row, 0, new) {
            ctx.note(&note);
        }
        match (register, same(register)) {
            (CR, _) => self.set_control(value, ctx),
            (DCR, _) => self.put(ospi::DCR1, value & MAP_DCR, ctx),
            (CCR, _) if self.ospi.has_command(ctx.now) => {
                ctx.note("QUADSPI_CCR was written during a command (QUADSPI_SR.BUSY): it has no effect");
                Ok(Reply::written(ctx.now))
            }
            (CCR, _) => self.set_command(value, ctx),
            (_, Some(other)) => self.put(other, value, ctx),
            _ => Ok(Reply::written(ctx.now)),
        }
    }
}

/// The bits that QUADSPI_CR and QUADSPI_DCR have.
const MAP_CR: u32 = 0xffdf_1fdd;
const MAP_DCR: u32 = DCR_CKMODE | DCR_CSHT | DCR_FSIZE;

impl Device for Quadspi {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == DR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.ospi.reset(ctx);
    }

    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        if range > 0 {
            return self.ospi.read(range, offset, size, ctx);
        }
        match offset & !3 {
            SR => self.ospi.read(0, ospi::SR + offset % 4, size, ctx),
            DR => self.ospi.read(0, ospi::DR + offset % 4, size, ctx),
            _ if !self.ospi.gate().is_open(ctx) => Ok(Reply::read(0, ctx.now)),
            register => {
                let held = same(register).map_or(self.registers.held(register), |other| self.ospi.held(other));
                Ok(Reply::read(size.extracted(held, offset), ctx.now))
            }
        }
    }

    fn write(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let register = offset & !3;
        if range > 0 {
            return self.ospi.write(range, offset, size, value, ctx);
        }
        if register == DR {
            return self.ospi.write(0, ospi::DR + offset % 4, size, value, ctx);
        }
        if !self.ospi.gate().takes_writes(ctx) {
            return Ok(Reply::written(ctx.now));
        }
        // An access that is narrower than a register changes its lanes only.
        let word = size.merged(self.registers.held(register), offset, value);
        self.set_register(register, word, ctx)
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.ospi.event(token, ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.ospi.pins_changed(port, changed, levels, ctx);
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        self.ospi.pins_switched(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.ospi.clocks_changed(ctx);
        if self.ospi.gate().is_reset(ctx.bus) {
            self.registers.reset();
        }
    }

    fn peek(&self, range: usize, offset: u32, into: &mut [u8]) -> bool {
        self.ospi.peek(range, offset, into)
    }

    fn preload(&mut self, range: usize, offset: u32, bytes: &[u8]) -> bool {
        self.ospi.preload(range, offset, bytes)
    }

    fn burst(&mut self, range: usize, offset: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        self.ospi.burst(range, offset, bytes, ctx)
    }

    fn streams(&self, range: usize, offset: u32) -> bool {
        self.ospi.streams(range, offset)
    }

    fn finish(&mut self, now: Ps) {
        self.ospi.finish(now);
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.ospi.chips()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.ospi.counters()
    }
}

#[cfg(test)]
mod tests;
