//! The distributor: the configuration and the state of each interrupt (IHI, chapter 4.3).

use super::{Candidate, FIRST_PRIVATE, FIRST_SHARED, INTERRUPTS, PRIORITY_MASK};
use engine::polling::Poll;
use engine::state::State;

const CTLR: u32 = 0x000;
const TYPER: u32 = 0x004;
const IIDR: u32 = 0x008;
const IGROUPR: u32 = 0x080;
const ISENABLER: u32 = 0x100;
const ICENABLER: u32 = 0x180;
const ISPENDR: u32 = 0x200;
const ICPENDR: u32 = 0x280;
const ISACTIVER: u32 = 0x300;
const ICACTIVER: u32 = 0x380;
const IPRIORITYR: u32 = 0x400;
const ITARGETSR: u32 = 0x800;
const ICFGR: u32 = 0xc00;
const PPISR: u32 = 0xd00;
const SPISR: u32 = 0xd04;
const SGIR: u32 = 0xf00;
const CPENDSGIR: u32 = 0xf10;
const SPENDSGIR: u32 = 0xf20;
const ICPIDR2: u32 = 0xfe8;

/// EnableGrp0 and EnableGrp1.
const CTLR_MASK: u32 = 3;
/// 31 lockable interrupts, security extensions, 2 processors, 288 interrupts.
const TYPER_VALUE: u32 = 0x0000_fc28;
const IIDR_VALUE: u32 = 0x0100_143b;
/// Of architecture 2 (IHI, 4.3.18).
const ICPIDR2_VALUE: u32 = 0x2b;
/// Implemented targets.
const TARGETS: u8 = 3;
/// The target that has a CPU interface in the model.
const TARGET: u8 = 1;
/// SGIR.TargetListFilter: a list, all others, the sender.
const FILTER_LIST: u32 = 0;
const FILTER_SENDER: u32 = 2;

/// Words with one bit for each interrupt.
const WORDS: usize = (INTERRUPTS / 32) as usize;
type Bits = [u32; WORDS];
const SOFTWARE: u32 = 0xffff;

const ELSEWHERE: &str = "an interrupt was sent to a processor without a CPU interface in the model: it is dropped";

/// The distributor.
#[derive(Clone, Debug, State)]
pub(super) struct Distributor {
    ctlr: u32,
    group1: Bits,
    enabled: Bits,
    /// Level-sensitive interrupts: set pending by software. Edge-sensitive interrupts: pending.
    latched: Bits,
    level: Bits,
    active: Bits,
    edge: Bits,
    /// Interrupts that target the processor with a CPU interface.
    targeted: Bits,
    priority: [u8; INTERRUPTS as usize],
    targets: [u8; INTERRUPTS as usize],
    /// The processors that sent each software generated interrupt.
    senders: [u8; FIRST_PRIVATE as usize],
}

/// True for registers that can be written byte by byte.
pub(super) const fn has_bytes(word: u32) -> bool {
    matches!(word, IPRIORITYR..ICFGR)
}

impl Distributor {
    /// After reset.
    pub fn new() -> Distributor {
        let (mut enabled, mut edge, mut targeted) = ([0; WORDS], [0; WORDS], [0; WORDS]);
        // Software generated interrupts are always enabled; private ones always target their processor.
        (enabled[0], edge[0], targeted[0]) = (SOFTWARE, SOFTWARE, u32::MAX);
        Distributor {
            ctlr: 0,
            group1: [0; WORDS],
            enabled,
            latched: [0; WORDS],
            level: [0; WORDS],
            active: [0; WORDS],
            edge,
            targeted,
            priority: [0; INTERRUPTS as usize],
            targets: [0; INTERRUPTS as usize],
            senders: [0; FIRST_PRIVATE as usize],
        }
    }

    /// The pending interrupt of the highest priority that is enabled, not active, and in an enabled group. Among equal
    /// priorities, the lowest number.
    pub fn highest(&self) -> Option<Candidate> {
        let mut first: Option<Candidate> = None;
        for word in 0..WORDS {
            let group1 = self.group1[word];
            let groups = if self.ctlr & 1 != 0 { !group1 } else { 0 } | if self.ctlr & 2 != 0 { group1 } else { 0 };
            let mut left = self.pending(word) & self.enabled[word] & !self.active[word] & self.targeted[word] & groups;
            while left != 0 {
                let id = word as u32 * 32 + left.trailing_zeros();
                let priority = self.priority[id as usize];
                left &= left - 1;
                if first.is_none_or(|first| priority < first.priority) {
                    first = Some(Candidate { id, priority, group1: group1 >> (id % 32) & 1 != 0 });
                }
            }
        }
        first
    }

