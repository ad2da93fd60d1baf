//! The distributor: the configuration and the state of each interrupt (IHI, chapter 4.3).

use super::{Candidate, FIRST_PRIVATE, FIRST_SHARED, INPUTS_OF_CORE, INTERRUPTS};
use crate::prelude::*;

registers! {
    /// The register map.
    pub(super) const MAP "GICD_" {
        CTLR 0x000 rw { ENABLE_GRP0 0, ENABLE_GRP1 1 };
        /// 31 lockable interrupts, security extensions, 2 processors, 288 interrupts.
        TYPER 0x004 ro reset 0x0000_fc28;
        IIDR 0x008 ro reset 0x0100_143b;
        IGROUPR [0..9; 4] 0x080 rw;
        /// Software generated interrupts are always enabled.
        ISENABLER0 0x100 w1s reset SOFTWARE;
        ISENABLER [1..9; 4] 0x104 w1s;
        ICENABLER [0..9; 4] 0x180 clear_of ISENABLER0;
        ISPENDR [0..9; 4] 0x200 rw volatile;
        ICPENDR [0..9; 4] 0x280 rw volatile;
        ISACTIVER [0..9; 4] 0x300 w1s;
        ICACTIVER [0..9; 4] 0x380 clear_of ISACTIVER;
        IPRIORITYR [0..72; 4] 0x400 rw mask 0xf8f8_f8f8;
        /// Private interrupts: the processor that reads.
        ITARGETSR0 "ITARGETSR{}" [0..8; 4] 0x800 ro reset 0x0101_0101;
        ITARGETSR [8..72; 4] 0x820 rw mask 0x0303_0303;
        /// Bit 1 of an interrupt's two is 1 for edges; bit 0 is 1 for those that one processor handles.
        ICFGR0 0xc00 ro reset 0xaaaa_aaaa;
        ICFGR1 0xc04 ro reset 0x5554_0000;
        ICFGR [2..18; 4] 0xc08 rw reset ONE_PROCESSOR;
        PPISR 0xd00 ro volatile;
        SPISR [0..8; 4] 0xd04 ro volatile;
        SGIR 0xf00 wo mask u32::MAX { ID 0..4, NSATT 15, TARGET_LIST 16..24, TARGET_LIST_FILTER 24..26 };
        CPENDSGIR [0..4; 4] 0xf10 clear_of SPENDSGIR;
        /// The processors that sent each software generated interrupt.
        SPENDSGIR [0..4; 4] 0xf20 w1s;
        /// Of architecture 2 (IHI, 4.3.18).
        ICPIDR2 0xfe8 ro reset 0x2b;
    }
}

const ONE_PROCESSOR: u32 = 0x5555_5555;
/// SGIR.TargetListFilter: a list, all others, the sender.
const FILTER_LIST: u32 = 0;
const FILTER_SENDER: u32 = 2;

/// Words with one bit for each interrupt.
const WORDS: usize = (INTERRUPTS / 32) as usize;
type Bits = [u32; WORDS];
const SOFTWARE: u32 = 0xffff;

const ELSEWHERE: &str = "an interrupt was sent to a processor without a CPU interface in the model: it is dropped";

/// The distributor. Registers of software generated and private interrupts are banked: those of the first processor are
/// with the shared ones.
#[derive(Clone, Debug, State, Polled)]
pub(super) struct Distributor {
    registers: Registers,
    /// Level-sensitive interrupts: set pending by software. Edge-sensitive interrupts: pending.
    latched: Bits,
    level: Bits,
    /// Edge-sensitive interrupts, as in ICFGR.
    edge: Bits,
    /// Interrupts that target each processor with a CPU interface, as in ITARGETSR.
    #[state(with = engine::state::fixed)]
    targeted: Vec<Bits>,
    /// The private interrupts of the processors after the first.
    #[state(with = engine::state::fixed)]
    others: Vec<Private>,
}

/// Software generated and private interrupts of a processor.
#[derive(Clone, Debug, State, Polled)]
struct Private {
    /// The banked ones are used.
    registers: Registers,
    latched: u32,
    level: u32,
}

/// True for registers that can be written byte by byte.
pub(super) const fn has_bytes(word: u32) -> bool {
    matches!(word, IPRIORITYR..ICFGR0)
}

/// True for registers that each processor has for itself (IHI, table 4-1).
const fn is_banked(word: u32) -> bool {
    match word {
        IGROUPR..IPRIORITYR => word.is_multiple_of(0x80),
        IPRIORITYR..ITARGETSR0 => word < IPRIORITYR + FIRST_SHARED,
        ITARGETSR0..ICFGR0 => word < ITARGETSR,
        ICFGR0 | ICFGR1 | PPISR => true,
        _ => CPENDSGIR <= word && word < ICPIDR2,
    }
}

