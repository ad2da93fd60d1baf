//! The properties of the card's flash and its controller.

use super::mapping::Work;
use engine::dt::fault::FaultKind;
use engine::dt::reader::{MultipleOf, NodeReader, PowerOfTwo};
use engine::time::Ps;

/// Bytes of a sector.
const SECTOR_BYTES: u32 = 512;

const MAPPED: &str = "cyclescope,page-mapped-bytes";

/// Sizes, in sectors unless their name says otherwise. All are powers of two, except the card's and the page-mapped
/// area's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// The card.
    pub card: u32,
    /// A page of the flash.
    pub page: u32,
    /// A block of the flash.
    pub block: u32,
    /// The area from sector 0 that is mapped page by page.
    pub mapped: u32,
    /// The number of blocks that can be open at once.
    pub open_blocks: usize,
}

impl Geometry {
    /// Reads the sizes for a card of `card` sectors.
    pub fn from_node(reader: &mut NodeReader, card: u32) -> Geometry {
        let page_bytes = reader.timing_u32(
            "cyclescope,page-bytes",
            PowerOfTwo(SECTOR_BYTES..=65_536),
            "a page of the flash has 512 to 65536 bytes, a power of two",
        );
        let pages = reader.timing_u32(
            "cyclescope,pages-per-block",
            PowerOfTwo(8..=1024),
            "a block of the flash has 8 to 1024 pages, a power of two",
        );
        let open_blocks =
            reader.timing_u32("cyclescope,open-blocks", 1..=64, "the card keeps 1 to 64 blocks open at once");
        let mapped_bytes = reader.timing_u32(
            MAPPED,
            MultipleOf(SECTOR_BYTES),
            "the area from the card's start that is mapped page by page, in bytes: whole blocks of the flash, or none",
        );
        // Stand-ins for faulty values, which have a fault already.
        let page = (page_bytes / SECTOR_BYTES).clamp(1, 128);
        let block = page * pages.clamp(1, 1024);
        let mapped = mapped_bytes / SECTOR_BYTES;
        if !mapped.is_multiple_of(block) || mapped > card {
            let block_bytes = block * SECTOR_BYTES;
            let allowed = format!("it is a multiple of a block's {block_bytes} bytes, and no more than the card has");
            let (property, value) = (MAPPED.to_owned(), mapped_bytes.to_string());
            reader.fault_at(MAPPED, FaultKind::OutOfRange { property, value, allowed });
        }
        Geometry { card, page, block, mapped, open_blocks: open_blocks.max(1) as usize }
    }

    /// The number of blocks; the last one may be incomplete.
    pub fn blocks(&self) -> u32 {
        self.card.div_ceil(self.block)
    }

    /// Pages of a block.
    pub fn pages_per_block(&self) -> u32 {
        self.block / self.page
    }

    /// The page of a sector.
    pub fn page(&self, sector: u32) -> u32 {
        sector / self.page
    }

    /// True for the last sector of a page.
    pub fn is_last_of_page(&self, sector: u32) -> bool {
        sector % self.page == self.page - 1
    }
}

/// Times of the flash's operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Programming a page, whatever part of it changes.
    pub page_program: Ps,
    /// Moving a sector within the page that is programmed.
    pub sector_copy: Ps,
    /// Copying a page to another block, read and program.
    pub page_copy: Ps,
    /// Erasing a block.
    pub block_erase: Ps,
    /// Reading a page into its buffer.
    pub page_read: Ps,
    /// From a read command to the start of the flash's read.
    pub read_access: Ps,
    /// The additional busy time of a stop token.
    pub stop: Ps,
}

impl Times {
    /// Reads the times.
    pub fn from_node(reader: &mut NodeReader) -> Times {
        Times {
            page_program: reader.timing_ps("cyclescope,page-program-us", "time to program a page of the flash"),
            sector_copy: reader.timing_ps(
                "cyclescope,sector-copy-us",
                "time to move a sector that the host did not supply into the page being programmed",
            ),
            page_copy: reader.timing_ps("cyclescope,page-copy-us", "time to copy a page to another block of the flash"),
            block_erase: reader.timing_ps("cyclescope,block-erase-us", "time to erase a block of the flash"),
            page_read: reader.timing_ps("cyclescope,page-read-us", "time to read a page of the flash"),
            read_access: reader
                .timing_ps("cyclescope,read-access-us", "time of a read command before the page is read"),
            stop: reader.timing_ps("cyclescope,stop-us", "busy time that a stop token adds"),
        }
    }

    /// The time of the copies of `work`.
    pub fn of_copies(&self, work: Work) -> Ps {
        let sectors = Ps(self.sector_copy.0.saturating_mul(work.sectors_copied));
        sectors.saturating_add(Ps(self.page_copy.0.saturating_mul(work.pages_copied)))
    }

    /// The time of its erases.
    pub fn of_erasures(&self, work: Work) -> Ps {
        Ps(self.block_erase.0.saturating_mul(work.blocks_erased))
    }
}
