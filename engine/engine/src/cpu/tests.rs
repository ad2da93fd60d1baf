//! The core's behaviour for any instruction set, shown by a toy instruction set with the minimum of functions. Its runs
//! on machines are tests of the crate `machine`.

mod written;
