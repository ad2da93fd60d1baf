//! The Python module `cyclescope._engine`, as the library that Python loads. A library of this kind is compiled when
//! all that it links is complete: so there is nothing in it, and [`bindings`] are compiled beside the devices.

pub use bindings::_engine;
