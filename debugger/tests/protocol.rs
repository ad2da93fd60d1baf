//! Clients that send what no debugger would: a session always ends with a sentence, and the machine continues.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread;

use cyclescope_debugger::{Ended, Link, Options, serve};
use engine::bus::{Bus, MapEntry, Target};
use engine::core::Core;
use engine::cpu::memory_system::MemoryConfig;
use engine::isa::riscv::exceptions::MACHINE_INTERRUPTS;
use engine::isa::riscv::instruction_set::{CoreConfig, Hart, SystemConfig};
use engine::isa::riscv::timing::CoreTiming;
use engine::memory::ram::{PortTiming, Ram};
use engine::time::{Cycles, Hz, Ps};
use machine::{Description, Machine, Outcome};

/// The number of packets; CYCLESCOPE_FUZZ_PACKETS overrides it. A million take some minutes.
const PACKETS: usize = 30_000;
const LIMIT: Ps = Ps::from_us(500);
/// addi a0, a0, 1; jal zero, -4.
const PROGRAM: [u32; 2] = [0x0015_0513, 0xffdf_f06f];

/// A hart that counts, in 4 KiB of RAM at 0.
fn machine() -> Machine {
    let clock = Hz::new(100_000_000).unwrap();
    let mut bus = Bus::default();
    bus.rams.push(Ram::new(0x1000, PortTiming::symmetric(clock, Cycles(0), Cycles(1), 4)));
    let target = Target::Ram(0);
    bus.map.push(MapEntry::new("ram", 0, 0xfff, target));
    bus.add_core();
    let mut hart = Hart::new(CoreConfig {
        name: "cpu0".to_owned(),
        index: 0,
        clock,
        timing: CoreTiming {
            load_use: 1,
            multiply_use: 1,
            multiply: 1,
            divide: 34,
            taken_branch: 3,
            mispredicted_branch: None,
            jump: 3,
            indirect_jump: 3,
            csr: 1,
            trap: 5,
            mret: 3,
            fence_i: 2,
        },
        memory: MemoryConfig::unbuffered(clock, None, None),
        system: SystemConfig { hart: 0, interrupts: MACHINE_INTERRUPTS },
    });
    hart.set_pc(0);
    let mut machine = Machine::new(bus, vec![Box::new(hart)], Description::default());
    let program: Vec<u8> = PROGRAM.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.bus().poke(0, &program));
    machine
}

/// Serves a client that sends these bytes, reads everything that it gets, and goes: how the session ended, and what the
/// client got.
fn session(machine: &mut Machine, sent: Vec<u8>) -> (Ended, Vec<u8>) {
    let (server, client) = UnixStream::pair().unwrap();
    let server = OwnedFd::from(server);
    let link = Link::new(server.try_clone().unwrap(), server);
    let mut reads = client.try_clone().unwrap();
    let reader = thread::spawn(move || {
        let mut got = Vec::new();
        let _gone = reads.read_to_end(&mut got);
        got
    });
    let writer = thread::spawn(move || {
        let mut writes = client;
        let _gone = writes.write_all(&sent);
        let _gone = writes.shutdown(Shutdown::Write);
    });
    let ended = serve(machine, link, Options { limit: LIMIT, console_to_client: false }, &mut |_| true);
    writer.join().unwrap();
    (ended, reader.join().unwrap())
}

fn packet(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, b"#", format!("{sum:02x}").as_bytes()].concat()
}

