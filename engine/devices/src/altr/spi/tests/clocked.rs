//! The core against a machine that goes clock by clock.

use proptest::prelude::*;

use super::*;

/// An access in its first or second clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strobe {
    None,
    First(u32, Option<u32>),
    Second(u32, Option<u32>),
}

/// The registers in a clock. The answer to each word is known from its number.
#[derive(Debug)]
struct Clocked {
    params: Params,
    cycle: u64,
    busy: bool,
    /// The divider's count, and that of halves.
    slow: u64,
    state: u32,
    holding: Option<u32>,
    /// CPHA 1: the last half has ended, and the core notices in this clock.
    ended: bool,
    shifted: u32,
    answers: [u32; 2],
    flags: u32,
    rx: u32,
    eop: u32,
    control: u32,
    selects: [u32; 2],
    saw: Vec<Saw>,
    active: Option<usize>,
    sck: bool,
    last_sck: u64,
}

impl Clocked {
    fn after_reset(params: Params) -> Clocked {
        Clocked {
            params,
            cycle: 0,
            busy: false,
            slow: 0,
            state: 0,
            holding: None,
            ended: false,
            shifted: 0,
            answers: [0; 2],
            flags: 0,
            rx: 0,
            eop: 0,
            control: 0,
            selects: [1; 2],
            saw: Vec::new(),
            active: None,
            sck: false,
            last_sck: 0,
        }
    }

    fn trdy(&self) -> bool {
        !(self.busy && self.holding.is_some())
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            STATUS => {
                self.flags
                    | flag(STATUS_E, self.flags & (STATUS_ROE | STATUS_TOE) != 0)
                    | flag(STATUS_TMT, !self.busy && self.holding.is_none())
                    | flag(STATUS_TRDY, self.trdy())
            }
            CONTROL => self.control,
            EOP_VALUE => self.eop,
            SLAVESELECT => self.selects[1],
            _ => self.rx,
        }
    }

    /// The next edge: all registers change at once, from what they were.
    fn edge(&mut self, strobe: Strobe) {
        let (busy, state, holding, trdy) = (self.busy, self.state, self.holding, self.trdy());
        let (rrdy, rx, ended) = (self.flags & STATUS_RRDY != 0, self.rx, self.ended);
        let slow = self.slow == self.params.format.half - 1;
        let load = holding.is_some() && !busy;
        self.slow = if busy && !slow { self.slow + 1 } else { 0 };
        if load {
            self.selects[1] = self.selects[0];
            (self.busy, self.holding) = (true, None);
            self.shifted = holding.unwrap();
        }
        match strobe {
            Strobe::First(RXDATA, None) => self.flags |= flag(STATUS_EOP, rx == self.eop),
            Strobe::First(TXDATA, Some(value)) => self.flags |= flag(STATUS_EOP, value & 0xff == self.eop),
            Strobe::Second(RXDATA, None) => self.flags &= !STATUS_RRDY,
            Strobe::Second(offset, Some(value)) => self.written(offset, value, trdy),
            _ => {}
        }
        let last = 2 * self.params.format.bits + 1;
        let finished = slow && busy && state == last;
        if slow && busy {
            self.state = if state == last { 0 } else { state + 1 };
            if state != 0 && state != last {
                self.sck = !self.sck;
                self.last_sck = self.cycle + 1;
            }
        }
        self.ended = false;
        if finished && self.params.format.cpha {
            self.ended = true;
        }
        if ended || finished && !self.params.format.cpha {
            self.busy = false;
            self.flags |= STATUS_RRDY | flag(STATUS_ROE, rrdy);
            self.rx = self.answered();
        }
        self.cycle += 1;
        self.drive();
    }

    fn written(&mut self, offset: u32, value: u32, trdy: bool) {
        match offset {
            TXDATA if trdy => self.holding = Some(value & 0xff),
            TXDATA => self.flags |= STATUS_TOE,
            STATUS => self.flags = 0,
            CONTROL => {
                if value & CONTROL_SSO != 0 && self.control & CONTROL_SSO == 0 {
                    self.selects[1] = self.selects[0];
                }
                self.control = MAP.row(CONTROL).unwrap().written(value);
            }
            SLAVESELECT => self.selects[0] = value & 3,
            EOP_VALUE => self.eop = value & 0xff,
            _ => {}
        }
    }

    /// The word that has been received; and the chip's, if there was one.
    fn answered(&mut self) -> u32 {
        let Some(chip) = self.selected() else { return 0xff };
        self.saw.push(Saw::Word(chip, self.shifted, at(self.last_sck)));
        self.answers[chip] += 1;
        answer(self.answers[chip] - 1) & 0xff
    }

    fn selected(&self) -> Option<usize> {
        [0, 1].into_iter().find(|chip| self.selects[1] >> chip & 1 != 0)
    }

    fn drive(&mut self) {
        let on = self.busy && self.state != 0 || self.control & CONTROL_SSO != 0;
        let active = self.selected().filter(|_| on);
        if active != self.active {
            self.saw.extend(self.active.map(|chip| Saw::Deselect(chip, at(self.cycle))));
            self.saw.extend(active.map(|chip| Saw::Select(chip, at(self.cycle))));
            self.active = active;
        }
    }
}

fn acts() -> impl Strategy<Value = Vec<(u64, u32, Option<u32>)>> {
    let reads =
        prop_oneof![Just(RXDATA), Just(STATUS), Just(CONTROL), Just(EOP_VALUE)].prop_map(|offset| (offset, None));
    let writes = prop_oneof![
        6 => (0u32..256).prop_map(|value| (TXDATA, Some(value))),
        1 => Just((STATUS, Some(0))),
        1 => (0u32..256).prop_map(|value| (EOP_VALUE, Some(value))),
    ];
    let gap = prop_oneof![2u64..5, 2u64..30, 2u64..120];
    proptest::collection::vec(
        (gap, prop_oneof![reads, writes]).prop_map(|(gap, (offset, value))| (gap, offset, value)),
        1..40,
    )
}

/// Chips' idle clocks are not in the machine; a deselection at the time of a word's end follows it.
fn comparable(mut saw: Vec<Saw>) -> Vec<Saw> {
    saw.retain(|saw| !matches!(saw, Saw::Idle(..)));
    saw.sort_by_key(|saw| match *saw {
        Saw::Select(_, at) => (at, 2),
        Saw::Word(_, _, at) => (at, 0),
        Saw::Deselect(_, at) => (at, 1),
        Saw::Idle(_, _, at) => (at, 3),
    });
    saw
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn it_is_the_clocked_machine(
        acts in acts(), half in 1u64..5, phase: bool, select in 0u32..4, sso: bool,
    ) {
        let params = in_mode(phase, phase, params(half));
        let (mut rig, mut clocked) = (Rig::new(params), Clocked::after_reset(params));
        let setting = [(2, SLAVESELECT, Some(select)), (2, CONTROL, Some(flag(CONTROL_SSO, sso)))];
        let unsetting = [(500, CONTROL, Some(0)), (2, STATUS, None)];
        for (gap, offset, value) in setting.into_iter().chain(acts).chain(unsetting) {
            for _ in 2..gap {
                clocked.edge(Strobe::None);
            }
            let cycle = clocked.cycle;
            match value {
                Some(value) => rig.put(cycle, offset, value),
                None => prop_assert_eq!(rig.get(cycle, offset), clocked.register(offset), "{:#x} at {}", offset, cycle),
            }
            clocked.edge(Strobe::First(offset, value));
            clocked.edge(Strobe::Second(offset, value));
        }
        prop_assert_eq!(comparable(rig.saw()), comparable(clocked.saw));
    }
}
