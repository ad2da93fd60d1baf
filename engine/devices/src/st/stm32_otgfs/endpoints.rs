//! Endpoints of a device, with their transmit FIFOs, and channels of a host, without a partner on the bus.

use super::registers::*;
use super::{Ctx, Otg};
use crate::registers::{field, flag};

/// MPSIZ, USBAEP, EPTYP, SNPM, STALL and TXFNUM, which keep written values.
const KEPT: u32 = 0x03fc_87ff & !DIEPCTL_NAKSTS;

const fn number_of(offset: u32) -> u32 {
    offset % 0x100 / 0x20
}

impl Otg {
    /// The FIFO that an endpoint sends from.
    fn fifo_of(&self, endpoint: u32) -> u32 {
        let control = self.registers[IN_ENDPOINTS + 0x20 * endpoint];
        if endpoint == 0 { 0 } else { field(control, DIEPCTL_TXFNUM) }
    }

    fn depth_words(&self, fifo: u32) -> u32 {
        let register = if fifo == 0 { DIEPTXF0 } else { HPTXFSIZ + 4 * fifo };
        self.registers[register] >> 16
    }

    /// Free words of a transmit FIFO.
    pub(super) fn room(&self, fifo: u32) -> u32 {
        let filled = self.filled.get(fifo as usize).copied().unwrap_or(0);
        self.depth_words(fifo).saturating_sub(filled)
    }

    /// Firmware writes a word to the FIFO of an endpoint.
    pub(super) fn push(&mut self, endpoint: u32, ctx: &mut Ctx) {
        let fifo = self.fifo_of(endpoint);
        if self.room(fifo) == 0 {
            ctx.note("a word was written to a transmit FIFO that is full or does not exist: it is lost");
        } else if let Some(filled) = self.filled.get_mut(fifo as usize) {
            *filled += 1;
        }
    }

    /// DIEPINTx.TXFE: the FIFO is empty or half empty, by GAHBCFG.TXFELVL.
    fn is_fifo_empty(&self, endpoint: u32) -> bool {
        let fifo = self.fifo_of(endpoint);
        let filled = self.filled.get(fifo as usize).copied().unwrap_or(0);
        if self.registers.has(GAHBCFG, GAHBCFG_TXFELVL) { filled == 0 } else { filled <= self.depth_words(fifo) / 2 }
    }

    pub(super) fn in_endpoint(&self, offset: u32) -> u32 {
        let number = number_of(offset);
        match offset % 0x20 {
            INTERRUPT => self.registers[offset] & !DIEPINT_TXFE | flag(DIEPINT_TXFE, self.is_fifo_empty(number)),
            FIFO_STATUS => self.room(self.fifo_of(number)),
            _ => self.registers[offset],
        }
    }

    /// Endpoints with an interrupt: IN, and OUT.
    pub(super) fn endpoint_interrupts(&self) -> [u32; 2] {
        let empty_mask = self.registers[DIEPEMPMSK];
        (0..self.params.part.endpoints).fold([0; 2], |[ins, outs], number| {
            let [into, out] = [IN_ENDPOINTS, OUT_ENDPOINTS].map(|first| first + 0x20 * number + INTERRUPT);
            let waits = empty_mask >> number & 1 != 0 && self.is_fifo_empty(number);
            let comes_in = waits || self.registers[into] & self.registers[DIEPMSK] & !DIEPINT_TXFE != 0;
            let goes_out = self.registers[out] & self.registers[DOEPMSK] != 0;
            [ins | flag(1 << number, comes_in), outs | flag(1 << number, goes_out)]
        })
    }

    /// A write of an endpoint's register, which held `before`.
    pub(super) fn wrote_endpoint(&mut self, offset: u32, before: u32, value: u32) {
        if offset % 0x20 != CONTROL {
            return;
        }
        let (is_in, number) = (offset < OUT_ENDPOINTS, number_of(offset));
        let mut control = value & KEPT | before & (DIEPCTL_NAKSTS | DIEPCTL_DPID | DIEPCTL_EPENA);
        if number == 0 {
            control |= DIEPCTL_USBAEP;
        }
        let mut flags = self.registers[offset + INTERRUPT];
        if value & DIEPCTL_SNAK != 0 {
            control |= DIEPCTL_NAKSTS;
            flags |= flag(DIEPINT_INEPNE, is_in);
        }
        if value & DIEPCTL_CNAK != 0 {
            control &= !DIEPCTL_NAKSTS;
            flags &= !flag(DIEPINT_INEPNE, is_in);
        }
        if value & (DIEPCTL_SD0PID | DIEPCTL_SODDFRM) != 0 {
            control = control & !DIEPCTL_DPID | flag(DIEPCTL_DPID, value & DIEPCTL_SODDFRM != 0);
        }
        // Endpoint 0 OUT can't be disabled. Other endpoints are disabled at once, as nothing is under way.
        if value & DIEPCTL_EPDIS != 0 && before & DIEPCTL_EPENA != 0 && (is_in || number > 0) {
            control &= !DIEPCTL_EPENA;
            flags |= DIEPINT_EPDISD;
        } else if value & DIEPCTL_EPENA != 0 {
            control |= DIEPCTL_EPENA;
        }
        self.registers.set(offset, control);
        self.registers.set(offset + INTERRUPT, flags);
    }

    /// A write of a channel's register.
    pub(super) fn wrote_channel(&mut self, offset: u32, value: u32) {
        if offset % 0x20 == CONTROL && value & HCCHAR_CHDIS != 0 {
            self.registers.put(offset, HCCHAR_CHDIS | HCCHAR_CHENA, false);
            self.registers.put(offset + INTERRUPT, HCINT_CHH, true);
        }
    }

    /// Channels with an interrupt.
    pub(super) fn channel_interrupts(&self) -> u32 {
        (0..self.params.part.channels).fold(0, |bits, number| {
            let channel = CHANNELS + 0x20 * number;
            bits | flag(
                1 << number,
                self.registers[channel + INTERRUPT] & self.registers[channel + INTERRUPT_MASK] != 0,
            )
        })
    }
}
