//! A blinky as HALs in Rust have it: pins whose types say what they are, traits for what can be done with them, and the
//! peripherals taken once. The chip's identity, or a feature, decides the board. It blinks, lights the light
//! while the button is pressed, then has the button's interrupt toggle it four times.
#![no_std]
#![no_main]

use core::arch::asm;
use core::marker::PhantomData;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cortex_m_rt::{entry, exception};

const DBGMCU_IDCODE: *mut u32 = 0xe004_2000 as *mut u32;
const NVIC_ISER: *mut u32 = 0xe000_e100 as *mut u32;
const SYST: *mut u32 = 0xe000_e010 as *mut u32;

fn read(register: *mut u32) -> u32 {
    unsafe { register.read_volatile() }
}

fn write(register: *mut u32, value: u32) {
    unsafe { register.write_volatile(value) }
}

fn modify(register: *mut u32, change: impl FnOnce(u32) -> u32) {
    write(register, change(read(register)));
}

fn at(base: u32, offset: u32) -> *mut u32 {
    (base + offset) as *mut u32
}

// ---- What a HAL has

struct Input;
struct Output;

struct Pin<Mode> {
    port: u32,
    number: u32,
    mode: PhantomData<Mode>,
}

trait OutputPin {
    fn set_high(&mut self);
    fn set_low(&mut self);
    fn toggle(&mut self);
}

trait InputPin {
    fn is_high(&self) -> bool;
}

impl Pin<Input> {
    fn into_push_pull_output(self) -> Pin<Output> {
        modify(at(self.port, 0x00), |moder| moder & !(3 << (2 * self.number)) | 1 << (2 * self.number));
        Pin { port: self.port, number: self.number, mode: PhantomData }
    }
}

impl OutputPin for Pin<Output> {
    fn set_high(&mut self) {
        write(at(self.port, 0x18), 1 << self.number);
    }

    fn set_low(&mut self) {
        write(at(self.port, 0x18), 1 << (self.number + 16));
    }

    fn toggle(&mut self) {
        if read(at(self.port, 0x14)) & 1 << self.number == 0 { self.set_high() } else { self.set_low() }
    }
}

impl InputPin for Pin<Input> {
    fn is_high(&self) -> bool {
        read(at(self.port, 0x10)) & 1 << self.number != 0
    }
}

/// The board: its chip, its light, its button, and what that reads while it is pressed.
struct Board {
    gpio: u32,
    gpio_bytes: u32,
    rcc_gpio: u32,
    rcc_syscfg: Option<(u32, u32)>,
    exti: Exti,
    khz: u32,
    led: (u32, u32),
    key: (u32, u32),
    key_interrupt: usize,
    is_pressed: bool,
}

/// EXTI: where ports are chosen, with how many bits, then edges and the mask, and what is pending.
struct Exti {
    ports: u32,
    port_bits: u32,
    enables: [u32; 3],
    pending: [u32; 2],
}

/// EXTI and SYSCFG of an STM32F4 or L4+.
const fn exti_at(exti: u32, syscfg: u32) -> Exti {
    let pending = [exti + 20; 2];
    Exti { ports: syscfg + 8, port_bits: 4, enables: [exti + 8, exti + 12, exti], pending }
}

const F4: Board = Board {
    gpio: 0x4002_0000,
    gpio_bytes: 0x400,
    rcc_gpio: 0x4002_3830,
    rcc_syscfg: Some((0x4002_3844, 14)),
    exti: exti_at(0x4001_3c00, 0x4001_3800),
    khz: 16_000,
    led: (3, 12),
    key: (0, 0),
    key_interrupt: 6,
    is_pressed: true,
};

const MP1: Board = Board {
    gpio: 0x5000_2000,
    gpio_bytes: 0x1000,
    rcc_gpio: 0x5000_0aa8,
    rcc_syscfg: None,
    exti: Exti {
        ports: 0x5000_d060,
        port_bits: 8,
        enables: [0x5000_d000, 0x5000_d004, 0x5000_d0c0],
        pending: [0x5000_d00c, 0x5000_d010],
    },
    khz: 208_877,
    led: (7, 7),
    key: (0, 14),
    key_interrupt: 121,
    is_pressed: false,
};

