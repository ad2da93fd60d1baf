//! The calendar of an RTC: dates of a century from 2000 on, in the registers' BCD, and the times that alarms wait for.
//!
//! Registers take any value that is written (RM0090, "Calendar initialization and configuration"): a field may hold a
//! value that no calendar has, as date and month 0. It keeps the value until it counts. Then it takes its next value,
//! or its first one if it was at its last or above. How a field counts on from such a value is not documented.

use crate::prelude::*;

/// Seconds of a day.
pub const DAY_S: u64 = 24 * 3600;
/// Days of the years 00 to 99; after them the calendar starts again.
const DAYS: u64 = 25 * 1461;

/// RTC_TR.PM, and RTC_ALRMxR.PM.
const PM: u32 = 1 << 22;
/// RTC_ALRMxR: masks of fields that are not compared, and the selection of the day of the week instead of the date.
const MSK1: u32 = 1 << 7;
const MSK2: u32 = 1 << 15;
const MSK3: u32 = 1 << 23;
const MSK4: u32 = 1 << 31;
const WDSEL: u32 = 1 << 30;

/// Fields of RTC_TR: hour with PM, minute, second.
const HOUR: u32 = 0x7f_0000;
const MINUTE: u32 = 0x7f00;
const SECOND: u32 = 0x7f;
/// Fields of RTC_DR: year, day of the week, month, date.
const YEAR: u32 = 0xff_0000;
const WEEKDAY: u32 = 0xe000;
const MONTH: u32 = 0x1f00;
const DATE: u32 = 0x3f;

const fn from_bcd(field: u32) -> u64 {
    (10 * (field >> 4) + (field & 0xf)) as u64
}

const fn to_bcd(value: u64) -> u32 {
    (16 * (value / 10) + value % 10) as u32
}

/// The hour of RTC_TR or RTC_ALRMxR: a field of 6 bits from bit 16 on, and PM in the 12-hour format.
const fn hour_of(register: u32, is_12h: bool) -> u64 {
    let field = from_bcd(register >> 16 & 0x3f);
    if !is_12h {
        return field;
    }
    // Hour 12 is before hour 1.
    let hour = if field == 12 { 0 } else { field };
    if register & PM != 0 { hour + 12 } else { hour }
}

const fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 if year.is_multiple_of(4) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Year, month and day of a day number.
const fn date_of(day: u64) -> (u64, u64, u64) {
    let day = day % DAYS;
    let (four, mut rest) = (day / 1461, day % 1461);
    let mut year = 4 * four;
    while rest >= if year.is_multiple_of(4) { 366 } else { 365 } {
        rest -= if year.is_multiple_of(4) { 366 } else { 365 };
        year += 1;
    }
    let mut month = 1;
    while rest >= days_of_month(year, month) {
        rest -= days_of_month(year, month);
        month += 1;
    }
    (year, month, rest + 1)
}

const fn day_of(year: u64, month: u64, date: u64) -> u64 {
    // Each fourth of the previous years, from 00 on, has an additional day.
    let mut day = 365 * year + year.div_ceil(4) + date - 1;
    let mut before = 1;
    while before < month {
        day += days_of_month(year, before);
        before += 1;
    }
    day
}

/// A time of the calendar: seconds since the start of the year 00, and the offset in days of the day of the week from a
/// calendar that starts with weekday 1 there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Polled)]
pub struct Moment {
    pub second: u64,
    pub weekday_shift: u64,
    /// Set if a field was written with a value that no calendar has.
    pub set: Option<Set>,
}

/// Values from firmware that no calendar has, and the second, year and month that the model uses for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub struct Set {
    second: u64,
    month: (u64, u64),
    registers: [u32; 2],
}

impl Moment {
    /// The time for values that firmware has written.
    pub fn of(tr: u32, dr: u32, is_12h: bool) -> Moment {
        let hour = hour_of(tr, is_12h).min(23);
        let (minute, second) = (from_bcd(tr >> 8 & 0x7f).min(59), from_bcd(tr & 0x7f).min(59));
        let year = from_bcd(dr >> 16 & 0xff).min(99);
        // Month 0 comes before January, as December does, and date 0 before the first.
        let (year, month) = match from_bcd(dr >> 8 & 0x1f) {
            0 => ((year + 99) % 100, 12),
            month => (year, month.min(12)),
        };
        let date = from_bcd(dr & 0x3f).min(days_of_month(year, month));
        let day = (DAYS + day_of(year, month, 1) + date - 1) % DAYS;
        // Weekday 0 comes before 1, as 7 does.
        let weekday_shift = (u64::from(dr >> 13 & 7) + 6 + 7 - day % 7) % 7;
        let plain = Moment { second: day * DAY_S + hour * 3600 + minute * 60 + second, weekday_shift, set: None };
        let is_plain = (plain.tr(is_12h), plain.dr()) == (tr, dr);
        let set = Set { second: plain.second, month: (year, month), registers: [tr, dr] };
        Moment { set: (!is_plain).then_some(set), ..plain }
    }

