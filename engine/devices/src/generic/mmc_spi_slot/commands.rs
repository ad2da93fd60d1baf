//! The table of commands, when they are legal, and how a command is received: 7.3.1.

use super::*;

/// When a command is legal.
const IDLE: u8 = 1;
const READY: u8 = 2;
/// While the card is busy with a write or erase.
const BUSY: u8 = 4;
const SENDING: u8 = 8;
/// After a write command, between data blocks.
const RECEIVING: u8 = 16;

/// The action of a command with its argument, at the command's end.
type Run = fn(&mut Card, u32, Ps) -> Answer;

/// A command.
struct Command {
    /// True if it follows CMD55.
    application: bool,
    index: u8,
    /// When it is legal: bits as above.
    legal: u8,
    run: Run,
}

const fn cmd(index: u8, legal: u8, run: Run) -> Command {
    Command { application: false, index, legal, run }
}

const fn acmd(index: u8, legal: u8, run: Run) -> Command {
    Command { application: true, index, legal, run }
}

/// All commands.
const COMMANDS: [Command; 26] = [
    cmd(0, IDLE | READY | BUSY | SENDING | RECEIVING, |card, _, end| card.go_idle(end)),
    cmd(1, IDLE | READY, |card, argument, end| card.initialise(argument, end)),
    cmd(6, READY, |card, argument, _| card.send_register(&registers::switch_status(argument, false))),
    cmd(8, IDLE | READY, |card, argument, _| card.send_if_cond(argument)),
    cmd(9, READY, |card, _, _| card.send_register(&registers::csd(&card.parameters))),
    cmd(10, READY, |card, _, _| card.send_register(&registers::cid())),
    cmd(12, SENDING | RECEIVING, |card, _, end| card.stop(end)),
    cmd(13, READY | BUSY | RECEIVING, |_, _, _| Ok(Response::R2)),
    cmd(16, READY, |card, argument, _| card.set_block_length(argument)),
    cmd(17, READY, |card, argument, end| card.read(argument, false, end)),
    cmd(18, READY, |card, argument, end| card.read(argument, true, end)),
    cmd(23, READY, |card, argument, _| card.set_block_count(argument)),
    cmd(24, READY, |card, argument, end| card.write(argument, false, end)),
    cmd(25, READY, |card, argument, end| card.write(argument, true, end)),
    cmd(32, READY, |card, argument, _| card.erase_from(argument)),
    cmd(33, READY, |card, argument, _| card.erase_to(argument)),
    cmd(38, READY, |card, _, end| card.erase(end)),
    cmd(55, IDLE | READY, |card, _, _| card.expect_application()),
    cmd(58, IDLE | READY, |card, _, _| Ok(Response::Long(registers::ocr(card.parameters.capacity, card.is_ready())))),
    cmd(59, IDLE | READY, |card, argument, _| card.set_crc(argument)),
    acmd(13, READY, |card, _, _| {
        _ = card.send_register(&registers::sd_status(&card.parameters, false));
        Ok(Response::R2)
    }),
    acmd(22, READY, |card, _, _| card.send_register(&card.well_written.to_be_bytes())),
    acmd(23, READY, |card, argument, _| card.announce(argument)),
    acmd(41, IDLE | READY, |card, argument, end| card.initialise(argument, end)),
    // SET_CLR_CARD_DETECT: the pull-up on chip select, which has no effect here.
    acmd(42, READY, |_, _, _| OK),
    acmd(51, READY, |card, _, _| card.send_register(&registers::scr(&card.parameters))),
];

impl Command {
    /// 4.3.9.1: a number without an ACMD means the regular command.
    fn find(application: bool, index: u8) -> Option<&'static Command> {
        let known =
            |application| COMMANDS.iter().find(|command| command.application == application && command.index == index);
        if application { known(true).or_else(|| known(false)) } else { known(false) }
    }
}

impl Card {
    /// Takes a byte of a command.
    pub(super) fn take_command(&mut self, byte: u8, end: Ps) {
        self.command[self.command_bytes] = byte;
        self.command_bytes += 1;
        if self.command_bytes == self.command.len() {
            self.command_bytes = 0;
            self.execute(end);
        }
    }

