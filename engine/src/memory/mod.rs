//! Memories: RAM with port timing, and caches.

pub mod ram;
