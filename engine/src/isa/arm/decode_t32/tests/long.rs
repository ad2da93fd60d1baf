//! 32-bit instructions.
