//! What system instructions need of the core, and ask of it.

/// What system instructions need to know of the core at the moment.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Interrupt lines that are up: bit n is Cause.IP n.
    pub pending: u32,
    /// Instructions since reset.
    pub instructions: u64,
}

/// What is to be done next, beyond the registers that have changed already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Go on behind the instruction.
    Next,
    /// Look anew at the privilege ([`super::System::is_privileged`]) and at interrupts
    /// ([`super::System::deliverable`]).
    Look,
    /// What addresses mean has changed: forget every translation, and what was worked out from it. Then as
    /// [`Effect::Look`].
    TranslationChanged,
}
