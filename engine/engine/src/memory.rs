//! Memories: RAM and SDRAM with the timing of their ports, directories of caches, and the second-level cache.

mod bytes;
pub mod cache;
pub mod code_marks;
pub mod dram;
pub mod line_buffers;
pub mod outer;
pub mod ram;
pub mod snoop;