impl Distributor {
    /// After reset, for this many processors.
    pub fn new(processors: usize) -> Distributor {
        let (mut edge, mut targeted) = ([0; WORDS], [0; WORDS]);
        // Private interrupts always target their processor.
        (edge[0], targeted[0]) = (SOFTWARE, u32::MAX);
        let registers = Registers::new(&MAP);
        let other = Private { registers: registers.clone(), latched: 0, level: 0 };
        Distributor {
            registers,
            latched: [0; WORDS],
            level: [0; WORDS],
            edge,
            targeted: vec![targeted; processors],
            others: vec![other; processors.saturating_sub(1)],
        }
    }

    /// The registers in which a processor finds the one at `word`.
    fn of(&self, core: usize, word: u32) -> &Registers {
        match core.checked_sub(1).and_then(|other| self.others.get(other)) {
            Some(other) if is_banked(word) => &other.registers,
            _ => &self.registers,
        }
    }

    fn of_mut(&mut self, core: usize, word: u32) -> &mut Registers {
        match core.checked_sub(1).and_then(|other| self.others.get_mut(other)) {
            Some(other) if is_banked(word) => &mut other.registers,
            _ => &mut self.registers,
        }
    }

    /// The word of a bank of registers with a bit for each interrupt.
    fn bits(&self, core: usize, first: u32, word: usize) -> u32 {
        let register = first + 4 * word as u32;
        self.of(core, register)[register]
    }

    /// The byte of an interrupt in a bank of registers.
    fn byte(&self, core: usize, first: u32, id: u32) -> u32 {
        let register = first + (id & !3);
        self.of(core, register)[register] >> (8 * (id % 4)) & 0xff
    }

    /// The latched bits of a word, and the levels of its lines.
    fn inputs(&self, core: usize, word: usize) -> (u32, u32) {
        match core.checked_sub(1).and_then(|other| self.others.get(other)) {
            Some(other) if word == 0 => (other.latched, other.level),
            _ => (self.latched[word], self.level[word]),
        }
    }

    fn inputs_mut(&mut self, core: usize, word: usize) -> (&mut u32, &mut u32) {
        match core.checked_sub(1).and_then(|other| self.others.get_mut(other)) {
            Some(other) if word == 0 => (&mut other.latched, &mut other.level),
            _ => (&mut self.latched[word], &mut self.level[word]),
        }
    }

    /// The processors that sent an interrupt; 0 if it is not software generated.
    fn senders(&self, core: usize, id: u32) -> u32 {
        if id < FIRST_PRIVATE { self.byte(core, SPENDSGIR, id) } else { 0 }
    }

