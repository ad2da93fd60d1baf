//! The targets of an ELF file's segments: RAM, and flash that is mapped by a window.
use crate::{Machine, Outcome};
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, Reply, SlaveError};
use engine::bus::{MapEntry, Target};
use engine::elf::names::Names;
use engine::elf::{self, ElfError, Symbol};
use engine::memory::ram::{PortTiming, Ram};
use engine::polling::{Poll, Polled};
use engine::time::Cycles;

use crate::whole::support::riscv as support;

/// The flash's window for reads in place.
const WINDOW: u32 = 0x6000_0000;
const WINDOW_BYTES: u32 = 64;
/// A device whose range 1 reads a memory that only a programmer can write.
#[derive(engine::state::State)]
struct Flash(Vec<u8>);

impl Device for Flash {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    fn peek(&self, range: usize, offset: u32, into: &mut [u8]) -> bool {
        let offset = offset as usize;
        let from = self.0.get(offset..offset + into.len()).filter(|_| range == 1);
        from.map(|from| into.copy_from_slice(from)).is_some()
    }

    fn preload(&mut self, range: usize, offset: u32, bytes: &[u8]) -> bool {
        let offset = offset as usize;
        let to = self.0.get_mut(offset..offset + bytes.len()).filter(|_| range == 1);
        to.map(|to| to.copy_from_slice(bytes)).is_some()
    }
}

impl Polled for Flash {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// The machine of the other tests, and a flash with registers and a window.
fn machine() -> Machine {
    let mut machine = support::machine(support::LOCAL, &[support::NOP], 1);
    let bus = machine.bus();
    bus.devices.push(Some(Box::new(Flash(vec![0xff; WINDOW_BYTES as usize]))));
    bus.device_names.push("flash".into());
    for (range, base) in [(0, WINDOW - 0x100), (1, WINDOW)] {
        let target = Target::Device(DeviceId(1), range);
        let (name, last) = (["flash", "flash window"][range].to_owned(), base + WINDOW_BYTES - 1);
        bus.map.push(MapEntry::new(name, base, last, target));
    }
    bus.map.sort_by_key(|entry| entry.base);
    machine
}

/// A segment: where it runs, where it is stored, its bytes, and its size in memory.
type Segment<'a> = (u32, u32, &'a [u8], u32);

/// An executable with these segments. It begins with the first.
fn executable(segments: &[Segment]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let ident = [&b"\x7fELF\x01\x01\x01"[..], &[0; 9]].concat();
    // ET_EXEC, EM_RISCV; program headers of 32 bytes after the header's 52; no sections.
    let header =
        words(&[2 | 243 << 16, 1, segments[0].0, 52, 0, 0, 52 | 32 << 16, segments.len() as u32 | 40 << 16, 0]);
    let mut file = [ident, header].concat();
    let mut offset = (file.len() + segments.len() * 32) as u32;
    for (runs_at, stored_at, bytes, memory_bytes) in segments {
        file.extend(words(&[1, offset, *runs_at, *stored_at, bytes.len() as u32, *memory_bytes, 7, 4]));
        offset += bytes.len() as u32;
    }
    segments.iter().for_each(|(.., bytes, _)| file.extend(*bytes));
    file
}

fn bytes(machine: &mut Machine, addr: u32, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    assert!(machine.bus().peek(addr, &mut bytes));
    bytes
}

#[test]
fn segments_are_stored_in_ram_and_flash() {
    let mut machine = machine();
    support::put(&mut machine, support::DDR, &[u32::MAX; 3]);
    let code = (WINDOW + 4, WINDOW + 4, &[1, 2, 3, 4][..], 4);
    // Initialised data that start-up code copies to RAM, followed by RAM that it clears.
    let data = (support::DDR + 64, WINDOW + 8, &[5, 6, 7][..], 100);
    let ram = (support::DDR, support::DDR, &[8, 9][..], 8);
    machine.load(&executable(&[code, data, ram])).unwrap();
    assert_eq!(bytes(&mut machine, WINDOW, 13), [255, 255, 255, 255, 1, 2, 3, 4, 5, 6, 7, 255, 255]);
    assert_eq!(bytes(&mut machine, support::DDR, 12), [8, 9, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]);
    assert_eq!(machine.registers()[0], WINDOW + 4);
}

#[test]
fn a_segment_past_the_window_is_refused_before_anything_is_stored() {
    let mut machine = machine();
    let code = (WINDOW, WINDOW, &[1, 2, 3, 4][..], 4);
    for addr in [WINDOW + WINDOW_BYTES - 3, WINDOW - 0x100, WINDOW - 0x200] {
        let error = machine.load(&executable(&[code, (addr, addr, &[5, 6, 7, 8], 4)])).unwrap_err();
        let memories = "local 0x00000000-0x0000ffff, flash window 0x60000000-0x6000003f, ddr 0x80000000-0x8000ffff, \
                        bram 0xc0000000-0xc000ffff";
        assert_eq!(error, ElfError::OutsideMemory { first: addr, last: addr + 3, memories: memories.to_owned() });
        assert_eq!(bytes(&mut machine, WINDOW, 4), [0xff; 4]);
    }
}

