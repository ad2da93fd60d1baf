//! Characters to send: they wait, and are shifted out one after the other. Times are cycles of the kernel clock.

use std::collections::VecDeque;

use crate::state::State;

/// TDR or the FIFO, and the shift register.
#[derive(Clone, Debug, Default, State)]
pub struct Transmitter {
    /// Characters, and from when on each can be shifted.
    waiting: VecDeque<(u16, u64)>,
    /// The character on the line, and when its stop bits have ended.
    shifting: Option<(u16, u64)>,
    /// When the line is free after the last frame.
    free_from: u64,
}

impl Transmitter {
    /// Characters that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What is on the line and what waits, in this order.
    pub fn characters(&self) -> impl Iterator<Item = u16> {
        self.shifting
            .iter()
            .map(|(character, _)| *character)
            .chain(self.waiting.iter().map(|(character, _)| *character))
    }

    /// True if nothing waits and nothing is on the line.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.shifting.is_none()
    }

    /// True if a character is on the line.
    pub fn is_shifting(&self) -> bool {
        self.shifting.is_some()
    }

    /// Puts a character behind those that wait; it can be shifted from `cycle` on.
    pub fn put(&mut self, character: u16, cycle: u64) {
        self.waiting.push_back((character, cycle));
    }

    /// Forgets what waits.
    pub fn drop_waiting(&mut self) {
        self.waiting.clear();
    }

    /// The line is taken up to `cycle`.
    pub fn hold_until(&mut self, cycle: u64) {
        self.free_from = self.free_from.max(cycle);
    }

    /// When the last frame ended.
    pub const fn ended(&self) -> u64 {
        self.free_from
    }

    /// When the frame on the line will end.
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

    /// The character that begins by `cycle`, and when it did; it takes `frame_cycles`.
    pub fn begin(&mut self, cycle: u64, frame_cycles: u64) -> Option<(u16, u64)> {
        let start = self.next_start().filter(|start| *start <= cycle)?;
        let (character, _) = self.waiting.pop_front()?;
        self.shifting = Some((character, start + frame_cycles));
        Some((character, start))
    }

    /// When a frame ends or begins next.
    pub fn next_change(&self) -> Option<u64> {
        self.shifting.map(|(_, end)| end).or_else(|| self.next_start())
    }

    /// The kernel clock's rate changes: what lies so many edges ahead of edge `from` of the old clock lies as many
    /// ahead of edge `to` of the new one.
    pub fn rebase(&mut self, from: u64, to: u64) {
        let moved = |at: u64| to + at.saturating_sub(from);
        self.free_from = moved(self.free_from);
        for (_, at) in self.waiting.iter_mut().chain(&mut self.shifting) {
            *at = moved(*at);
        }
    }

    /// All state.
    pub fn state(&self, mut word: impl FnMut(u64)) {
        for (character, cycle) in self.waiting.iter().chain(&self.shifting) {
            word(u64::from(*character));
            word(*cycle);
        }
        word(self.waiting.len() as u64);
        word(self.free_from);
    }
}
