//! Calls of unwatched functions that compiled code begins and ends by itself, where no profile is on. A call that
//! begins below the stack pointer of the innermost one is recorded here; it ends at a jump to its return address with
//! its stack pointer. Any other jump is examined by [`Calls`](super::Calls), which then takes over these calls.

use crate::state::{Damaged, Fresh, Loader, Saver, State};

use super::NOWHERE;

/// Most calls, beside the one above which all lie.
const MOST: usize = 1 << 10;

/// A light call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Light {
    /// Its return address, in the form that blocks use.
    pub return_pc: u32,
    /// The stack pointer when it began.
    pub sp: u32,
    /// The function's address.
    pub function: u32,
    padding: u32,
}

impl Light {
    pub const BYTES: usize = size_of::<Light>();
}

const NOTHING: Light = Light { return_pc: NOWHERE, sp: NOWHERE, function: NOWHERE, padding: 0 };

/// All light calls.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Lights {
    /// The innermost call; without one the first entry, which stands for the innermost call recorded elsewhere, and to
    /// which no return matches.
    pub top: *mut Light,
    /// The last entry for which there is room.
    pub last: *const Light,
    all: Box<[Light]>,
}

// SAFETY: the pointers point into the box.
unsafe impl Send for Lights {}

impl Lights {
    pub fn new() -> Lights {
        let mut all = vec![NOTHING; MOST + 1].into_boxed_slice();
        Lights { top: &raw mut all[0], last: &raw const all[MOST], all }
    }

    /// Number of calls.
    #[inline]
    pub fn count(&self) -> usize {
        (self.top.addr() - self.all.as_ptr().addr()) / Light::BYTES
    }

    /// True if there are calls.
    #[inline]
    pub fn are_some(&self) -> bool {
        self.top.addr() != self.all.as_ptr().addr()
    }

    /// The call at a place, from the outermost on.
    pub fn at(&self, place: usize) -> Light {
        self.all[place + 1]
    }

    /// Removes all calls; the next ones lie above a call with this stack pointer.
    #[inline]
    pub fn begin(&mut self, sp: u32) {
        self.lie_above(sp);
        self.top = self.all.as_mut_ptr();
    }

    /// Sets the stack pointer of the call above which all lie.
    pub fn lie_above(&mut self, sp: u32) {
        self.all[0].sp = sp;
    }
}

impl State for Lights {
    fn save(&self, to: &mut Saver) {
        let of = |light: &Light| [light.return_pc, light.sp, light.function];
        let all: Vec<[u32; 3]> = self.all[1..=self.count()].iter().map(of).collect();
        all.save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let all: Vec<[u32; 3]> = Fresh::loaded(from)?;
        if all.len() > MOST {
            return Err(Damaged);
        }
        for (light, [return_pc, sp, function]) in self.all[1..].iter_mut().zip(&all) {
            *light = Light { return_pc: *return_pc, sp: *sp, function: *function, padding: 0 };
        }
        self.top = &raw mut self.all[all.len()];
        Ok(())
    }
}

impl Fresh for Lights {
    fn fresh() -> Lights {
        Lights::new()
    }
}
