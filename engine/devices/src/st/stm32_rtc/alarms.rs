//! Alarms and the wake-up timer: when they come next, and when their registers can be written.

use super::*;

/// RTC_ALRMxR and RTC_ALRMxSSR of alarms A and B.
const ALARMS: [(u32, u32); 2] = [(ALRMAR, ALRMASSR), (ALRMBR, ALRMBSSR)];

impl Rtc {
    /// The earliest alarm or wake-up that is due by an edge.
    pub(super) fn due(&self, edge: u64) -> Option<(usize, u64)> {
        let due = self.next.iter().enumerate().filter_map(|(index, at)| Some((index, at.filter(|at| *at <= edge)?)));
        due.min_by_key(|(_, at)| *at)
    }

    pub(super) fn next_alarm(&self, index: usize, edge: u64) -> Option<u64> {
        let (alarm, sub_seconds) = ALARMS[index];
        let enabled = self.registers.has(CR, ENABLES[index]) && self.counting.is_running;
        let tick = self.counting.next_alarm(edge, self.registers[alarm], self.registers[sub_seconds], self.is_12h());
        self.counting.edge_of(tick.filter(|_| enabled)?)
    }

    /// Edges from one wake-up to the next.
    pub(super) fn wakeup_period(&self) -> u64 {
        let reload = u64::from(self.registers[WUTR]) + 1;
        match self.registers[CR] & CR_WUCKSEL {
            select @ 0..=3 => reload * (16 >> select),
            4 | 5 => reload * self.counting.second_edges(),
            _ => (reload + 0x1_0000) * self.counting.second_edges(),
        }
    }

    /// Computes the next alarms, and the next wake-up unless one is under way.
    pub(super) fn expect(&mut self, edge: u64) {
        for index in 0..2 {
            self.next[index] = self.next_alarm(index, edge);
        }
        let seconds = self.registers[CR] & CR_WUCKSEL > 3;
        if !self.registers.has(CR, CR_WUTE) || !self.counting.is_running {
            self.next[2] = None;
        } else if self.next[2].is_none() {
            let begins = if seconds { self.counting.edge_of((self.counting.tick(edge).0, 0)) } else { Some(edge) };
            // If the second began before the calendar was set, counting starts at this edge.
            self.next[2] = Some(begins.unwrap_or(edge) + self.wakeup_period());
        }
    }

    /// True if the registers of an alarm or of the wake-up timer can be written: it is off, or the calendar is being
    /// set.
    pub(super) fn can_write(&self, offset: u32, edge: u64) -> bool {
        let bit = match offset {
            ALRMAR | ALRMASSR => ISR_ALRAWF,
            ALRMBR | ALRMBSSR => ISR_ALRBWF,
            _ => ISR_WUTWF,
        };
        self.isr(edge) & bit != 0 || bit != ISR_WUTWF && self.is_initializing(edge)
    }
}
