//! The states of the Basic and the Extended Operating Mode and their transitions (datasheet, sections 7.1 and 7.2).

use std::fmt;

use super::Transceiver;
use super::csma::{BackOffs, Trac};
use super::notes::Note;
use super::registers::{Registers, irq};
use engine::state;
use engine::time::Ps;

/// States, by the datasheet's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, state::State, state::Fresh)]
pub enum State {
    /// P_ON.
    PowerOn,
    /// TRX_OFF.
    TrxOff,
    /// PLL_ON.
    PllOn,
    /// RX_ON.
    RxOn,
    /// BUSY_RX.
    BusyRx,
    /// BUSY_TX.
    BusyTx,
    /// SLEEP.
    Sleep,
    /// RX_AACK_ON.
    RxAackOn,
    /// BUSY_RX_AACK.
    BusyRxAack,
    /// TX_ARET_ON.
    TxAretOn,
    /// BUSY_TX_ARET.
    BusyTxAret,
}

impl State {
    /// Its value in TRX_STATUS (table 7-15 of Atmel 8111).
    pub const fn code(self) -> u8 {
        match self {
            State::PowerOn => 0x00,
            State::BusyRx => 0x01,
            State::BusyTx => 0x02,
            State::RxOn => 0x06,
            State::TrxOff => 0x08,
            State::PllOn => 0x09,
            State::Sleep => 0x0f,
            State::BusyRxAack => 0x11,
            State::BusyTxAret => 0x12,
            State::RxAackOn => 0x16,
            State::TxAretOn => 0x19,
        }
    }
}

/// TRX_STATUS while a transition is in progress.
pub const STATE_TRANSITION_IN_PROGRESS: u8 = 0x1f;

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::PowerOn => "P_ON",
            State::TrxOff => "TRX_OFF",
            State::PllOn => "PLL_ON",
            State::RxOn => "RX_ON",
            State::BusyRx => "BUSY_RX",
            State::BusyTx => "BUSY_TX",
            State::Sleep => "SLEEP",
            State::RxAackOn => "RX_AACK_ON",
            State::BusyRxAack => "BUSY_RX_AACK",
            State::TxAretOn => "TX_ARET_ON",
            State::BusyTxAret => "BUSY_TX_ARET",
        })
    }
}

/// Commands, as TRX_CMD takes them (table 7-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, state::State, state::Fresh)]
pub enum Command {
    Nop,
    TxStart,
    ForceTrxOff,
    ForcePllOn,
    RxOn,
    TrxOff,
    PllOn,
    RxAackOn,
    TxAretOn,
}

impl Command {
    /// The command of a value; reserved ones are NOP.
    pub const fn of(code: u8) -> Command {
        match code {
            0x02 => Command::TxStart,
            0x03 => Command::ForceTrxOff,
            0x04 => Command::ForcePllOn,
            0x06 => Command::RxOn,
            0x08 => Command::TrxOff,
            0x09 => Command::PllOn,
            0x16 => Command::RxAackOn,
            0x19 => Command::TxAretOn,
            _ => Command::Nop,
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Nop => "NOP",
            Command::TxStart => "TX_START",
            Command::ForceTrxOff => "FORCE_TRX_OFF",
            Command::ForcePllOn => "FORCE_PLL_ON",
            Command::RxOn => "RX_ON",
            Command::TrxOff => "TRX_OFF",
            Command::PllOn => "PLL_ON",
            Command::RxAackOn => "RX_AACK_ON",
            Command::TxAretOn => "TX_ARET_ON",
        })
    }
}

/// A state transition in progress.
#[derive(Clone, Copy, Debug, state::State, state::Fresh)]
pub(super) struct Transition {
    pub at: Ps,
    pub to: State,
}

impl Transceiver {
    /// The supply is switched on.
    pub(super) fn power_up(&mut self) {
        self.powered = true;
        self.checker.powered = true;
        self.clear();
        self.state = State::PowerOn;
        self.change(State::PowerOn, self.times.power_on);
    }

    /// The supply is switched off: all state is lost.
    pub(super) fn power_down(&mut self) {
        self.stop_radio();
        self.clear();
        self.powered = false;
        self.checker.powered = false;
        (self.state, self.transition) = (State::PowerOn, None);
    }

