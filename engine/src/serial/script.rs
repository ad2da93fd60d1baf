//! A session at a serial line, in simulated time: what is sent when, and what is to come within which time.

use std::collections::VecDeque;

use crate::state::{Fresh, State};
use crate::time::Ps;

/// How much of what came is kept for a message.
const SHOWN_BYTES: usize = 200;

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Action {
    /// Waits until the UART has sent this text, at most for a time.
    Expect(Vec<u8>, Option<Ps>),
    /// Sends these characters, and waits until the last has been received.
    Send(Vec<u8>),
    /// Lets time pass.
    Wait(Ps),
    /// Waits until this time since the board's reset.
    At(Ps),
    /// Ends the run with this exit status.
    End(i32),
}

/// A step of a script.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Step {
    /// Where it stands, for messages: "session.txt:3".
    pub place: String,
    /// What it does.
    pub action: Action,
}

/// How a script is getting on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It waits: until this time, if nothing else comes first.
    Waits(Option<Ps>),
    /// It has ended the run with this status.
    Ends(i32),
    /// A wait has failed: which, what came instead, when.
    Failed(String),
}

/// What a script had not done when the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// It waited for a text, or would have.
    pub expects: bool,
    /// Which step it was at and what had come, for a message.
    pub text: String,
}

/// A script and how far it has come.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Script {
    steps: VecDeque<Step>,
    /// What came since the last text that was expected and found; only its end, once it is long.
    heard: Vec<u8>,
    /// How much of `heard` has been searched for the step's text, in vain.
    searched: usize,
    /// When the step began, once it has.
    begun: Option<Ps>,
}

impl Script {
    /// A script at its beginning.
    pub fn new(steps: Vec<Step>) -> Script {
        Script { steps: steps.into(), ..Script::default() }
    }

    /// The UART has sent a character.
    pub fn hear(&mut self, character: u8) {
        self.heard.push(character);
    }

    /// Goes on as far as that is possible at `now`. `sent` says that nothing is on its way to the UART; characters to
    /// send go to `output`.
    pub fn go_on(&mut self, now: Ps, mut sent: bool, output: &mut VecDeque<u8>) -> Progress {
        while let Some(step) = self.steps.front() {
            let first = self.begun.is_none();
            let begun = *self.begun.get_or_insert(now);
            let until = match &step.action {
                Action::Expect(text, within) => {
                    let deadline = within.map(|within| begun.saturating_add(within));
                    if let Some(end) = find(&self.heard, self.searched, text) {
                        self.heard.drain(..end);
                        self.searched = 0;
                        None
                    } else if deadline.is_some_and(|deadline| deadline <= now) {
                        return Progress::Failed(self.failure(step, now));
                    } else {
                        self.searched = self.heard.len().saturating_sub(text.len().saturating_sub(1));
                        self.forget();
                        Some(deadline)
                    }
                }
                Action::Send(characters) => {
                    if first {
                        output.extend(characters);
                        sent &= characters.is_empty();
                    }
                    (!sent).then_some(None)
                }
                Action::Wait(time) => Some(begun.saturating_add(*time)).filter(|until| *until > now).map(Some),
                Action::At(time) if *time < begun => return Progress::Failed(self.failure(step, now)),
                Action::At(time) => Some(*time).filter(|until| *until > now).map(Some),
                Action::End(status) => {
                    let status = *status;
                    self.steps.clear();
                    return Progress::Ends(status);
                }
            };
            if let Some(until) = until {
                return Progress::Waits(until);
            }
            self.begun = None;
            self.steps.pop_front();
        }
        Progress::Waits(None)
    }

    /// See [`Unfinished`]; `None` if all has been done.
    pub fn unfinished(&self, now: Ps) -> Option<Unfinished> {
        let step = self.steps.iter().find(|step| matches!(step.action, Action::Expect(..)));
        let expects = step.is_some();
        let step = step.or(self.steps.front())?;
        Some(Unfinished { expects, text: self.failure(step, now) })
    }

    /// Keeps no more of what came than the search and a message need.
    fn forget(&mut self) {
        let enough = 2 * SHOWN_BYTES.max(self.heard.len() - self.searched);
        if self.heard.len() > 2 * enough {
            let surplus = self.heard.len() - enough;
            self.heard.drain(..surplus);
            self.searched -= surplus;
        }
    }

    fn failure(&self, step: &Step, now: Ps) -> String {
        let begun = self.begun.unwrap_or(now);
        let what = match &step.action {
            Action::Expect(text, Some(within)) => format!("\"{}\" did not come within {within}", text.escape_ascii()),
            Action::Expect(text, None) => format!("\"{}\" did not come", text.escape_ascii()),
            Action::Send(text) => format!("\"{}\" was not sent", text.escape_ascii()),
            Action::Wait(time) => format!("the wait of {time} was not over"),
            Action::At(time) if *time < begun => return format!("{}: {time} had passed: it is {now}", step.place),
            Action::At(time) => format!("{time} had not come"),
            Action::End(_) => "the end had not come".to_owned(),
        };
        let came = if self.heard.is_empty() {
            "nothing came".to_owned()
        } else {
            let shown = &self.heard[self.heard.len().saturating_sub(SHOWN_BYTES)..];
            let more = if shown.len() < self.heard.len() { "..." } else { "" };
            format!("what came: \"{more}{}\"", shown.escape_ascii())
        };
        format!("{}: {what}, it is {now}; {came}", step.place)
    }
}

