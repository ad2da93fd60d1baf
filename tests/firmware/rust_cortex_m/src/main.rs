//! Start-up, vectors and exceptions by cortex-m-rt; USART2 at PA2 and PA3, a tick by SysTick, floats, a panic.
#![no_std]
#![no_main]

use core::arch::asm;
use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m_rt::{entry, exception};

const RCC_AHB1ENR: *mut u32 = 0x4002_3830 as *mut u32;
const RCC_APB1ENR: *mut u32 = 0x4002_3840 as *mut u32;
const GPIOA_MODER: *mut u32 = 0x4002_0000 as *mut u32;
const GPIOA_AFRL: *mut u32 = 0x4002_0020 as *mut u32;
const USART2_SR: *mut u32 = 0x4000_4400 as *mut u32;
const USART2_DR: *mut u32 = 0x4000_4404 as *mut u32;
const USART2_BRR: *mut u32 = 0x4000_4408 as *mut u32;
const USART2_CR1: *mut u32 = 0x4000_440c as *mut u32;
const SYST_CSR: *mut u32 = 0xe000_e010 as *mut u32;
const SYST_RVR: *mut u32 = 0xe000_e014 as *mut u32;
const SYST_CVR: *mut u32 = 0xe000_e018 as *mut u32;
const HSI_HZ: u32 = 16_000_000;

static TICKS: AtomicU32 = AtomicU32::new(0);
static INITIALISED: AtomicU32 = AtomicU32::new(42);

fn read(register: *mut u32) -> u32 {
    unsafe { register.read_volatile() }
}

fn write(register: *mut u32, value: u32) {
    unsafe { register.write_volatile(value) }
}

struct Uart;

impl Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            while read(USART2_SR) & 1 << 7 == 0 {}
            write(USART2_DR, byte.into());
        }
        Ok(())
    }
}

/// Ends the run as under a debugger: semihosting, SYS_EXIT_EXTENDED.
fn quit(status: u32) -> ! {
    while read(USART2_SR) & 1 << 6 == 0 {}
    let block = [0x20026, status];
    unsafe { asm!("bkpt 0xab", inout("r0") 0x20 => _, in("r1") &block) };
    loop {}
}

#[exception]
fn SysTick() {
    TICKS.fetch_add(1, Ordering::Relaxed);
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    let _ = writeln!(Uart, "{}", info.message());
    quit(if INITIALISED.load(Ordering::Relaxed) == 42 { 7 } else { 1 })
}

#[entry]
fn main() -> ! {
    write(RCC_AHB1ENR, read(RCC_AHB1ENR) | 1 << 0);
    write(RCC_APB1ENR, read(RCC_APB1ENR) | 1 << 17);
    write(GPIOA_MODER, read(GPIOA_MODER) & !0xf0 | 0xa0);
    write(GPIOA_AFRL, read(GPIOA_AFRL) | 0x7700);
    write(USART2_BRR, 139);
    write(USART2_CR1, 1 << 13 | 1 << 3);
    write(SYST_RVR, HSI_HZ / 1000 - 1);
    write(SYST_CVR, 0);
    write(SYST_CSR, 7);

    let sum: f32 = (1..1000).map(|number| 1.0 / (number * number) as f32).sum();
    let _ = writeln!(Uart, "data {}, sum {:.4}", INITIALISED.load(Ordering::Relaxed), sum);
    while TICKS.load(Ordering::Relaxed) < 20 {
        unsafe { asm!("wfi") };
    }
    let _ = writeln!(Uart, "20 ticks");
    let numbers = [1, 2, 3];
    let index = TICKS.load(Ordering::Relaxed) as usize;
    let _ = writeln!(Uart, "{}", numbers[index]);
    quit(0)
}
