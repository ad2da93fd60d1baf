//! Stands for the compiler on hosts that it can't make code for: everything is interpreted.
