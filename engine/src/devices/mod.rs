//! Device models: one file a model, named after its devicetree compatible.

use crate::board::node::Node;
use crate::board::reader::NodeReader;
use crate::device::Device;

pub mod altr_juart;
pub mod altr_spi;
pub mod altr_timer;
pub mod apb;
pub mod arm_armv7_timer;
pub mod arm_armv7m_systick;
pub mod arm_gic_400;
pub mod arm_pl310_cache;
pub mod atmel_at86rf231;
pub mod atmel_at91sam9260_pit;
pub mod atmel_at91sam9260_usart;
pub mod atmel_sama5d2_aic;
pub mod atmel_sama5d2_chipid;
pub mod atmel_sama5d2_pinctrl;
pub mod atmel_sama5d2_pmc;
pub mod atmel_sama5d2_qspi;
pub mod atmel_sama5d2_sfr;
pub mod atmel_sama5d2_shdwc;
pub mod atmel_sama5d2_tcb;
pub mod atmel_sama5d3_ddramc;
pub mod atmel_sama5d3_rstc;
pub mod atmel_sama5d4_dma;
pub mod atmel_sama5d4_wdt;
pub mod axi_lite;
#[cfg(test)]
pub mod bench;
pub mod cache;
pub mod chip_host;
pub mod chip_notes;
pub mod cyclescope_avalon_performance_counter;
pub mod cyclescope_avalonif_mmc;
pub mod cyclescope_exit;
pub mod cyclescope_picosoc_simpleuart;
pub mod cyclescope_picosoc_spimemio;
pub mod cyclescope_result_port;
pub mod cyclescope_sama5d2_matrix;
pub mod ingenic_jz4740_cgu;
pub mod ingenic_jz4740_gpio;
pub mod ingenic_jz4740_intc;
pub mod ingenic_jz4740_nemc;
pub mod ingenic_jz4740_rtc;
pub mod ingenic_jz4740_ssi;
pub mod ingenic_jz4740_tcu;
pub mod ingenic_jz4740_uart;
pub mod jedec_spi_nor;
pub mod mmc_spi_slot;
pub mod register_file;
pub mod registers;
pub mod riscv_clint0;
pub mod shift_register;
pub mod spi_chips;
pub mod spi_gpio;
pub mod st_stm32_hwspinlock;
pub mod st_stm32h7_mdma;
pub mod st_stm32h7_uart;
pub mod st_stm32mp1_ipcc;
pub mod st_stm32mp1_rcc;
pub mod stm32_clock_gate;
pub mod virtio_mmio;
pub mod xlnx_axi_cdma;
pub mod xlnx_axi_quad_spi;
pub mod xlnx_xps_intc;
pub mod xlnx_xps_timer;
pub mod xlnx_xps_uartlite;

/// A device model: the compatible it answers to, how many `reg` ranges it has, and how it is built from its node.
pub struct Model {
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// Ranges of `reg` that it needs at least.
    pub ranges: usize,
    /// Reads the node; faults go to the reader, and then the result is never used.
    pub from_node: fn(&mut NodeReader) -> Box<dyn Device>,
}