    /// A processor's pending interrupt of the highest priority that is enabled, not active, and in an enabled group.
    /// Among equal priorities, the lowest number.
    pub fn highest(&self, core: usize) -> Option<Candidate> {
        let mut first: Option<Candidate> = None;
        for word in 0..WORDS {
            let group1 = self.bits(core, IGROUPR, word);
            let groups = flag(!group1, self.registers.has(CTLR, CTLR_ENABLE_GRP0))
                | flag(group1, self.registers.has(CTLR, CTLR_ENABLE_GRP1));
            let enabled = self.bits(core, ISENABLER0, word) & !self.bits(core, ISACTIVER, word);
            let mut left = self.pending(core, word) & enabled & self.targeted[core][word] & groups;
            while left != 0 {
                let id = word as u32 * 32 + left.trailing_zeros();
                let priority = self.byte(core, IPRIORITYR, id) as u8;
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
    pub fn acknowledge(&mut self, core: usize, id: u32) -> u32 {
        let (value, (word, bit)) = (self.acknowledged_as(core, id), place(id));
        self.put(core, ISACTIVER + 4 * word as u32, bit, true);
        *self.inputs_mut(core, word).0 &= !bit;
        let senders = self.senders(core, id);
        if senders != 0 {
            let first = senders & senders.wrapping_neg();
            self.put(core, SPENDSGIR + (id & !3), first << (8 * (id % 4)), false);
        }
        value
    }

    fn put(&mut self, core: usize, register: u32, bits: u32, on: bool) {
        self.of_mut(core, register).put(register, bits, on);
    }

    /// The value of acknowledge registers for an interrupt: a software generated one includes its first sender.
    pub fn acknowledged_as(&self, core: usize, id: u32) -> u32 {
        id | (self.senders(core, id).trailing_zeros() & 7) << 10
    }

    /// Deactivates an interrupt. True if it was active.
    pub fn deactivate(&mut self, core: usize, id: u32) -> bool {
        if id >= INTERRUPTS {
            return false;
        }
        let (word, bit) = place(id);
        let was = self.bits(core, ISACTIVER, word) & bit != 0;
        self.put(core, ISACTIVER + 4 * word as u32, bit, false);
        was
    }

    /// Sets the level of the line at an input: see [`INPUTS_OF_CORE`].
    pub fn set_level(&mut self, input: u32, level: bool) {
        let (core, id) = ((input / INPUTS_OF_CORE) as usize, input % INPUTS_OF_CORE);
        if !(FIRST_PRIVATE..INTERRUPTS).contains(&id) || core >= self.targeted.len() {
            return;
        }
        let (word, bit) = place(id);
        let edge = bit & self.edge[word];
        let (latched, before) = self.inputs_mut(core, word);
        if level && *before & bit == 0 {
            *latched |= edge;
        }
        *before = *before & !bit | flag(bit, level);
    }

    fn pending(&self, core: usize, word: usize) -> u32 {
        let (latched, level) = self.inputs(core, word);
        let others = latched | level & !self.edge[word];
        if word > 0 {
            return others;
        }
        let sent = (0..FIRST_PRIVATE).fold(0, |bits, id| bits | flag(1 << id, self.senders(core, id) != 0));
        others & !SOFTWARE | sent
    }

    /// The value that a processor reads in the register at `word`.
    pub fn register(&self, core: usize, word: u32) -> u32 {
        let index = word as usize % 0x80 / 4;
        match word {
            ISPENDR..ISACTIVER if index < WORDS => self.pending(core, index),
            PPISR => self.inputs(core, 0).1 >> FIRST_PRIVATE,
            SPISR..0xd24 => self.level[index],
            // The mask of the processor that reads, for each of the four.
            ITARGETSR0..ITARGETSR => self.registers.held(word) << core,
            _ => self.of(core, word).held(word),
        }
    }

    /// A processor writes the register at `word`. Returns a note if the write needs one.
    pub fn write(&mut self, core: usize, word: u32, value: u32) -> Option<&'static str> {
        let (row, _, new) = self.of_mut(core, word).write(word, value).ok()?;
        let index = word as usize % 0x80 / 4;
        // Software generated interrupts have no pending bits to write.
        let pending = if index == 0 { new & !SOFTWARE } else { new };
        match row.offset {
            ISENABLER0 => self.put(core, ISENABLER0, SOFTWARE, true),
            ISPENDR..ICPENDR => *self.inputs_mut(core, index).0 |= pending,
            ICPENDR..ISACTIVER => *self.inputs_mut(core, index).0 &= !pending,
            ITARGETSR..ICFGR0 => return self.set_targets(word, new),
            ICFGR..PPISR => self.configure(word, new),
            SGIR => return self.send(core, new),
            _ => {}
        }
        None
    }

    /// The processors with a CPU interface, a bit each.
    fn processors(&self) -> u32 {
        (1 << self.targeted.len()) - 1
    }

    fn set_targets(&mut self, register: u32, value: u32) -> Option<&'static str> {
        let (processors, mut elsewhere) = (self.processors(), false);
        for (lane, targets) in (0..).zip(value.to_le_bytes().map(u32::from)) {
            let (word, bit) = place(register - ITARGETSR0 + lane);
            for (core, targeted) in self.targeted.iter_mut().enumerate() {
                targeted[word] = targeted[word] & !bit | flag(bit, targets >> core & 1 != 0);
            }
            elsewhere |= targets != 0 && targets & processors == 0;
        }
        elsewhere.then_some(ELSEWHERE)
    }

    fn configure(&mut self, register: u32, value: u32) {
        self.registers.set(register, value | ONE_PROCESSOR);
        let edge = (0..16).fold(0, |bits, id| bits | flag(1 << id, value >> (2 * id + 1) & 1 != 0));
        let number = (register - ICFGR0) / 4;
        let (word, shift) = (number as usize / 2, 16 * (number % 2));
        self.edge[word] = self.edge[word] & !(0xffff << shift) | edge << shift;
    }

    fn send(&mut self, core: usize, value: u32) -> Option<&'static str> {
        let (processors, own) = (self.processors(), 1 << core);
        let to = match field(value, SGIR_TARGET_LIST_FILTER) {
            FILTER_LIST => field(value, SGIR_TARGET_LIST),
            FILTER_SENDER => own,
            // FILTER_OTHERS.
            _ => processors & !own,
        };
        if to & processors == 0 {
            return Some(ELSEWHERE);
        }
        let id = field(value, SGIR_ID);
        for target in (0..self.targeted.len()).filter(|target| to >> target & 1 != 0) {
            self.put(target, SPENDSGIR + (id & !3), own << (8 * (id % 4)), true);
        }
        None
    }
}

/// The word and the bit that belong to an interrupt.
const fn place(id: u32) -> (usize, u32) {
    (id as usize / 32, 1 << (id % 32))
}
