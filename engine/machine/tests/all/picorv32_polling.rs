//! Polling loops of PicoRV32, in RAM and in place from flash: skipping them has no visible effect.

use crate::whole::conformance;
use crate::whole::support::riscv::*;
use crate::{Description, Machine, RunReport};
use devices::cyclescope::picosoc_simpleuart::Simpleuart;
use devices::cyclescope::picosoc_spimemio::PicosocSpimemio;
use devices::cyclescope::result_port::ResultPort;
use devices::support::axi_lite::AxiLitePort;
use devices::support::hosted_chip::HostedChip;
use engine::bus::device::{Device, DeviceId};
use engine::bus::{Bus, MapEntry, Target};
use engine::core::Core;
use engine::memory::ram::{PortTiming, Ram};
use engine::polling::{Poll, Polled};
use engine::tiers::sized;
use engine::time::{Cycles, Ps};
use engine::wire::spi::{Burst, Drive, SpiTarget};
use proptest::prelude::*;

const RAM: u32 = 0;
/// In RAM.
const HANDLER: u32 = 0x800;
/// The flash's window.
const WINDOW: u32 = 0x1000;
const FLASH: u32 = 0x10_0000;
/// Where the devices are.
const SPIMEMIO: u32 = 0x0200_0000;
const UART: u32 = 0x0200_1000;
const RESULTS: u32 = 0x0300_0000;

/// A flash with one command, 03h: its words from [`FLASH`] on, followed by zeroes.
#[derive(engine::state::State)]
struct Rom {
    words: Vec<u32>,
    /// Bits of the frame so far that came from the controller, and how many.
    header: u32,
    bits: u32,
    address: u32,
}

impl Rom {
    fn word(&self, address: u32) -> u32 {
        let index = address.wrapping_sub(FLASH) / 4;
        self.words.get(index as usize).copied().unwrap_or(0)
    }
}

impl SpiTarget for Rom {
    fn select(&mut self, _now: Ps) {
        (self.header, self.bits) = (0, 0);
    }

    fn shift(&mut self, burst: Burst, _end: Ps) -> u32 {
        if burst.drive == Drive::Controller {
            self.header = self.header.unbounded_shl(burst.clocks) | burst.bits;
            self.bits += burst.clocks;
            self.address = self.header & 0xff_ffff;
            return u32::MAX;
        }
        let word = self.word(self.address).swap_bytes() >> (32 - burst.clocks);
        self.address += burst.clocks / 8;
        word
    }

    fn deselect(&mut self, _now: Ps) {}

    fn peek(&self, addr: u32, into: &mut [u8]) -> bool {
        into.iter_mut().zip(addr..).for_each(|(byte, at)| *byte = self.word(at).to_le_bytes()[(at & 3) as usize]);
        true
    }
}

impl Polled for Rom {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        for state in [self.header, self.bits, self.address] {
            poll.state(state);
        }
        true
    }
}

fn r_type(funct7: u32, rs1: u32) -> u32 {
    funct7 << 25 | rs1 << 15 | 0x0b
}

