//! Device models: one file a model, named after its devicetree compatible.

use std::sync::LazyLock;

use crate::dt::node::Node;

pub mod apb;
pub mod axi_lite;
#[cfg(test)]
pub mod bench;
pub mod chip_host;
pub mod model;
pub mod register_file;
pub mod registers;
pub mod shift_register;
pub mod stm32_clock_gate;

pub use model::{Group, Kind, Model};

/// What the modules here say of themselves at their top, by their names; the build script collects that.
// Of these modules, some help others and are no models.
#[allow(dead_code, non_upper_case_globals)]
mod about {
    include!(concat!(env!("OUT_DIR"), "/about.rs"));
}

/// Declares models' modules, and lists what each says of itself.
macro_rules! models {
    ($($module:ident),* $(,)?) => {
        $(pub mod $module;)*

        const LISTED: &[(Model, &str)] = &[$(($module::MODEL, about::$module)),*];
    };
}

// A model's line: all that is to be said of it outside its file.
models! {
    altr_juart,
    altr_spi,
    altr_timer,
    arm_armv7_timer,
    arm_armv7m_systick,
    arm_gic_400,
    arm_pl310_cache,
    atmel_at86rf231,
    atmel_at91sam9260_pit,
    atmel_at91sam9260_usart,
    atmel_sama5d2_aic,
    atmel_sama5d2_chipid,
    atmel_sama5d2_pinctrl,
    atmel_sama5d2_pmc,
    atmel_sama5d2_qspi,
    atmel_sama5d2_sfr,
    atmel_sama5d2_shdwc,
    atmel_sama5d2_tcb,
    atmel_sama5d3_ddramc,
    atmel_sama5d3_rstc,
    atmel_sama5d4_dma,
    atmel_sama5d4_wdt,
    cache,
    cyclescope_avalon_performance_counter,
    cyclescope_avalonif_mmc,
    cyclescope_exit,
    cyclescope_picosoc_simpleuart,
    cyclescope_picosoc_spimemio,
    cyclescope_result_port,
    cyclescope_sama5d2_matrix,
    ingenic_jz4740_cgu,
    ingenic_jz4740_gpio,
    ingenic_jz4740_intc,
    ingenic_jz4740_nemc,
    ingenic_jz4740_rtc,
    ingenic_jz4740_ssi,
    ingenic_jz4740_tcu,
    ingenic_jz4740_uart,
    jedec_spi_nor,
    mmc_spi_slot,
    riscv_clint0,
    spi_gpio,
    st_lis3dh_accel,
    st_stm32_hwspinlock,
    st_stm32h7_mdma,
    st_stm32h7_uart,
    st_stm32mp1_ipcc,
    st_stm32mp1_rcc,
    virtio_mmio,
    xlnx_axi_cdma,
    xlnx_axi_quad_spi,
    xlnx_xps_intc,
    xlnx_xps_timer,
    xlnx_xps_uartlite,
}

/// A model under one of its compatibles.
pub struct Entry {
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// What answers to it.
    pub model: Model,
    /// What it is, and what is modelled: what its module says of itself.
    pub about: &'static str,
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let each = |(model, about): &(Model, &'static str)| {
        let (model, about) = (*model, *about);
        model.compatibles.iter().map(move |compatible| Entry { compatible, model, about })
    };
    let mut entries: Vec<Entry> = LISTED.iter().flat_map(each).collect();
    entries.sort_by_key(|entry| entry.compatible);
    entries
});

/// All models, in the order of their compatibles.
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}

/// The model that answers to a compatible.
pub fn find(compatible: &str) -> Option<&'static Entry> {
    let index = ENTRIES.binary_search_by_key(&compatible, |entry| entry.compatible).ok()?;
    Some(&ENTRIES[index])
}

/// True if `node` is a port whose pins can be wired to something.
pub fn is_port(node: &Node) -> bool {
    let is_port = |compatible: &&str| find(compatible).is_some_and(|entry| matches!(entry.model.kind, Kind::Port(..)));
    node.property("gpio-controller").is_some() && node.compatibles().iter().any(is_port)
}
