//! Polling loops: found ([`polls`]), run once under watch ([`iteration`], with the registers that count,
//! [`counting`], or the time that it reads, [`clock_loops`]), and then skipped ([`fast_forward`]), for cores with
//! blocks by [`repeats`]. [`wait_loops`] finds loops that wait for memory. What devices report of their state is in
//! [`crate::polling`].

mod clock_loops;
pub mod counting;
pub(crate) mod fast_forward;
pub mod iteration;
pub(crate) mod polls;
mod repeats;
pub(super) mod wait_loops;
