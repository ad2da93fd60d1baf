//! The card in SD mode: commands and responses on CMD, data blocks on DAT0 to DAT3: chapter 4. Its host shifts the bits
//! ([`crate::st`]), and calls the card at the end of each command, block and response.

use super::*;

/// States in which a command is legal: 4.8.
const IDLE: u8 = 1;
const READY: u8 = 2;
const IDENTIFICATION: u8 = 4;
const STAND_BY: u8 = 8;
const TRANSFER: u8 = 16;
const DATA: u8 = 32;
const RECEIVE: u8 = 64;
const PROGRAMMING: u8 = 128;
/// After the card has an address.
const ADDRESSED: u8 = STAND_BY | TRANSFER | DATA | RECEIVE | PROGRAMMING;

/// Bits of the card status: 4.10.1.
mod status {
    pub const OUT_OF_RANGE: u32 = 1 << 31;
    pub const ADDRESS_ERROR: u32 = 1 << 30;
    pub const ERASE_SEQ_ERROR: u32 = 1 << 28;
    pub const ERASE_PARAM: u32 = 1 << 27;
    pub const WP_VIOLATION: u32 = 1 << 26;
    pub const ILLEGAL_COMMAND: u32 = 1 << 22;
    pub const CARD_ECC_FAILED: u32 = 1 << 21;
    pub const ERROR: u32 = 1 << 19;
    pub const WP_ERASE_SKIP: u32 = 1 << 15;
    pub const ERASE_RESET: u32 = 1 << 13;
    pub const READY_FOR_DATA: u32 = 1 << 8;
    pub const APP_CMD: u32 = 1 << 5;
}

/// The bits of R1 and R2 of SPI mode, and those of the card status for the same errors.
const FROM_R1: [(u8, u32); 4] = [
    (r1::PARAMETER, status::OUT_OF_RANGE),
    (r1::ADDRESS, status::ADDRESS_ERROR),
    (r1::ERASE_SEQUENCE, status::ERASE_SEQ_ERROR),
    (r1::ERASE_RESET, status::ERASE_RESET),
];
const FROM_R2: [(u8, u32); 6] = [
    (r2::ERASE_SKIP, status::WP_ERASE_SKIP),
    (r2::ERROR, status::ERROR),
    (r2::ECC_FAILED, status::CARD_ECC_FAILED),
    (r2::PROTECTION_VIOLATION, status::WP_VIOLATION),
    (r2::ERASE_PARAMETER, status::ERASE_PARAM),
    (r2::OUT_OF_RANGE, status::OUT_OF_RANGE),
];

/// NID, clocks from a command to its response during identification: 4.12.
const IDENTIFICATION_CLOCKS: u32 = 5;

/// A state that only commands change. The others follow from the data and the busy time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, state::State, state::Fresh, Polled)]
enum Place {
    #[default]
    Idle,
    Ready,
    Identification,
    StandBy,
    Transfer,
    Inactive,
}

/// What the card has in SD mode alone.
#[derive(Clone, Copy, Debug, Default, state::State, state::Fresh, Polled)]
pub(super) struct SdMode {
    place: Place,
    /// RCA, the relative card address.
    address: u16,
    /// Errors that have not been reported.
    errors: u32,
    has_four_lines: bool,
    is_fast: bool,
}

/// A response on CMD: 4.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub enum SdResponse {
    /// R1, R6 and R7: the command's index, and 32 bits.
    Short(u8, u32),
    /// R3: without index and CRC.
    Ocr(u32),
    /// R2: CID or CSD, with their CRC.
    Long([u8; 16]),
}

/// A response, and the clocks between the end of the command and its start bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub struct SdReply {
    /// Its contents.
    pub response: SdResponse,
    /// NCR, or NID during identification.
    pub gap_clocks: u32,
}

/// The outcome of a command: an answer as in SPI mode, from which R1 follows, another response, or none.
enum Outcome {
    Status(Answer),
    Other(SdResponse),
    None,
}

type Run = fn(&mut Card, u32, Ps) -> Outcome;