    /// Acknowledges an interrupt: it becomes active, and stays pending only while its line is high. Returns the value
    /// of the acknowledge register.
    pub fn acknowledge(&mut self, id: u32) -> u32 {
        let (value, (word, bit)) = (self.acknowledged_as(id), place(id));
        self.active[word] |= bit;
        self.latched[word] &= !bit;
        if let Some(senders) = self.senders.get_mut(id as usize) {
            *senders &= senders.wrapping_sub(1);
        }
        value
    }

    /// The value of acknowledge registers for an interrupt: a software generated one includes its first sender.
    pub fn acknowledged_as(&self, id: u32) -> u32 {
        let sender = self.senders.get(id as usize).map_or(0, |senders| senders.trailing_zeros() & 7);
        id | sender << 10
    }

    /// Deactivates an interrupt. True if it was active.
    pub fn deactivate(&mut self, id: u32) -> bool {
        if id >= INTERRUPTS {
            return false;
        }
        let (word, bit) = place(id);
        let was = self.active[word] & bit != 0;
        self.active[word] &= !bit;
        was
    }

    /// Sets the level of an interrupt's line.
    pub fn set_level(&mut self, id: u32, level: bool) {
        if !(FIRST_PRIVATE..INTERRUPTS).contains(&id) {
            return;
        }
        let (word, bit) = place(id);
        if level && self.level[word] & bit == 0 {
            self.latched[word] |= bit & self.edge[word];
        }
        self.level[word] = self.level[word] & !bit | if level { bit } else { 0 };
    }

    fn pending(&self, word: usize) -> u32 {
        let others = self.latched[word] | self.level[word] & !self.edge[word];
        if word > 0 {
            return others;
        }
        let sent = (0..FIRST_PRIVATE).filter(|id| self.senders[*id as usize] != 0).fold(0, |bits, id| bits | 1 << id);
        others & !SOFTWARE | sent
    }

    /// The value of the register at `word`.
    pub fn register(&self, word: u32) -> u32 {
        let bits = |bits: &Bits, first: u32| bits.get((word - first) as usize / 4).copied().unwrap_or(0);
        match word {
            CTLR => self.ctlr,
            TYPER => TYPER_VALUE,
            IIDR => IIDR_VALUE,
            IGROUPR..ISENABLER => bits(&self.group1, IGROUPR),
            ISENABLER..ICENABLER => bits(&self.enabled, ISENABLER),
            ICENABLER..ISPENDR => bits(&self.enabled, ICENABLER),
            ISPENDR..ISACTIVER => {
                let index = (word - ISPENDR) as usize % 0x80 / 4;
                if index < WORDS { self.pending(index) } else { 0 }
            }
            ISACTIVER..ICACTIVER => bits(&self.active, ISACTIVER),
            ICACTIVER..IPRIORITYR => bits(&self.active, ICACTIVER),
            IPRIORITYR..ITARGETSR => bytes(&self.priority, word - IPRIORITYR),
            // Private interrupts: the processor that reads.
            ITARGETSR..ICFGR if word - ITARGETSR < FIRST_SHARED => 0x0101_0101 * u32::from(TARGET),
            ITARGETSR..ICFGR => bytes(&self.targets, word - ITARGETSR),
            ICFGR..PPISR => self.configuration((word - ICFGR) / 4),
            PPISR => self.level[0] >> FIRST_PRIVATE,
            SPISR..0xd24 => self.level[(word - SPISR) as usize / 4 + 1],
            CPENDSGIR..SPENDSGIR => bytes(&self.senders, word - CPENDSGIR),
            SPENDSGIR..0xf30 => bytes(&self.senders, word - SPENDSGIR),
            ICPIDR2 => ICPIDR2_VALUE,
            _ => 0,
        }
    }

    /// GICD_ICFGR: bit 1 of an interrupt's two is 1 for edges; bit 0 is 1 for those that one processor handles.
    fn configuration(&self, register: u32) -> u32 {
        let fixed = match register {
            0 => return 0xaaaa_aaaa,
            1 => 0x5554_0000,
            2..18 => 0x5555_5555,
            _ => return 0,
        };
        let edge = self.edge[register as usize / 2] >> (16 * (register % 2));
        (0..16).filter(|id| edge >> id & 1 != 0).fold(fixed, |value, id| value | 2 << (2 * id))
    }

