//! The watchdog: a counter that resets the board when it reaches TDR.

use engine::state::State;

pub const TDR: u32 = 0x00;
pub const TCER: u32 = 0x04;
pub const TCNT: u32 = 0x08;
pub const TCSR: u32 = 0x0c;

/// The exit status of a run that the watchdog ends.
pub const EXIT_STATUS: i32 = 1;

/// Its state.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Watchdog {
    data: u16,
    /// TCER.TCEN.
    pub enabled: bool,
    value: u16,
    /// TCSR: its prescaler and the enables of clocks.
    pub control: u32,
    tick: u64,
    /// True if it has reached TDR.
    pub has_run_out: bool,
}

impl Watchdog {
    /// Counts up to tick number `tick`.
    pub fn settle(&mut self, tick: u64) {
        self.has_run_out |= tick >= self.reset_tick();
        self.value = self.value.wrapping_add(tick.saturating_sub(self.tick) as u16);
        self.tick = tick;
    }

    /// Restarts counting at tick number `tick`.
    pub fn stand_at(&mut self, tick: u64) {
        self.tick = tick;
    }

    /// The tick at which it resets the board: the next one if it is at TDR already, which Linux uses for a restart.
    pub fn reset_tick(&self) -> u64 {
        self.tick + u64::from(self.data.wrapping_sub(self.value)).max(1)
    }

    /// A register's value.
    pub fn register(&self, offset: u32) -> u32 {
        match offset {
            TDR => self.data.into(),
            TCER => self.enabled.into(),
            TCNT => self.value.into(),
            _ => self.control,
        }
    }

    /// A write of a register.
    pub fn set_register(&mut self, offset: u32, value: u32) {
        match offset {
            TDR => self.data = value as u16,
            TCER => self.enabled = value & 1 != 0,
            TCNT => self.value = value as u16,
            _ => self.control = value & 0x3f,
        }
    }
}
