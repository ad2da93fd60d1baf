//! The node: valid properties, and faults.

use super::*;

fn faults(changes: &[(&str, Vec<u8>)]) -> Vec<String> {
    read_node(&node(changes)).1.iter().map(ToString::to_string).collect()
}

#[test]
fn a_node_with_all_properties_is_taken() {
    let flash = flash_with(&[
        ("reg", cell(2)),
        ("spi-max-frequency", cell(108_000_000)),
        ("size", cell(0x0800_0000)),
        ("spi-tx-bus-width", cell(4)),
        ("spi-rx-bus-width", cell(4)),
        ("m25p,fast-read", Vec::new()),
        ("cyclescope,busy-times", strings(&["typical"])),
    ]);
    assert_eq!(flash.chip_select(), 2);
    assert_eq!(flash.part.size_bytes, 16 << 20);
}

#[test]
fn faults_name_the_place_and_what_is_allowed() {
    let cases: [(&str, Vec<u8>, &str); 6] = [
        ("size", cell(7), "board.dts:7: flash@0: size is 7; this part has 134217728 bits"),
        (
            "compatible",
            strings(&["micron,n25q128", "jedec,spi-nor"]),
            "board.dts:7: flash@0: unknown compatible 'micron,n25q128'; \
             did you mean 'micron,n25q128a' or 'micron,n25q128a11' or 'micron,n25q128a13'?",
        ),
        (
            "cyclescope,busy-times",
            strings(&["long"]),
            "board.dts:7: flash@0: cyclescope,busy-times is \"long\"; it is one of typical, maximum",
        ),
        (
            "cyclescope,nonvolatile-configuration-register",
            cell(0x1_0000),
            "board.dts:7: flash@0: cyclescope,nonvolatile-configuration-register is 65536; the nonvolatile \
             configuration register at the start has 16 bits",
        ),
        (
            "cyclescope,image",
            strings(&["/"]),
            "board.dts:7: flash@0: cyclescope,image is /; it is a folder; an image is a regular file or a block device",
        ),
        ("reg", strings(&["x", "y"]), "board.dts:7: flash@0: reg is 2013296896; the chip select line, 0 to 31"),
    ];
    for (name, value, expected) in cases {
        assert_eq!(faults(&[(name, value)]), [expected]);
    }
}

#[test]
fn a_timing_may_have_no_source_but_none_with_a_class_and_no_range() {
    let faults = |entry| faults(&[("cyclescope,sources", strings(&[entry]))]);
    assert!(faults("cyclescope,page-program-typical-us: documented: x").is_empty());
    let [fault] = &faults("cyclescope,page-program-typical-us: assumed some: x")[..] else { panic!("one fault") };
    assert!(fault.contains("'assumed some' of cyclescope,page-program-typical-us"), "{fault}");
}

#[test]
fn a_clock_above_the_boards_maximum_is_noted() {
    let limit = |hz| [("spi-max-frequency", cell(hz))];
    let mut bench = Bench::with(&limit(50_000_000));
    bench.status();
    assert_eq!(bench.notes(), Vec::<String>::new());
    let mut bench = Bench::with(&limit(49_000_000));
    bench.status();
    assert_eq!(bench.notes(), ["SCK runs at 50000000 Hz; spi-max-frequency is 49000000"]);
}