/// Marsaglia, "Xorshift RNGs", 2003.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 33) as usize % bound
    }

    fn number(&mut self) -> u64 {
        let shift = self.below(64);
        self.next() >> shift
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// A valid packet, with any numbers in it.
    fn sensible(&mut self) -> Vec<u8> {
        let (a, b, c) = (self.number(), self.number(), self.number());
        let small = self.below(20);
        match self.below(20) {
            0 => format!("m{a:x},{small:x}"),
            1 => format!("M{a:x},{small:x}:{}", "5a".repeat(self.below(20))),
            2 => format!("p{:x}", self.below(80)),
            3 => format!("P{:x}={b:016x}", self.below(80)),
            4 => "g".to_owned(),
            5 => format!("G{}", "00".repeat(self.below(300))),
            6 => format!("{}{},{a:x},{small:x}", self.of(&["Z", "z"]), self.below(6)),
            7 => format!("vCont;{}:{}", self.of(&["s", "c", "S05", "C05"]), self.of(&["1", "p1.1"])),
            8 => format!("vCont;r{a:x},{b:x}:1;c"),
            9 => self.of(&["?", "!", "bs", "bc", "s", "c", "T1", "T99", "qC", "vCont?", "Z0,4,4", "vRun;"]).to_owned(),
            10 => format!("qXfer:features:read:target.xml:{a:x},{c:x}"),
            11 => format!("qRcmd,{}", self.monitor().iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
            12 => self.of(&["qSupported:multiprocess+;swbreak+", "qfThreadInfo", "qsThreadInfo", "qAttached"]).into(),
            13 => format!("qP{a:x},{b:x}"),
            14 => format!("vFlashWrite:{a:x}:ab"),
            15 => format!("X{a:x},{small:x}:abc"),
            16 => format!("H{}{a:x}", self.of(&["g", "c", "m"])),
            17 => format!("qThreadExtraInfo,{small:x}"),
            18 => format!("m{:x},{:x}", self.below(0x1000), self.below(0x1000)),
            _ => match self.below(5) {
                0 => format!("vFile:open:{a:x},{b:x},{c:x}"),
                1 => format!("vFile:pread:{:x},{b:x},{c:x}", self.below(3)),
                2 => format!("vFile:fstat:{:x}", self.below(3)),
                3 => format!("vFile:close:{:x}", self.below(3)),
                _ => format!("qXfer:exec-file:read:{small:x}:{b:x},{c:x}"),
            },
        }
        .into_bytes()
    }

    fn monitor(&mut self) -> Vec<u8> {
        let (a, b) = (self.number(), self.number());
        match self.below(11) {
            0 => format!("read {a:#x} {}", self.below(9)),
            1 => format!("write {a:#x} {b:#x} {}", self.below(9)),
            2 => self.of(&["time", "cycles", "stack", "devices", "events", "wires", "help", ""]).into(),
            3 => "interrupts into".into(),
            4 => format!("device {}", self.of(&["ram", "", "cpu0", "ram all", "\u{e9} all", "all all"])),
            5 => self.of(&["trace on", "trace on bus,function", "trace on buss", "trace off", "trace"]).into(),
            // None of the names may be written: above the folder, or no name at all.
            6 => format!(
                "{} {}",
                self.of(&["snapshot", "trace off"]),
                self.of(&["../up", "/dev/null", ".", "..", "no/no"])
            ),
            7 => self.of(&["triggers", "remove-trigger 0", "remove-trigger 99", "last-write 0x4", "reset"]).into(),
            8 => format!(
                "{} {}",
                self.of(&["break-when", "count-when"]),
                self.of(&[
                    "cpu0.instructions > 5000",
                    "cpu0.cycles % 1000 == 0",
                    "time > duration('1us')",
                    "cpu0.nothing",
                    "'main' in cpu0.calls",
                    "1 +",
                ])
            ),
            _ => (0..self.below(40)).map(|_| char::from(self.next() as u8)).collect(),
        }
        .into_bytes()
    }

    /// A packet that ends a session, or that is invalid.
    fn nonsense(&mut self) -> Vec<u8> {
        if self.below(3) == 0 {
            let ends = self.of(&["k", "D", "R00", "vKill;1", "vRun;41", "vCont;t", "vCont;s:-1", "QStartNoAckMode"]);
            return packet(ends.as_bytes());
        }
        let mut bytes = if self.below(2) == 0 { packet(&self.sensible()) } else { self.next().to_le_bytes().to_vec() };
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            bytes[at] = self.next() as u8;
        }
        bytes
    }
}

