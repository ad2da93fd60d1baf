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

/// What a binding is one of, for the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Cores.
    Core,
    /// Memories and caches.
    Memory,
    /// Buses and ways between them.
    Bus,
    /// SPI controllers.
    Spi,
    /// Chips on SPI.
    SpiChip,
    /// Serial ports.
    Serial,
    /// Timers and counters.
    Timer,
    /// Interrupt controllers.
    Interrupt,
    /// DMA controllers.
    Dma,
    /// Mailboxes, semaphores, and devices that drivers of other cores talk to.
    Message,
    /// Clocks, resets, pins, and what else a chip is set up by.
    System,
    /// What no board has: for firmware that is measured.
    Own,
    /// Nodes that are no devices.
    Passive,
}

impl Group {
    /// What a page of the reference is called.
    pub fn title(self) -> &'static str {
        match self {
            Group::Core => "Cores",
            Group::Memory => "Memories and caches",
            Group::Bus => "Buses",
            Group::Spi => "SPI controllers",
            Group::SpiChip => "SPI chips",
            Group::Serial => "Serial ports",
            Group::Timer => "Timers and counters",
            Group::Interrupt => "Interrupt controllers",
            Group::Dma => "DMA controllers",
            Group::Message => "Communication between cores",
            Group::System => "Clocks, resets and pins",
            Group::Own => "For measured firmware",
            Group::Passive => "Other nodes",
        }
    }
}

/// A device model: the compatible it answers to, how many `reg` ranges it has, and how it is built from its node.
pub struct Model {
    /// What it is one of.
    pub group: Group,
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// Ranges of `reg` that it needs at least.
    pub ranges: usize,
    /// Reads the node; faults go to the reader, and then the result is never used.
    pub from_node: fn(&mut NodeReader) -> Box<dyn Device>,
    /// What it is, and what is modelled: what its module says of itself.
    pub about: &'static str,
}

/// What the modules here say of themselves at their top, by their names; the build script collects that.
// Of these modules, some help others and are no models.
#[allow(dead_code, non_upper_case_globals)]
mod about {
    include!(concat!(env!("OUT_DIR"), "/about.rs"));
}

/// A model by its group, its compatible, the number of its ranges, and its module.
macro_rules! model {
    ($group:ident, $compatible:literal, $ranges:literal, $module:ident) => {
        Model {
            group: Group::$group,
            compatible: $compatible,
            ranges: $ranges,
            from_node: $module::from_node,
            about: about::$module,
        }
    };
}