/// A command: whether it follows CMD55, its index, when it is legal.
struct Command(bool, u8, u8, Run);

const COMMANDS: [Command; 28] = [
    Command(false, 0, u8::MAX, |card, _, end| card.reset_sd(end)),
    Command(false, 2, READY, |card, _, _| card.moved(Place::Identification, SdResponse::Long(registers::cid()))),
    Command(false, 3, IDENTIFICATION | STAND_BY, |card, _, end| card.publish_address(end)),
    Command(false, 6, TRANSFER, |card, argument, _| card.switch(argument)),
    Command(false, 7, ADDRESSED, |card, argument, _| card.select_card(argument)),
    Command(false, 8, IDLE, |card, argument, _| card.send_if_cond(argument).into()),
    Command(false, 9, STAND_BY, |card, argument, _| {
        card.if_addressed(argument, |card| Outcome::Other(SdResponse::Long(registers::csd(&card.parameters))))
    }),
    Command(false, 10, STAND_BY, |card, argument, _| {
        card.if_addressed(argument, |_| Outcome::Other(SdResponse::Long(registers::cid())))
    }),
    Command(false, 12, DATA | RECEIVE | PROGRAMMING, |card, _, end| card.stop(end).into()),
    Command(false, 13, ADDRESSED, |card, argument, _| card.if_addressed(argument, |_| OK.into())),
    Command(false, 15, ADDRESSED, |card, argument, _| {
        card.if_addressed(argument, |card| {
            card.sd.place = Place::Inactive;
            Outcome::None
        })
    }),
    Command(false, 16, TRANSFER, |card, argument, _| card.set_block_length(argument).into()),
    Command(false, 17, TRANSFER, |card, argument, end| card.read(argument, false, end).into()),
    Command(false, 18, TRANSFER, |card, argument, end| card.read(argument, true, end).into()),
    Command(false, 23, TRANSFER, |card, argument, _| card.set_block_count(argument).into()),
    Command(false, 24, TRANSFER, |card, argument, end| card.write(argument, false, end).into()),
    Command(false, 25, TRANSFER, |card, argument, end| card.write(argument, true, end).into()),
    Command(false, 32, TRANSFER, |card, argument, _| card.erase_from(argument).into()),
    Command(false, 33, TRANSFER, |card, argument, _| card.erase_to(argument).into()),
    Command(false, 38, TRANSFER, |card, _, end| card.erase(end).into()),
    Command(false, 55, IDLE | ADDRESSED, |card, argument, _| {
        card.if_addressed(argument, |card| card.expect_application().into())
    }),
    Command(true, 6, TRANSFER, |card, argument, _| {
        card.sd.has_four_lines = argument & 3 == 2;
        OK.into()
    }),
    Command(true, 13, TRANSFER, |card, _, _| {
        card.send_register(&registers::sd_status(&card.parameters, card.sd.has_four_lines)).into()
    }),
    Command(true, 22, TRANSFER, |card, _, _| card.send_register(&card.well_written.to_be_bytes()).into()),
    Command(true, 23, TRANSFER, |card, argument, _| card.announce(argument).into()),
    Command(true, 41, IDLE, |card, argument, end| card.start_up(argument, end)),
    Command(true, 42, TRANSFER, |_, _, _| OK.into()),
    Command(true, 51, TRANSFER, |card, _, _| card.send_register(&registers::scr(&card.parameters)).into()),
];

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Outcome {
        match answer {
            Ok(Response::Long(value)) => Outcome::Other(SdResponse::Short(8, value)),
            answer => Outcome::Status(answer),
        }
    }
}

impl Command {
    fn find(application: bool, index: u8) -> Option<&'static Command> {
        let known = |application| COMMANDS.iter().find(|command| (command.0, command.1) == (application, index));
        if application { known(true).or_else(|| known(false)) } else { known(false) }
    }
}

