//! Observers of a run: profiles, waveforms, timelines, notes. They cost nothing while they are off.

pub mod critical_path;
pub mod fst;
pub mod i2c;
pub mod notes;
pub mod output;
pub mod profile;
pub mod signals;
pub mod spi;
pub mod spool;
pub mod stack;
pub mod trace;
pub mod unmodelled;
mod values;
pub mod vcd;
pub mod waits;
pub mod waves;