#[test]
fn packets_of_all_kinds_end_no_session_without_a_word() {
    let packets = std::env::var("CYCLESCOPE_FUZZ_PACKETS").ok().and_then(|count| count.parse().ok());
    let packets = packets.unwrap_or(PACKETS);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut taken, mut sessions, mut lost) = (0, 0, 0);
    let mut held = machine();
    while taken < packets {
        // Most sessions are valid for long: an invalid packet ends them early.
        let count = 1 + random.below(4000);
        let mut sent = packet(b"Z0,4,4");
        for _ in 0..count {
            let is_sane = random.below(count) != 0;
            sent.extend(if is_sane { packet(&random.sensible()) } else { random.nonsense() });
            if random.below(100) == 0 {
                sent.push(3);
            }
        }
        if sessions % 4 == 0 {
            held = machine();
        }
        sessions += 1;
        let (ended, got) = session(&mut held, sent);
        // Each packet is acknowledged.
        taken += got.windows(2).filter(|pair| matches!(pair, [b'+', b'$' | b'+'])).count();
        match ended {
            Ended::Lost(why) => {
                lost += 1;
                assert!(!why.is_empty() && !why.contains('\n'), "{why}");
            }
            Ended::Stopped => panic!("nobody stops it"),
            Ended::Detached | Ended::Killed | Ended::Over(_) => {}
        }
        // The machine has been released, and continues.
        assert!(matches!(held.run(LIMIT, |_| true).outcome, Outcome::Limit(_) | Outcome::Fault(_)));
    }
    assert!(lost > 2, "{lost} of {sessions}");
}

#[test]
fn who_floods_or_says_half_is_cut_off() {
    for sent in [vec![b'$'; 1 << 20], vec![0x55; 1 << 20], packet(&[b'm'; 100_000]), b"$g#".to_vec(), Vec::new()] {
        let mut held = machine();
        assert!(matches!(session(&mut held, sent).0, Ended::Lost(_)));
        assert!(matches!(held.run(LIMIT, |_| true).outcome, Outcome::Limit(_)));
    }
}

#[test]
fn a_session_takes_no_time() {
    let mut plain = machine();
    let expected = plain.run(LIMIT, |_| true);
    let mut held = machine();
    let steps = packet(b"vCont;s:1;c").repeat(50);
    let asks = [packet(b"QStartNoAckMode"), packet(b"g"), packet(b"Z0,4,4"), packet(b"vCont;c")].concat();
    let ends = [packet(b"z0,4,4"), packet(b"p21"), packet(b"D")].concat();
    let (ended, got) = session(&mut held, [asks, steps, ends].concat());
    assert_eq!(ended, Ended::Detached);
    let got = String::from_utf8_lossy(&got).into_owned();
    assert!(got.contains("$T05thread:01;swbreak:;#"), "{got}");
    assert_eq!(held.run(LIMIT, |_| true), expected);
}

#[test]
fn registers_are_where_the_description_has_them() {
    let mut held = machine();
    held.set_debug_register(0, 10, 0x1234_5678);
    let asks = [packet(b"QStartNoAckMode"), packet(b"pa"), packet(b"P0=00000000"), packet(b"Pa=78563412")].concat();
    let reads = [packet(b"qXfer:features:read:target.xml:0,2000"), packet(b"pa"), packet(b"D")].concat();
    let (ended, got) = session(&mut held, [asks, reads].concat());
    assert_eq!(ended, Ended::Detached);
    let got = String::from_utf8_lossy(&got).into_owned();
    assert!(got.contains("name=\"a0\" bitsize=\"32\" type=\"int\" regnum=\"10\""), "{got}");
    assert_eq!(held.debug_registers(0)[10].value, 0x1234_5678);
    assert!(got.contains("$78563412#") && got.contains("$E16#"), "{got}");
}
