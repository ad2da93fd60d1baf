//! A script for a serial line and pins, in simulated time: what is sent and driven when, and what is expected within
//! which time.

use std::collections::VecDeque;

use crate::dt::wiring::{Pin, PortId};
use crate::state::{Fresh, State};
use crate::time::Ps;

/// The number of received bytes that a message shows.
const SHOWN_BYTES: usize = 200;

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Action {
    /// Waits until the UART has sent this text, at most for a time.
    Expect(Vec<u8>, Option<Ps>),
    /// Sends these characters, and waits until the UART has received the last one.
    Send(Vec<u8>),
    /// Lets time pass.
    Wait(Ps),
    /// Waits until this time since the board's reset.
    At(Ps),
    /// Ends the run with this exit status.
    End(i32),
    /// Drives a pin to a level from now on, or releases it.
    Drive(Pin, Option<bool>),
    /// Waits for a level or an edge of a pin, at most for a time.
    ExpectPin(Wanted, Option<Ps>),
}

/// The level or the edge of a pin that a step waits for.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Wanted {
    /// The pin.
    pub pin: Pin,
    /// The expected level.
    pub level: bool,
    /// The pin has to change to that level.
    pub is_edge: bool,
    /// The message if it does not come: "gpiod.12 did not go high".
    pub missing: String,
    /// Words for the low and the high level: "on".
    pub words: [String; 2],
}

/// The pins of the script's board.
pub trait Pins {
    /// The level of a pin.
    fn level(&self, pin: Pin) -> bool;

    /// Drives a pin to a level, or releases it.
    fn drive(&mut self, pin: Pin, level: Option<bool>);
}

/// A step of a script.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Step {
    /// Its place in the file, for messages: "session.txt:3".
    pub place: String,
    /// What it does.
    pub action: Action,
}

/// The state of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It waits, at most until this time.
    Waits(Option<Ps>),
    /// It has ended the run with this status.
    Ends(i32),
    /// A wait has failed: the step, what came instead, and when.
    Failed(String),
}

/// What a script had left to do when the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// It still had to wait for a text or a pin.
    pub expects: bool,
    /// The current step and what had come, for a message.
    pub text: String,
}

/// A script and its progress.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Script {
    steps: VecDeque<Step>,
    /// Characters since the last expected text; only the last of them, once there are many.
    heard: Vec<u8>,
    /// The number of bytes of `heard` that do not contain the step's text.
    searched: usize,
    /// When the step began, if it has.
    begun: Option<Ps>,
    /// The level of the pin that the step waits for.
    level: bool,
    /// The pin has had the expected level or edge.
    is_met: bool,
}

impl Script {
    /// A script before its first step.
    pub fn new(steps: Vec<Step>) -> Script {
        Script { steps: steps.into(), ..Script::default() }
    }

    /// The UART has sent a character.
    pub fn hear(&mut self, character: u8) {
        self.heard.push(character);
    }