    /// /RST goes low: registers have their reset values, and the chip waits for the pin's rise (section 7.1.4.5).
    pub(super) fn hold_reset(&mut self) {
        self.stop_radio();
        self.clear();
        if self.state != State::PowerOn {
            (self.state, self.transition) = (State::TrxOff, None);
        }
    }

    /// /RST goes high again.
    pub(super) fn release_reset(&mut self) {
        if self.state != State::PowerOn {
            self.change(State::TrxOff, self.times.reset);
        }
    }

    fn clear(&mut self) {
        self.registers = Registers::new(self.part);
        self.back_offs = BackOffs::new(&self.registers);
        self.buffer = super::buffer::FrameBuffer::new();
        self.pending.clear();
        self.measurement = None;
        self.cca_done = false;
        self.protected = false;
        self.stored = None;
        self.locked_at = Ps::ZERO;
    }

    /// False in SLEEP, in reset, and until the clock runs after power-up.
    pub(super) fn is_accessible(&self) -> bool {
        let starting = self.transition.is_some_and(|transition| transition.to == State::PowerOn);
        let waking = self.state == State::Sleep;
        self.powered && !starting && !waking && !self.in_reset
    }

    /// TRX_STATUS's state.
    pub(super) fn status_code(&self) -> u8 {
        let waits = self.transmission.as_ref().is_some_and(|transmission| self.now < transmission.begin);
        let starting = waits && self.transaction.is_none();
        if self.transition.is_some() || starting { STATE_TRANSITION_IN_PROGRESS } else { self.state.code() }
    }

    /// A write of TRX_CMD.
    pub(super) fn command(&mut self, command: Command) {
        let forced = matches!(command, Command::ForceTrxOff | Command::ForcePllOn);
        match command {
            Command::Nop => {}
            _ if !self.part.knows(command) => self.notes.add(Note::NoCommand { command }),
            _ if !forced && self.status_code() == STATE_TRANSITION_IN_PROGRESS => {
                self.notes.add(Note::InTransition { command });
            }
            _ => self.obey(command),
        }
    }

    fn obey(&mut self, command: Command) {
        use State::{BusyRx, BusyRxAack, BusyTx, BusyTxAret, PllOn, PowerOn, RxAackOn, RxOn, Sleep, TrxOff, TxAretOn};
        let (change, pll_start) = (self.times.change, self.times.pll_start);
        match (command, self.state) {
            (Command::ForceTrxOff, PowerOn | TrxOff) if self.is_starting() => {}
            (Command::ForceTrxOff | Command::TrxOff, PowerOn) => self.change(TrxOff, self.times.filter_tuning),
            (Command::ForceTrxOff | Command::TrxOff, TrxOff) if self.transition.is_none() => {}
            (Command::ForceTrxOff | Command::ForcePllOn, PowerOn | Sleep) => self.refuse(command),
            (Command::ForceTrxOff, _) => self.leave_for(TrxOff),
            (Command::ForcePllOn, TrxOff) => self.refuse(command),
            (Command::ForcePllOn, _) if !self.is_going_off() => self.leave_for(PllOn),
            (Command::TxStart, PllOn) => self.start_transmission(),
            (Command::TxStart, TxAretOn) => self.start_transaction(),
            (Command::TrxOff, PllOn | RxOn | RxAackOn | TxAretOn) => self.leave_for(TrxOff),
            (Command::TrxOff, BusyRx | BusyTx | BusyRxAack | BusyTxAret) => self.stored = Some(TrxOff),
            (Command::PllOn, TrxOff) => self.change(PllOn, pll_start),
            (Command::PllOn, RxOn | RxAackOn | TxAretOn) => self.leave_for(PllOn),
            (Command::PllOn, BusyRx | BusyTx | BusyRxAack | BusyTxAret) => self.stored = Some(PllOn),
            (Command::PllOn, PllOn) | (Command::RxOn, RxOn) => {}
            (Command::RxAackOn, RxAackOn | BusyRxAack) | (Command::TxAretOn, TxAretOn | BusyTxAret) => {}
            (Command::RxAackOn, TrxOff) => self.change(RxAackOn, pll_start),
            (Command::RxAackOn, PllOn) => self.change(RxAackOn, change),
            (Command::TxAretOn, TrxOff) => self.change(TxAretOn, pll_start),
            (Command::TxAretOn, PllOn) => self.change(TxAretOn, change),
            (Command::RxOn, TrxOff) => self.change(RxOn, pll_start),
            (Command::RxOn, PllOn) => self.change(RxOn, change),
            (Command::RxOn, BusyRx | BusyTx) => self.stored = Some(RxOn),
            _ => self.refuse(command),
        }
    }