impl Card {
    /// A command that ends at `end`, after this many clocks since the supply is on: the card's response, if it gives
    /// one.
    pub fn sd_command(&mut self, index: u8, argument: u32, clocks: u64, end: Ps) -> Option<SdReply> {
        if self.is_gone(end) || self.sd.place == Place::Inactive {
            return None;
        }
        self.totals.commands += 1;
        if self.state == State::PowerUp {
            if clocks < u64::from(POWER_UP_CLOCKS) {
                let note = format!("CMD{index} ignored: {clocks} clocks since the supply is on, the card needs 74");
                self.notes.add(note);
                return None;
            }
            self.reset_sd(end);
        }
        let application = std::mem::take(&mut self.application);
        let now = self.state_number(end);
        let command = Command::find(application, index)
            .filter(|command| command.2 & state_bit(now) != 0)
            .filter(|command| command.0 || self.has_command(command.1));
        let Some(command) = command else {
            self.sd.errors |= status::ILLEGAL_COMMAND;
            return None;
        };
        if !matches!((application, index), (false, 0 | 13 | 32 | 33 | 38)) && self.session.erase != Erase::None {
            self.session.erase = Erase::None;
            self.sd.errors |= status::ERASE_RESET;
        }
        // Errors of the data that this command starts are reported later.
        self.sd.errors |= mapped(std::mem::take(&mut self.session.status), &FROM_R2);
        let response = match (command.3)(self, argument, end) {
            Outcome::None => return None,
            Outcome::Other(response) => response,
            Outcome::Status(answer) => SdResponse::Short(index, self.take_status(answer, now, end)),
        };
        let is_identifying = matches!(response, SdResponse::Ocr(_)) || index == 2;
        let gap = u32::from(self.parameters.response_bytes) * 8;
        Some(SdReply { response, gap_clocks: if is_identifying { IDENTIFICATION_CLOCKS } else { gap } })
    }

    /// True if the card has this command, apart from those that follow CMD55.
    fn has_command(&self, index: u8) -> bool {
        match index {
            8 => self.parameters.sd_spec == 2,
            23 => self.parameters.set_block_count,
            _ => true,
        }
    }

    /// CURRENT_STATE.
    fn state_number(&self, now: Ps) -> u8 {
        match (self.sd.place, &self.data) {
            (Place::Idle, _) => 0,
            (Place::Ready, _) => 1,
            (Place::Identification, _) => 2,
            (Place::StandBy, _) => 3,
            (_, Data::Sending(_)) => 5,
            (_, Data::Receiving(_)) => 6,
            _ if self.busy_until > now => 7,
            _ => 4,
        }
    }

    /// The card status of a response to a command that came in state `before`; errors are reported once.
    fn take_status(&mut self, answer: Answer, before: u8, now: Ps) -> u32 {
        let errors = std::mem::take(&mut self.sd.errors) | mapped(answer.err().unwrap_or(0), &FROM_R1);
        let ready = if self.busy_until > now { 0 } else { status::READY_FOR_DATA };
        let application = if self.application { status::APP_CMD } else { 0 };
        errors | u32::from(before) << 9 | ready | application
    }

    fn reset_sd(&mut self, end: Ps) -> Outcome {
        _ = self.go_idle(end);
        self.session.crc_on = true;
        self.sd = SdMode::default();
        Outcome::None
    }

    fn moved(&mut self, place: Place, response: SdResponse) -> Outcome {
        self.sd.place = place;
        Outcome::Other(response)
    }

    /// ACMD41: without voltages in the argument it only asks for the OCR.
    fn start_up(&mut self, argument: u32, end: Ps) -> Outcome {
        if argument & registers::OCR_VOLTAGES != 0 {
            _ = self.initialise(argument, end);
        }
        if self.is_ready() {
            self.sd.place = Place::Ready;
        }
        Outcome::Other(SdResponse::Ocr(registers::ocr(self.parameters.capacity, self.is_ready())))
    }

