//! A board: from a devicetree's nodes to a machine. Models read their nodes with [`engine::dt`].

pub mod bindings;
pub mod build;
mod cluster;
mod common;
mod cores;
pub mod external;
mod gaps;
mod idle_caches;
mod memories;
mod overlays;
mod passive;
pub mod pins;
pub mod routes;