    /// Pins of a port have changed, and now have these levels. True if the step waits for one of them.
    pub fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32) -> bool {
        let Some(Step { action: Action::ExpectPin(wanted, _), .. }) = self.steps.front() else { return false };
        if self.begun.is_some() && wanted.pin.port == port && wanted.pin.of(changed) {
            self.level = wanted.pin.of(levels);
            self.is_met |= self.level == wanted.level;
        }
        self.is_met
    }

    /// The pins that the steps wait for.
    pub fn watched(&self) -> impl Iterator<Item = Pin> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::ExpectPin(wanted, _) => Some(wanted.pin),
            _ => None,
        })
    }

    /// True if it sends or expects characters.
    pub fn needs_line(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.action, Action::Expect(..) | Action::Send(_)))
    }

    /// Runs steps as far as possible at `now`. `sent` says that no characters are on their way to the UART; characters
    /// to send go to `output`.
    pub fn go_on(&mut self, now: Ps, mut sent: bool, output: &mut VecDeque<u8>, pins: &mut dyn Pins) -> Progress {
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
                Action::Drive(pin, level) => {
                    pins.drive(*pin, *level);
                    None
                }
                Action::ExpectPin(wanted, within) => {
                    if first {
                        self.level = pins.level(wanted.pin);
                        self.is_met = !wanted.is_edge && self.level == wanted.level;
                    }
                    let deadline = within.map(|within| begun.saturating_add(within));
                    if !self.is_met && deadline.is_some_and(|deadline| deadline <= now) {
                        return Progress::Failed(self.failure(step, now));
                    }
                    (!self.is_met).then_some(deadline)
                }
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
        let is_expect = |step: &&Step| matches!(step.action, Action::Expect(..) | Action::ExpectPin(..));
        let step = self.steps.iter().find(is_expect);
        let expects = step.is_some();
        let step = step.or(self.steps.front())?;
        Some(Unfinished { expects, text: self.failure(step, now) })
    }

    /// Drops received characters that neither the search nor a message needs.
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
            Action::Drive(..) => return format!("{}: the pin was not driven, it is {now}", step.place),
            Action::ExpectPin(wanted, within) => {
                let within = within.map_or_else(String::new, |within| format!(" within {within}"));
                let is_front = self.steps.front().is_some_and(|front| std::ptr::eq(front, step));
                let is = if self.begun.is_some() && is_front {
                    format!("; it is {}", wanted.words[usize::from(self.level)])
                } else {
                    String::new()
                };
                return format!("{}: {}{within}, at {now}{is}", step.place, wanted.missing);
            }
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