/// A machine that begins with `program` at an address of RAM or of flash; its handler ends the run.
fn machine(at: u32, program: &[u32]) -> Machine {
    let words = if at == FLASH { program.to_vec() } else { Vec::new() };
    let chip = HostedChip::new(Box::new(Rom { words, header: 0, bits: 0, address: 0 }), "flash0".to_owned(), None, 0);
    let port = AxiLitePort { clock: clock(), read_cycles: Cycles(1), write_cycles: Cycles(1) };
    let devices: [Box<dyn Device>; 3] = [
        Box::new(PicosocSpimemio::new(clock(), WINDOW, chip)),
        Box::new(Simpleuart::new(clock())),
        Box::new(ResultPort::new(port)),
    ];
    let mut bus = Bus::default();
    for (name, device) in ["spimemio", "uart0", "results"].into_iter().zip(devices) {
        bus.devices.push(Some(device));
        bus.device_names.push(name.to_owned());
    }
    bus.rams.push(Ram::new(0x1000, PortTiming::symmetric(clock(), Cycles(1), Cycles(1), 4)));
    let entries = [
        ("ram", RAM, WINDOW - 1, Target::Ram(0)),
        ("flash", WINDOW, SPIMEMIO - 1, Target::Device(DeviceId(0), 1)),
        ("spimemio", SPIMEMIO, SPIMEMIO + 3, Target::Device(DeviceId(0), 0)),
        ("uart0", UART, UART + 7, Target::Device(DeviceId(1), 0)),
        ("results", RESULTS, RESULTS + 0xff, Target::Device(DeviceId(2), 0)),
    ];
    for (name, base, last, target) in entries {
        bus.map.push(MapEntry::new(name, base, last, target));
    }
    bus.add_core();
    let mut core = crate::whole::picorv32::core(HANDLER, 0x1000);
    core.set_pc(at);
    let mut machine = Machine::new(bus, vec![Box::new(core)], Description::default());
    if at == RAM {
        put(&mut machine, RAM, program);
    }
    put(&mut machine, HANDLER, &[lui(20, RESULTS), sw(0, 20, 4), jal(0, 0)]);
    machine
}

/// Polls the receiver, with `body` in each iteration, until the core's timer interrupts after `cycles` cycles.
fn wait_for_timer(cycles: u32, body: &[u32]) -> Vec<u32> {
    let (upper, lower) = ((cycles + 0x800) & !0xfff, (cycles << 20) as i32 >> 20);
    let mut program = vec![lui(5, upper), addi(5, 5, lower), lui(7, UART), lui(8, SPIMEMIO), addi(11, 0, -1)];
    // maskirq x0, x0; timer x0, x5
    program.extend([r_type(3, 0), r_type(5, 5), lw(10, 7, 4)]);
    program.extend(body);
    program.push(beq(10, 11, -4 * (body.len() as i32 + 1)));
    program.push(EBREAK);
    program
}

fn with_and_without_skipping(at: u32, program: &[u32]) -> (RunReport, u64) {
    conformance::with_and_without_skipping(|| machine(at, program))
}

#[test]
fn a_wait_for_a_character_is_skipped_up_to_the_timer() {
    for at in [RAM, FLASH] {
        let (report, skipped) = with_and_without_skipping(at, &wait_for_timer(500_000, &[]));
        let cycles = report.cores[0].cycles.0;
        assert!((500_000..503_000).contains(&cycles), "{cycles}");
        assert!(skipped > cycles - cycles / 10, "{skipped} of {cycles}");
        let words =
            report.counters.iter().find(|(name, _)| name == "spimemio.words_requested").map(|(_, words)| *words);
        assert!(at == RAM || words > Some(1000), "{words:?}");
    }
}

#[test]
fn a_loop_that_reads_the_time_or_writes_a_device_is_run() {
    for body in [csrrs(12, 0xc00, 0), sw(11, 7, 0)] {
        let (_, skipped) = with_and_without_skipping(RAM, &wait_for_timer(20_000, &[body]));
        assert_eq!(skipped, 0, "{body:#x}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(20, 64)))]
    #[test]
    fn skipping_changes_nothing(
        at in prop::sample::select(vec![RAM, FLASH]),
        cycles in 100_u32..60_000,
        body in prop::collection::vec(
            prop::sample::select(vec![
                NOP,
                lw(12, 8, 0),
                lw(12, 7, 0),
                sw(11, 0, 0x700),
                lw(12, 0, 0x700),
                add(12, 11, 11),
                divu(13, 11, 7),
                // Two compressed instructions that add nothing and something to x5.
                0x0001_0001,
                0x0285_0001,
                beq(0, 0, 4),
                csrrs(13, 0xc02, 0),
            ]),
            0..8,
        ),
    ) {
        with_and_without_skipping(at, &wait_for_timer(cycles, &body));
    }
}
