//! What nearly every model uses: the bus, the devicetree, registers, state, time. A model's file begins with
//! `use crate::prelude::*;` and names only what is its own.

pub use crate::model::{Group, Model};
pub use crate::registers::{
    Banks, Map, Port, Refused, RegisterBank, Registers, Table, by_table, field, flag, joined, registers,
};
pub use crate::support::clock_gate::ClockGate;
pub use crate::support::totals::totals;
pub use cyclescope_derive::Counters;
pub use engine::activity::Detail;
pub use engine::bus::device::{AccessResult, AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
pub use engine::dt::reader::NodeReader;
pub use engine::dt::wiring::ClockInput;
pub use engine::polling::{Poll, Polled};
pub use engine::state::{Fresh, State};
pub use engine::time::{Cycles, Hz, Ps};
