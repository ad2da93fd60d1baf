//! The register map (RM0436, RCC register map): pairs that set and clear bits, the boot and reset of the MCU, and
//! settings of clocks: sources, dividers, PLLs. Initial values are those that TF-A sets on ST's discovery boards
//! (fdts/stm32mp15xx-dkx.dtsi: st,clksrc, st,clkdiv, st,pkcs and the PLLs' cfg and frac), and the clocks that it leaves
//! enabled for the secure world and for the system timer.

use crate::registers::registers;

registers! {
    pub const MAP "RCC_" {
        TZCR 0x000 rw mask 3;
        OCENSETR 0x00c pair reset 0x111;
        HSICFGR 0x018 rw { HSIDIV 0..2, HSITRIM 8..15, HSICAL 16..28 ro };
        CSICFGR 0x01c rw reset 0x10 << 8 { CSITRIM 8..13, CSICAL 16..24 ro };
        MPCKSELR 0x020 rw reset READY | 2 { MPUSRC 0..3, MPUSRCRDY 31 ro };
        ASSCKSELR 0x024 rw reset READY | 2 { AXISSRC 0..3, AXISSRCRDY 31 ro };
        RCK12SELR 0x028 rw reset READY | 1 { PLL12SRC 0..3, PLL12SRCRDY 31 ro };
        MPCKDIVR 0x02c rw reset READY | 1 { MPUDIV 0..4, MPUDIVRDY 31 ro };
        AXIDIVR 0x030 rw reset READY { AXIDIV 0..4, AXIDIVRDY 31 ro };
        APB4DIVR 0x03c rw reset READY | 1 { APB4DIV 0..4, APB4DIVRDY 31 ro };
        APB5DIVR 0x040 rw reset READY | 2 { APB5DIV 0..4, APB5DIVRDY 31 ro };
        RTCDIVR 0x044 rw reset 23 { RTCDIV 0..6 };
        MSSCKSELR 0x048 rw reset READY | 3 { MCUSSRC 0..3, MCUSSRCRDY 31 ro };
        PLL1CR 0x080 rw reset PLL_ON_P { PLLON 0, PLL1RDY 1 ro, SSCG_CTRL 2, DIVPEN 4, DIVQEN 5, DIVREN 6 };
        PLL1CFGR1 0x084 rw reset 2 << 16 | 80 { DIVN 0..9, DIVM1 16..22, IFRGE 24..26 };
        PLL1CFGR2 0x088 rw { DIVP 0..7, DIVQ 8..15, DIVR 16..23 };
        PLL1FRACR 0x08c rw reset 1 << 16 | 0x800 << 3 { FRACV 3..16, FRACLE 16 };
        PLL1CSGR 0x090 rw;
        PLL2CR 0x094 rw reset PLL_ON { PLLON 0, PLL2RDY 1 ro, SSCG_CTRL 2, DIVPEN 4, DIVQEN 5, DIVREN 6 };
        PLL2CFGR1 0x098 rw reset 2 << 16 | 65 { DIVN 0..9, DIVM2 16..22, IFRGE 24..26 };
        PLL2CFGR2 0x09c rw reset 1 { DIVP 0..7, DIVQ 8..15, DIVR 16..23 };
        PLL2FRACR 0x0a0 rw reset 1 << 16 | 0x1400 << 3 { FRACV 3..16, FRACLE 16 };
        PLL2CSGR 0x0a4 rw;
        /// hsi_ker_ck, as the next ones.
        I2C46CKSELR 0x0c0 rw reset 2 { I2C46SRC 0..3 };
        SPI6CKSELR 0x0c4 rw reset 2 { SPI6SRC 0..3 };
        UART1CKSELR 0x0c8 rw reset 2 { UART1SRC 0..3 };
        /// LSI.
        RNG1CKSELR 0x0cc rw reset 3 { RNG1SRC 0..2 };
        CPERCKSELR 0x0d0 rw reset 2 { CKPERSRC 0..3 };
        /// The clock of the system timer, which the generic timer counts.
        STGENCKSELR 0x0d4 rw reset 1 { STGENSRC 0..3 };
        DDRITFCR 0x0d8 rw;
        MP_BOOTCR 0x100 rw mask 3;
        MP_SREQSETR 0x104 pair;
        MP_GCR 0x10c rw { BOOT_MCU 0 };
        MP_APRSTCR 0x110 rw reset 0x7f00 mask 0x7f01;
        MP_APRSTSR 0x114 ro mask 0x7f00;
        /// LSE with its medium high drive, for the RTC.
        BDCR 0x140 rw reset BDCR_RTCCKEN | 1 << 16 | 2 << 4 | BDCR_LSERDY | BDCR_LSEON {
            LSEON 0, LSEBYP 1, LSERDY 2 ro, DIGBYP 3, LSEDRV 4..6, LSECSSON 8, LSECSSD 9 ro, RTCSRC 16..18, RTCCKEN 20,
            VSWRST 31
        };
        RDLSICR 0x144 rw reset RDLSICR_LSIRDY | RDLSICR_LSION { LSION 0, LSIRDY 1 ro, MRD 16..21, EADLY 24..27 };
        APBRST4 "APB{}RSTSETR" [4..6; 8] 0x180 pair;
        AHBRST5 "AHB{}RSTSETR" [5..7; 8] 0x190 pair;
        TZAHB6RSTSETR 0x1a0 pair;
        MP_APBEN4 "MP_APB4ENSETR" 0x200 pair;
        MP_APBEN5 "MP_APB5ENSETR" 0x208 pair reset SECURE_ON;
        MP_AHBEN5 "MP_AHB{}ENSETR" [5..7; 8] 0x210 pair;
        MP_TZAHB6ENSETR 0x220 pair;
        MC_APBEN4 "MC_APB{}ENSETR" [4..6; 8] 0x280 pair;
        MC_AHBEN5 "MC_AHB{}ENSETR" [5..7; 8] 0x290 pair;
        MP_APB4LPENSETR 0x300 pair reset 0x0011_8111;
        MP_APB5LPENSETR 0x308 pair reset 0x0011_391d;
        MP_AHB5LPENSETR 0x310 pair reset 0x171;
        MP_AHB6LPENSETR 0x318 pair reset 0x0113_57a1;
        BR_RSTSCLRR 0x400 w1c reset 1 mask 0x3ff;
        MP_GRSTCSETR 0x404 rw volatile { MPSYSRST 0, MCURST 1, MPUP0RST 4, MPUP1RST 5 };
        /// After power-on.
        MP_RSTSCLRR 0x408 w1c reset 1;
        MP_IWDGFZSETR 0x40c pair;
        MP_CIER 0x414 rw mask 0x0011_1f1f;
        MP_CIFR 0x418 w1c mask 0x0011_1f1f;
        PWRLPDLYCR 0x41c rw mask 0x013f_ffff;
        MCO1CFGR 0x800 rw { MCO1SEL 0..3, MCO1DIV 4..8, MCO1ON 12 };
        MCO2CFGR 0x804 rw { MCO2SEL 0..3, MCO2DIV 4..8, MCO2ON 12 };
        OCRDYR 0x808 ro reset 1 << 24 | 1 << 23 | 1 << 8 | 1 << 4 | 1 << 2 | 1;
        DBGCFGR 0x80c rw { TRACEDIV 0..3, DBGCKEN 8, TRACECKEN 9, DBGRST 12 };
        RCK3SELR 0x820 rw reset READY | 1 { PLL3SRC 0..3, PLL3SRCRDY 31 ro };
        RCK4SELR 0x824 rw reset READY | 1 { PLL4SRC 0..3, PLL4SRCRDY 31 ro };
        TIMG1PRER 0x828 rw reset READY { TIMG1PRE 0..4, TIMG1PRERDY 31 ro };
        TIMG2PRER 0x82c rw reset READY { TIMG2PRE 0..4, TIMG2PRERDY 31 ro };
        MCUDIVR 0x830 rw reset READY { MCUDIV 0..4, MCUDIVRDY 31 ro };
        APB1DIVR 0x834 rw reset READY | 1 { APB1DIV 0..4, APB1DIVRDY 31 ro };
        APB2DIVR 0x838 rw reset READY | 1 { APB2DIV 0..4, APB2DIVRDY 31 ro };
        APB3DIVR 0x83c rw reset READY | 1 { APB3DIV 0..4, APB3DIVRDY 31 ro };
        PLL3CR 0x880 rw reset PLL_ON { PLLON 0, PLL3RDY 1 ro, SSCG_CTRL 2, DIVPEN 4, DIVQEN 5, DIVREN 6 };
        /// With a reference of 8 to 16 MHz.
        PLL3CFGR1 0x884 rw reset 1 << 24 | 1 << 16 | 33 { DIVN 0..9, DIVM3 16..22, IFRGE 24..26 };
        PLL3CFGR2 0x888 rw reset 36 << 16 | 16 << 8 | 1 { DIVP 0..7, DIVQ 8..15, DIVR 16..23 };
        PLL3FRACR 0x88c rw reset 1 << 16 | 0x1a04 << 3 { FRACV 3..16, FRACLE 16 };
        PLL3CSGR 0x890 rw;
        PLL4CR 0x894 rw reset PLL_ON { PLLON 0, PLL4RDY 1 ro, SSCG_CTRL 2, DIVPEN 4, DIVQEN 5, DIVREN 6 };
        PLL4CFGR1 0x898 rw reset 3 << 16 | 98 { DIVN 0..9, DIVM4 16..22, IFRGE 24..26 };
        PLL4CFGR2 0x89c rw reset 7 << 16 | 7 << 8 | 5 { DIVP 0..7, DIVQ 8..15, DIVR 16..23 };
        PLL4FRACR 0x8a0 rw { FRACV 3..16, FRACLE 16 };
        PLL4CSGR 0x8a4 rw;
        /// hsi_ker_ck, as the next ones.
        I2C12CKSELR 0x8c0 rw reset 2 { I2C12SRC 0..3 };
        I2C35CKSELR 0x8c4 rw reset 2 { I2C35SRC 0..3 };
        /// PLL3's output Q.
        SAI1CKSELR "SAI{}CKSELR" [1..5; 4] 0x8c8 rw reset 1 { SAISRC 0..3 };
        SPI2S1CKSELR 0x8d8 rw reset 1 { SPI1SRC 0..3 };
        SPI2S23CKSELR 0x8dc rw reset 1 { SPI23SRC 0..3 };
        /// hsi_ker_ck, as the next ones.
        SPI2S45CKSELR 0x8e0 rw reset 2 { SPI45SRC 0..3 };
        UART6CKSELR 0x8e4 rw reset 2 { UART6SRC 0..3 };
        UART24CKSELR 0x8e8 rw reset 2 { UART24SRC 0..3 };
        UART35CKSELR 0x8ec rw reset 2 { UART35SRC 0..3 };
        UART78CKSELR 0x8f0 rw reset 2 { UART78SRC 0..3 };
        /// PLL4's output P, as the next two.
        SDMMC12CKSELR 0x8f4 rw reset 2 { SDMMC12SRC 0..3 };
        SDMMC3CKSELR 0x8f8 rw reset 2 { SDMMC3SRC 0..3 };
        ETHCKSELR 0x8fc rw { ETHSRC 0..2, ETHPTPDIV 4..8 };
        QSPICKSELR 0x900 rw { QSPISRC 0..2 };
        FMCCKSELR 0x904 rw { FMCSRC 0..2 };
        FDCANCKSELR 0x90c rw reset 3 { FDCANSRC 0..2 };
        SPDIFCKSELR 0x914 rw { SPDIFSRC 0..2 };
        CECCKSELR 0x918 rw { CECSRC 0..2 };
        USBCKSELR 0x91c rw reset 1 << 4 { USBPHYSRC 0..2, USBOSRC 4 };
        /// LSI.
        RNG2CKSELR 0x920 rw reset 3 { RNG2SRC 0..2 };
        DSICKSELR 0x924 rw { DSISRC 0 };
        ADCCKSELR 0x928 rw reset 1 { ADCSRC 0..2 };
        LPTIM45CKSELR 0x92c rw reset 3 { LPTIM45SRC 0..3 };
        LPTIM23CKSELR 0x930 rw { LPTIM23SRC 0..3 };
        LPTIM1CKSELR 0x934 rw { LPTIM1SRC 0..3 };
        APBRST1 "APB{}RSTSETR" [1..4; 8] 0x980 pair;
        AHBRST2 "AHB{}RSTSETR" [2..5; 8] 0x998 pair;
        MP_APBEN1 "MP_APB{}ENSETR" [1..3; 8] 0xa00 pair;
        /// SYSCFGEN.
        MP_APBEN3 "MP_APB3ENSETR" 0xa10 pair reset 1 << 11;
        MP_AHBEN2 "MP_AHB{}ENSETR" [2..5; 8] 0xa18 pair;
        /// RETRAMEN.
        MP_MLAHBENSETR 0xa38 pair reset 1 << 4;
        MC_APBEN1 "MC_APB{}ENSETR" [1..4; 8] 0xa80 pair;
        MC_AHBEN2 "MC_AHB{}ENSETR" [2..5; 8] 0xa98 pair;
        MC_AXIMENSETR 0xab0 pair;
        /// RETRAMEN.
        MC_MLAHBENSETR 0xab8 pair reset 1 << 4;
        /// After power-on.
        MC_RSTSCLRR 0xc00 w1c reset 1;
        VERR 0xff4 ro reset 0x11 mask 0xff;
        IDR 0xff8 ro reset 1;
        SIDR 0xffc ro reset 0xa3c5_dd04;
    }
}

