//! Models of Arm's parts.

pub mod armv7_timer;
pub mod armv7m_itm;
pub mod armv7m_systick;
pub mod cortex_a_pmu;
pub mod gic_400;
pub mod pl310_cache;
pub mod psci;