impl Board {
    /// The one that this runs on.
    fn here() -> Board {
        if cfg!(feature = "stm32mp157") {
            return MP1;
        }
        match read(DBGMCU_IDCODE) & 0xfff {
            0x431 => Board { led: (0, 5), key: (2, 13), key_interrupt: 40, is_pressed: false, ..F4 },
            0x470 => Board {
                gpio: 0x4800_0000,
                rcc_gpio: 0x4002_104c,
                rcc_syscfg: Some((0x4002_1060, 0)),
                exti: exti_at(0x4001_0400, 0x4001_0000),
                khz: 4_000,
                led: (1, 14),
                key: (2, 13),
                key_interrupt: 40,
                ..F4
            },
            _ => F4,
        }
    }

    /// A pin as an input, which it is out of reset or becomes here.
    fn pin(&self, (port, number): (u32, u32)) -> Pin<Input> {
        modify(at(self.rcc_gpio, 0), |enabled| enabled | 1 << port);
        let _ = read(at(self.rcc_gpio, 0));
        let base = self.gpio + self.gpio_bytes * port;
        modify(at(base, 0x00), |moder| moder & !(3 << (2 * number)));
        Pin { port: base, number, mode: PhantomData }
    }

    /// Has the key's EXTI line interrupt at both edges.
    fn listen(&self) {
        let (port, number) = self.key;
        if let Some((register, bit)) = self.rcc_syscfg {
            modify(at(register, 0), |enabled| enabled | 1 << bit);
            let _ = read(at(register, 0));
        }
        let Exti { ports, port_bits, enables, .. } = self.exti;
        let shift = port_bits * (number % 4);
        modify(at(ports, number / 4 * 4), |lines| lines & !(15 << shift) | port << shift);
        for register in enables {
            modify(at(register, 0), |lines| lines | 1 << number);
        }
        write(unsafe { NVIC_ISER.add(self.key_interrupt / 32) }, 1 << (self.key_interrupt % 32));
    }
}

struct Delay {
    khz: u32,
}

impl Delay {
    fn delay_ms(&mut self, ms: u32) {
        write(unsafe { SYST.add(1) }, self.khz - 1);
        write(unsafe { SYST.add(2) }, 0);
        write(SYST, 5);
        for _ in 0..ms {
            while read(SYST) & 1 << 16 == 0 {}
        }
        write(SYST, 0);
    }
}

// ---- The program

static EDGES: AtomicU32 = AtomicU32::new(0);
static PRESSED: AtomicBool = AtomicBool::new(false);

/// Ends the run as under a debugger: semihosting, SYS_EXIT_EXTENDED.
fn quit(status: u32) -> ! {
    let block = [0x20026, status];
    unsafe { asm!("bkpt 0xab", inout("r0") 0x20 => _, in("r1") &block) };
    loop {}
}

#[exception]
unsafe fn DefaultHandler(number: i16) {
    let board = Board::here();
    for register in board.exti.pending {
        write(at(register, 0), 1 << board.key.1);
    }
    PRESSED.store(true, Ordering::Relaxed);
    EDGES.fetch_add(if number as usize == board.key_interrupt { 1 } else { 100 }, Ordering::Relaxed);
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    quit(1)
}

#[entry]
fn main() -> ! {
    let board = Board::here();
    let mut led = board.pin(board.led).into_push_pull_output();
    let key = board.pin(board.key);
    let mut delay = Delay { khz: board.khz };
    for _ in 0..8 {
        led.toggle();
        delay.delay_ms(5);
    }
    while key.is_high() != board.is_pressed {}
    led.set_high();
    while key.is_high() == board.is_pressed {}
    led.set_low();
    board.listen();
    while EDGES.load(Ordering::Relaxed) < 4 {
        if PRESSED.swap(false, Ordering::Relaxed) {
            led.toggle();
        }
        unsafe { asm!("wfi") };
    }
    led.set_low();
    quit(if EDGES.load(Ordering::Relaxed) == 4 { 0 } else { 2 })
}
