//! `ingenic,jz4740-cgu`: the JZ4740's clock, reset and power control, CPM (Linux's jz4740-cgu.c; U-Boot's asm/jz4740.h
//! for names).
//!
//! Modelled: the registers, as a boot loader leaves them that has set the board's clocks: the PLL locked at cclk's
//! frequency, the others divided from it. On a Ben NanoNote they are what U-Boot sets (arch/mips/cpu/xburst/jz4740.c
//! with qi_lb60.h): 336 MHz, and a third of it for hclk, pclk and mclk. A PLL that is enabled is locked at once.
//!
//! Time is not counted by these settings: the board's clocks are fixed. A note says if firmware sets others than these.
//! A device works whether its clock is gated (CLKGR) or not. Only the SSI's clock is what SSICDR says.
//!
//! Not modelled: sleep (LCR.LPM), the duty of doze mode.

use crate::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use crate::devices::ingenic::jz4740_ssi::DEVICE_CLOCK;
use crate::devices::model::{Group, Model};
use crate::devices::support::apb;
use crate::devices::support::register_file::{Bank, RegisterFile};
use crate::devices::support::registers::{AccessKind, flag};
use crate::dt::fault::FaultKind;
use crate::dt::reader::NodeReader;
use crate::polling::Poll;
use crate::time::Hz;

