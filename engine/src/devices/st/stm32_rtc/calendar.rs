//! The calendar of an RTC: dates of a century from 2000 on, in BCD as the registers have them, and what alarms wait
//! for.

use crate::state::State;

/// Seconds of a day.
pub const DAY_S: u64 = 24 * 3600;
/// Days of the years 00 to 99; behind them the calendar begins anew.
const DAYS: u64 = 25 * 1461;

/// RTC_TR.PM, and RTC_ALRMxR.PM.
const PM: u32 = 1 << 22;
/// RTC_ALRMxR: what is not compared, and a day of the week instead of the month.
const MSK1: u32 = 1 << 7;
const MSK2: u32 = 1 << 15;
const MSK3: u32 = 1 << 23;
const MSK4: u32 = 1 << 31;
const WDSEL: u32 = 1 << 30;

const fn from_bcd(field: u32) -> u64 {
    (10 * (field >> 4) + (field & 0xf)) as u64
}

const fn to_bcd(value: u64) -> u32 {
    (16 * (value / 10) + value % 10) as u32
}

/// The hour of RTC_TR or RTC_ALRMxR: a field of 6 bits from bit 16 on, and PM where hours are those of a clock face.
const fn hour_of(register: u32, is_12h: bool) -> u64 {
    let field = from_bcd(register >> 16 & 0x3f);
    if !is_12h {
        return field;
    }
    // 12 is the hour before 1.
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
    // Of the years before, each fourth from 00 on has a day more.
    let mut day = 365 * year + year.div_ceil(4) + date - 1;
    let mut before = 1;
    while before < month {
        day += days_of_month(year, before);
        before += 1;
    }
    day
}

/// A time of the calendar: seconds since the beginning of the year 00, and by how many days the day of the week is
/// ahead of one that begins with 1 there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Moment {
    pub second: u64,
    pub weekday_shift: u64,
}

impl Moment {
    /// The time that firmware has written, if there is one.
    pub fn of(tr: u32, dr: u32, is_12h: bool) -> Option<Moment> {
        let (hour, minute, second) = (hour_of(tr, is_12h), from_bcd(tr >> 8 & 0x7f), from_bcd(tr & 0x7f));
        let (year, month, date) = (from_bcd(dr >> 16 & 0xff), from_bcd(dr >> 8 & 0x1f), from_bcd(dr & 0x3f));
        let weekday = u64::from(dr >> 13 & 7);
        let is_time = hour < 24 && minute < 60 && second < 60;
        let is_date = year < 100 && (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&date);
        if !is_time || !is_date || weekday == 0 {
            return None;
        }
        let day = day_of(year, month, date);
        let weekday_shift = (weekday - 1 + 7 - day % 7) % 7;
        Some(Moment { second: day * DAY_S + hour * 3600 + minute * 60 + second, weekday_shift })
    }

    /// RTC_TR.
    pub fn tr(self, is_12h: bool) -> u32 {
        let (hour, rest) = (self.second % DAY_S / 3600, self.second % 3600);
        let (shown, pm) = match hour {
            _ if !is_12h => (hour, 0),
            0..12 => ((hour + 11) % 12 + 1, 0),
            _ => ((hour - 1) % 12 + 1, PM),
        };
        pm | to_bcd(shown) << 16 | to_bcd(rest / 60) << 8 | to_bcd(rest % 60)
    }

    /// RTC_DR.
    pub fn dr(self) -> u32 {
        let (year, month, date) = date_of(self.second / DAY_S);
        to_bcd(year) << 16 | self.weekday() << 13 | to_bcd(month) << 8 | to_bcd(date)
    }

    fn weekday(self) -> u32 {
        ((self.second / DAY_S % DAYS + self.weekday_shift) % 7 + 1) as u32
    }

