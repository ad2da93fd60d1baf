//! Timing limits of the SPI wire: t1 to t9 of the datasheet's section 12.4, checked against the edges that the
//! controller gives.

use crate::prelude::*;
use engine::wire::notes::Notes;
use engine::wire::spi::Edges;

/// The limited time.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// Period of SCLK in asynchronous operation.
    Clock,
    /// /SEL's falling edge to MISO active: SCLK rises before.
    T1,
    /// SCLK's falling edge to MISO's next bit: SCLK rises before.
    T2,
    /// MOSI setup.
    T3,
    /// MOSI hold.
    T4,
    /// The last bit of a byte to the first of the next.
    T5,
    /// Pulse width of SLP_TR.
    T7,
    /// /SEL's rising edge to its falling edge.
    T8,
    /// The last bit of an access to /SEL's rising edge.
    T9,
}

impl Limit {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Limit::Clock => ("the period of SCLK", "the least"),
            Limit::T1 => ("t1, from /SEL's falling edge to SCLK's first rising edge,", "until MISO is active"),
            Limit::T2 => ("t2, from SCLK's falling edge to its next rising edge,", "until MISO has changed"),
            Limit::T3 => ("t3, MOSI's setup time,", "the least"),
            Limit::T4 => ("t4, MOSI's hold time,", "the least"),
            Limit::T5 => ("t5, from a byte's last bit to the next one's first,", "the least"),
            Limit::T7 => ("t7, the width of a pulse of SLP_TR,", "the least"),
            Limit::T8 => ("t8, from /SEL's rising edge to its falling edge,", "the least"),
            Limit::T9 => ("t9, from SCLK's last rising edge to /SEL's,", "the least"),
        }
    }
}

/// The least allowed values, by their [`Limit`].
pub type Limits = [Ps; 9];

/// Checks the wire against the limits.
#[derive(Clone, Debug, Default, State)]
pub struct Checker {
    #[state(skip)]
    limits: Limits,
    /// True if the chip has its supply; without it nothing is checked.
    pub powered: bool,
    /// Limits that were violated before, as bits: each is noted once.
    noted: u16,
    /// The number of violations.
    pub violations: u64,
    selected_at: Ps,
    released_at: Option<Ps>,
    /// The rising edge of the frame's last clock, if it is known.
    last_rise: Option<Ps>,
    last_fall: Ps,
    /// Clocks of the frame so far.
    clocks: u64,
}

impl Checker {
    /// A checker without any activity on the wire so far.
    pub fn new(limits: Limits) -> Checker {
        Checker { limits, ..Checker::default() }
    }

    /// /SEL falls.
    pub fn select(&mut self, now: Ps, notes: &mut Notes<String>) {
        let idle = self.released_at.map(|released| now.saturating_sub(released));
        (self.selected_at, self.last_fall) = (now, now);
        (self.last_rise, self.clocks) = (None, 0);
        self.hold(Limit::T8, idle, now, notes);
    }

    /// /SEL rises.
    pub fn release(&mut self, now: Ps, notes: &mut Notes<String>) {
        self.released_at = Some(now);
        let since_last = self.last_rise.map(|rise| now.saturating_sub(rise));
        self.hold(Limit::T9, since_last, now, notes);
    }

    /// SLP_TR was high for this long.
    pub fn pulse(&mut self, width: Ps, now: Ps, notes: &mut Notes<String>) {
        self.hold(Limit::T7, Some(width), now, notes);
    }

    /// Clocks pass, the last ending at `end`, with these edges.
    pub fn clocked(&mut self, clocks: u32, end: Ps, edges: Option<Edges>, notes: &mut Notes<String>) {
        let Some(edges) = edges.filter(|_| clocks > 0) else {
            (self.last_rise, self.last_fall) = (None, end);
            self.clocks += u64::from(clocks);
            return;
        };
        let at = edges.first_rise;
        let gap = self.last_rise.map(|rise| at.saturating_sub(rise));
        let within = (clocks > 1).then_some(edges.period);
        let since_select = (self.clocks == 0).then(|| at.saturating_sub(self.selected_at));
        // The first clock of a byte that follows another byte.
        let to_next_byte = 8 - self.clocks % 8;
        let byte_gap_was = match (self.clocks, self.clocks % 8) {
            (1.., 0) => gap,
            _ => within.filter(|_| u64::from(clocks) > to_next_byte),
        };
        let held = [
            (Limit::Clock, gap),
            (Limit::Clock, within),
            (Limit::T1, since_select),
            (Limit::T2, Some(at.saturating_sub(self.last_fall))),
            (Limit::T3, Some(at.saturating_sub(edges.data_since))),
            (Limit::T4, Some(edges.held)),
            (Limit::T5, byte_gap_was),
        ];
        let last_rise = at.saturating_add(Ps(edges.period.0.saturating_mul(u64::from(clocks - 1))));
        (self.last_rise, self.last_fall) = (Some(last_rise), end);
        self.clocks += u64::from(clocks);
        held.into_iter().for_each(|(limit, was)| self.hold(limit, was, at, notes));
    }

    /// True if the frame has had a clock.
    pub fn is_clocked(&self) -> bool {
        self.clocks > 0
    }

    /// The time from which on MISO is driven.
    pub fn miso_active_at(&self) -> Ps {
        self.selected_at.saturating_add(self.limits[Limit::T1 as usize])
    }

    /// The time at which MISO shows its next bit.
    pub fn miso_changes_at(&self) -> Ps {
        self.last_fall.saturating_add(self.limits[Limit::T2 as usize])
    }

    /// Counts a violation of a limit, and notes it the first time.
    fn hold(&mut self, limit: Limit, was: Option<Ps>, at: Ps, notes: &mut Notes<String>) {
        let least = self.limits[limit as usize];
        let Some(was) = was.filter(|was| self.powered && *was < least) else { return };
        self.violations += 1;
        let bit = 1 << limit as u16;
        if self.noted & bit == 0 {
            self.noted |= bit;
            let (what, which) = limit.words();
            notes.add(format!("{what} was {was} at {at}; {which} is {least}"));
        }
    }
}
