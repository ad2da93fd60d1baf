//! The states of the Basic and the Extended Operating Mode and their transitions (datasheet, sections 7.1 and 7.2).

use super::*;

/// States, by the datasheet's names, with their values in TRX_STATUS (table 7-15 of Atmel 8111).
#[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "the datasheet's names, as notes have them")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, state::State, state::Fresh)]
pub enum State {
    #[default]
    P_ON = 0x00,
    BUSY_RX = 0x01,
    BUSY_TX = 0x02,
    RX_ON = 0x06,
    TRX_OFF = 0x08,
    PLL_ON = 0x09,
    SLEEP = 0x0f,
    BUSY_RX_AACK = 0x11,
    BUSY_TX_ARET = 0x12,
    RX_AACK_ON = 0x16,
    TX_ARET_ON = 0x19,
}

/// TRX_STATUS while a transition is in progress.
pub const STATE_TRANSITION_IN_PROGRESS: u8 = 0x1f;

/// Commands, by the datasheet's names, with their values in TRX_CMD (table 7-4).
#[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "the datasheet's names, as notes have them")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    NOP = 0x00,
    TX_START = 0x02,
    FORCE_TRX_OFF = 0x03,
    FORCE_PLL_ON = 0x04,
    RX_ON = 0x06,
    TRX_OFF = 0x08,
    PLL_ON = 0x09,
    RX_AACK_ON = 0x16,
    TX_ARET_ON = 0x19,
}

impl Command {
    /// The command of a value; reserved ones are NOP.
    pub fn of(code: u8) -> Command {
        use Command::*;
        let all = [TX_START, FORCE_TRX_OFF, FORCE_PLL_ON, RX_ON, TRX_OFF, PLL_ON, RX_AACK_ON, TX_ARET_ON];
        all.into_iter().find(|command| *command as u8 == code).unwrap_or(NOP)
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
        self.checker.powered = true;
        self.clear();
        self.state = State::P_ON;
        self.change(State::P_ON, self.times.power_on);
    }

    /// The supply is switched off: all state is lost.
    pub(super) fn power_down(&mut self) {
        self.stop_radio();
        self.clear();
        self.checker.powered = false;
        (self.state, self.transition) = (State::P_ON, None);
    }

    /// /RST goes low: registers have their reset values, and the chip waits for the pin's rise (section 7.1.4.5).
    pub(super) fn hold_reset(&mut self) {
        self.resetting = true;
        self.stop_radio();
        self.clear();
        if self.state != State::P_ON {
            (self.state, self.transition) = (State::TRX_OFF, None);
        }
    }

    /// /RST goes high again.
    pub(super) fn release_reset(&mut self) {
        if self.state != State::P_ON {
            self.change(State::TRX_OFF, self.times.reset);
        }
    }

    fn clear(&mut self) {
        self.registers = Registers::new(self.part.map());
        self.back_offs = BackOffs::new(&self.registers);
        self.buffer = FrameBuffer::default();
        self.pending.clear();
        self.measurement = None;
        self.cca_done = false;
        self.protected = false;
        self.stored = None;
        self.locked_at = Ps::ZERO;
    }

    /// False in SLEEP, in reset, and until the clock runs after power-up.
    pub(super) fn is_accessible(&self) -> bool {
        let starting = self.transition.is_some_and(|transition| transition.to == State::P_ON);
        let waking = self.state == State::SLEEP;
        self.checker.powered && !starting && !waking && !self.in_reset
    }

    /// TRX_STATUS's state.
    pub(super) fn status_code(&self) -> u8 {
        let waits = self.transmission.as_ref().is_some_and(|transmission| self.now < transmission.begin);
        let starting = waits && self.transaction.is_none();
        if self.transition.is_some() || starting { STATE_TRANSITION_IN_PROGRESS } else { self.state as u8 }
    }

    /// A write of TRX_CMD.
    pub(super) fn command(&mut self, command: Command) {
        let forced = matches!(command, Command::FORCE_TRX_OFF | Command::FORCE_PLL_ON);
        match command {
            Command::NOP => {}
            _ if !self.part.knows(command) => self.ignore(command, "the AT86RF230 does not have it"),
            _ if !forced && self.status_code() == STATE_TRANSITION_IN_PROGRESS => {
                self.ignore(command, "a state transition is in progress");
            }
            _ => self.obey(command),
        }
    }

