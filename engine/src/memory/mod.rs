//! Memories: RAM with port timing, caches, and what is between a core and memory where there is no cache.

pub mod cache;
pub mod dram;
pub mod fetch;
pub mod first_level;
pub mod outer;
pub mod port;
pub mod ram;
pub mod shortcut;
