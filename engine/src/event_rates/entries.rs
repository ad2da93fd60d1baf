//! Interrupts whose handlers never come to an end with them: their line stays up; and those that are entered once more
//! as the store that lowers their line comes too late.

use crate::state::{Fresh, State};

/// From so many entries in a row on, between which the line was never down, a handler does not clear what raises it. A
/// FIFO that is emptied by a character at a time has less.
const MANY: u64 = 1000;

/// Entries into the handler of an interrupt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Entered {
    /// In a row, with the line up all the time.
    in_a_row: u64,
    /// Most of those.
    pub most_in_a_row: u64,
    /// At once behind the one before, while the store that lowers the line was on its way.
    pub once_more: u64,
    has_fallen: bool,
}

impl Entered {
    /// True if its handler never clears what raises it.
    pub fn never_stops(&self) -> bool {
        self.most_in_a_row >= MANY
    }
}

/// Those of all cores, by their inputs.
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

    /// It enters it once more, though the store that lowers the line is on its way.
    pub fn entered_once_more(&mut self, core: u32, input: u32) {
        self.at(core, input).once_more += 1;
    }

    /// Those with something to tell: core, input, and how often.
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
            // One whose handler lowers its line, one that software makes pending, and a timer's, which toggles.
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
