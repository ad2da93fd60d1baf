//! The node: valid properties, and faults.

use super::*;

fn faults(changes: Changes) -> Vec<String> {
    read_node(&node(changes)).1.iter().map(ToString::to_string).collect()
}

#[test]
fn a_node_with_all_properties_is_taken() {
    let changes = [
        ("voltage-ranges", [cell(3200), cell(3400)].concat()),
        ("disable-wp", Vec::new()),
        ("cyclescope,image", strings(&[""])),
        ("cyclescope,capacity-class", strings(&["standard"])),
        ("cyclescope,specification", strings(&["2.00"])),
        ("cyclescope,speed-class", cell(10)),
        ("cyclescope,au-bytes", cell(1 << 14)),
        ("cyclescope,set-block-count", Vec::new()),
        ("cyclescope,write-protect", Vec::new()),
        ("cyclescope,removed-at-ms", cell(0)),
        ("cyclescope,removed-after-blocks", cell(0)),
        ("cyclescope,crc-error-block", cell(0)),
        ("cyclescope,stuck-busy-block", cell(0)),
        ("cyclescope,read-error-block", cell(0)),
    ];
    assert_eq!(faults(&changes), Vec::<String>::new());
}

#[test]
fn faults_name_the_place_and_what_to_do() {
    let at = "board.dts:7: mmc@0: ";
    let cases: [(&str, Vec<u8>, &str); 8] = [
        (
            "cyclescope,capacity-bytes",
            cell(70_000_128),
            "cyclescope,capacity-bytes is 70000128; an SDSC card's CSD can't say that; the next size that it can is \
             70025216 bytes",
        ),
        (
            "cyclescope,capacity-bytes",
            ((2_u64 << 30) + 512).to_be_bytes().to_vec(),
            "cyclescope,capacity-bytes is 2147484160; an SDHC card's CSD can't say that; the next size that it can is \
             2148007936 bytes",
        ),
        (
            "cyclescope,capacity-bytes",
            (33_u64 << 30).to_be_bytes().to_vec(),
            "cyclescope,capacity-bytes is 35433480192; an SDHC card has at most 34359738368 bytes (32 GiB)",
        ),
        (
            "cyclescope,capacity-bytes",
            vec![1, 2],
            "cyclescope,capacity-bytes must be one cell, or two for 4 GiB and more",
        ),
        (
            "cyclescope,response-clocks",
            cell(12),
            "cyclescope,response-clocks is 12; NCR is 1 to 8 byte times: a multiple of 8, up to 64",
        ),
        (
            "cyclescope,speed-class",
            cell(5),
            "cyclescope,speed-class is 5; a speed class is 2, 4, 6 or 10, or 0 for none",
        ),
        (
            "cyclescope,au-bytes",
            cell(100),
            "cyclescope,au-bytes is 100; an allocation unit has 16384 to 4194304 bytes, a power of two, or 0 for not \
             defined",
        ),
        ("reg", cell(32), "reg is 32; the chip select line, 0 to 31"),
    ];
    for (name, value, expected) in cases {
        let found = faults(&[(name, value)]);
        assert!(found.contains(&format!("{at}{expected}")), "{found:?}");
    }
    let old = [high(), ("cyclescope,specification", strings(&["1.10"]))];
    assert_eq!(faults(&old), [format!("{at}cyclescope,specification is \"1.10\"; SDHC cards came with 2.00")]);
}

#[test]
fn a_card_without_size_is_refused() {
    let mut node = node(&[]);
    node.properties.retain(|property| property.name != "cyclescope,capacity-bytes");
    let faults = read_node(&node).1;
    assert_eq!(
        faults[0].to_string(),
        "board.dts:7: mmc@0: property 'cyclescope,capacity-bytes' is missing: \
         the card's size, or cyclescope,image, a file that gives it"
    );
}