#[test]
fn a_segment_lies_in_flash_and_an_overlay_and_flash_again() {
    let mut machine = machine();
    let bus = machine.bus();
    bus.devices[1] = Some(Box::new(Flash(vec![0xff; 0x100])));
    bus.map.iter_mut().filter(|entry| entry.base == WINDOW).for_each(|entry| entry.last = WINDOW + 0xff);
    let ram = Target::Ram(bus.rams.len());
    bus.rams.push(Ram::new(0x40, PortTiming::symmetric(support::clock(), Cycles(1), Cycles(1), 4)));
    bus.lay(MapEntry::new("overlay", WINDOW + 0x40, WINDOW + 0x7f, ram));
    bus.poke(WINDOW + 0x40, &[0x77; 0x40]);
    let code: Vec<u8> = (0..0x80).collect();
    // Initialised data in the overlay, and zero-initialised data elsewhere: the flash is not cleared.
    let data = (support::DDR, WINDOW + 0xa0, &[5, 6, 7][..], 100);
    machine.load(&executable(&[(WINDOW + 0x20, WINDOW + 0x20, &code, 0x80), data])).unwrap();
    assert_eq!(bytes(&mut machine, WINDOW + 0x20, 0x80), code);
    assert_eq!(bytes(&mut machine, WINDOW + 0x9f, 6), [0x7f, 5, 6, 7, 0xff, 0xff]);
    // The flash below has its image, too.
    let mut below = [0; 4];
    assert!(machine.bus().devices[1].as_ref().unwrap().peek(1, 0x5e, &mut below));
    assert_eq!(below, [0x3e, 0x3f, 0x40, 0x41]);
    // A segment in the overlay alone, like data that start-up code copies, is not cleared after its bytes either.
    machine.load(&executable(&[(support::DDR, WINDOW + 0x44, &[1, 2], 0x2000)])).unwrap();
    assert_eq!(bytes(&mut machine, WINDOW + 0x43, 4), [0x23, 1, 2, 0x26]);
    let error = machine.load(&executable(&[(WINDOW + 0x20, WINDOW + 0x20, &[0; 0xe1], 0xe1)])).unwrap_err();
    assert!(matches!(error, ElfError::OutsideMemory { first, .. } if first == WINDOW + 0x20));
}

#[test]
fn a_function_that_is_copied_to_ram_has_its_name_there() {
    let data = (support::DDR, WINDOW, &[0x13, 0, 0, 0, 0x13, 0, 0, 0][..], 64);
    let mut image = elf::read(&executable(&[data]), elf::Machine::RiscV).unwrap();
    image.symbols.push(Symbol { addr: support::DDR, bytes: 8, name: "fast".into() });
    assert_eq!(image.place_at(support::DDR + 4, &Names::default()).as_deref(), Some("fast+0x4"));
    assert_eq!(image.place_at(WINDOW + 4, &Names::default()), None);
}

#[test]
fn a_segment_without_bytes_may_be_registers() {
    let code = (support::DDR, support::DDR, &[1, 2, 3, 4][..], 4);
    let empty = |at: u32, bytes: u32| (at, at, &[][..], bytes);
    // The device's registers, the flash's registers, and an unmapped address; RAM is cleared as usual.
    for at in [support::DEVICE, WINDOW - 0x100, 0x5000_0000] {
        let mut machine = machine();
        support::put(&mut machine, support::DDR + 64, &[u32::MAX; 2]);
        machine.load(&executable(&[code, empty(at, 0x40), empty(support::DDR + 64, 4)])).unwrap();
        assert_eq!(bytes(&mut machine, support::DDR + 64, 8), [0, 0, 0, 0, 255, 255, 255, 255]);
        let notes = machine.report(Outcome::Interrupted).notes;
        let nowhere =
            "segment 0x50000000-0x5000003f, which has no bytes to be loaded, lies where nothing is on this board";
        assert_eq!(notes, if at == 0x5000_0000 { vec![nowhere.to_owned()] } else { Vec::new() });
    }
}

#[test]
fn memory_that_a_segment_overflows_is_refused_as_ever() {
    let code = (support::DDR, support::DDR, &[1, 2, 3, 4][..], 4);
    let mut machine = machine();
    let error = machine.load(&executable(&[code, (support::DDR + 64, support::DDR + 64, &[], 0x1_0000)])).unwrap_err();
    assert!(matches!(error, ElfError::OutsideMemory { first: 0x8000_0040, .. }), "{error}");
}
