//! Memories: RAM with port timing, and caches.

pub mod cache;
pub mod ram;
pub mod shortcut;
