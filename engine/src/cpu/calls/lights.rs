//! Calls that compiled code makes and ends by itself, where no profile is on: of functions that nobody watches. A call
//! that begins below the stack pointer of the innermost one is kept here, and ends where a jump goes to where it
//! returns to, with its stack pointer. Anything else is looked at closer, and then they are calls like others.

use crate::state::{Damaged, Fresh, Loader, Saver, State};

use super::NOWHERE;

/// Most of them, beside the one that all lie above.
const MOST: usize = 1 << 10;

/// One of them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Light {
    /// Where it returns to, as blocks have addresses.
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

/// All of them.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Lights {
    /// The innermost; else the first, which stands for the innermost call that is kept elsewhere, and that nothing
    /// returns from here.
    pub top: *mut Light,
    /// The last one that there is room for.
    pub last: *const Light,
    all: Box<[Light]>,
}

// SAFETY: the pointers lead into the box.
unsafe impl Send for Lights {}

impl Lights {
    pub fn new() -> Lights {
        let mut all = vec![NOTHING; MOST + 1].into_boxed_slice();
        Lights { top: &raw mut all[0], last: &raw const all[MOST], all }
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        (self.top.addr() - self.all.as_ptr().addr()) / Light::BYTES
    }

    /// True if there are any.
    #[inline]
    pub fn are_some(&self) -> bool {
        self.top.addr() != self.all.as_ptr().addr()
    }

    /// One of them, from the outermost on.
    pub fn at(&self, place: usize) -> Light {
        self.all[place + 1]
    }

    /// There is none, above a call with this stack pointer.
    #[inline]
    pub fn begin(&mut self, sp: u32) {
        self.lie_above(sp);
        self.top = self.all.as_mut_ptr();
    }

    /// All lie above a call with this stack pointer.
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