/// The end of `text` in `heard`; the first `searched` bytes need no search.
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
    use crate::dt::wiring::DeviceId;
    use proptest::prelude::*;

    fn script(actions: impl IntoIterator<Item = Action>) -> Script {
        let step = |(index, action)| Step { place: format!("s:{}", index + 1), action };
        Script::new(actions.into_iter().enumerate().map(step).collect())
    }

    /// No pins.
    struct Still;

    impl Pins for Still {
        fn level(&self, _: Pin) -> bool {
            false
        }

        fn drive(&mut self, _: Pin, _: Option<bool>) {}
    }

    /// One port's levels.
    impl Pins for u32 {
        fn level(&self, pin: Pin) -> bool {
            pin.of(*self)
        }

        fn drive(&mut self, pin: Pin, level: Option<bool>) {
            *self = *self & !pin.mask() | if level == Some(true) { pin.mask() } else { 0 };
        }
    }

    const PORT: DeviceId = DeviceId(4);

    fn expect_pin(number: u32, level: bool, is_edge: bool) -> Action {
        let words = ["low", "high"].map(str::to_owned);
        let missing = format!("gpioa.{number} did not go {}", words[usize::from(level)]);
        Action::ExpectPin(Wanted { pin: Pin::new(PORT, number), level, is_edge, missing, words }, Some(Ps(10)))
    }

    #[test]
    fn pins_are_driven_and_waited_for() {
        let (mut output, mut port) = (VecDeque::new(), 0b1000);
        let drive = |level| Action::Drive(Pin::new(PORT, 1), level);
        let steps = [drive(Some(true)), expect_pin(3, true, false), expect_pin(3, true, true), drive(None)];
        let mut script = script(steps.into_iter().chain([expect_pin(3, false, false)]));
        assert_eq!(script.go_on(Ps(5), true, &mut output, &mut port), Progress::Waits(Some(Ps(15))));
        assert_eq!(port, 0b1010, "high is met at once, and an edge is still to come");
        let port_id = PortId::from(PORT);
        assert!(!script.pins_changed(port_id, 1 << 3, 0) && !script.pins_changed(port_id, 1, 1));
        assert!(!script.pins_changed(DeviceId(5).into(), 1 << 3, 1 << 3));
        // The pin rises and falls again before the script looks.
        assert!(script.pins_changed(port_id, 1 << 3, 1 << 3) && script.pins_changed(port_id, 1 << 3, 0));
        assert_eq!(script.go_on(Ps(7), true, &mut output, &mut port), Progress::Waits(Some(Ps(17))));
        assert_eq!(port, 0b1000);
        let left = script.unfinished(Ps(8)).unwrap();
        assert_eq!(
            (left.expects, left.text.as_str()),
            (true, "s:5: gpioa.3 did not go low within 10 ps, at 8 ps; it is high")
        );
        let failed = Progress::Failed("s:5: gpioa.3 did not go low within 10 ps, at 17 ps; it is high".into());
        assert_eq!(script.go_on(Ps(17), true, &mut output, &mut port), failed);
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
        assert_eq!(script.go_on(Ps(0), true, &mut output, &mut Still), Progress::Waits(Some(Ps::from_us(10))));
        hear(&mut script, "hello\n> ");
        // It has begun to send at 2 us, and the last character has arrived at 4 us.
        assert_eq!(script.go_on(Ps::from_us(2), true, &mut output, &mut Still), Progress::Waits(None));
        assert_eq!(output, b"go\n");
        assert_eq!(script.go_on(Ps::from_us(3), false, &mut output, &mut Still), Progress::Waits(None));
        assert_eq!(script.go_on(Ps::from_us(4), true, &mut output, &mut Still), Progress::Waits(Some(Ps::from_us(9))));
        assert_eq!(script.go_on(Ps::from_us(9), true, &mut output, &mut Still), Progress::Ends(3));
        assert_eq!((output.len(), script.unfinished(Ps::from_us(9))), (3, None), "sent once, and done");
    }

    #[test]
    fn a_text_is_looked_for_after_the_last_one_that_was_found() {
        let mut output = VecDeque::new();
        let mut script = script([expect("a", 1), expect("a", 1), Action::End(0)]);
        hear(&mut script, "xaxx");
        assert_eq!(script.go_on(Ps(0), true, &mut output, &mut Still), Progress::Waits(Some(Ps::from_us(1))));
        hear(&mut script, "a");
        assert_eq!(script.go_on(Ps(1), true, &mut output, &mut Still), Progress::Ends(0));
    }

    #[test]
    fn a_wait_that_fails_says_what_came_instead() {
        let mut output = VecDeque::new();
        let mut script = script([expect("ok", 2)]);
        script.go_on(Ps(0), true, &mut output, &mut Still);
        hear(&mut script, "err\r");
        assert_eq!(script.go_on(Ps(1_999_999), true, &mut output, &mut Still), Progress::Waits(Some(Ps::from_us(2))));
        let failed =
            Progress::Failed("s:1: \"ok\" did not come within 2.000 us, it is 2.000 us; what came: \"err\\r\"".into());
        assert_eq!(script.go_on(Ps::from_us(2), true, &mut output, &mut Still), failed);
    }

    #[test]
    fn a_time_that_has_passed_is_a_failure() {
        let mut script = script([Action::At(Ps::from_us(1)), Action::At(Ps::from_us(1)), Action::At(Ps(7))]);
        assert_eq!(script.go_on(Ps(0), true, &mut VecDeque::new(), &mut Still), Progress::Waits(Some(Ps::from_us(1))));
        let Progress::Failed(text) = script.go_on(Ps::from_us(1), true, &mut VecDeque::new(), &mut Still) else {
            panic!()
        };
        assert_eq!(text, "s:3: 7 ps had passed: it is 1.000 us");
    }

    #[test]
    fn what_is_left_at_the_end_of_the_run_is_reported() {
        let mut script = script([Action::Wait(Ps::from_us(1)), expect("x", 1), Action::End(0)]);
        script.go_on(Ps(0), true, &mut VecDeque::new(), &mut Still);
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
                if ended.is_none() && script.go_on(Ps(0), true, &mut VecDeque::new(), &mut Still) == Progress::Ends(0) {
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
                script.go_on(Ps(0), true, &mut VecDeque::new(), &mut Still);
            }
            prop_assert!(script.heard.len() <= 4 * SHOWN_BYTES + 2);
            prop_assert!(script.heard.len() >= length.min(SHOWN_BYTES));
        }
    }
}
