//! Registers, frame buffer and SRAM over SPI.

use super::registers::RF231;
use super::*;

#[test]
fn every_register_has_its_reset_value_and_keeps_what_it_may() {
    let mut bench = Bench::cold(&[], 0);
    bench.wait_us(300);
    // Registers whose values also depend on the state.
    let live = ["TRX_STATUS", "TRX_STATE", "IRQ_STATUS", "VREG_CTRL", "BATMON"];
    for register in RF231.rows.iter().filter(|register| !live.contains(&register.name)) {
        assert_eq!(u32::from(bench.read(register.offset)), register.reset, "{}", register.name);
        for value in [0xff, 0x00, 0x55] {
            bench.write(register.offset, value);
            let kept = register.after_write(register.reset, value.into());
            assert_eq!(u32::from(bench.read(register.offset)), kept, "{} {value:#x}", register.name);
        }
    }
    assert_eq!([0x1c, 0x1d, 0x1e, 0x1f].map(|address| bench.read(address)), [0x03, 0x02, 0x1f, 0x00]);
    assert_eq!(bench.read(registers::VREG_CTRL) & 0x44, 0x04);
    assert_eq!(bench.read(registers::BATMON), 0x20 | 0x02);
}

#[test]
fn what_is_no_register_or_only_reads_is_noted() {
    let mut bench = Bench::new();
    assert_eq!(bench.notes(), [""; 0]);
    bench.write(0x1c, 0x55);
    assert_eq!((bench.read(0x1c), bench.read(0x13)), (0x03, 0));
    bench.access(&[0x9c, 0, 0]);
    let notes = bench.notes();
    assert!(notes[0].contains("PART_NUM is read-only"), "{notes:?}");
    assert!(notes[1].contains("no register 0x13"), "{notes:?}");
    assert!(notes[2].contains("two bytes"), "{notes:?}");
}

#[test]
fn the_first_byte_shows_what_spi_cmd_mode_says() {
    let mut bench = Bench::new();
    let first = |bench: &mut Bench, mode: u8| {
        bench.write(registers::TRX_CTRL_1, 0x20 | mode << 2);
        bench.access(&[0x9c, 0])[0]
    };
    assert_eq!(first(&mut bench, 0), 0);
    assert_eq!(first(&mut bench, 1), 0x08);
    assert_eq!(first(&mut bench, 2), 0x60);
    bench.go(Command::PLL_ON);
    assert_eq!(first(&mut bench, 3), 0x01);
    // Looking does not clear it.
    assert_eq!((first(&mut bench, 3), bench.read(IRQ_STATUS), first(&mut bench, 3)), (0x01, 0x01, 0x00));
}

#[test]
fn the_frame_buffer_gives_back_what_was_written() {
    let mut bench = Bench::new();
    let psdu: Vec<u8> = (0..127).map(|byte| byte * 2).collect();
    bench.fill(&psdu);
    let shown = bench.access(&[0x20; 129]);
    assert_eq!((shown[0], shown[1]), (0, 127));
    assert_eq!(shown[2..], psdu);
    // SRAM sees the PHR in front.
    assert_eq!(bench.access(&[0x00, 0, 0, 0, 0])[2..], [127, 0, 2]);
    bench.access(&[0x40, 3, 0xaa, 0xbb]);
    assert_eq!(bench.access(&[0x20; 8])[2..], [0, 2, 0xaa, 0xbb, 8, 10]);
    assert_eq!(bench.access(&[0x00, 127, 0, 0])[2..], [252, 127]);
    assert_eq!(bench.notes(), [""; 0]);
}

#[test]
fn accesses_are_counted_by_what_they_are() {
    let mut bench = Bench::new();
    let names = ["register_reads", "register_writes", "frame_buffer_reads", "frame_buffer_length_reads"];
    let more = ["frame_buffer_writes", "sram_accesses", "bytes", "spi_clocks"];
    let counts = |bench: &Bench| names.iter().chain(&more).map(|name| bench.counter(name)).collect::<Vec<u64>>();
    let before = counts(&bench);
    bench.read(0x1c);
    bench.write(0x15, 0x0a);
    bench.fill(&[0x33]);
    bench.frame();
    bench.access(&[0x00, 0, 0]);
    let grown: Vec<u64> = counts(&bench).iter().zip(before).map(|(after, before)| after - before).collect();
    assert_eq!(grown, [1, 1, 2, 1, 1, 1, 2 + 2 + 3 + 2 + 4 + 3, 8 * 16]);
}

#[test]
fn too_long_a_frame_is_an_underrun() {
    let mut bench = Bench::new();
    bench.access(&[0x60; 2 + 128]);
    assert_eq!((bench.read(IRQ_STATUS), bench.counter("underruns")), (0x40, 1));
    assert!(bench.notes()[0].contains("127"));
}
