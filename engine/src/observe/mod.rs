//! What a run shows of itself. Free when off.

pub mod stack;
pub mod waves;