    /// The first second from this one on that RTC_ALRMxR waits for; `None` if that never comes.
    pub fn next_match(self, alarm: u32, is_12h: bool) -> Option<u64> {
        let (hour, minute) = (hour_of(alarm, is_12h), from_bcd(alarm >> 8 & 0x7f));
        let second = from_bcd(alarm & 0x7f);
        let is = |masked: u32, value: u64, wanted: u64| alarm & masked != 0 || value == wanted;
        let is_day = |at: Moment| {
            let (.., date) = date_of(at.second / DAY_S);
            if alarm & WDSEL != 0 {
                is(MSK4, at.weekday().into(), (alarm >> 24 & 0xf).into())
            } else {
                is(MSK4, date, from_bcd(alarm >> 24 & 0x3f))
            }
        };
        let first_in_day = |from: u64| {
            (from / 3600..24).filter(|h| is(MSK3, *h, hour)).find_map(|h| {
                let rest = from.saturating_sub(h * 3600);
                (rest / 60..60).filter(|m| is(MSK2, *m, minute)).find_map(|m| {
                    let first = rest.saturating_sub(m * 60);
                    let s = if alarm & MSK1 != 0 { first } else { second };
                    (first..60).contains(&s).then_some(h * 3600 + m * 60 + s)
                })
            })
        };
        // A date of the month comes within two months.
        let today = self.second / DAY_S;
        (today..today + 63).find_map(|day| {
            let begins = Moment { second: day * DAY_S, ..self };
            if !is_day(begins) {
                return None;
            }
            let from = if day == today { self.second % DAY_S } else { 0 };
            first_in_day(from).map(|at| begins.second + at)
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
            let moment = Moment::of(tr, 0x24_82_29, is_12h).unwrap();
            assert_eq!((moment.tr(is_12h), moment.dr()), (tr, 0x24_82_29));
            let later = Moment { second: moment.second + 2, ..moment };
            // 1 March, a Friday, at midnight, which is 12 AM.
            assert_eq!((later.tr(is_12h), later.dr()), (if is_12h { 0x12_00_00 } else { 0 }, 0x24_a3_01));
        }
        let noon = Moment { second: 12 * 3600, weekday_shift: 0 };
        assert_eq!((noon.tr(true), noon.tr(false), noon.dr()), (PM | 0x12_00_00, 0x12_00_00, 0x2101));
        let last = Moment { second: DAYS * DAY_S - 1, weekday_shift: 0 };
        assert_eq!((last.dr() >> 16, Moment { second: last.second + 1, ..last }.dr() & 0xff_1fff), (0x99, 0x0101));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for (tr, dr) in [
            (0x24_00_00, 0x2101),
            (0x00_60_00, 0x2101),
            (0x60, 0x2101),
            (0, 0x2100),
            (0, 0x3301),
            (0, 0x01_22_29),
            (0, 0x0101),
        ] {
            assert_eq!(Moment::of(tr, dr, false), None, "{tr:#x} {dr:#x}");
        }
    }

    #[test]
    fn alarms_come_at_what_they_compare() {
        // 30 January 2001, a Tuesday, 10:20:30.
        let now = Moment::of(0x10_20_30, 0x01_41_30, false).unwrap();
        let next = |alarm| now.next_match(alarm, false).map(|second| Moment { second, ..now });
        let at = |tr, dr| Moment::of(tr, dr, false);
        let all = MSK1 | MSK2 | MSK3 | MSK4;
        assert_eq!(next(all), Some(now));
        assert_eq!(next(all & !MSK1 | 0x29), at(0x10_21_29, 0x01_41_30));
        assert_eq!(next(all & !MSK2 & !MSK1 | 0x2030), Some(now));
        assert_eq!(next(MSK4 | 0x09_00_00), at(0x09_00_00, 0x01_61_31));
        // The 29th is not in February of 2001; a Monday.
        assert_eq!(next(0x29_00_00_01), at(0x01, 0x01_83_29));
        assert_eq!(next(WDSEL | 0x01_00_00_00), at(0, 0x01_22_05));
        for never in [all & !MSK1 | 0x60, all & !MSK3 | 0x24_00_00, all & !MSK4, WDSEL | MSK1] {
            assert_eq!(next(never), None, "{never:#x}");
        }
    }
}