    fn execute(&mut self, end: Ps) {
        let [first, a, b, c, d, checksum] = self.command;
        let (index, argument) = (first & 0x3f, u32::from_be_bytes([a, b, c, d]));
        let intact = crc7(&self.command[..5]) << 1 | 1 == checksum;
        self.totals.commands += 1;
        if self.state == State::PowerUp && !self.enters_spi_mode(index, intact) {
            return;
        }
        let application = std::mem::take(&mut self.application);
        let mut answer = OK;
        let mut flags = 0;
        // CMD0 comes in SD mode, which always checks; CMD8 is always checked, too (7.2.2).
        if !intact && (self.session.crc_on || matches!(index, 0 | 8)) {
            self.totals.crc_errors += 1;
            self.notes.add(format!("CMD{index} refused: its CRC7 is wrong"));
            flags = r1::CRC;
        } else {
            let command = self.find(application, index);
            let legal = command.filter(|command| command.legal & self.condition(end) != 0);
            if !matches!((application, index), (false, 0 | 13 | 32 | 33 | 38)) && self.session.erase != Erase::None {
                self.session.erase = Erase::None;
                flags |= r1::ERASE_RESET;
            }
            match legal {
                Some(command) => answer = (command.run)(self, argument, end),
                None => flags |= self.refuse(application, index, end),
            }
        }
        self.respond(answer, flags);
    }

    fn respond(&mut self, answer: Answer, flags: u8) {
        let flags = flags | if self.is_ready() { 0 } else { r1::IDLE };
        let gap = self.parameters.response_bytes;
        self.reply = match answer {
            Err(errors) => Reply::new(gap, &[flags | errors]),
            Ok(Response::R1) => Reply::new(gap, &[flags]),
            Ok(Response::R1AfterData(stuff)) => Reply::after_data(gap, stuff, flags),
            Ok(Response::R2) => Reply::new(gap, &[flags, std::mem::take(&mut self.session.status)]),
            Ok(Response::Long(value)) => {
                let [a, b, c, d] = value.to_be_bytes();
                Reply::new(gap, &[flags, a, b, c, d])
            }
        };
    }

    /// CMD0 after 74 clocks changes the card to SPI mode; before, it answers no other command.
    fn enters_spi_mode(&mut self, index: u8, intact: bool) -> bool {
        if index != 0 || !intact {
            let why = "no CMD0 with a correct CRC has brought the card into SPI mode";
            self.notes.add(format!("CMD{index} ignored: {why}"));
        } else if self.power_up_clocks < POWER_UP_CLOCKS {
            let clocks = self.power_up_clocks;
            let note = format!("CMD0 ignored: {clocks} clocks with chip select high before it, the card needs 74");
            self.notes.add(note);
        } else {
            return true;
        }
        false
    }

    /// The condition of the card, as a bit of a command's legality.
    fn condition(&self, end: Ps) -> u8 {
        match self.data {
            _ if !self.is_ready() => IDLE,
            Data::Sending(_) => SENDING,
            Data::Receiving(_) => RECEIVING,
            Data::None if self.busy_until > end => BUSY,
            Data::None => READY,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// A command that this card has.
    fn find(&self, application: bool, index: u8) -> Option<&'static Command> {
        Command::find(application, index).filter(|command| match (command.application, command.index) {
            (false, 8) => self.parameters.sd_spec == 2,
            (false, 23) => self.parameters.set_block_count,
            _ => true,
        })
    }

    #[cold]
    fn refuse(&mut self, application: bool, index: u8, end: Ps) -> u8 {
        let when = match self.condition(end) {
            _ if self.find(application, index).is_none() => "of this card",
            IDLE => "before the initialisation has ended",
            SENDING => "while data are read",
            RECEIVING => "while the card waits for data",
            BUSY => "while the card is busy",
            _ => "now",
        };
        let name = if application { "ACMD" } else { "CMD" };
        self.notes.add(format!("{name}{index} is an illegal command {when}"));
        r1::ILLEGAL
    }
}