    /// CMD3, R6: a new address, and bits 23, 22, 19 and 12 to 0 of the status.
    fn publish_address(&mut self, end: Ps) -> Outcome {
        let before = self.state_number(end);
        let status = self.take_status(OK, before, end);
        self.sd.address = self.sd.address.wrapping_add(1).max(1);
        let bits = status >> 8 & 0xc000 | status >> 6 & 0x2000 | status & 0x1fff;
        self.moved(Place::StandBy, SdResponse::Short(3, u32::from(self.sd.address) << 16 | bits))
    }

    /// Runs a command if the address in its argument is the card's.
    fn if_addressed(&mut self, argument: u32, run: impl FnOnce(&mut Card) -> Outcome) -> Outcome {
        if argument >> 16 == u32::from(self.sd.address) { run(self) } else { Outcome::None }
    }

    /// CMD7: another address deselects the card.
    fn select_card(&mut self, argument: u32) -> Outcome {
        let is_mine = argument >> 16 == u32::from(self.sd.address);
        self.sd.place = if is_mine { Place::Transfer } else { Place::StandBy };
        if is_mine { OK.into() } else { Outcome::None }
    }

    /// CMD6: the status of all functions; with bit 31 set, group 1 is switched.
    fn switch(&mut self, argument: u32) -> Outcome {
        let status = registers::switch_status(argument, self.parameters.high_speed);
        if argument >> 31 != 0 && argument & 0xf != 0xf && status[16] & 0xf != 0xf {
            self.sd.is_fast = argument & 0xf == 1;
        }
        self.send_register(&status).into()
    }

    /// The number of data lines that the host has chosen.
    pub fn lines(&self) -> u32 {
        if self.sd.has_four_lines { 4 } else { 1 }
    }

    /// The end of the time in which the card holds DAT0 low.
    pub fn sd_busy_until(&self) -> Ps {
        self.busy_until
    }

    /// Notes the first clock that is too fast for the card: 25 MHz, or 50 MHz in High Speed.
    pub fn check_sd_clock(&mut self, clock: Hz) {
        let most = if self.sd.is_fast { 50_000_000 } else { 25_000_000 };
        if clock.get() > most && self.sd.place == Place::Transfer {
            self.notes.add(format!("the clock of {} Hz is too fast for the card, which takes {most}", clock.get()));
        }
    }

    /// A block that the card sends: the time from which on it can, and its data. `None` if it sends no data, or
    /// the card can't read it.
    pub fn outgoing(&self) -> Option<(Ps, &[u8])> {
        match &self.data {
            Data::Sending(sending) if sending.error.is_none() && !self.removed => {
                Some((sending.ready, &self.buffer[..usize::from(sending.len)]))
            }
            _ => None,
        }
    }

    /// The host has taken that block, whose last bit ended at `end`.
    pub fn was_sent(&mut self, end: Ps) {
        self.next_block(end);
    }

    /// A block of 512 bytes from the host, whose last bit ended at `end`: whether the card's CRC status is positive.
    /// `None` if it gives none.
    pub fn take_sd_block(&mut self, data: &[u8], end: Ps) -> Option<bool> {
        let Data::Receiving(receiving) = self.data else { return None };
        if self.is_gone(end) || data.len() != BLOCK_BYTES {
            return None;
        }
        self.data = Data::Receiving(Receiving { stage: Stage::Block(0), ..receiving });
        self.buffer[..BLOCK_BYTES].copy_from_slice(data);
        self.buffer[BLOCK_BYTES..].copy_from_slice(&crc16(data).to_be_bytes());
        self.take_block(end);
        let response = self.finish_block(end);
        self.leaves_after_byte = std::mem::take(&mut self.leaves_after_byte) && {
            self.remove();
            false
        };
        // A write error shows in the status alone.
        Some(response != receiving::data_response::CRC_ERROR)
    }
}

/// The bits of the card status for errors of SPI mode.
fn mapped(errors: u8, table: &[(u8, u32)]) -> u32 {
    table.iter().filter(|(bit, _)| errors & bit != 0).fold(0, |all, (_, bit)| all | bit)
}

/// The bit of a state among those in which a command is legal.
const fn state_bit(number: u8) -> u8 {
    1 << number
}
