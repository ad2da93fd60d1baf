//! Writes of USART_CR1: the fields they lock, and the operations they start and end.

use super::Uart;
use super::registers::*;
use super::transmitter::Transmitter;
use engine::bus::device::Ctx;

impl Uart {
    pub(super) fn set_cr1(&mut self, value: u32, ctx: &mut Ctx) {
        let before = self.control[0];
        let locked = if before & value & CR1_UE != 0 { CR1_LOCKED } else { 0 };
        if (before ^ value) & locked != 0 {
            note_locked("USART_CR1", ctx);
        }
        let value = before & locked | value & !locked;
        self.control[0] = value;
        if value & CR1_UE == 0 {
            // Operations under way are discarded, and the flags are reset.
            self.record_emptied(ctx);
            self.transmitter = Transmitter::default();
            self.complete = true;
            self.receiving.disable();
        }
        let acknowledge = |on: u32, since: Option<u64>, arrival: u64| {
            (value & (CR1_UE | on) == CR1_UE | on).then(|| since.unwrap_or(arrival))
        };
        let (arrival, began) = (self.arrival(ctx), self.te_acknowledged.is_none());
        self.te_acknowledged = acknowledge(CR1_TE, self.te_acknowledged, arrival);
        self.re_acknowledged = acknowledge(CR1_RE, self.re_acknowledged, arrival);
        if let Some(acknowledged) = self.te_acknowledged.filter(|_| began)
            && let Some(frame) = self.frame()
        {
            // An idle frame comes first.
            self.transmitter.hold_until(acknowledged + frame.cycles());
        }
    }
}

/// Adds a note for a write to locked fields.
pub fn note_locked(registers: &str, ctx: &mut Ctx) {
    ctx.note(&format!("{registers} was written while UE is set, which locks it: the fields keep their values"));
}