    /// A register's value: fields that have not counted since they were written keep the written value.
    fn shown(self, register: usize, plain: u32, fields: [(u32, bool); 4]) -> u32 {
        let Some(set) = self.set else { return plain };
        let kept = fields.into_iter().filter(|(_, has_counted)| !has_counted).fold(0, |kept, (field, _)| kept | field);
        plain & !kept | set.registers[register] & kept
    }

    /// True if a period of `seconds` seconds has ended since the calendar was set.
    fn has_counted(self, seconds: u64) -> bool {
        self.set.is_some_and(|set| set.second / seconds != self.second / seconds)
    }

    /// RTC_TR.
    pub fn tr(self, is_12h: bool) -> u32 {
        let (hour, rest) = (self.second % DAY_S / 3600, self.second % 3600);
        let (shown, pm) = match hour {
            _ if !is_12h => (hour, 0),
            0..12 => ((hour + 11) % 12 + 1, 0),
            _ => ((hour - 1) % 12 + 1, PM),
        };
        let plain = pm | to_bcd(shown) << 16 | to_bcd(rest / 60) << 8 | to_bcd(rest % 60);
        let [hour, minute, second] = [3600, 60, 1].map(|seconds| self.has_counted(seconds));
        self.shown(0, plain, [(HOUR, hour), (MINUTE, minute), (SECOND, second), (0, true)])
    }

    /// RTC_DR.
    pub fn dr(self) -> u32 {
        let (year, month, date) = date_of(self.second / DAY_S);
        let plain = to_bcd(year) << 16 | self.weekday() << 13 | to_bcd(month) << 8 | to_bcd(date);
        let day = self.has_counted(DAY_S);
        let set = self.set.map_or((year, month), |set| set.month);
        let (years, months) = (day && set.0 != year, day && set != (year, month));
        self.shown(1, plain, [(YEAR, years), (WEEKDAY, day), (MONTH, months), (DATE, day)])
    }

    fn weekday(self) -> u32 {
        ((self.second / DAY_S + self.weekday_shift) % 7 + 1) as u32
    }

