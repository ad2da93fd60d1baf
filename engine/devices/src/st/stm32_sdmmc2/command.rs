//! The command path (RM0436, "Command path", CPSM).

use super::*;
use crate::generic::mmc_spi_slot::sd_mode::{SdReply, SdResponse};

/// Bits of a command and of a short response, and of a long one.
const SHORT_BITS: u64 = 48;
const LONG_BITS: u64 = 136;
/// Clocks without a response after which a command has failed.
const TIMEOUT: u64 = 64;

/// A command under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub(super) enum Command {
    /// It is sent up to this edge.
    Sending(u64),
    /// Its response, if there is one, or the timeout ends at this edge.
    Waiting(u64, Option<SdReply>),
}

impl Command {
    /// The edge of the next step.
    pub(super) fn due(&self) -> u64 {
        match *self {
            Command::Sending(edge) | Command::Waiting(edge, _) => edge,
        }
    }

    /// The same command, at other edges.
    pub(super) fn moved(self, moved: impl Fn(u64) -> u64) -> Command {
        match self {
            Command::Sending(edge) => Command::Sending(moved(edge)),
            Command::Waiting(edge, reply) => Command::Waiting(moved(edge), reply),
        }
    }
}

impl Sdmmc {
    fn index(&self) -> u8 {
        self.registers.field(CMDR, CMDR_CMDINDEX) as u8
    }

    /// SDMMC_CMDR was written with CPSMEN.
    pub(super) fn begin_command(&mut self, ctx: &mut Ctx) {
        self.clock.is_needed(ctx);
        if self.clocked_since.is_none() {
            ctx.note("a command without SDMMC_POWER.PWRCTRL of 3, with which SDMMC_CK runs, is not sent");
            return;
        }
        if self.command.is_some() {
            ctx.note("a command was written while another one is under way: that one is lost");
        }
        let edge = self.clock.next_edge(ctx.now) + self.params.start_cycles.0;
        let begin = self.aligned(edge.max(self.command_from));
        let end = begin + SHORT_BITS * self.period();
        if let Some(card) = self.card.first_mut() {
            let period = (2 * u64::from(self.registers.field(CLKCR, CLKCR_CLKDIV))).max(1);
            Hz::new(self.clock.rate().get() / period).into_iter().for_each(|clock| card.check_sd_clock(clock));
        }
        self.commands += 1;
        let detail = Detail::Value(u32::from(self.index()));
        ctx.span(&COMMAND, self.time(begin), self.time(end), detail);
        self.command = Some(Command::Sending(end));
    }

    /// The command has been sent, or its response is over, at `edge`.
    pub(super) fn step_command(&mut self, edge: u64, ctx: &mut Ctx) {
        match self.command.take() {
            Some(Command::Sending(_)) => self.command_sent(edge, ctx),
            Some(Command::Waiting(_, reply)) => self.response_ended(edge, reply, ctx),
            None => {}
        }
        self.take_notes(ctx);
    }

    fn command_sent(&mut self, edge: u64, ctx: &mut Ctx) {
        let (period, end) = (self.period(), self.time(edge));
        let (index, argument) = (self.index(), self.registers[ARGR]);
        let clocks = self.clocked_since.map_or(0, |since| (edge - SHORT_BITS * period).saturating_sub(since) / period);
        let reply = self.card.first_mut().and_then(|card| card.sd_command(index, argument, clocks, end));
        if self.registers.has(CMDR, CMDR_CMDSTOP) {
            self.abort_data();
        }
        let waits = self.registers.field(CMDR, CMDR_WAITRESP);
        if waits == 0 {
            self.raise(STAR_CMDSENT);
            self.command_from = edge + COMMAND_GAP * period;
            self.busy_after(edge);
        } else {
            let bits = if waits == LONG { LONG_BITS } else { SHORT_BITS };
            let clocks = reply.map_or(TIMEOUT, |reply| u64::from(reply.gap_clocks) + bits);
            if let Some(reply) = reply {
                let begins = edge + u64::from(reply.gap_clocks) * period;
                ctx.ends_instead(&COMMAND, self.time(begins + bits * period));
            }
            self.command = Some(Command::Waiting(edge + clocks * period, reply));
        }
        // Data from the card may come before the response.
        if self.registers.has(CMDR, CMDR_CMDTRANS) && self.registers.has(DCTRL, DCTRL_DTDIR) {
            self.begin_data(edge, ctx);
        }
    }

    fn response_ended(&mut self, edge: u64, reply: Option<SdReply>, ctx: &mut Ctx) {
        self.command_from = edge + COMMAND_GAP * self.period();
        let Some(SdReply { response, .. }) = reply else {
            self.raise(STAR_CTIMEOUT);
            return;
        };
        let is_long = matches!(response, SdResponse::Long(_));
        let waits = self.registers.field(CMDR, CMDR_WAITRESP);
        match response {
            SdResponse::Short(index, word) => self.set_response(index, [word, 0, 0, 0]),
            SdResponse::Ocr(word) => self.set_response(0x3f, [word, 0, 0, 0]),
            SdResponse::Long(bytes) => {
                let words =
                    [0, 4, 8, 12].map(|at| bytes[at..at + 4].iter().fold(0, |all, byte| all << 8 | u32::from(*byte)));
                self.set_response(0x3f, words);
            }
        }
        let has_crc = !matches!(response, SdResponse::Ocr(_)) || waits == SHORT_WITHOUT_CRC;
        self.raise(if is_long == (waits == LONG) && has_crc { STAR_CMDREND } else { STAR_CCRCFAIL });
        self.busy_after(edge);
        if self.registers.has(CMDR, CMDR_CMDTRANS) && !self.registers.has(DCTRL, DCTRL_DTDIR) {
            self.begin_data(edge, ctx);
        }
    }

    fn set_response(&mut self, index: u8, words: [u32; 4]) {
        self.registers.set(RESPCMDR, u32::from(index));
        for (register, word) in (RESP1R..).step_by(4).zip(words) {
            self.registers.set(register, word);
        }
    }

    /// DAT0 is sampled at the end of a response, and two clocks later.
    fn busy_after(&mut self, edge: u64) {
        let until = self.card.first().map_or(Ps::ZERO, |card| card.sd_busy_until());
        if until > self.time(edge) && self.data.is_none() {
            let timeout = edge.saturating_add(u64::from(self.registers[DTIMER]) * self.period());
            let end =
                if until == Ps::MAX { u64::MAX } else { self.aligned(self.clock.rate().cycles_until_ceil(until).0) };
            self.busy = Some([end, timeout]);
        }
    }
}
