//! Operations that firmware starts with RTC_CR, RTC_ISR and RTC_SHIFTR.

use super::*;

impl Rtc {
    /// A write of RTC_CR, which held `old`.
    pub(super) fn set_cr(&mut self, old: u32, value: u32, ctx: &mut Ctx) {
        let edge = self.clock.next_edge(ctx.now);
        let can_init = self.is_initializing(self.clock.edge(ctx.now));
        let mut kept = if can_init { 0 } else { CR_INIT_ONLY };
        if old & CR_WUTE != 0 {
            kept |= CR_WUCKSEL;
        }
        self.registers.set(CR, (old & kept | value & !kept) & !(CR_ADD1H | CR_SUB1H));
        let new = self.registers[CR];
        if new & !old & (CR_TSE | CR_REFCKON | CR_DCE | CR_COE) != 0 {
            ctx.note("time stamps, the reference clock, calibration and its output (RTC_CR) are not modelled");
        }
        for (index, enable) in ENABLES.into_iter().enumerate() {
            if old & !new & enable != 0 {
                self.writable_from[index] = edge + self.params.synchronisation.0;
            }
        }
        if new & !old & (CR_ALRAE | CR_ALRBE | CR_WUTE) != 0 {
            self.is_needed(ctx);
        }
        let hours = i64::from(value & CR_ADD1H != 0) - i64::from(value & CR_SUB1H != 0);
        if hours != 0 {
            self.counting.add(self.clock.edge(ctx.now), 3600 * hours);
        }
        if (old ^ new) & CR_WUTE != 0 {
            self.next[2] = None;
        }
        let before = self.next;
        self.expect(edge);
        // An alarm that was already expected may come with the very next edge.
        for (index, enable) in [CR_ALRAE, CR_ALRBE].into_iter().enumerate() {
            if hours == 0 && (old ^ new) & enable == 0 {
                self.next[index] = before[index];
            }
        }
    }

    /// Adds a note if firmware requests an operation that needs RTCCLK while that is off.
    fn is_needed(&self, ctx: &mut Ctx) {
        if self.params.enable.state(ctx.bus) {
            self.clock.is_needed(ctx);
        } else {
            ctx.note("RTCCLK is off (RCC_BDCR.RTCEN): the firmware's request waits until that bit is set");
        }
    }

    /// RTC_ISR.INITF at an edge.
    pub(super) fn is_initializing(&self, edge: u64) -> bool {
        self.init_from.is_some_and(|from| from <= edge)
    }

    /// A write of RTC_ISR.
    pub(super) fn set_isr(&mut self, value: u32, ctx: &mut Ctx) {
        self.flags &= value | !ISR_FLAGS;
        if self.keys < KEYS.len() {
            return;
        }
        let (now, edge) = (self.clock.edge(ctx.now), self.clock.next_edge(ctx.now));
        if value & ISR_RSF == 0 {
            self.synchronised_from = (now / 2 + 1) * 2;
        }
        match (value & ISR_INIT != 0, self.init_from) {
            (true, None) => {
                self.is_needed(ctx);
                let moment = self.counting.moment(now);
                self.registers.set(TR, moment.tr(self.is_12h()));
                self.registers.set(DR, moment.dr());
                self.counting.settle(now, edge, false);
                self.init_from = Some(edge + self.params.synchronisation.0);
                self.expect(edge);
            }
            (false, Some(_)) => self.end_init(edge),
            _ => {}
        }
    }

    /// Ends initialization mode: the calendar continues from the written values.
    fn end_init(&mut self, edge: u64) {
        self.init_from = None;
        let begins = edge + self.params.restart.0;
        let [tr, dr] = self.written();
        self.counting.set(Moment::of(tr, dr, self.is_12h()), begins);
        self.counting.dividers = dividers(self.registers[PRER]);
        self.counting.is_running = true;
        self.synchronised_from = begins.next_multiple_of(2);
        self.expect(edge);
    }

    /// ADD1S adds a second, and SUBFS to the counter of sub-seconds, at once: RTC_ISR.SHPF always reads 0. The shadow
    /// registers follow later.
    pub(super) fn shift(&mut self, value: u32, ctx: &mut Ctx) {
        let edge = self.clock.edge(ctx.now);
        if self.counting.sub_seconds(edge) & SSR_OVERFLOWS != 0 {
            ctx.note("RTC_SHIFTR was written while bit 15 of RTC_SSR is 1: the counter of sub-seconds overflows");
        }
        let later = self.counting.lengthen(edge, value & SHIFTR_SUBFS);
        self.counting.add(edge, i64::from(value & SHIFTR_ADD1S != 0));
        self.synchronised_from = (edge / 2 + 1) * 2;
        if self.registers[CR] & CR_WUCKSEL > 3 {
            self.next[2] = self.next[2].map(|at| at.saturating_add_signed(later));
        }
        self.expect(edge);
    }
}