    fn obey(&mut self, command: Command) {
        use State::*;
        let (change, pll_start) = (self.times.change, self.times.pll_start);
        match (command, self.state) {
            (Command::FORCE_TRX_OFF, P_ON | TRX_OFF) if self.is_starting() => {}
            (Command::FORCE_TRX_OFF | Command::TRX_OFF, P_ON) => self.change(TRX_OFF, self.times.filter_tuning),
            (Command::FORCE_TRX_OFF | Command::TRX_OFF, TRX_OFF) if self.transition.is_none() => {}
            (Command::FORCE_TRX_OFF | Command::FORCE_PLL_ON, P_ON | SLEEP) => self.refuse(command),
            (Command::FORCE_TRX_OFF, _) => self.leave_for(TRX_OFF),
            (Command::FORCE_PLL_ON, TRX_OFF) => self.refuse(command),
            (Command::FORCE_PLL_ON, _) if !self.is_going_off() => self.leave_for(PLL_ON),
            (Command::TX_START, PLL_ON) => self.start_transmission(),
            (Command::TX_START, TX_ARET_ON) => self.start_transaction(),
            (Command::TRX_OFF, PLL_ON | RX_ON | RX_AACK_ON | TX_ARET_ON) => self.leave_for(TRX_OFF),
            (Command::TRX_OFF, BUSY_RX | BUSY_TX | BUSY_RX_AACK | BUSY_TX_ARET) => self.stored = Some(TRX_OFF),
            (Command::PLL_ON, TRX_OFF) => self.change(PLL_ON, pll_start),
            (Command::PLL_ON, RX_ON | RX_AACK_ON | TX_ARET_ON) => self.leave_for(PLL_ON),
            (Command::PLL_ON, BUSY_RX | BUSY_TX | BUSY_RX_AACK | BUSY_TX_ARET) => self.stored = Some(PLL_ON),
            (Command::PLL_ON, PLL_ON) | (Command::RX_ON, RX_ON) => {}
            (Command::RX_AACK_ON, RX_AACK_ON | BUSY_RX_AACK) | (Command::TX_ARET_ON, TX_ARET_ON | BUSY_TX_ARET) => {}
            (Command::RX_AACK_ON, TRX_OFF) => self.change(RX_AACK_ON, pll_start),
            (Command::RX_AACK_ON, PLL_ON) => self.change(RX_AACK_ON, change),
            (Command::TX_ARET_ON, TRX_OFF) => self.change(TX_ARET_ON, pll_start),
            (Command::TX_ARET_ON, PLL_ON) => self.change(TX_ARET_ON, change),
            (Command::RX_ON, TRX_OFF) => self.change(RX_ON, pll_start),
            (Command::RX_ON, PLL_ON) => self.change(RX_ON, change),
            (Command::RX_ON, BUSY_RX | BUSY_TX) => self.stored = Some(RX_ON),
            _ => self.refuse(command),
        }
    }

    fn ignore(&mut self, command: Command, why: &str) {
        self.notes.add(format!("{command:?} was ignored: {why}"));
    }

    fn refuse(&mut self, command: Command) {
        self.notes.add(format!("{command:?} has no effect in {:?}", self.state));
    }

    /// True during the transition to TRX_OFF from P_ON or reset, which no command shortens.
    fn is_starting(&self) -> bool {
        self.transition.is_some() && (self.resetting || self.state == State::P_ON)
    }

    /// True during the transition to TRX_OFF or SLEEP, in which FORCE_PLL_ON is not valid.
    fn is_going_off(&self) -> bool {
        self.transition.is_some_and(|transition| matches!(transition.to, State::TRX_OFF | State::SLEEP))
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
        if !matches!(to, State::RX_ON | State::RX_AACK_ON) {
            self.protected = false;
        }
        match (from, to) {
            (_, State::TRX_OFF) => {
                if from == State::SLEEP {
                    self.back_offs = BackOffs::new(&self.registers);
                }
                if matches!(from, State::P_ON | State::SLEEP) || self.resetting {
                    self.resetting = false;
                    self.raise(IRQ_STATUS_AWAKE_CCA_ED);
                }
                if self.sleep_pin {
                    self.change(State::SLEEP, self.times.fall_asleep);
                }
            }
            (State::TRX_OFF, State::PLL_ON | State::RX_ON | State::RX_AACK_ON | State::TX_ARET_ON) => {
                self.locked_at = self.now;
                self.raise(IRQ_STATUS_PLL_LOCK);
            }
            (_, State::SLEEP) => {
                self.buffer = FrameBuffer::default();
                if !self.sleep_pin {
                    self.change(State::TRX_OFF, self.times.wake_up);
                }
            }
            _ => {}
        }
        if matches!(to, State::RX_AACK_ON | State::TX_ARET_ON) {
            self.set_trac(Trac::Invalid);
        }
        if matches!(to, State::RX_ON | State::RX_AACK_ON) {
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
            self.checker.pulse(width, self.now, &mut self.notes);
            if self.state == State::SLEEP && self.transition.is_none() {
                self.change(State::TRX_OFF, self.times.wake_up);
            }
            return;
        }
        self.sleep_pin_rose_at = self.now;
        match self.state {
            _ if self.transition.is_some() => {}
            State::TRX_OFF => self.change(State::SLEEP, self.times.fall_asleep),
            State::PLL_ON if self.transmission.is_none() => self.start_transmission(),
            State::TX_ARET_ON => self.start_transaction(),
            State::RX_ON | State::RX_AACK_ON => {
                self.notes
                    .add("SLP_TR rose in a receive state: RX_ON_NOCLK is not modelled, the chip stays there".into());
            }
            _ => {}
        }
    }
}
