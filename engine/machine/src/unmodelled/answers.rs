//! Finds the value that would end a wait for a register without a model: it is tried before a note advises it.
//!
//! A run that ends within such a wait is continued from its end, an instruction at a time, with other values of the
//! register, and taken back. The loop is the code from one load of the register until that instruction loads it again,
//! with other loads in between where a compiler has unrolled it; a value at which the core leaves the loop ends the
//! wait. Each bit is tried alone: one that is 0, as 1, and one that is 1, as 0, as for a bit that firmware sets and
//! hardware clears.

use std::collections::BTreeSet;

use super::{Machine, Touched, WAITS};
use engine::bus::device::DeviceId;
use engine::core::Stop;

/// Maximum number of instructions from one load to the next, and of loads in a loop.
const MOST_INSTRUCTIONS: usize = 64;
const MOST_LOADS: usize = 16;

/// The result of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// These bits as 1 end the wait.
    Ones(u32),
    /// This value ends it, in which bits are 0 that the register holds as 1.
    Value(u32),
    /// Neither ones nor zeroes end it.
    None,
}

impl Answer {
    /// The advice for a board's author.
    pub fn text(self) -> String {
        match self {
            Answer::Ones(bits) => format!(
                "the firmware waits for bits to be 1; in a cyclescope,stub, `ones {bits:#x}` ends the wait (tried)"
            ),
            Answer::Value(value) => format!(
                "the firmware waits for bits to be 0 that it has set; in a cyclescope,stub, `ro reset {value:#x}` ends \
                 the wait (tried)"
            ),
            Answer::None => "neither ones nor zeroes in it end the wait (tried): it wants a model".to_owned(),
        }
    }
}

/// A register that a core waits for.
struct Wait {
    core: usize,
    device: DeviceId,
    touched: Touched,
}

impl Wait {
    /// The word with the register, if the register is `value`.
    fn word(&self, value: u32) -> ((usize, u32), u32) {
        ((self.touched.range, self.touched.offset & !3), value << (8 * (self.touched.offset & 3)))
    }
}

/// The end of a trial run of a core.
#[derive(PartialEq, Eq)]
enum Went {
    /// At the next load of the register.
    Round,
    /// Out of the loop.
    Out,
    /// Something interfered, or the loop is too long.
    Astray,
}

impl Machine {
    /// The values that would end the waits in which the run has ended, by the addresses of the registers.
    pub(crate) fn answers_to_waits(&mut self) -> Vec<(u32, Answer)> {
        let waits: Vec<Wait> = self.waits();
        let mut answers = Vec::new();
        for wait in waits {
            // A trial that can't be taken back is not made.
            let Ok(moment) = self.moment() else { break };
            let answer = self.answer_to(&wait);
            self.answer_instead(&wait, None);
            self.bus.output.take();
            if self.back_to(&moment).is_err() {
                break;
            }
            answers.extend(answer.map(|answer| (self.address_of(wait.device, &wait.touched), answer)));
        }
        answers
    }

    /// Registers without a model that were only loaded for long, each with the core that does so.
    fn waits(&self) -> Vec<Wait> {
        let devices = (0..).map(DeviceId).zip(&self.bus.devices);
        let used = devices.flat_map(|(id, device)| {
            let touched = device.as_ref().map_or_else(Vec::new, |device| device.unmodelled());
            touched.into_iter().map(move |touched| (id, touched))
        });
        let waited = used.filter(|(_, touched)| touched.reads_in_a_row >= WAITS);
        waited
            .filter_map(|(device, touched)| {
                let places = self.bus.access_sites.of((device, touched.range, touched.offset));
                places.first().map(|(core, _)| Wait { core: *core, device, touched })
            })
            .collect()
    }

    fn answer_instead(&mut self, wait: &Wait, value: Option<u32>) {
        if let Some(device) = &mut self.bus.devices[wait.device.0 as usize] {
            device.answer_instead(value.map(|value| wait.word(value)));
        }
    }

    fn loads_of(&self, wait: &Wait) -> u64 {
        let touched = self.bus.devices[wait.device.0 as usize].as_ref().map_or_else(Vec::new, |it| it.unmodelled());
        let is_it = |other: &&Touched| (other.range, other.offset) == (wait.touched.range, wait.touched.offset);
        touched.iter().find(is_it).map_or(0, |touched| touched.reads)
    }

    /// The value that ends a wait; `None` if the core does not wait in a loop, or something interfered.
    fn answer_to(&mut self, wait: &Wait) -> Option<Answer> {
        let (body, loads) = self.loop_of(wait)?;
        let held = wait.touched.last;
        for bit in (0..u32::BITS).map(|bit| 1 << bit) {
            if self.ends(wait, held ^ bit, &body, loads)? {
                return Some(if held & bit == 0 { Answer::Ones(bit) } else { Answer::Value(held & !bit) });
            }
        }
        if self.ends(wait, u32::MAX, &body, loads)? {
            return Some(Answer::Ones(u32::MAX));
        }
        Some(if self.ends(wait, 0, &body, loads)? { Answer::Value(0) } else { Answer::None })
    }

    /// The addresses of the loop that the core is in, and the number of its loads of the register.
    fn loop_of(&mut self, wait: &Wait) -> Option<(BTreeSet<u32>, usize)> {
        // From the core's present position to a load, and around from there.
        if self.go_round(wait, None, &mut BTreeSet::new()) != Went::Round {
            return None;
        }
        let begin = self.cores[wait.core].position().pc;
        let mut body = BTreeSet::new();
        for loads in 1..=MOST_LOADS {
            if self.go_round(wait, None, &mut body) != Went::Round {
                return None;
            }
            if self.cores[wait.core].position().pc == begin {
                return Some((body, loads));
            }
        }
        None
    }

    /// Whether the core leaves its loop, which has `loads` loads of the register, with this value.
    fn ends(&mut self, wait: &Wait, value: u32, body: &BTreeSet<u32>, loads: usize) -> Option<bool> {
        self.answer_instead(wait, Some(value));
        // The first iteration uses values that were loaded before.
        for _ in 0..=loads {
            match self.go_round(wait, Some(body), &mut BTreeSet::new()) {
                Went::Round => {}
                Went::Out => return Some(true),
                Went::Astray => return None,
            }
        }
        Some(false)
    }

    /// Runs a core up to its next load of the register, or out of the known loop.
    fn go_round(&mut self, wait: &Wait, within: Option<&BTreeSet<u32>>, passed: &mut BTreeSet<u32>) -> Went {
        let (loads, interrupts) = (self.loads_of(wait), self.cores[wait.core].position().interrupts);
        for _ in 0..MOST_INSTRUCTIONS {
            let now = self.core_time(wait.core);
            self.bus.run_events(now);
            self.follow_clocks();
            let pc = self.cores[wait.core].position().pc;
            if within.is_some_and(|body| !body.contains(&pc)) {
                return Went::Out;
            }
            passed.insert(pc);
            self.bus.master = Some(wait.core);
            let stop = self.cores[wait.core].step(&mut self.bus);
            self.bus.master = None;
            let is_alone = self.cores[wait.core].position().interrupts == interrupts && self.bus.exit.is_none();
            if !is_alone || !matches!(stop, Stop::Horizon | Stop::Mark | Stop::Break) {
                return Went::Astray;
            }
            if self.loads_of(wait) > loads {
                return Went::Round;
            }
        }
        Went::Astray
    }
}