/// The register map.
const BANKS: &[Bank] = &[
    Bank::new("CPCCR", CPCCR, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("LCR", LCR, 1, AccessKind::Rw, 0xf8, 0xff),
    Bank::new("RSR", 0x08, 1, AccessKind::Rw, RSR_PR, 7),
    Bank::new("CPPCR", CPPCR, 1, AccessKind::Rw, 0, 0xffff_07ff),
    Bank::new("CLKGR", 0x20, 1, AccessKind::Rw, 0, 0xffff),
    Bank::new("SCR", 0x24, 1, AccessKind::Rw, 0, 0xffd0),
    Bank::new("I2SCDR", 0x60, 1, AccessKind::Rw, 0, 0x1ff),
    Bank::new("LPCDR", 0x64, 1, AccessKind::Rw, 0, 0x8000_07ff),
    Bank::new("MSCCDR", 0x68, 1, AccessKind::Rw, 0, 0x1f),
    Bank::new("UHCCDR", 0x6c, 1, AccessKind::Rw, UHCCDR_SET, 0xf),
    Bank::new("UHCTST", 0x70, 1, AccessKind::Rw, 0, 0x3f),
    Bank::new("SSICDR", SSICDR, 1, AccessKind::Rw, 0, 0x8000_000f),
];

const CPCCR: u32 = 0x00;
const LCR: u32 = 0x04;
const CPPCR: u32 = 0x10;
const SSICDR: u32 = 0x74;

/// As set, but for the divided clocks: CLKOEN, PCS, and the LCD's divider of 3.
const CPCCR_SET: u32 = 1 << 30 | 1 << 21 | 2 << 16;
/// As set, but for M: N of 2, not divided further; stable after 32 clocks.
const CPPCR_SET: u32 = CPPCR_PLLS | CPPCR_PLLEN | 0x20;
const CPPCR_PLLM: u32 = 23;
/// The largest M.
const MOST_M: u64 = 0x1ff + 2;
const CPPCR_PLLS: u32 = 1 << 10;
const CPPCR_PLLBP: u32 = 1 << 9;
const CPPCR_PLLEN: u32 = 1 << 8;
/// 336 MHz / 7: the USB host's 48 MHz.
const UHCCDR_SET: u32 = 6;
/// Power-on reset.
const RSR_PR: u32 = 1 << 0;
const LCR_LPM: u32 = 3;
/// The SSI's clock comes from the PLL, not from EXTAL.
const SSICDR_SCS: u32 = 1 << 31;
const SSICDR_SSIDIV: u32 = 0xf;

/// What numbers in CPCCR's fields divide by; others are reserved.
const DIVIDERS: [u64; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
/// The clocks divided from the PLL, and their fields' places in CPCCR.
const DIVIDED: [(&str, u32); 4] = [("cclk", 0), ("hclk", 4), ("pclk", 8), ("mclk", 12)];

/// The device.
#[derive(Debug)]
pub struct Cgu {
    ext: Hz,
    /// The board's fixed clocks, by which time is counted, in the order of [`DIVIDED`].
    board: [Hz; DIVIDED.len()],
    registers: RegisterFile,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["ingenic,jz4740-cgu"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let ext = reader.clock(0, "EXTAL");
    // Number 1 is the RTC's, which no setting here concerns.
    let board = [(2, "cclk"), (3, "hclk"), (4, "pclk"), (5, "mclk")].map(|(index, name)| reader.clock(index, name));
    reader.known(&["clock-names"]);
    let settings = settings_for(ext, board);
    if settings.is_none() {
        let hertz: Vec<String> = board.iter().map(|clock| clock.get().to_string()).collect();
        let value = format!("{} Hz for cclk, hclk, pclk and mclk", hertz.join(", "));
        let allowed = format!(
            "cclk is half of 2 to {MOST_M} times EXTAL's {} Hz, and the others are it divided by 1, 2, 3, 4, 6, 8, \
             12, 16, 24 or 32",
            ext.get()
        );
        reader.fault_at("clocks", FaultKind::OutOfRange { property: "clocks".into(), value, allowed });
    }
    Box::new(Cgu::new(ext, board, settings.unwrap_or_default()))
}

/// CPCCR and CPPCR for these clocks (cclk, hclk, pclk, mclk), if the chip can have them.
fn settings_for(ext: Hz, clocks: [Hz; DIVIDED.len()]) -> Option<(u32, u32)> {
    let cclk = clocks[0].get();
    let m = cclk * 2 / ext.get();
    if !(cclk * 2).is_multiple_of(ext.get()) || !(2..=MOST_M).contains(&m) {
        return None;
    }
    let cppcr = CPPCR_SET | (m as u32 - 2) << CPPCR_PLLM;
    let mut cpccr = CPCCR_SET;
    for ((_, place), clock) in DIVIDED.iter().zip(clocks) {
        let number = DIVIDERS.iter().position(|divider| clock.get() * divider == cclk)?;
        cpccr |= (number as u32) << place;
    }
    Some((cpccr, cppcr))
}

impl Cgu {
    /// The device as the boot loader leaves it, with CPCCR and CPPCR; `board` are cclk, hclk, pclk and mclk.
    fn new(ext: Hz, board: [Hz; DIVIDED.len()], (cpccr, cppcr): (u32, u32)) -> Cgu {
        let [_, _, pclk, _] = board;
        let mut registers = RegisterFile::new(pclk, BANKS, None);
        registers.set(CPCCR, cpccr);
        registers.set(CPPCR, cppcr);
        Cgu { ext, board, registers }
    }

    /// Hertz of the PLL's output, or of what goes past it.
    fn pll(&self) -> u64 {
        let cppcr = self.registers.value(CPPCR);
        if cppcr & CPPCR_PLLEN == 0 || cppcr & CPPCR_PLLBP != 0 {
            return self.ext.get();
        }
        let (m, n) = (u64::from(cppcr >> CPPCR_PLLM) + 2, u64::from(cppcr >> 18 & 0x1f) + 2);
        let output = [1, 2, 2, 4][(cppcr >> 16 & 3) as usize];
        self.ext.get() * m / (n * output)
    }

    /// Hertz of each clock by the registers; 0 for a reserved divider.
    fn frequencies(&self) -> [u64; DIVIDED.len()] {
        let (pll, cpccr) = (self.pll(), self.registers.value(CPCCR));
        DIVIDED.map(|(_, place)| DIVIDERS.get((cpccr >> place & 0xf) as usize).map_or(0, |divider| pll / divider))
    }

    /// The SSI's device clock, which is no fixed one of the board's.
    fn set_ssi_clock(&self, ctx: &mut Ctx) {
        let ssicdr = self.registers.value(SSICDR);
        let divided = self.pll() / u64::from((ssicdr & SSICDR_SSIDIV) + 1);
        let hz = if ssicdr & SSICDR_SCS == 0 { self.ext.get() } else { divided };
        if let Some(rate) = Hz::new(hz) {
            ctx.bus.clocks.set_rate(DEVICE_CLOCK, rate);
        }
    }

    fn compare_with_the_board(&self, ctx: &mut Ctx) {
        let set = self.frequencies();
        let differing = (0..DIVIDED.len()).find(|index| set[*index] != self.board[*index].get());
        if let Some(index) = differing {
            ctx.note(&format!(
                "CPCCR and CPPCR set {} to {} Hz; time goes on by the board's fixed clock, {} Hz",
                DIVIDED[index].0,
                set[index],
                self.board[index].get()
            ));
        }
    }
}

impl Device for Cgu {
    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.registers.read(range, offset, size, ctx)
    }

    fn write(
        &mut self,
        range: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        let reply = self.registers.write(range, offset, size, value, ctx);
        match apb::written(value, offset, size) {
            (CPCCR, _) => self.compare_with_the_board(ctx),
            (CPPCR, value) => {
                let locked = flag(CPPCR_PLLS, value & CPPCR_PLLEN != 0);
                self.registers.set(CPPCR, value & !CPPCR_PLLS | locked);
                self.compare_with_the_board(ctx);
                self.set_ssi_clock(ctx);
            }
            (SSICDR, _) => self.set_ssi_clock(ctx),
            (LCR, value) if value & LCR_LPM != 0 => {
                ctx.note(
                    "LCR.LPM selects sleep, which is not modelled: a wait instruction idles, and all clocks go on",
                );
            }
            _ => {}
        }
        reply
    }

    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.registers.polled(poll)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::bench::{Bench, read_plain_node};
    use crate::devices::support::register_file::keeps_its_banks;
    use crate::time::Ps;

    /// What U-Boot sets on a Ben NanoNote.
    const BEN_CPCCR: u32 = 0x4022_2220;
    const BEN_CPPCR: u32 = 0x1b00_0520;

    fn hz(value: u64) -> Hz {
        Hz::new(value).unwrap()
    }

    fn ext() -> Hz {
        hz(12_000_000)
    }

    fn clocks() -> [Hz; 4] {
        [336_000_000, 112_000_000, 112_000_000, 112_000_000].map(hz)
    }

    fn device() -> Cgu {
        Cgu::new(ext(), clocks(), settings_for(ext(), clocks()).unwrap())
    }

    fn notes_of(register: u32, value: u32) -> String {
        let mut bench = Bench::new(device());
        bench.write(Ps(0), register, value).unwrap();
        bench.bus.notes().concat()
    }

    #[test]
    fn the_device_keeps_its_banks() {
        keeps_its_banks(&mut Bench::new(device()), BANKS, &["CPCCR", "CPPCR"]);
    }

    #[test]
    fn its_registers_show_the_board_s_clocks() {
        assert_eq!(settings_for(ext(), clocks()), Some((BEN_CPCCR, BEN_CPPCR)));
        assert_eq!((device().pll(), device().frequencies()), (336_000_000, clocks().map(Hz::get)));
        let others = [240_000_000, 120_000_000, 60_000_000, 7_500_000].map(hz);
        let cgu = Cgu::new(ext(), others, settings_for(ext(), others).unwrap());
        assert_eq!(cgu.frequencies(), others.map(Hz::get));
        for impossible in [[336, 100, 112, 112], [336, 112, 112, 67], [335; 4], [6; 4], [3084; 4]] {
            assert_eq!(settings_for(ext(), impossible.map(|mhz| hz(mhz * 1_000_000))), None, "{impossible:?}");
        }
    }

    #[test]
    fn settings_that_the_board_has_not_are_noted() {
        for (register, value, note) in [
            (CPCCR, BEN_CPCCR | 1 << 22, ""),
            (CPPCR, BEN_CPPCR, ""),
            (CPCCR, BEN_CPCCR | 3 << 8, "pclk to 84000000 Hz"),
            (CPCCR, BEN_CPCCR | 0xf, "cclk to 0 Hz"),
            (CPPCR, BEN_CPPCR | CPPCR_PLLBP, "cclk to 12000000 Hz"),
            (CPPCR, CPPCR_SET | 38 << CPPCR_PLLM, "cclk to 240000000 Hz"),
            (LCR, 1, "sleep"),
        ] {
            let notes = notes_of(register, value);
            assert!(notes.contains(note), "{note}: {notes}");
            assert_eq!(notes.is_empty(), note.is_empty(), "{notes}");
        }
    }

    #[test]
    fn an_enabled_pll_is_locked() {
        let mut bench = Bench::new(device());
        for (written, locked) in [(CPPCR_PLLEN, true), (0, false), (CPPCR_PLLS, false)] {
            bench.write(Ps(0), CPPCR, written).unwrap();
            assert_eq!(bench.value(Ps(0), CPPCR) & CPPCR_PLLS != 0, locked, "{written:#x}");
        }
    }

    #[test]
    fn a_node_gives_the_clocks() {
        let (mut bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        // All of the test's clocks are of 100 MHz.
        assert_eq!((bench.value(Ps(0), CPCCR), bench.value(Ps(0), CPPCR)), (CPCCR_SET, CPPCR_SET));
    }
}