/// All device models, in the order of their compatibles.
pub const MODELS: &[Model] = &[
    model!(Serial, "altr,juart-1.0", 1, altr_juart),
    model!(Spi, "altr,spi-1.0", 1, altr_spi),
    model!(Timer, "altr,timer-1.0", 1, altr_timer),
    model!(Timer, "arm,armv7-timer", 0, arm_armv7_timer),
    model!(Timer, "arm,armv7m-systick", 1, arm_armv7m_systick),
    model!(Interrupt, "arm,cortex-a7-gic", 2, arm_gic_400),
    model!(Interrupt, "arm,gic-400", 2, arm_gic_400),
    model!(Memory, "arm,pl310-cache", 1, arm_pl310_cache),
    model!(Serial, "atmel,at91sam9260-dbgu", 1, atmel_at91sam9260_usart),
    model!(Timer, "atmel,at91sam9260-pit", 1, atmel_at91sam9260_pit),
    model!(Serial, "atmel,at91sam9260-usart", 1, atmel_at91sam9260_usart),
    model!(Timer, "atmel,at91sam9x5-tcb", 1, atmel_sama5d2_tcb),
    model!(Interrupt, "atmel,sama5d2-aic", 1, atmel_sama5d2_aic),
    model!(System, "atmel,sama5d2-chipid", 1, atmel_sama5d2_chipid),
    model!(System, "atmel,sama5d2-pinctrl", 1, atmel_sama5d2_pinctrl),
    model!(System, "atmel,sama5d2-pmc", 1, atmel_sama5d2_pmc),
    model!(Spi, "atmel,sama5d2-qspi", 2, atmel_sama5d2_qspi),
    model!(System, "atmel,sama5d2-sfr", 1, atmel_sama5d2_sfr),
    model!(System, "atmel,sama5d2-shdwc", 1, atmel_sama5d2_shdwc),
    model!(Timer, "atmel,sama5d2-tcb", 1, atmel_sama5d2_tcb),
    model!(System, "atmel,sama5d3-ddramc", 1, atmel_sama5d3_ddramc),
    model!(System, "atmel,sama5d3-rstc", 1, atmel_sama5d3_rstc),
    model!(Dma, "atmel,sama5d4-dma", 1, atmel_sama5d4_dma),
    model!(Timer, "atmel,sama5d4-wdt", 1, atmel_sama5d4_wdt),
    model!(Timer, "cyclescope,avalon-performance-counter", 1, cyclescope_avalon_performance_counter),
    model!(Memory, "cache", 0, cache),
    model!(Spi, "cyclescope,avalonif-mmc", 1, cyclescope_avalonif_mmc),
    model!(Own, "cyclescope,exit", 1, cyclescope_exit),
    model!(Serial, "cyclescope,picosoc-simpleuart", 1, cyclescope_picosoc_simpleuart),
    model!(Spi, "cyclescope,picosoc-spimemio", 2, cyclescope_picosoc_spimemio),
    model!(Own, "cyclescope,result-port", 1, cyclescope_result_port),
    model!(System, "cyclescope,sama5d2-matrix", 1, cyclescope_sama5d2_matrix),
    model!(System, "ingenic,jz4740-cgu", 1, ingenic_jz4740_cgu),
    model!(System, "ingenic,jz4740-gpio", 1, ingenic_jz4740_gpio),
    model!(Interrupt, "ingenic,jz4740-intc", 1, ingenic_jz4740_intc),
    model!(System, "ingenic,jz4740-nemc", 1, ingenic_jz4740_nemc),
    model!(Timer, "ingenic,jz4740-rtc", 1, ingenic_jz4740_rtc),
    model!(Spi, "ingenic,jz4740-ssi", 1, ingenic_jz4740_ssi),
    model!(Timer, "ingenic,jz4740-tcu", 1, ingenic_jz4740_tcu),
    model!(Serial, "ingenic,jz4740-uart", 1, ingenic_jz4740_uart),
    model!(Timer, "riscv,clint0", 1, riscv_clint0),
    model!(Timer, "sifive,clint0", 1, riscv_clint0),
    model!(Spi, "spi-gpio", 0, spi_gpio),
    model!(Message, "st,stm32-hwspinlock", 1, st_stm32_hwspinlock),
    model!(Dma, "st,stm32h7-mdma", 1, st_stm32h7_mdma),
    model!(Serial, "st,stm32h7-uart", 1, st_stm32h7_uart),
    model!(Message, "st,stm32mp1-ipcc", 1, st_stm32mp1_ipcc),
    model!(System, "st,stm32mp1-rcc", 1, st_stm32mp1_rcc),
    model!(Message, "virtio,mmio", 1, virtio_mmio),
    model!(Dma, "xlnx,axi-cdma-1.00.a", 1, xlnx_axi_cdma),
    model!(Spi, "xlnx,axi-quad-spi-1.00.a", 1, xlnx_axi_quad_spi),
    model!(Interrupt, "xlnx,xps-intc-1.00.a", 1, xlnx_xps_intc),
    model!(Spi, "xlnx,xps-spi-2.00.a", 1, xlnx_axi_quad_spi),
    model!(Timer, "xlnx,xps-timer-1.00.a", 1, xlnx_xps_timer),
    model!(Serial, "xlnx,xps-uartlite-1.00.a", 1, xlnx_xps_uartlite),
];

/// Compatibles of the ports that have pins for wires ([`Device::is_port`]).
const PORTS: [&str; 1] = ["ingenic,jz4740-gpio"];

/// True if `node` is a port whose pins can be wired to something.
pub fn is_port(node: &Node) -> bool {
    node.property("gpio-controller").is_some() && node.compatibles().iter().any(|known| PORTS.contains(known))
}
