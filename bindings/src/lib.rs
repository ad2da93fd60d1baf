//! The engine as a Python module.
