//! The counter's events: updates, matches, captures, and their times.

use super::channel::SELECT;
use super::counter::Mode;
use super::*;

impl Timer {
    /// Counts up to `now`.
    pub(super) fn count_up_to(&mut self, now: Ps) {
        // Once all preloaded registers are in force and all flags have been set, all periods are identical.
        let mut updates = 0;
        loop {
            // An update may change the prescaler.
            let ticks = self.counter.ticks_by(now);
            if ticks == 0 {
                break;
            }
            let end = self.counter.ticks_to_end();
            let next = self.matches().filter_map(|(_, ticks)| ticks).chain(end).min();
            let Some(next) = next.filter(|next| *next <= ticks) else {
                self.counter.pass(ticks);
                break;
            };
            if end == Some(next) {
                updates += u32::from(self.end_sweep(next));
                if updates == 3 && self.counter.running {
                    self.skip(now);
                }
            } else {
                self.counter.pass(next);
                self.match_channels(self.counter.down);
            }
            if !self.counter.running {
                return;
            }
        }
        self.counter.rest(now);
    }

    /// Skips whole periods of updates, in pairs, so that an output that toggles has the same level afterwards.
    fn skip(&mut self, now: Ps) {
        let ticks = self.counter.ticks_by(now);
        let period = 2 * self.counter.period() * (u64::from(self.registers[RCR]) + 1);
        self.updates += ticks / period * if self.counter.mode == Mode::Centre { 4 } else { 2 };
        self.counter.skip(ticks, period);
    }

    /// Ticks to each channel's match in this sweep.
    fn matches(&self) -> impl Iterator<Item = (usize, Option<u64>)> {
        let channels = self.channels[..self.params.channels].iter().enumerate();
        channels.filter(|(_, channel)| !channel.is_input()).map(|(index, channel)| {
            let ticks = self.counter.ticks_to(channel.value);
            (index, ticks)
        })
    }

    /// Handles the channels whose value the counter has just reached, counting up or down.
    fn match_channels(&mut self, down: bool) {
        let alignment = self.registers.field(CR1, CR1_CMS);
        for index in 0..self.params.channels {
            let channel = &mut self.channels[index];
            if !channel.is_input() && channel.value == self.counter.value {
                channel.on_match();
                // Centre-aligned mode 1 sets flags on the way down, mode 2 on the way up, mode 3 both times.
                if alignment == 0 || alignment & if down { 1 } else { 2 } != 0 {
                    self.raise(index);
                }
            }
        }
        self.follow();
    }

    pub(super) fn follow(&mut self) {
        let counter = self.counter;
        self.channels.iter_mut().for_each(|channel| channel.follow(&counter));
    }

    fn raise(&mut self, index: usize) {
        self.registers.put(SR, SR_CC1IF << index, true);
        self.pending.requests |= DIER_UDE << (1 + index);
    }

    /// Ends the sweep, `ticks` ticks from here. True if that was an update.
    fn end_sweep(&mut self, ticks: u64) -> bool {
        let down = self.counter.down;
        if !self.counter.end(ticks) {
            self.counter.value = 0;
            self.match_channels(down);
            return false;
        }
        // For a value that the counter never reaches, the flag is set at the overflow.
        for index in 0..self.params.channels {
            if !self.channels[index].is_input() && self.channels[index].value > self.counter.reload {
                self.raise(index);
            }
        }
        let updates = self.pending.repeats_left == 0;
        if updates {
            self.update_event(true);
            if self.has(CR1, CR1_OPM) && !self.has(CR1, CR1_UDIS) {
                self.counter.running = false;
            }
        } else {
            self.pending.repeats_left -= 1;
        }
        self.counter.begin_sweep();
        self.match_channels(down);
        updates
    }

    /// An update event: preloaded registers take effect. `counted` is true for the counter's, false for software's.
    fn update_event(&mut self, counted: bool) {
        self.pending.repeats_left = self.registers[RCR];
        if self.has(CR1, CR1_UDIS) {
            return;
        }
        self.counter.prescaler = self.registers[PSC];
        self.counter.reload = self.registers[ARR];
        self.pending.triggers |= self.triggers_on(MMS_UPDATE);
        for (channel, register) in self.channels.iter_mut().zip((CCR..).step_by(4)) {
            if channel.has_preload() {
                channel.value = self.registers[register];
            }
        }
        if counted || !self.has(CR1, CR1_URS) {
            self.updates += 1;
            self.registers.put(SR, UPDATE, true);
            self.pending.requests |= DIER_UDE;
        }
    }

    /// A write of TIM_EGR.
    pub(super) fn generate(&mut self, events: u32, now: Ps) {
        if events & UPDATE != 0 {
            self.pending.triggers |= self.triggers_on(MMS_RESET);
            self.counter.restart_prescaler(now);
            self.update_event(false);
            self.counter.value = match self.counter.mode {
                Mode::Edge if self.counter.down => self.counter.reload,
                _ => 0,
            };
            if self.counter.mode == Mode::Centre {
                self.counter.down = false;
            }
            self.follow();
        }
        for index in 0..self.params.channels {
            if events & 2 << index != 0 {
                if self.channels[index].is_input() {
                    self.take(index);
                } else {
                    self.raise(index);
                }
            }
        }
        self.registers.put(SR, events & (COM | TRIGGER | BREAK), true);
    }

    /// A rising or falling edge at the pin of channel `index`: that channel, or its neighbour, may capture.
    pub(super) fn capture(&mut self, index: usize, rises: bool) {
        for (channel, select) in [(index, 1), (index ^ 1, 2)] {
            let is_input = self.channels[channel].mode & SELECT == select;
            if channel < self.params.channels && is_input && self.channels[channel].captures(rises) {
                self.take(channel);
            }
        }
    }

    fn take(&mut self, index: usize) {
        if self.has(SR, SR_CC1IF << index) {
            self.registers.put(SR, SR_CC1OF << index, true);
        }
        self.channels[index].value = self.counter.value;
        self.raise(index);
    }

    /// The time of the next change that is visible outside the registers: an interrupt, a request, an edge of a pin.
    pub(super) fn next_event(&self) -> Option<Ps> {
        let waits = |bit: u32| {
            let interrupts = self.registers[DIER] & !self.registers[SR] & 1 << bit != 0;
            interrupts || self.has(DIER, DIER_UDE << bit) && !self.dma[bit as usize].is_open()
        };
        let drives = |index: usize| self.channels[index].drives() || waits(1 + index as u32);
        self.next(waits(0) || self.triggers_on(MMS_UPDATE) || (0..CHANNELS).any(drives), drives)
    }

    /// The time of the next change of a flag, or of the counter's stop.
    pub(super) fn next_flag(&self) -> Option<Ps> {
        let is_clear = |bit: usize| !self.has(SR, 1 << bit);
        let ends =
            self.has(CR1, CR1_OPM) || self.counter.mode == Mode::Centre || (0..=self.params.channels).any(is_clear);
        self.next(ends, |index| is_clear(1 + index))
    }

    /// The time of the next end of a sweep, if `ends` count, or of the next match of a channel that counts.
    fn next(&self, ends: bool, counts: impl Fn(usize) -> bool) -> Option<Ps> {
        let end = self.counter.ticks_to_end().filter(|_| ends);
        let matches = self.matches().filter(|(index, _)| counts(*index));
        let next = matches.filter_map(|(_, ticks)| ticks).chain(end).min();
        next.map(|ticks| self.counter.time_of(ticks))
    }
}
