//! The core's node.

use super::*;
use crate::bench::read_node;

/// Faults of a node with these properties.
fn faults(properties: &[(&str, &[u32])]) -> Vec<String> {
    let timing: [(&str, &[u32]); 2] = [("cyclescope,tx-sync-clocks", &[4]), ("cyclescope,rx-sync-cycles", &[4])];
    let all: Vec<_> = timing.into_iter().chain(properties.iter().copied()).collect();
    read_node(from_node, &all).1
}

#[test]
fn sound_configurations_are_taken() {
    let quad: &[(&str, &[u32])] = &[
        ("xlnx,spi-mode", &[2]),
        ("xlnx,fifo-depth", &[256]),
        ("xlnx,sck-ratio", &[2]),
        ("xlnx,num-ss-bits", &[32]),
        ("xlnx,type-of-axi4-interface", &[1]),
        ("clock-frequency", &[50_000_000]),
    ];
    assert!(faults(quad).is_empty(), "{:?}", faults(quad));
    for ratio in [2, 4, 8, 16, 32, 48, 2048] {
        assert!(faults(&[("xlnx,sck-ratio", &[ratio]), ("xlnx,fifo-depth", &[0])]).is_empty());
    }
}

#[test]
fn what_the_core_does_not_have_is_a_fault() {
    type Case<'a> = (&'a [(&'a str, &'a [u32])], &'a str);
    let cases: [Case; 7] = [
        (&[("xlnx,fifo-depth", &[32])], "xlnx,fifo-depth is 32; a FIFO has 16 or 256 entries, or 0 for none"),
        (&[("xlnx,spi-mode", &[1]), ("xlnx,fifo-depth", &[0])], "xlnx,fifo-depth is 0; a FIFO has 16 or 256 entries"),
        (
            &[("xlnx,spi-mode", &[2]), ("xlnx,sck-ratio", &[4])],
            "xlnx,sck-ratio is 4; in dual and quad mode EXT_SPI_CLK over SCK is 2",
        ),
        (
            &[("xlnx,sck-ratio", &[24])],
            "xlnx,sck-ratio is 24; EXT_SPI_CLK over SCK is 2, 4, 8, or a multiple of 16 up to 2048",
        ),
        (&[("xlnx,num-ss-bits", &[33])], "xlnx,num-ss-bits is 33; the core has 1 to 32 slave selects"),
        (&[("xlnx,spi-memory", &[1])], "xlnx,spi-memory is 1; this model decodes commands of Micron memories (2)"),
        (
            &[("clock-frequency", &[1_000_000_000]), ("xlnx,sck-ratio", &[2048])],
            "clock-frequency is 1000000000; with an SCK ratio of 2048 EXT_SPI_CLK would be above 1 THz",
        ),
    ];
    for (properties, message) in cases {
        assert_eq!(faults(properties), [message]);
    }
    assert_eq!(faults(&[("xlnx,xip-mode", &[1])]).len(), 1, "XIP mode needs a second range");
}

#[test]
fn clock_frequency_is_that_of_sck() {
    let timing: [(&str, &[u32]); 2] = [("cyclescope,tx-sync-clocks", &[0]), ("cyclescope,rx-sync-cycles", &[0])];
    // The test's node has EXT_SPI_CLK at 100 MHz: 25 MHz at a ratio of 4.
    for (frequency_hz, byte_ps) in [(10_000_000, 800_000), (40_000_000, 200_000), (0, 320_000)] {
        let mut properties = timing.to_vec();
        let frequency: [u32; 1] = [frequency_hz];
        properties.extend([("xlnx,sck-ratio", &[4][..]), ("clock-frequency", &frequency[..])]);
        let (mut bench, _) = read_node(from_node, &properties);
        bench.write(Ps(0), DTR, 0).unwrap();
        bench.write(Ps(0), SPICR, RUN).unwrap();
        assert_eq!(bench.value(Ps(byte_ps - 1), SPISR) & SPISR_TX_EMPTY, 0);
        assert_eq!(bench.value(Ps(byte_ps), SPISR) & SPISR_TX_EMPTY, SPISR_TX_EMPTY);
    }
}