/// Where `text` ends in `heard`, of which the first bytes need not be looked at.
fn find(heard: &[u8], searched: usize, text: &[u8]) -> Option<usize> {
    if text.is_empty() {
        return Some(searched.min(heard.len()));
    }
    let at = heard[searched..].windows(text.len()).position(|window| window == text)?;
    Some(searched + at + text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn script(actions: impl IntoIterator<Item = Action>) -> Script {
        let step = |(index, action)| Step { place: format!("s:{}", index + 1), action };
        Script::new(actions.into_iter().enumerate().map(step).collect())
    }

    fn expect(text: &str, within_us: u64) -> Action {
        Action::Expect(text.into(), Some(Ps::from_us(within_us)))
    }

    fn hear(script: &mut Script, text: &str) {
        text.bytes().for_each(|character| script.hear(character));
    }

    #[test]
    fn a_session_goes_step_by_step() {
        let mut output = VecDeque::new();
        let mut script =
            script([expect("> ", 10), Action::Send(b"go\n".to_vec()), Action::Wait(Ps::from_us(5)), Action::End(3)]);
        assert_eq!(script.go_on(Ps(0), true, &mut output), Progress::Waits(Some(Ps::from_us(10))));
        hear(&mut script, "hello\n> ");
        // It has begun to send at 2 us, and the last character has arrived at 4 us.
        assert_eq!(script.go_on(Ps::from_us(2), true, &mut output), Progress::Waits(None));
        assert_eq!(output, b"go\n");
        assert_eq!(script.go_on(Ps::from_us(3), false, &mut output), Progress::Waits(None));
        assert_eq!(script.go_on(Ps::from_us(4), true, &mut output), Progress::Waits(Some(Ps::from_us(9))));
        assert_eq!(script.go_on(Ps::from_us(9), true, &mut output), Progress::Ends(3));
        assert_eq!((output.len(), script.unfinished(Ps::from_us(9))), (3, None), "sent once, and done");
    }

    #[test]
    fn a_text_is_looked_for_behind_the_last_one_that_was_found() {
        let mut output = VecDeque::new();
        let mut script = script([expect("a", 1), expect("a", 1), Action::End(0)]);
        hear(&mut script, "xaxx");
        assert_eq!(script.go_on(Ps(0), true, &mut output), Progress::Waits(Some(Ps::from_us(1))));
        hear(&mut script, "a");
        assert_eq!(script.go_on(Ps(1), true, &mut output), Progress::Ends(0));
    }

    #[test]
    fn a_wait_that_fails_says_what_came_instead() {
        let mut output = VecDeque::new();
        let mut script = script([expect("ok", 2)]);
        script.go_on(Ps(0), true, &mut output);
        hear(&mut script, "err\r");
        assert_eq!(script.go_on(Ps(1_999_999), true, &mut output), Progress::Waits(Some(Ps::from_us(2))));
        let failed =
            Progress::Failed("s:1: \"ok\" did not come within 2.000 us, it is 2.000 us; what came: \"err\\r\"".into());
        assert_eq!(script.go_on(Ps::from_us(2), true, &mut output), failed);
    }

    #[test]
    fn a_time_that_has_passed_is_a_failure() {
        let mut script = script([Action::At(Ps::from_us(1)), Action::At(Ps::from_us(1)), Action::At(Ps(7))]);
        assert_eq!(script.go_on(Ps(0), true, &mut VecDeque::new()), Progress::Waits(Some(Ps::from_us(1))));
        let Progress::Failed(text) = script.go_on(Ps::from_us(1), true, &mut VecDeque::new()) else { panic!() };
        assert_eq!(text, "s:3: 7 ps had passed: it is 1.000 us");
    }

    #[test]
    fn what_is_left_at_the_end_of_the_run_is_told() {
        let mut script = script([Action::Wait(Ps::from_us(1)), expect("x", 1), Action::End(0)]);
        script.go_on(Ps(0), true, &mut VecDeque::new());
        let left = script.unfinished(Ps(5)).unwrap();
        assert!(left.expects && left.text.starts_with("s:2: \"x\" did not come within"), "{}", left.text);
        assert_eq!(Script::new(Vec::new()).unfinished(Ps(5)), None);
    }

    proptest! {
        #[test]
        fn a_text_is_found_however_it_comes(text in "[ab]{1,4}", before in "[ab]{0,900}", pieces in 1usize..40) {
            let heard = before.clone() + &text;
            let end = heard.find(&text).unwrap() + text.len();
            let mut script = script([Action::Expect(text.clone().into(), None), Action::End(0)]);
            let mut ended = None;
            for (index, chunk) in heard.as_bytes().chunks(pieces).enumerate() {
                chunk.iter().for_each(|character| script.hear(*character));
                if ended.is_none() && script.go_on(Ps(0), true, &mut VecDeque::new()) == Progress::Ends(0) {
                    ended = Some(index);
                }
            }
            prop_assert_eq!(ended, Some((end - 1) / pieces));
        }

        #[test]
        fn little_is_kept_of_what_nobody_expects(length in 0usize..20_000) {
            let mut script = script([Action::Expect(b"never".to_vec(), None)]);
            for _ in 0..length {
                script.hear(b'.');
                script.go_on(Ps(0), true, &mut VecDeque::new());
            }
            prop_assert!(script.heard.len() <= 4 * SHOWN_BYTES + 2);
            prop_assert!(script.heard.len() >= length.min(SHOWN_BYTES));
        }
    }
}
