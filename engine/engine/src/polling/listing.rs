//! What a model lists of itself: [`Polled`], which models derive, and what the attributes of its fields ask for.
//!
//! `#[derive(Polled)]` lists each field of a struct, or of an enum's variant, as state that has to be the same one
//! iteration later. A field of a type that can't be listed is a compile error. Attributes say the rest:
//!
//! - `#[poll(end)]`: the time at which something ends that the firmware started ([`Poll::end`]).
//! - `#[poll(total)]`: a total, which may grow by the same number each iteration ([`Poll::counter`]).
//! - `#[poll(until)]`: a deadline independent of the loop ([`Poll::until`]).
//! - `#[poll(phase)]`: a clock on whose edges the accesses happen ([`Poll::phase`]).
//! - `#[poll(edge = RATE)]`: the number of an edge of the clock with this rate ([`Poll::edge`]).
//! - `#[poll(skip = "why")]`: no answer depends on it, or another field stands for it. Fields that are no state
//!   (`#[state(skip)]`) are skipped, too.
//! - `#[poll(first = METHOD)]` before the type: this method, `fn(&mut Self, &mut Poll) -> bool`, is called first. It
//!   brings the state up to [`Poll::now`], lists deadlines that have to be worked out, and returns false if no
//!   iteration may be skipped now.
//! - `#[poll(never = "why")]` before the type: no iteration is ever skipped.

use std::collections::{BTreeMap, VecDeque};

use super::Poll;
use crate::dt::wiring::ClockInput;
use crate::time::{Cycles, Hz, Ps};

pub use cyclescope_derive::Polled;

/// State that answers can depend on.
pub trait Polled {
    /// Lists all state that answers can depend on, for skipping of polling loops; a configuration that the firmware
    /// cannot change is not listed. False if no iteration may be skipped now.
    fn polled(&mut self, poll: &mut Poll) -> bool;
}

macro_rules! numbers {
    ($($kind:ty),*) => {$(
        impl Polled for $kind {
            #[inline]
            fn polled(&mut self, poll: &mut Poll) -> bool {
                poll.state(*self);
                true
            }
        }
    )*};
}

numbers!(bool, u8, u16, u32, u64);

macro_rules! cast_numbers {
    ($($kind:ty),*) => {$(
        impl Polled for $kind {
            #[inline]
            fn polled(&mut self, poll: &mut Poll) -> bool {
                poll.state(*self as u64);
                true
            }
        }
    )*};
}

cast_numbers!(usize, i8, i16, i32, i64, char);

impl Polled for u128 {
    #[inline]
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(*self as u64);
        poll.state((*self >> 64) as u64);
        true
    }
}

impl Polled for () {
    #[inline]
    fn polled(&mut self, _: &mut Poll) -> bool {
        true
    }
}

impl Polled for Ps {
    #[inline]
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.0.polled(poll)
    }
}

impl Polled for Cycles {
    #[inline]
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.0.polled(poll)
    }
}

impl Polled for Hz {
    #[inline]
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.get());
        true
    }
}

impl Polled for ClockInput {
    #[inline]
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.rate.polled(poll)
    }
}

impl<T: Polled + ?Sized> Polled for Box<T> {
    #[inline]
    fn polled(&mut self, poll: &mut Poll) -> bool {
        (**self).polled(poll)
    }
}

impl<T: Polled> Polled for Option<T> {
    #[inline]
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.is_some());
        self.as_mut().is_none_or(|held| held.polled(poll))
    }
}

impl<T: Polled, const N: usize> Polled for [T; N] {
    #[inline]
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.iter_mut().fold(true, |is_known, one| one.polled(poll) & is_known)
    }
}

macro_rules! lists {
    ($($kind:ident),*) => {$(
        impl<T: Polled> Polled for $kind<T> {
            #[inline]
            fn polled(&mut self, poll: &mut Poll) -> bool {
                poll.state(self.len() as u64);
                self.iter_mut().fold(true, |is_known, one| one.polled(poll) & is_known)
            }
        }
    )*};
}