    fn refuse(&mut self, command: Command) {
        self.notes.add(Note::Refused { command, state: self.state });
    }

    /// True during the transition to TRX_OFF from P_ON or reset, which no command shortens.
    fn is_starting(&self) -> bool {
        self.transition.is_some() && (self.resetting || self.state == State::PowerOn)
    }

    /// True during the transition to TRX_OFF or SLEEP, in which FORCE_PLL_ON is not valid.
    fn is_going_off(&self) -> bool {
        self.transition.is_some_and(|transition| matches!(transition.to, State::TrxOff | State::Sleep))
    }

    /// Ends the radio's present operation now.
    pub(super) fn leave_for(&mut self, to: State) {
        self.stop_radio();
        self.change(to, self.times.change);
    }

    pub(super) fn change(&mut self, to: State, span: Ps) {
        self.transition = Some(Transition { at: self.now.saturating_add(span), to });
    }

    /// A transition is complete.
    pub(super) fn arrive(&mut self, to: State) {
        let from = std::mem::replace(&mut self.state, to);
        self.transition = None;
        self.stored = None;
        if !matches!(to, State::RxOn | State::RxAackOn) {
            self.protected = false;
        }
        match (from, to) {
            (_, State::TrxOff) => {
                if from == State::Sleep {
                    self.back_offs = BackOffs::new(&self.registers);
                }
                if matches!(from, State::PowerOn | State::Sleep) || self.resetting {
                    self.resetting = false;
                    self.raise(irq::AWAKE_CCA_ED);
                }
                if self.sleep_pin {
                    self.change(State::Sleep, self.times.fall_asleep);
                }
            }
            (State::TrxOff, State::PllOn | State::RxOn | State::RxAackOn | State::TxAretOn) => {
                self.locked_at = self.now;
                self.raise(irq::PLL_LOCK);
            }
            (_, State::Sleep) => {
                self.buffer = super::buffer::FrameBuffer::new();
                if !self.sleep_pin {
                    self.change(State::TrxOff, self.times.wake_up);
                }
            }
            _ => {}
        }
        if matches!(to, State::RxAackOn | State::TxAretOn) {
            self.set_trac(Trac::Invalid);
        }
        if matches!(to, State::RxOn | State::RxAackOn) {
            self.listen();
        }
    }

    /// The radio has finished a frame: carries out a command that came in the meantime.
    pub(super) fn arrive_busy_end(&mut self, to: State) {
        self.state = to;
        match self.stored.take() {
            Some(next) if next != to => self.change(next, self.times.change),
            _ => {}
        }
    }

    /// SLP_TR changes (section 6.5).
    pub(super) fn sleep_pin(&mut self, level: bool) {
        self.sleep_pin = level;
        if !level {
            let width = self.now.saturating_sub(self.sleep_pin_rose_at);
            if let Some(violation) = self.checker.pulse(width, self.now) {
                self.notes.add(Note::Timing(violation));
            }
            if self.state == State::Sleep && self.transition.is_none() {
                self.change(State::TrxOff, self.times.wake_up);
            }
            return;
        }
        self.sleep_pin_rose_at = self.now;
        match self.state {
            _ if self.transition.is_some() => {}
            State::TrxOff => self.change(State::Sleep, self.times.fall_asleep),
            State::PllOn if self.transmission.is_none() => self.start_transmission(),
            State::TxAretOn => self.start_transaction(),
            State::RxOn | State::RxAackOn => self.notes.add(Note::NoClock),
            _ => {}
        }
    }
}
