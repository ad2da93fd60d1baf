//! Clock settings that are there when a program begins: those that TF-A makes on ST's discovery boards
//! (fdts/stm32mp15xx-dkx.dtsi: st,clksrc, st,clkdiv, st,pkcs and the PLLs' cfg and frac), in the fields of RM0436.

/// A register that keeps its value.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The reference manual's name.
    pub name: &'static str,
    /// Offset in bytes.
    pub offset: u32,
    /// What it reads.
    pub value: u32,
    /// Bits that a write does not reach.
    read_only: u32,
}

/// SRCRDY of selectors, DIVRDY of dividers, TIMGxPRERRDY.
const READY: u32 = 1 << 31;
/// PLLON, PLLxRDY and DIVPEN.
const PLL_ON_P: u32 = 1 << 4 | 1 << 1 | 1 << 0;
/// With DIVQEN and DIVREN.
const PLL_ON: u32 = 3 << 5 | PLL_ON_P;
const FRACLE: u32 = 1 << 16;

const PLLRDY: u32 = 1 << 1;

const fn setting(name: &'static str, offset: u32, value: u32) -> Setting {
    Setting { name, offset, value, read_only: READY }
}

const fn pll(name: &'static str, offset: u32, value: u32) -> Setting {
    Setting { name, offset, value, read_only: PLLRDY }
}

const fn status(name: &'static str, offset: u32, value: u32) -> Setting {
    Setting { name, offset, value, read_only: u32::MAX }
}

/// RCC_PLLxCFGR1.
const fn multiplied(divm: u32, divn: u32) -> u32 {
    divm << 16 | divn
}

/// RCC_PLLxCFGR2.
const fn divided(divp: u32, divq: u32, divr: u32) -> u32 {
    divr << 16 | divq << 8 | divp
}

/// RCC_PLLxFRACR.
const fn fraction(fracv: u32) -> u32 {
    FRACLE | fracv << 3
}

/// RCC_PLL3CFGR1.IFRGE: a reference of 8 to 16 MHz.
const IFRGE: u32 = 1 << 24;

/// All of them, by offset.
pub const ALL: &[Setting] = &[
    setting("RCC_MPCKSELR", 0x020, READY | 2),
    setting("RCC_ASSCKSELR", 0x024, READY | 2),
    setting("RCC_RCK12SELR", 0x028, READY | 1),
    setting("RCC_MPCKDIVR", 0x02c, READY | 1),
    setting("RCC_AXIDIVR", 0x030, READY),
    setting("RCC_APB4DIVR", 0x03c, READY | 1),
    setting("RCC_APB5DIVR", 0x040, READY | 2),
    setting("RCC_MSSCKSELR", 0x048, READY | 3),
    pll("RCC_PLL1CR", 0x080, PLL_ON_P),
    setting("RCC_PLL1CFGR1", 0x084, multiplied(2, 80)),
    setting("RCC_PLL1CFGR2", 0x088, 0),
    setting("RCC_PLL1FRACR", 0x08c, fraction(0x800)),
    pll("RCC_PLL2CR", 0x094, PLL_ON),
    setting("RCC_PLL2CFGR1", 0x098, multiplied(2, 65)),
    setting("RCC_PLL2CFGR2", 0x09c, divided(1, 0, 0)),
    setting("RCC_PLL2FRACR", 0x0a0, fraction(0x1400)),
    setting("RCC_CPERCKSELR", 0x0d0, 2),
    setting("RCC_STGENCKSELR", 0x0d4, 1),
    status("RCC_OCRDYR", 0x808, 1 << 24 | 1 << 23 | 1 << 8 | 1 << 4 | 1 << 2 | 1),
    setting("RCC_RCK3SELR", 0x820, READY | 1),
    setting("RCC_RCK4SELR", 0x824, READY | 1),
    setting("RCC_TIMG1PRER", 0x828, READY),
    setting("RCC_TIMG2PRER", 0x82c, READY),
    setting("RCC_MCUDIVR", 0x830, READY),
    setting("RCC_APB1DIVR", 0x834, READY | 1),
    setting("RCC_APB2DIVR", 0x838, READY | 1),
    setting("RCC_APB3DIVR", 0x83c, READY | 1),
    pll("RCC_PLL3CR", 0x880, PLL_ON),
    setting("RCC_PLL3CFGR1", 0x884, IFRGE | multiplied(1, 33)),
    setting("RCC_PLL3CFGR2", 0x888, divided(1, 16, 36)),
    setting("RCC_PLL3FRACR", 0x88c, fraction(0x1a04)),
    pll("RCC_PLL4CR", 0x894, PLL_ON),
    setting("RCC_PLL4CFGR1", 0x898, multiplied(3, 98)),
    setting("RCC_PLL4CFGR2", 0x89c, divided(5, 7, 7)),
    setting("RCC_PLL4FRACR", 0x8a0, 0),
    // hsi_ker_ck.
    setting("RCC_I2C12CKSELR", 0x8c0, 2),
    setting("RCC_I2C35CKSELR", 0x8c4, 2),
    setting("RCC_UART24CKSELR", 0x8e8, 2),
    setting("RCC_UART35CKSELR", 0x8ec, 2),
    setting("RCC_UART78CKSELR", 0x8f0, 2),
];

impl Setting {
    /// True if a write of `value` leaves the register as it is.
    pub const fn is_kept_by(&self, value: u32) -> bool {
        (self.value ^ value) & !self.read_only == 0
    }
}

/// The setting at `offset`.
pub fn at(offset: u32) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.offset == offset)
}

/// What the settings make of `hse_hz`: mpuss_ck, axiss_ck and mcuss_ck, which come from the P outputs of PLL1 to PLL3,
/// in hertz.
pub fn frequencies(hse_hz: u64) -> [u64; 3] {
    let value = |offset: u32| at(offset).map_or(0, |setting| u64::from(setting.value));
    // RCC_PLLxCFGR1. PLL1 and PLL2 double, and halve what comes out at P.
    [0x084, 0x098, 0x884].map(|first| {
        let (cfgr1, cfgr2, fracr) = (value(first), value(first + 4), value(first + 8));
        let eighths = 8192 * ((cfgr1 & 0x1ff) + 1) + (fracr >> 3 & 0x1fff);
        hse_hz * eighths / (8192 * ((cfgr1 >> 16 & 0x3f) + 1) * ((cfgr2 & 0x7f) + 1))
    })
}