lists!(Vec, VecDeque);

impl<K: Copy + Polled, V: Polled> Polled for BTreeMap<K, V> {
    #[inline]
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.len() as u64);
        self.iter_mut().fold(true, |is_known, (key, value)| {
            let mut key = *key;
            key.polled(poll) & value.polled(poll) & is_known
        })
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),*)),*) => {$(
        impl<$($name: Polled),*> Polled for ($($name,)*) {
            #[inline]
            fn polled(&mut self, poll: &mut Poll) -> bool {
                let mut is_known = true;
                $(is_known &= self.$index.polled(poll);)*
                is_known
            }
        }
    )*};
}

tuples!((A 0), (A 0, B 1), (A 0, B 1, C 2), (A 0, B 1, C 2, D 3));

/// A field that is `#[poll(end)]`.
pub trait End {
    /// Lists the time.
    fn end(&mut self, poll: &mut Poll);
}

impl End for Cycles {
    fn end(&mut self, poll: &mut Poll) {
        poll.end(self);
    }
}

impl End for Ps {
    fn end(&mut self, poll: &mut Poll) {
        poll.end_ps(self);
    }
}

impl<T: End> End for Option<T> {
    fn end(&mut self, poll: &mut Poll) {
        poll.state(self.is_some());
        self.iter_mut().for_each(|end| end.end(poll));
    }
}

impl<T: End, const N: usize> End for [T; N] {
    fn end(&mut self, poll: &mut Poll) {
        self.iter_mut().for_each(|end| end.end(poll));
    }
}

/// A field that is `#[poll(total)]`.
pub trait Total {
    /// Lists the total.
    fn total(&mut self, poll: &mut Poll);
}

impl Total for u64 {
    fn total(&mut self, poll: &mut Poll) {
        poll.counter(self);
    }
}

impl<T: Total, const N: usize> Total for [T; N] {
    fn total(&mut self, poll: &mut Poll) {
        self.iter_mut().for_each(|total| total.total(poll));
    }
}

/// A field that is `#[poll(until)]`.
pub trait Until {
    /// Lists the deadline.
    fn until(&self, poll: &mut Poll);
}

impl Until for Ps {
    fn until(&self, poll: &mut Poll) {
        poll.until(*self);
    }
}

impl<T: Until> Until for Option<T> {
    fn until(&self, poll: &mut Poll) {
        poll.state(self.is_some());
        self.iter().for_each(|deadline| deadline.until(poll));
    }
}

impl<T: Until, const N: usize> Until for [T; N] {
    fn until(&self, poll: &mut Poll) {
        self.iter().for_each(|deadline| deadline.until(poll));
    }
}

/// A field that is `#[poll(phase)]`.
pub trait Phase {
    /// Lists the phase of the loop between the clock's edges.
    fn phase(&self, poll: &mut Poll);
}

impl Phase for Hz {
    fn phase(&self, poll: &mut Poll) {
        poll.phase(*self);
    }
}

impl Phase for ClockInput {
    fn phase(&self, poll: &mut Poll) {
        poll.phase(self.rate);
    }
}

/// A field that is `#[poll(edge = RATE)]`.
pub trait Edge {
    /// Lists the number of an edge of the clock with this rate.
    fn edge(&mut self, rate: Hz, poll: &mut Poll);
}

impl Edge for u64 {
    fn edge(&mut self, rate: Hz, poll: &mut Poll) {
        poll.edge(rate, self);
    }
}

impl Edge for Ps {
    fn edge(&mut self, rate: Hz, poll: &mut Poll) {
        poll.edge_ps(rate, self);
    }
}

impl<T: Edge> Edge for Option<T> {
    fn edge(&mut self, rate: Hz, poll: &mut Poll) {
        poll.state(self.is_some());
        self.iter_mut().for_each(|edge| edge.edge(rate, poll));
    }
}

impl<T: Edge, const N: usize> Edge for [T; N] {
    fn edge(&mut self, rate: Hz, poll: &mut Poll) {
        self.iter_mut().for_each(|number| number.edge(rate, poll));
    }
}