    /// The first second from this one on that RTC_ALRMxR matches; `None` if there is no such second.
    pub fn next_match(self, alarm: u32, is_12h: bool) -> Option<u64> {
        // PM is compared in the 12-hour format only.
        let hour_field = if is_12h { HOUR } else { HOUR & !PM };
        let is = |masked: u32, second: u64, field: u32| {
            alarm & masked != 0 || (Moment { second, ..self }.tr(is_12h) ^ alarm) & field == 0
        };
        let is_day = |at: Moment| {
            let (field, shift) = if alarm & WDSEL != 0 { (at.dr() & WEEKDAY, 13) } else { (at.dr() & DATE, 0) };
            let wanted = alarm >> 24 & if alarm & WDSEL != 0 { 0xf } else { DATE };
            alarm & MSK4 != 0 || field >> shift == wanted
        };
        let first_in_day = |begins: u64, from: u64| {
            let after = |unit: u64| (begins + from).max(unit);
            let hours = (from / 3600..24).map(|hour| begins + hour * 3600);
            hours.filter(|hour| is(MSK3, *hour, hour_field)).find_map(|hour| {
                let minutes = ((after(hour) - hour) / 60..60).map(|minute| hour + minute * 60);
                minutes
                    .filter(|minute| is(MSK2, *minute, MINUTE))
                    .find_map(|minute| (after(minute)..minute + 60).find(|second| is(MSK1, *second, SECOND)))
            })
        };
        // Any date of the month comes within two months.
        let today = self.second / DAY_S;
        (today..today + 63).find_map(|day| {
            let begins = Moment { second: day * DAY_S, ..self };
            let from = if day == today { self.second % DAY_S } else { 0 };
            is_day(begins).then(|| first_in_day(begins.second, from)).flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        let mut day = 0;
        for year in 0..100 {
            for month in 1..=12 {
                for date in 1..=days_of_month(year, month) {
                    assert_eq!((date_of(day), day_of(year, month, date)), ((year, month, date), day));
                    day += 1;
                }
            }
        }
        assert_eq!((day, date_of(day)), (DAYS, (0, 1, 1)));
    }

    #[test]
    fn registers_and_moments_are_the_same() {
        // 29 February 2024, a Thursday, 23:59:58, and as 11:59:58 PM.
        for (tr, is_12h) in [(0x23_59_58, false), (PM | 0x11_59_58, true)] {
            let moment = Moment::of(tr, 0x24_82_29, is_12h);
            assert_eq!((moment.tr(is_12h), moment.dr()), (tr, 0x24_82_29));
            let later = Moment { second: moment.second + 2, ..moment };
            // 1 March, a Friday, at midnight, which is 12 AM.
            assert_eq!((later.tr(is_12h), later.dr()), (if is_12h { 0x12_00_00 } else { 0 }, 0x24_a3_01));
        }
        let noon = Moment { second: 12 * 3600, ..Moment::default() };
        assert_eq!((noon.tr(true), noon.tr(false), noon.dr()), (PM | 0x12_00_00, 0x12_00_00, 0x2101));
        let last = Moment { second: DAYS * DAY_S - 1, ..Moment::default() };
        assert_eq!((last.dr() >> 16, Moment { second: last.second + 1, ..last }.dr() & 0xff_1fff), (0x99, 0x0101));
    }

    /// RTC_TR and RTC_DR `seconds` seconds after they were written.
    fn later(tr: u32, dr: u32, seconds: u64) -> (u32, u32) {
        let set = Moment::of(tr, dr, false);
        let later = Moment { second: set.second + seconds, ..set };
        (later.tr(false), later.dr())
    }

    #[test]
    fn what_is_no_date_counts_on_from_what_was_written() {
        // The values that ST's HAL sets for its time base: neither a date nor a day of the week.
        assert_eq!([0, 1, 60].map(|seconds| later(0, 0, seconds)), [(0, 0), (1, 0), (0x100, 0)]);
        assert_eq!(later(0, 0, DAY_S - 1), (0x23_59_59, 0));
        // The date counts to 1, and so does the day of the week; 31 days later the month counts, to January of the same
        // year.
        assert_eq!([1, 31, 32].map(|days| later(0, 0, days * DAY_S).1), [0x2001, 0x6031, 0x8101]);
        for (tr, dr, next) in [
            (0x24_00_00, 0x2101, (0x24_00_01, 0x2101)),
            (0x00_60_59, 0x2101, (0x01_00_00, 0x2101)),
            (0x75, 0x2101, (0x100, 0x2101)),
            (0x23_59_59, 0x2100, (0, 0x4101)),
            (0x23_59_59, 0x3301, (0, 0x5302)),
            (0x23_59_59, 0x01_22_30, (0, 0x01_43_01)),
            (0x23_59_59, 0x0109, (0, 0x2110)),
        ] {
            assert_eq!((later(tr, dr, 0), later(tr, dr, 1)), ((tr, dr), next), "{tr:#x} {dr:#x}");
        }
    }

    #[test]
    fn an_alarm_compares_the_date_that_is_none() {
        let now = Moment::of(0, 0, false);
        let next = |alarm| now.next_match(alarm, false).map(|second| second - now.second);
        // Date 0, 00:00:01; the first; the second that the model uses.
        assert_eq!([1, 0x01_00_00_00, 0].map(next), [Some(1), Some(DAY_S), Some(0)]);
        assert_eq!(Moment::of(0x75, 0x2101, false).next_match(0x8080_8075, false), Some(59));
    }

    #[test]
    fn alarms_come_at_what_they_compare() {
        // 30 January 2001, a Tuesday, 10:20:30.
        let now = Moment::of(0x10_20_30, 0x01_41_30, false);
        let next = |alarm| now.next_match(alarm, false).map(|second| Moment { second, ..now });
        let at = |tr, dr| Some(Moment::of(tr, dr, false));
        let all = MSK1 | MSK2 | MSK3 | MSK4;
        assert_eq!(next(all), Some(now));
        assert_eq!(next(all & !MSK1 | 0x29), at(0x10_21_29, 0x01_41_30));
        assert_eq!(next(all & !MSK2 & !MSK1 | 0x2030), Some(now));
        assert_eq!(next(MSK4 | 0x09_00_00), at(0x09_00_00, 0x01_61_31));
        // February 2001 has no 29th; a Monday.
        assert_eq!(next(0x29_00_00_01), at(0x01, 0x01_83_29));
        assert_eq!(next(WDSEL | 0x01_00_00_00), at(0, 0x01_22_05));
        for never in [all & !MSK1 | 0x60, all & !MSK3 | 0x24_00_00, all & !MSK4, WDSEL | MSK1] {
            assert_eq!(next(never), None, "{never:#x}");
        }
    }
}
