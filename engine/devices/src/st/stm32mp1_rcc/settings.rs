//! Registers of clock settings: sources, dividers, PLLs. Their initial values are those that TF-A sets on ST's
//! discovery boards (fdts/stm32mp15xx-dkx.dtsi: st,clksrc, st,clkdiv, st,pkcs and the PLLs' cfg and frac), in the
//! fields of RM0436.

/// A register of settings.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The reference manual's name.
    pub name: &'static str,
    /// Offset in bytes.
    pub offset: u32,
    /// The value when the firmware starts.
    pub value: u32,
    /// Writable bits.
    pub writable: u32,
}

/// SRCRDY of selectors, DIVRDY of dividers, TIMGxPRERRDY: always set, as settings take effect at once.
pub const READY: u32 = 1 << 31;
/// RCC_PLLxCR.PLLON.
pub const PLLON: u32 = 1 << 0;
/// RCC_PLLxCR.PLLxRDY.
pub const PLLRDY: u32 = 1 << 1;
/// RCC_PLLxCR.DIVPEN; those of Q and R are the next bits.
pub const DIVPEN: u32 = 1 << 4;
/// PLLON, PLLxRDY and DIVPEN.
const PLL_ON_P: u32 = DIVPEN | PLLRDY | PLLON;
/// With DIVQEN and DIVREN.
const PLL_ON: u32 = 3 << 5 | PLL_ON_P;
/// RCC_PLLxFRACR.FRACLE: latches the fraction.
pub const FRACLE: u32 = 1 << 16;
/// RCC_PLL3CFGR1.IFRGE: a reference of 8 to 16 MHz.
const IFRGE: u32 = 1 << 24;

const fn selector(name: &'static str, offset: u32, value: u32) -> Setting {
    Setting { name, offset, value: READY | value, writable: 7 }
}

const fn kernel(name: &'static str, offset: u32, value: u32) -> Setting {
    Setting { name, offset, value, writable: 7 }
}

const fn divider(name: &'static str, offset: u32, value: u32) -> Setting {
    Setting { name, offset, value: READY | value, writable: 0xf }
}

const fn pll(name: &'static str, offset: u32, value: u32) -> Setting {
    Setting { name, offset, value, writable: 0x75 }
}

/// RCC_PLLxCFGR1.
const fn multiplied(name: &'static str, offset: u32, divm: u32, divn: u32) -> Setting {
    Setting { name, offset, value: divm << 16 | divn, writable: 0x033f_01ff }
}

/// RCC_PLLxCFGR2.
const fn divided(name: &'static str, offset: u32, [divp, divq, divr]: [u32; 3]) -> Setting {
    Setting { name, offset, value: divr << 16 | divq << 8 | divp, writable: 0x007f_7f7f }
}

/// RCC_PLLxFRACR.
const fn fraction(name: &'static str, offset: u32, value: u32) -> Setting {
    Setting { name, offset, value, writable: FRACLE | 0xfff8 }
}

const fn with_fraction(fracv: u32) -> u32 {
    FRACLE | fracv << 3
}

/// All of them, by offset.
pub const ALL: &[Setting] = &[
    selector("RCC_MPCKSELR", 0x020, 2),
    selector("RCC_ASSCKSELR", 0x024, 2),
    selector("RCC_RCK12SELR", 0x028, 1),
    divider("RCC_MPCKDIVR", 0x02c, 1),
    divider("RCC_AXIDIVR", 0x030, 0),
    divider("RCC_APB4DIVR", 0x03c, 1),
    divider("RCC_APB5DIVR", 0x040, 2),
    selector("RCC_MSSCKSELR", 0x048, 3),
    pll("RCC_PLL1CR", 0x080, PLL_ON_P),
    multiplied("RCC_PLL1CFGR1", 0x084, 2, 80),
    divided("RCC_PLL1CFGR2", 0x088, [0, 0, 0]),
    fraction("RCC_PLL1FRACR", 0x08c, with_fraction(0x800)),
    pll("RCC_PLL2CR", 0x094, PLL_ON),
    multiplied("RCC_PLL2CFGR1", 0x098, 2, 65),
    divided("RCC_PLL2CFGR2", 0x09c, [1, 0, 0]),
    fraction("RCC_PLL2FRACR", 0x0a0, with_fraction(0x1400)),
    // LSI.
    Setting { writable: 3, ..kernel("RCC_RNG1CKSELR", 0x0cc, 3) },
    kernel("RCC_CPERCKSELR", 0x0d0, 2),
    kernel("RCC_STGENCKSELR", STGENCKSELR, 1),
    Setting { name: "RCC_OCRDYR", offset: 0x808, value: 1 << 24 | 1 << 23 | 1 << 8 | 1 << 4 | 1 << 2 | 1, writable: 0 },
    selector("RCC_RCK3SELR", 0x820, 1),
    selector("RCC_RCK4SELR", 0x824, 1),
    divider("RCC_TIMG1PRER", 0x828, 0),
    divider("RCC_TIMG2PRER", 0x82c, 0),
    divider("RCC_MCUDIVR", 0x830, 0),
    divider("RCC_APB1DIVR", 0x834, 1),
    divider("RCC_APB2DIVR", 0x838, 1),
    divider("RCC_APB3DIVR", 0x83c, 1),
    pll("RCC_PLL3CR", 0x880, PLL_ON),
    Setting { value: IFRGE | 1 << 16 | 33, ..multiplied("RCC_PLL3CFGR1", 0x884, 0, 0) },
    divided("RCC_PLL3CFGR2", 0x888, [1, 16, 36]),
    fraction("RCC_PLL3FRACR", 0x88c, with_fraction(0x1a04)),
    pll("RCC_PLL4CR", 0x894, PLL_ON),
    multiplied("RCC_PLL4CFGR1", 0x898, 3, 98),
    divided("RCC_PLL4CFGR2", 0x89c, [5, 7, 7]),
    fraction("RCC_PLL4FRACR", 0x8a0, 0),
    // hsi_ker_ck.
    kernel("RCC_I2C12CKSELR", 0x8c0, 2),
    kernel("RCC_I2C35CKSELR", 0x8c4, 2),
    kernel("RCC_UART24CKSELR", 0x8e8, 2),
    kernel("RCC_UART35CKSELR", 0x8ec, 2),
    kernel("RCC_UART78CKSELR", 0x8f0, 2),
    // LSI.
    Setting { writable: 3, ..kernel("RCC_RNG2CKSELR", 0x920, 3) },
];

/// The clock of the system timer, which the generic timer counts.
pub const STGENCKSELR: u32 = 0x0d4;

impl Setting {
    /// The value after a write of `value`, from `before`.
    pub const fn after_write(&self, before: u32, value: u32) -> u32 {
        let written = before & !self.writable | value & self.writable;
        match pll_at(self.offset) {
            // A PLL that is turned on is not locked yet.
            Some(base) if base == self.offset => written & !PLLRDY | (written & before & PLLON) << 1 & before,
            _ => written,
        }
    }
}

/// The setting at `offset`.
pub fn at(offset: u32) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.offset == offset)
}

/// RCC_PLLxCR of the four PLLs, each followed by its CFGR1, CFGR2 and FRACR.
pub const PLLS: [u32; 4] = [0x080, 0x094, 0x880, 0x894];

/// RCC_PLLxCR of the PLL that has a register at `offset`.
pub const fn pll_at(offset: u32) -> Option<u32> {
    let mut index = 0;
    while index < PLLS.len() {
        if PLLS[index] <= offset && offset <= PLLS[index] + 0xc {
            return Some(PLLS[index]);
        }
        index += 1;
    }
    None
}