/// All device models, in the order of their compatibles.
pub const MODELS: &[Model] = &[
    Model { compatible: "altr,juart-1.0", ranges: 1, from_node: altr_juart::from_node },
    Model { compatible: "altr,spi-1.0", ranges: 1, from_node: altr_spi::from_node },
    Model { compatible: "altr,timer-1.0", ranges: 1, from_node: altr_timer::from_node },
    Model { compatible: "arm,armv7-timer", ranges: 0, from_node: arm_armv7_timer::from_node },
    Model { compatible: "arm,armv7m-systick", ranges: 1, from_node: arm_armv7m_systick::from_node },
    Model { compatible: "arm,cortex-a7-gic", ranges: 2, from_node: arm_gic_400::from_node },
    Model { compatible: "arm,gic-400", ranges: 2, from_node: arm_gic_400::from_node },
    Model { compatible: "arm,pl310-cache", ranges: 1, from_node: arm_pl310_cache::from_node },
    Model { compatible: "atmel,at91sam9260-dbgu", ranges: 1, from_node: atmel_at91sam9260_usart::from_node },
    Model { compatible: "atmel,at91sam9260-pit", ranges: 1, from_node: atmel_at91sam9260_pit::from_node },
    Model { compatible: "atmel,at91sam9260-usart", ranges: 1, from_node: atmel_at91sam9260_usart::from_node },
    Model { compatible: "atmel,at91sam9x5-tcb", ranges: 1, from_node: atmel_sama5d2_tcb::from_node },
    Model { compatible: "atmel,sama5d2-aic", ranges: 1, from_node: atmel_sama5d2_aic::from_node },
    Model { compatible: "atmel,sama5d2-chipid", ranges: 1, from_node: atmel_sama5d2_chipid::from_node },
    Model { compatible: "atmel,sama5d2-pinctrl", ranges: 1, from_node: atmel_sama5d2_pinctrl::from_node },
    Model { compatible: "atmel,sama5d2-pmc", ranges: 1, from_node: atmel_sama5d2_pmc::from_node },
    Model { compatible: "atmel,sama5d2-qspi", ranges: 2, from_node: atmel_sama5d2_qspi::from_node },
    Model { compatible: "atmel,sama5d2-sfr", ranges: 1, from_node: atmel_sama5d2_sfr::from_node },
    Model { compatible: "atmel,sama5d2-shdwc", ranges: 1, from_node: atmel_sama5d2_shdwc::from_node },
    Model { compatible: "atmel,sama5d2-tcb", ranges: 1, from_node: atmel_sama5d2_tcb::from_node },
    Model { compatible: "atmel,sama5d3-ddramc", ranges: 1, from_node: atmel_sama5d3_ddramc::from_node },
    Model { compatible: "atmel,sama5d3-rstc", ranges: 1, from_node: atmel_sama5d3_rstc::from_node },
    Model { compatible: "atmel,sama5d4-dma", ranges: 1, from_node: atmel_sama5d4_dma::from_node },
    Model { compatible: "atmel,sama5d4-wdt", ranges: 1, from_node: atmel_sama5d4_wdt::from_node },
    Model {
        compatible: "cyclescope,avalon-performance-counter",
        ranges: 1,
        from_node: cyclescope_avalon_performance_counter::from_node,
    },
    Model { compatible: "cache", ranges: 0, from_node: cache::from_node },
    Model { compatible: "cyclescope,avalonif-mmc", ranges: 1, from_node: cyclescope_avalonif_mmc::from_node },
    Model { compatible: "cyclescope,exit", ranges: 1, from_node: cyclescope_exit::from_node },
    Model {
        compatible: "cyclescope,picosoc-simpleuart",
        ranges: 1,
        from_node: cyclescope_picosoc_simpleuart::from_node,
    },
    Model { compatible: "cyclescope,picosoc-spimemio", ranges: 2, from_node: cyclescope_picosoc_spimemio::from_node },
    Model { compatible: "cyclescope,result-port", ranges: 1, from_node: cyclescope_result_port::from_node },
    Model { compatible: "cyclescope,sama5d2-matrix", ranges: 1, from_node: cyclescope_sama5d2_matrix::from_node },
    Model { compatible: "ingenic,jz4740-cgu", ranges: 1, from_node: ingenic_jz4740_cgu::from_node },
    Model { compatible: "ingenic,jz4740-gpio", ranges: 1, from_node: ingenic_jz4740_gpio::from_node },
    Model { compatible: "ingenic,jz4740-intc", ranges: 1, from_node: ingenic_jz4740_intc::from_node },
    Model { compatible: "ingenic,jz4740-nemc", ranges: 1, from_node: ingenic_jz4740_nemc::from_node },
    Model { compatible: "ingenic,jz4740-rtc", ranges: 1, from_node: ingenic_jz4740_rtc::from_node },
    Model { compatible: "ingenic,jz4740-ssi", ranges: 1, from_node: ingenic_jz4740_ssi::from_node },
    Model { compatible: "ingenic,jz4740-tcu", ranges: 1, from_node: ingenic_jz4740_tcu::from_node },
    Model { compatible: "ingenic,jz4740-uart", ranges: 1, from_node: ingenic_jz4740_uart::from_node },
    Model { compatible: "riscv,clint0", ranges: 1, from_node: riscv_clint0::from_node },
    Model { compatible: "sifive,clint0", ranges: 1, from_node: riscv_clint0::from_node },
    Model { compatible: "spi-gpio", ranges: 0, from_node: spi_gpio::from_node },
    Model { compatible: "st,stm32-hwspinlock", ranges: 1, from_node: st_stm32_hwspinlock::from_node },
    Model { compatible: "st,stm32h7-mdma", ranges: 1, from_node: st_stm32h7_mdma::from_node },
    Model { compatible: "st,stm32h7-uart", ranges: 1, from_node: st_stm32h7_uart::from_node },
    Model { compatible: "st,stm32mp1-ipcc", ranges: 1, from_node: st_stm32mp1_ipcc::from_node },
    Model { compatible: "st,stm32mp1-rcc", ranges: 1, from_node: st_stm32mp1_rcc::from_node },
    Model { compatible: "virtio,mmio", ranges: 1, from_node: virtio_mmio::from_node },
    Model { compatible: "xlnx,axi-cdma-1.00.a", ranges: 1, from_node: xlnx_axi_cdma::from_node },
    Model { compatible: "xlnx,axi-quad-spi-1.00.a", ranges: 1, from_node: xlnx_axi_quad_spi::from_node },
    Model { compatible: "xlnx,xps-intc-1.00.a", ranges: 1, from_node: xlnx_xps_intc::from_node },
    Model { compatible: "xlnx,xps-spi-2.00.a", ranges: 1, from_node: xlnx_axi_quad_spi::from_node },
    Model { compatible: "xlnx,xps-timer-1.00.a", ranges: 1, from_node: xlnx_xps_timer::from_node },
    Model { compatible: "xlnx,xps-uartlite-1.00.a", ranges: 1, from_node: xlnx_xps_uartlite::from_node },
];

/// Compatibles of the ports that have pins for wires ([`Device::is_port`]).
const PORTS: [&str; 1] = ["ingenic,jz4740-gpio"];

/// True if `node` is a port whose pins can be wired to something.
pub fn is_port(node: &Node) -> bool {
    node.property("gpio-controller").is_some() && node.compatibles().iter().any(|known| PORTS.contains(known))
}
