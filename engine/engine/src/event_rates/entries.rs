//! Repeated entries into interrupt handlers: handlers that never clear their interrupt, so its line stays up; and
//! handlers that are entered a second time since the store that lowers the line arrives too late.

use crate::state::{Fresh, State};

/// This many entries in a row, without the line going down in between, mean that a handler does not clear its
/// interrupt. A handler that empties a FIFO by a character at a time has fewer.
const MANY: u64 = 1000;

/// Entries into the handler of an interrupt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Entered {
    /// Entries in a row, with the line up all the time.
    in_a_row: u64,
    /// Maximum of those.
    pub most_in_a_row: u64,
    /// Second entries directly after the first, while the store that lowers the line was on its way.
    pub once_more: u64,
    has_fallen: bool,
}

impl Entered {
    /// True if the handler never clears its interrupt.
    pub fn never_stops(&self) -> bool {
        self.most_in_a_row >= MANY
    }
}

/// Entries of all cores, by their inputs.
#[derive(Debug, Default, State)]
pub struct Entries(Vec<Vec<Entered>>);

impl Entries {
    fn at(&mut self, core: u32, input: u32) -> &mut Entered {
        let (core, input) = (core as usize, input as usize);
        if core >= self.0.len() {
            self.0.resize(core + 1, Vec::new());
        }
        let inputs = &mut self.0[core];
        if input >= inputs.len() {
            inputs.resize(input + 1, Entered::default());
        }
        &mut inputs[input]
    }

    /// The line at an input goes down.
    #[inline]
    pub fn fell(&mut self, core: u32, input: u32) {
        if let Some(entered) = self.0.get_mut(core as usize).and_then(|inputs| inputs.get_mut(input as usize)) {
            entered.has_fallen = true;
        }
    }

    /// A core enters the handler of an input, whose line `is_up`.
    pub fn entered(&mut self, core: u32, input: u32, is_up: bool) {
        let entered = self.at(core, input);
        entered.in_a_row = match (is_up, std::mem::take(&mut entered.has_fallen)) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => entered.in_a_row + 1,
        };
        entered.most_in_a_row = entered.most_in_a_row.max(entered.in_a_row);
    }

    /// A core enters the handler a second time, while the store that lowers the line is on its way.
    pub fn entered_once_more(&mut self, core: u32, input: u32) {
        self.at(core, input).once_more += 1;
    }

    /// Handlers with something to report: core, input, and entries.
    pub fn found(&self) -> impl Iterator<Item = (u32, u32, Entered)> {
        let of_core = |(core, inputs): (usize, &Vec<Entered>)| -> Vec<(u32, u32, Entered)> {
            let all = inputs.iter().enumerate().map(|(input, entered)| (core as u32, input as u32, *entered));
            all.filter(|(.., entered)| entered.never_stops() || entered.once_more > 0).collect()
        };
        self.0.iter().enumerate().flat_map(of_core)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_stays_up_is_found() {
        let mut entries = Entries::default();
        for _ in 0..MANY {
            entries.entered(1, 38, true);
            // An interrupt whose handler lowers its line, one that software makes pending, and a timer's, which
            // toggles.
            entries.entered(1, 40, true);
            entries.fell(1, 40);
            entries.entered(1, 7, false);
        }
        let found: Vec<_> =
            entries.found().map(|(core, input, entered)| (core, input, entered.most_in_a_row)).collect();
        assert_eq!(found, [(1, 38, MANY)]);
        entries.entered_once_more(0, 28);
        assert_eq!(entries.found().map(|(.., entered)| entered.once_more).collect::<Vec<_>>(), [1, 0]);
    }
}
