//! A node of a CAN bus without firmware: it acknowledges, sends the frames of a script, and waits for frames, in
//! simulated time. The steps are those of a script for a serial line, with frames instead of characters.

use std::collections::VecDeque;

use super::{BitTime, Frame};
use crate::serial::script::{Progress, Unfinished};
use crate::state::{Fresh, State};
use crate::time::Ps;

/// The largest number of received frames that are kept until a step waits for them.
const MOST_HEARD: usize = 10_000;
/// The largest number of frames in a message.
const SHOWN: usize = 4;

/// A frame that a script waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Pattern {
    /// The frame.
    pub frame: Frame,
    /// Only the identifier is compared.
    pub any_data: bool,
}

impl Pattern {
    fn fits(&self, frame: &Frame) -> bool {
        let is_same = (frame.id, frame.is_extended) == (self.frame.id, self.frame.is_extended);
        let head = (frame.is_remote, frame.length) == (self.frame.is_remote, self.frame.length);
        is_same && (self.any_data || head && frame.bytes() == self.frame.bytes())
    }

    fn text(&self) -> String {
        let text = self.frame.to_string();
        if self.any_data { text.split('#').next().unwrap_or_default().to_owned() } else { text }
    }
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Action {
    /// Waits until another node has sent this frame, at most for this time.
    Expect(Pattern, Option<Ps>),
    /// Sends a frame, and waits until it has been acknowledged.
    Send(Frame),
    /// Lets time pass.
    Wait(Ps),
    /// Waits until this time since the board's reset, unless that has passed.
    At(Ps),
    /// Ends the run with this exit status.
    End(i32),
}

/// A step of a script.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Step {
    /// Its place, for messages: "partner.txt:3".
    pub place: String,
    /// Its action.
    pub action: Action,
}

/// The node.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Partner {
    /// Its name, for messages and logs.
    #[state(skip)]
    pub name: String,
    /// Its bit time; without one, it uses that of the first other node.
    pub time: Option<BitTime>,
    /// Each frame is printed as a line of `candump -L`.
    #[state(skip)]
    pub logs: bool,
    /// True if it acknowledges and sends; a node that does not only listens.
    #[state(skip)]
    pub takes_part: bool,
    steps: VecDeque<Step>,
    heard: VecDeque<Frame>,
    /// The start of the step, once it has begun.
    begun: Option<Ps>,
    /// True if the step's frame has been sent.
    sent: bool,
}

impl Partner {
    /// A node at the start of its script.
    pub fn new(name: &str, time: Option<BitTime>, logs: bool, steps: Option<Vec<Step>>) -> Partner {
        let takes_part = steps.is_some();
        let steps = steps.unwrap_or_default().into();
        Partner { name: name.to_owned(), time, logs, takes_part, steps, ..Partner::default() }
    }

    /// Another node has sent a frame.
    pub fn hear(&mut self, frame: Frame) {
        if self.steps.iter().any(|step| matches!(step.action, Action::Expect(..))) {
            self.heard.push_back(frame);
            if self.heard.len() > MOST_HEARD {
                self.heard.pop_front();
            }
        }
    }

    /// Its frame has been sent and acknowledged.
    pub fn sent(&mut self) {
        self.sent = true;
    }

    /// The frame that it wants to send.
    pub fn wants(&self) -> Option<Frame> {
        match self.steps.front()?.action {
            Action::Send(frame) if self.begun.is_some() && !self.sent => Some(frame),
            _ => None,
        }
    }

    /// Runs the script as far as possible at `now`.
    pub fn go_on(&mut self, now: Ps) -> Progress {
        while let Some(step) = self.steps.front() {
            let begun = *self.begun.get_or_insert(now);
            let until = match &step.action {
                Action::Expect(pattern, within) => {
                    let deadline = within.map(|within| begun.saturating_add(within));
                    if let Some(at) = self.heard.iter().position(|frame| pattern.fits(frame)) {
                        self.heard.drain(..=at);
                        None
                    } else if deadline.is_some_and(|deadline| deadline <= now) {
                        return Progress::Failed(self.failure(step, now));
                    } else {
                        Some(deadline)
                    }
                }
                Action::Send(_) if self.sent => None,
                Action::Send(_) => Some(None),
                Action::Wait(time) => Some(begun.saturating_add(*time)).filter(|until| *until > now).map(Some),
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
            (self.begun, self.sent) = (None, false);
            self.steps.pop_front();
        }
        Progress::Waits(None)
    }

    /// The step that was not complete when the run ended; `None` if all were.
    pub fn unfinished(&self, now: Ps) -> Option<Unfinished> {
        let step = self.steps.iter().find(|step| matches!(step.action, Action::Expect(..)));
        let expects = step.is_some();
        let step = step.or(self.steps.front())?;
        Some(Unfinished { expects, text: self.failure(step, now) })
    }

    fn failure(&self, step: &Step, now: Ps) -> String {
        let what = match &step.action {
            Action::Expect(pattern, Some(within)) => format!("{} did not come within {within}", pattern.text()),
            Action::Expect(pattern, None) => format!("{} did not come", pattern.text()),
            Action::Send(frame) => format!("{frame} was not sent, or nobody acknowledged it"),
            Action::Wait(time) => format!("the wait of {time} was not over"),
            Action::At(time) => format!("{time} had not come"),
            Action::End(_) => "the end had not come".to_owned(),
        };
        let shown: Vec<String> = self.heard.iter().rev().take(SHOWN).rev().map(Frame::to_string).collect();
        let more = if shown.len() < self.heard.len() { "... " } else { "" };
        let came =
            if shown.is_empty() { "nothing came".to_owned() } else { format!("what came: {more}{}", shown.join(" ")) };
        format!("{}: {what}, it is {now}; {came}", step.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partner(actions: impl IntoIterator<Item = Action>) -> Partner {
        let step = |(index, action)| Step { place: format!("p:{}", index + 1), action };
        Partner::new("can1", None, false, Some(actions.into_iter().enumerate().map(step).collect()))
    }

    #[test]
    fn a_script_goes_step_by_step() {
        let frame = Frame::standard(0x123, &[1]);
        let pattern = Pattern { frame, any_data: false };
        let mut partner = partner([
            Action::Expect(pattern, Some(Ps(10))),
            Action::At(Ps(20)),
            Action::Send(frame),
            Action::Expect(Pattern { any_data: true, ..pattern }, Some(Ps(5))),
            Action::End(3),
        ]);
        assert_eq!(partner.go_on(Ps(0)), Progress::Waits(Some(Ps(10))));
        partner.hear(Frame::standard(0x123, &[2]));
        assert_eq!(partner.go_on(Ps(1)), Progress::Waits(Some(Ps(10))));
        partner.hear(frame);
        assert_eq!((partner.go_on(Ps(2)), partner.wants()), (Progress::Waits(Some(Ps(20))), None));
        assert_eq!((partner.go_on(Ps(20)), partner.wants()), (Progress::Waits(None), Some(frame)));
        partner.sent();
        assert_eq!((partner.go_on(Ps(30)), partner.wants()), (Progress::Waits(Some(Ps(35))), None));
        let Progress::Failed(text) = partner.clone().go_on(Ps(35)) else { panic!() };
        assert_eq!(text, "p:4: 123 did not come within 5 ps, it is 35 ps; nothing came");
        partner.hear(Frame::standard(0x123, &[]));
        assert_eq!(partner.go_on(Ps(31)), Progress::Ends(3));
        assert_eq!(partner.unfinished(Ps(31)), None);
    }
}
