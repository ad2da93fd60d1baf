//! The interface against a machine that goes clock by clock.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Low,
    High,
    Done,
}

/// The registers in a clock; the answer to each byte is known from its number.
#[derive(Debug)]
struct Clocked {
    cycle: u64,
    state: State,
    /// Clocks until the next change of state, less one.
    left: u32,
    rises: u32,
    divider: u32,
    irqena: bool,
    ncs: bool,
    /// What the chip sends, the next bit highest.
    incoming: u32,
    chip_bytes: u64,
    rx: u32,
    counter: u32,
    zero: bool,
    /// Card detection: the three registers behind the switch.
    cd: [bool; 3],
    cdalter: bool,
    leaves: Ps,
}

impl Clocked {
    fn after_reset(leaves: Ps) -> Clocked {
        Clocked {
            cycle: 0,
            state: State::Idle,
            left: 0,
            rises: 0,
            divider: 0xff,
            irqena: false,
            ncs: true,
            incoming: 0,
            chip_bytes: 0,
            rx: 0,
            counter: 0,
            zero: true,
            cd: [true; 3],
            cdalter: false,
            leaves,
        }
    }

    fn control(&self) -> u32 {
        flag(CONTROL_IRQENA, self.irqena)
            | flag(CONTROL_CDALTER, self.cdalter)
            | flag(CONTROL_FRCZERO, self.zero)
            | CONTROL_WP
            | flag(CONTROL_CD, self.cd[2])
            | flag(CONTROL_IDLE, self.state == State::Idle)
            | flag(CONTROL_NCS, self.ncs)
            | self.rx
    }

    /// The next edge, with a write on the bus.
    fn edge(&mut self, write: Option<(u32, u32)>) {
        self.zero = self.counter == 0;
        self.counter = match write {
            Some((COUNTER, value)) => value,
            _ => self.counter.saturating_sub(1),
        };
        if self.cd[1] != self.cd[2] {
            self.cdalter = true;
        } else if matches!(write, Some((CONTROL, value)) if value & CONTROL_CDALTER == 0) {
            self.cdalter = false;
        }
        self.cycle += 1;
        self.cd = [at(self.cycle) >= self.leaves, self.cd[0], self.cd[1]];
        match (self.state, write) {
            (State::Idle, Some((CONTROL, value))) => self.control_written(value),
            (State::Idle, Some((DIVIDER, value))) => self.divider = value,
            (State::Idle, _) => {}
            _ if self.left > 0 => self.left -= 1,
            _ => self.moves_on(),
        }
    }

    fn control_written(&mut self, value: u32) {
        (self.irqena, self.ncs) = (value & CONTROL_IRQENA != 0, value & CONTROL_NCS != 0);
        if value & CONTROL_IDLE != 0 {
            return;
        }
        (self.state, self.left, self.rises) = (State::Low, self.divider, 0);
        self.incoming = 0xff;
        if !self.ncs {
            self.incoming = u32::from(answer(self.chip_bytes));
            self.chip_bytes += 1;
        }
    }

    fn moves_on(&mut self) {
        self.left = self.divider;
        self.state = match self.state {
            State::Low => State::High,
            State::High => {
                self.rx = (self.rx << 1 | self.incoming >> 7) & 0xff;
                self.incoming = self.incoming << 1 & 0xff;
                self.rises += 1;
                if self.rises == 8 { State::Done } else { State::Low }
            }
            _ => State::Idle,
        };
    }
}

fn acts() -> impl Strategy<Value = Vec<(u64, u32, u32)>> {
    let control = (any::<u8>(), any::<[bool; 4]>()).prop_map(|(byte, [idle, ncs, cdalter, irqena])| {
        let flags = [(CONTROL_IDLE, idle), (CONTROL_NCS, ncs), (CONTROL_CDALTER, cdalter), (CONTROL_IRQENA, irqena)];
        let value = flags.iter().map(|(bit, on)| flag(*bit, *on)).sum::<u32>();
        (CONTROL, value | u32::from(byte))
    });
    let divider = prop_oneof![0u32..4, 0u32..20].prop_map(|value| (DIVIDER, value));
    let counter = (0u32..150).prop_map(|value| (COUNTER, value));
    let gap = prop_oneof![1u64..4, 1u64..60, 1u64..400];
    let act = (gap, prop_oneof![4 => control, 1 => divider, 1 => counter]);
    proptest::collection::vec(act.prop_map(|(gap, (offset, value))| (gap, offset, value)), 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn it_is_the_clocked_machine(acts in acts(), leaves in 0u64..2000) {
        let mut clocked = Clocked::after_reset(at(leaves));
        let mut rig = rig(at(leaves));
        // So that most bytes end.
        rig.put(0, DIVIDER, 2);
        clocked.edge(Some((DIVIDER, 2)));
        for (gap, offset, value) in acts {
            for _ in 1..gap {
                clocked.edge(None);
            }
            let cycle = clocked.cycle;
            prop_assert_eq!(rig.get(cycle, CONTROL), clocked.control(), "clock {}", cycle);
            prop_assert_eq!(rig.get(cycle, COUNTER), clocked.counter);
            prop_assert_eq!(rig.get(cycle, DIVIDER), clocked.divider);
            rig.bench.run(at(cycle));
            prop_assert_eq!(rig.bench.pending() != 0, clocked.irqena && clocked.state == State::Idle);
            rig.put(cycle, offset, value);
            clocked.edge(Some((offset, value)));
        }
    }
}