    /// Writes the register at `word`. Returns a note if the write needs one.
    pub fn set_register(&mut self, word: u32, value: u32) -> Option<&'static str> {
        let index = |first: u32| Some((word - first) as usize / 4).filter(|index| *index < WORDS);
        // Software generated interrupts have no enable and pending bits to write.
        let private = |index: usize| if index == 0 { value & !SOFTWARE } else { value };
        match word {
            CTLR => self.ctlr = value & CTLR_MASK,
            IGROUPR..ISENABLER => self.group1[index(IGROUPR)?] = value,
            ISENABLER..ICENABLER => self.enabled[index(ISENABLER)?] |= private(index(ISENABLER)?),
            ICENABLER..ISPENDR => self.enabled[index(ICENABLER)?] &= !private(index(ICENABLER)?),
            ISPENDR..ICPENDR => self.latched[index(ISPENDR)?] |= private(index(ISPENDR)?),
            ICPENDR..ISACTIVER => self.latched[index(ICPENDR)?] &= !private(index(ICPENDR)?),
            ISACTIVER..ICACTIVER => self.active[index(ISACTIVER)?] |= value,
            ICACTIVER..IPRIORITYR => self.active[index(ICACTIVER)?] &= !value,
            IPRIORITYR..ITARGETSR => set_bytes(&mut self.priority, word - IPRIORITYR, value, PRIORITY_MASK),
            ITARGETSR..ICFGR if word - ITARGETSR >= FIRST_SHARED => return self.set_targets(word - ITARGETSR, value),
            ICFGR..PPISR => self.configure((word - ICFGR) / 4, value),
            SGIR => return self.send(value),
            CPENDSGIR..SPENDSGIR => {
                let left = bytes(&self.senders, word - CPENDSGIR) & !value;
                set_bytes(&mut self.senders, word - CPENDSGIR, left, u8::MAX);
            }
            SPENDSGIR..0xf30 => {
                let all = bytes(&self.senders, word - SPENDSGIR) | value;
                set_bytes(&mut self.senders, word - SPENDSGIR, all, u8::MAX);
            }
            _ => {}
        }
        None
    }

    fn set_targets(&mut self, first: u32, value: u32) -> Option<&'static str> {
        set_bytes(&mut self.targets, first, value, TARGETS);
        let mut elsewhere = false;
        for id in first..INTERRUPTS.min(first + 4) {
            let (targets, (word, bit)) = (self.targets[id as usize], place(id));
            self.targeted[word] = self.targeted[word] & !bit | if targets & TARGET != 0 { bit } else { 0 };
            elsewhere |= targets != 0 && targets & TARGET == 0;
        }
        elsewhere.then_some(ELSEWHERE)
    }

    /// GICD_ICFGR: the configuration of private interrupts is fixed.
    fn configure(&mut self, register: u32, value: u32) {
        if !(2..18).contains(&register) {
            return;
        }
        let edge = (0..16).filter(|id| value >> (2 * id + 1) & 1 != 0).fold(0, |bits, id| bits | 1 << id);
        let (word, shift) = (register as usize / 2, 16 * (register % 2));
        self.edge[word] = self.edge[word] & !(0xffff << shift) | edge << shift;
    }

    fn send(&mut self, value: u32) -> Option<&'static str> {
        let to = match value >> 24 & 3 {
            FILTER_LIST => (value >> 16) as u8,
            FILTER_SENDER => TARGET,
            // FILTER_OTHERS: no other processor has an interface.
            _ => 0,
        };
        if to & TARGET != 0 {
            self.senders[(value & 15) as usize] |= TARGET;
            return None;
        }
        Some(ELSEWHERE)
    }

    /// State for the detection of polling: inputs and latched edges.
    pub fn polled(&self, poll: &mut Poll) {
        for word in 0..WORDS {
            poll.state(self.level[word]);
            poll.state(self.latched[word]);
        }
    }
}

/// The word and the bit that belong to an interrupt.
const fn place(id: u32) -> (usize, u32) {
    (id as usize / 32, 1 << (id % 32))
}

fn bytes(all: &[u8], first: u32) -> u32 {
    let one = |lane: u32| all.get((first + lane) as usize).map_or(0, |byte| u32::from(*byte) << (8 * lane));
    (0..4).fold(0, |word, lane| word | one(lane))
}

fn set_bytes(all: &mut [u8], first: u32, value: u32, mask: u8) {
    for lane in 0..4 {
        if let Some(byte) = all.get_mut((first + lane) as usize) {
            *byte = (value >> (8 * lane)) as u8 & mask;
        }
    }
}
