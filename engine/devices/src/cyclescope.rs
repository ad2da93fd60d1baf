//! Models with Cyclescope's own bindings, for parts without a binding in Linux.

pub mod avalon_performance_counter;
pub mod avalonif_mmc;
pub mod can_bus;
pub mod exit;
pub mod picosoc_simpleuart;
pub mod picosoc_spimemio;
pub mod result_port;
pub mod sama5d2_matrix;
pub mod sd_card;
pub mod stub;
