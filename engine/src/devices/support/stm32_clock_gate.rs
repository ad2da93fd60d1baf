//! Clock gates of an STM32MP1's peripherals: the enable bits of its RCC (RM0436, "Reset and clock control (RCC)",
//! enable registers).
//!
//! A peripheral whose clock no processor has enabled answers 0 and takes no writes. Its node says where its bit is:
//! `cyclescope,clock-enable = <register bit>`, by the offset of the MPU's enable register (RCC_MP_xxxENSETR). Without
//! that property it always has its clock, as on a board without an RCC. The register block that holds the bits tells of
//! them in [`crate::clocks`].

use crate::bus::Bus;
use crate::bus::device::Ctx;
use crate::dt::reader::NodeReader;

/// A gate that PWR opens by its bit DBP: that of the registers of the backup domain, which are written only then. No
/// register of an RCC has such an offset.
pub const BACKUP_DOMAIN: (u32, u32) = (0x1_0000, 8);

/// Where a peripheral's enable bit is: the offset of its register, and its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockGate(Option<(u32, u32)>);

impl ClockGate {
    /// The gate that a node names, if any.
    pub fn from_node(reader: &mut NodeReader) -> ClockGate {
        const NAME: &str = "cyclescope,clock-enable";
        let meaning =
            "the offset of an enable register of the RCC, a multiple of 4, and the number of a bit there, 0 to 31";
        let cells = reader.cells(NAME, |[register, bit]| register % 4 == 0 && bit < 32, meaning);
        ClockGate(cells.map(|[register, bit]| (register, bit)))
    }

    /// True if the peripheral has its clock; else the user is told what the firmware forgot.
    pub fn is_open(self, ctx: &mut Ctx) -> bool {
        let Some((register, bit)) = self.0 else { return true };
        let open = ctx.bus.clocks.is_running(register, bit);
        if !open {
            ctx.note(&format!(
                "it was accessed while its clock is off (bit {bit} of the RCC's enable register at {register:#x}): \
                 reads give 0, writes do nothing"
            ));
        }
        open
    }

    /// As [`ClockGate::is_open`], for who only looks.
    pub fn state(self, bus: &Bus) -> bool {
        self.0.is_none_or(|(register, bit)| bus.clocks.is_running(register, bit))
    }
}
