//! The transmitter: waiting characters, and the shift register. Times are cycles of the kernel clock.

use std::collections::VecDeque;

use crate::prelude::*;

/// The data register or the FIFO, and the shift register.
#[derive(Clone, Debug, Default, State, Polled)]
pub struct Transmitter {
    /// Waiting characters, and the cycle from which each can be shifted.
    waiting: VecDeque<(u16, u64)>,
    /// The character on the line, and the end of its stop bits.
    shifting: Option<(u16, u64)>,
    /// The cycle from which the line is free after the last frame.
    free_from: u64,
}

impl Transmitter {
    /// Number of waiting characters.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The character on the line and the waiting ones, in this order.
    pub fn characters(&self) -> impl Iterator<Item = u16> {
        self.shifting
            .iter()
            .map(|(character, _)| *character)
            .chain(self.waiting.iter().map(|(character, _)| *character))
    }

    /// True if no character waits or is on the line.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.shifting.is_none()
    }

    /// True if a character is on the line.
    pub fn is_shifting(&self) -> bool {
        self.shifting.is_some()
    }

    /// Appends a character to the waiting ones; it can be shifted from `cycle` on.
    pub fn put(&mut self, character: u16, cycle: u64) {
        self.waiting.push_back((character, cycle));
    }

    /// Discards the waiting characters.
    pub fn drop_waiting(&mut self) {
        self.waiting.clear();
    }

    /// Keeps the line busy up to `cycle`.
    pub fn hold_until(&mut self, cycle: u64) {
        self.free_from = self.free_from.max(cycle);
    }

    /// The end of the last frame.
    pub const fn ended(&self) -> u64 {
        self.free_from
    }

    /// The end of the frame on the line.
    pub fn end(&self) -> Option<u64> {
        self.shifting.map(|(_, end)| end)
    }

    /// The character whose frame has ended by `cycle`.
    pub fn sent(&mut self, cycle: u64) -> Option<u16> {
        let (character, end) = self.shifting.filter(|(_, end)| *end <= cycle)?;
        self.shifting = None;
        self.free_from = end;
        Some(character)
    }

    fn next_start(&self) -> Option<u64> {
        let (_, ready) = self.waiting.front().filter(|_| self.shifting.is_none())?;
        Some(self.free_from.max(*ready))
    }

    /// Starts a character by `cycle`. Returns it and the cycle of its start; its frame takes `frame_cycles`.
    pub fn begin(&mut self, cycle: u64, frame_cycles: u64) -> Option<(u16, u64)> {
        let start = self.next_start().filter(|start| *start <= cycle)?;
        let (character, _) = self.waiting.pop_front()?;
        self.shifting = Some((character, start + frame_cycles));
        Some((character, start))
    }

    /// The cycle at which a frame ends or begins next.
    pub fn next_change(&self) -> Option<u64> {
        self.shifting.map(|(_, end)| end).or_else(|| self.next_start())
    }

    /// Renumbers cycles when the kernel clock's rate changes: times keep their distance in edges from `from`, which
    /// becomes `to`.
    pub fn rebase(&mut self, from: u64, to: u64) {
        let moved = |at: u64| to + at.saturating_sub(from);
        self.free_from = moved(self.free_from);
        for (_, at) in self.waiting.iter_mut().chain(&mut self.shifting) {
            *at = moved(*at);
        }
    }
}
