//! The snoop control unit of a cluster: its node is read only on a board that runs several cores of the cluster.

use super::build::read_with;
use engine::dt::fault::{BoardFault, FaultKind};
use engine::dt::reader::{Board, NodeReader};
use engine::memory::snoop::SnoopTiming;

/// Its compatible.
pub const COMPATIBLE: &str = "arm,cortex-a7-scu";

/// The times of the unit.
pub fn read(board: &mut Board) -> SnoopTiming {
    let root = board.root;
    let Some(node) = root.walk().find(|node| node.compatibles().contains(&COMPATIBLE)) else {
        let what =
            format!("several Cortex-A7 need a node with compatible = \"{COMPATIBLE}\" for the times between them");
        let kind = FaultKind::Incomplete { what };
        board.faults.push(BoardFault { at: root.at.clone(), node: root.name.clone(), kind });
        return SnoopTiming::default();
    };
    read_with(node, board, read_times)
}

/// The times in its node.
pub fn read_times(reader: &mut NodeReader) -> SnoopTiming {
    let transfer = "from a miss to the data, if another core's cache has the line";
    let upgrade = "from a store to a line that other caches may have, until they have lost it";
    SnoopTiming {
        transfer_cycles: reader.timing_cycles("cyclescope,transfer-cycles", transfer).0,
        upgrade_cycles: reader.timing_cycles("cyclescope,upgrade-cycles", upgrade).0,
    }
}