/// SRCRDY of selectors, DIVRDY of dividers, TIMGxPRERRDY: always set, as settings take effect at once.
pub const READY: u32 = 1 << 31;
// Bits of the registers of all PLLs.
pub const PLLON: u32 = PLL1CR_PLLON;
pub const PLLRDY: u32 = PLL1CR_PLL1RDY;
/// Those of Q and R are the next bits.
pub const DIVPEN: u32 = PLL1CR_DIVPEN;
/// Latches the fraction.
pub const FRACLE: u32 = PLL1FRACR_FRACLE;
/// RTCAPBEN, TZC1EN, TZC2EN, TZPCEN, BSECEN, STGENEN.
const SECURE_ON: u32 = 1 << 8 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 16 | 1 << 20;
const PLL_ON_P: u32 = PLLON | PLLRDY | DIVPEN;
const PLL_ON: u32 = PLL_ON_P | PLL1CR_DIVQEN | PLL1CR_DIVREN;
/// The MCU was reset.
pub const RSTS_MCURSTF: u32 = 1 << 5;

/// RCC_PLLxCR of the four PLLs, each followed by its CFGR1, CFGR2 and FRACR.
pub const PLLS: [u32; 4] = [PLL1CR, PLL2CR, PLL3CR, PLL4CR];
/// From RCC_PLLxCR to RCC_PLLxFRACR.
pub const PLL_FRACR: u32 = PLL1FRACR - PLL1CR;

/// The number of the PLL that has a register at `offset`, from 0, and the distance of the register from RCC_PLLxCR.
pub fn pll_at(offset: u32) -> Option<(usize, u32)> {
    let places = PLLS.into_iter().map(|pll| offset.wrapping_sub(pll));
    places.enumerate().find(|(_, place)| *place <= PLL_FRACR)
}
