//! Selection of the blocks that are compiled together: those to which a hot block leads most of the time, loops and
//! called functions included. Inside a region registers stay in the host's registers from block to block.

use crate::cpu::block::{Blocks, Extent, FALLEN, NO_BLOCK, TAKEN};
use crate::cpu::isa::Isa;

/// Most blocks of a region.
const MOST_BLOCKS: usize = 24;
const _: () = assert!(MOST_BLOCKS <= u32::BITS as usize);
/// Most operations of a region: the time to compile has to be gained again.
const MOST_OPS: usize = 256;
/// An exit that is used less often than this part of the head's runs leads out of the region.
const RARE: u64 = 32;

/// Most registers that may wait for a store to the core when an access may leave compiled code: with more, they are
/// stored before the access, which costs time; with fewer, at the exit, which costs code at every access.
const MOST_DIRTY: u32 = 6;

/// As [`MOST_DIRTY`], for instructions fetched past the cache: they have many exits, so code size matters more.
const MOST_DIRTY_AT_FETCH: u32 = 1;

/// A set of an instruction set's registers: bit n is register n.
pub type RegisterBits = u64;

/// A block of a region.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its index among the core's blocks.
    pub index: u32,
    /// Registers that may differ from the core's when the block is entered from inside the region.
    pub dirty: RegisterBits,
    /// Operations before which all such registers are stored in the core.
    pub stores_before: Vec<u32>,
    /// Members (by their places) that have been entered before it, and itself: their lines are in the cache.
    entered: u32,
}

/// Blocks that are compiled together; the first is where they are entered.
pub struct Region {
    pub members: Vec<Member>,
}

impl Region {
    /// The region that begins with the block `head`. `None` if that block can't be compiled.
    pub fn from<I: Isa>(blocks: &Blocks<I>, head: u32) -> Option<Region> {
        let mut region = Region { members: vec![member(blocks, head)?] };
        let runs = |index: u32, exit: usize| blocks.hot[index as usize].runs[exit];
        let least = (runs(head, FALLEN) + runs(head, TAKEN)) / RARE;
        let (mut at, mut ops) = (0, blocks.ops_of(head).len());
        while let Some(from) = region.members.get(at).map(|member| member.index) {
            at += 1;
            for exit in [TAKEN, FALLEN] {
                let next = blocks.hot[from as usize].links[exit];
                if next == NO_BLOCK || runs(from, exit) < least || region.place_of(next).is_some() {
                    continue;
                }
                // A part of another region is entered there: compiling it again would gain less than it costs.
                if blocks.cold[next as usize].is_covered {
                    continue;
                }
                region.add(blocks, next, &mut ops);
            }
            if let Some(next) = after_wait(blocks, from)
                && region.place_of(next).is_none()
                && !blocks.cold[next as usize].is_covered
            {
                region.add(blocks, next, &mut ops);
            }
        }
        region.spread(blocks);
        Some(region)
    }

    /// Adds a block, if it can be compiled and there is room; `ops` counts the region's operations.
    fn add<I: Isa>(&mut self, blocks: &Blocks<I>, next: u32, ops: &mut usize) {
        let Some(member) = member(blocks, next) else { return };
        let more = blocks.ops_of(next).len();
        if self.members.len() < MOST_BLOCKS && *ops + more <= MOST_OPS {
            *ops += more;
            self.members.push(member);
        }
    }

    /// A block's place in the region, if it is a member.
    pub fn place_of(&self, index: u32) -> Option<usize> {
        self.members.iter().position(|member| member.index == index)
    }

    /// True if the member at the place `to` has certainly been entered before the one at `from` leads there.
    pub fn has_entered(&self, from: usize, to: usize) -> bool {
        self.members[from].entered >> to & 1 != 0
    }

    /// True if the code of some member relies on the lines of the member at this place having been present before.
    pub fn is_relied_on(&self, place: usize) -> bool {
        self.members.iter().enumerate().any(|(other, member)| other != place && member.entered >> place & 1 != 0)
    }

    /// Determines which registers may differ from the core's at the entry of each block, and which other members have
    /// been entered by then.
    fn spread<I: Isa>(&mut self, blocks: &Blocks<I>) {
        self.members[0].entered = 1;
        let mut changed = true;
        while changed {
            changed = false;
            for from in 0..self.members.len() {
                let index = self.members[from].index;
                let before = self.members[from].dirty;
                let after = self.members[from].pass::<I>(blocks.ops_of(index));
                let links = blocks.hot[index as usize].links.map(|next| (next, after));
                for (next, dirty) in links.into_iter().chain(after_wait(blocks, index).map(|next| (next, before))) {
                    let Some(to) = self.place_of(next) else { continue };
                    let entered = self.members[from].entered;
                    let to_entered = self.members[to].entered & (entered | 1 << to);
                    changed |= dirty & !self.members[to].dirty != 0 || to_entered != self.members[to].entered;
                    self.members[to].dirty |= dirty;
                    self.members[to].entered = to_entered;
                }
            }
        }
    }
}

/// The block that follows a wait for a block's lines, if that is another one.
fn after_wait<I: Isa>(blocks: &Blocks<I>, index: u32) -> Option<u32> {
    if !blocks.is_passing(index) {
        return None;
    }
    blocks.after_wait(index).filter(|next| *next != index)
}

/// A block as a member, if it can be compiled.
fn member<I: Isa>(blocks: &Blocks<I>, index: u32) -> Option<Member> {
    if blocks.cold[index as usize].entry.extent != Extent::Whole || !I::compiles(blocks, index) {
        return None;
    }
    Some(Member { index, dirty: 0, stores_before: Vec::new(), entered: u32::MAX })
}

impl Member {
    /// Decides before which operations registers are stored; returns the registers that differ from the core's after
    /// the block.
    fn pass<I: Isa>(&mut self, ops: &[I::Op]) -> RegisterBits {
        let (mut dirty, mut kept) = (self.dirty, 0);
        self.stores_before.clear();
        for (at, op) in ops.iter().enumerate() {
            let most = if I::fetches(op) { MOST_DIRTY_AT_FETCH } else { MOST_DIRTY };
            let may_leave = I::accesses(op) || I::fetches(op);
            if may_leave && (dirty & !I::LATE).count_ones() > most && at >= kept {
                dirty &= I::LATE;
                self.stores_before.push(at as u32);
            }
            dirty |= I::writes(op);
            kept = kept.max(at + 1 + I::kept_after(op));
        }
        dirty & !I::TRANSIENT
    }
}
