//! Properties of Linux's bindings that boards keep for Linux, and those that any node may have.

/// Properties that any node may have and that no device needs to ask for, with their meanings.
pub const COMMON: [(&str, &str); 16] = [
    ("compatible", "what the node is, the most exact name first: the first one that there is a model of counts"),
    (
        "reg",
        "its ranges of addresses, each a base and a size of one cell; of a chip on a wire, its chip select or address",
    ),
    ("status", "\"okay\", as without it, or that the node is not in use: \"disabled\", \"reserved\", \"fail\""),
    ("phandle", "the number by which others refer to the node; a label does it"),
    ("device_type", "\"memory\" makes the node a memory, \"cpu\" says that it is a core"),
    ("model", "what people call the board, or the part"),
    ("label", "what people call the part; changes nothing"),
    ("#address-cells", "cells of an address in the nodes below; changes nothing, as all have one"),
    ("#size-cells", "cells of a size in the nodes below; changes nothing, as all have one"),
    ("#clock-cells", "cells after a clock's phandle; changes nothing, as no clock has any"),
    ("#interrupt-cells", "cells of an interrupt of this controller"),
    ("interrupt-controller", "others can name the node's inputs in their `interrupts`"),
    ("interrupt-parent", "the interrupt controller that `interrupts` are inputs of, here and below"),
    ("interrupts", "the inputs of the `interrupt-parent` that the node's interrupts lead to"),
    ("interrupts-extended", "the same, each with its own controller"),
    (
        "cyclescope,sources",
        "where the timing properties have their values from: strings of \"property: source\"; the property * is \
         all that have no entry of their own",
    ),
];

/// A property that any memory or device may also have, with its meaning.
pub const CACHEABLE: (&str, &str) = (
    "cyclescope,cacheable",
    "of a memory or a device: caches keep what is there; of a device, only what is in its windows, from its second \
     range on",
);

/// Properties that models accept because Linux's bindings have them, with their meanings there. The meaning says where
/// one has an effect here.
const TAKEN: &[(&str, &str)] = &[
    ("#dma-cells", "cells of a request line; marks a DMA controller, whose request lines `dmas` may name"),
    ("#gpio-cells", "cells of a pin in others' `-gpios`: its number and flags"),
    ("#hwlock-cells", "cells of a hardware spinlock"),
    ("#io-channel-cells", "cells of a converter's channel in others' `io-channels`"),
    ("#mbox-cells", "cells of a mailbox's channel"),
    ("#reset-cells", "cells of a reset line"),
    ("#thermal-sensor-cells", "cells of a temperature sensor"),
    ("always-on", "the timer goes on while its core sleeps"),
    ("arm,no-tick-in-suspend", "the counter stops in suspend"),
    ("arm,primecell-periphid", "the part's identification, which drivers take instead of that in its registers"),
    ("atmel,external-irqs", "numbers of the sources that are pins"),
    ("atmel,wakeup-rtc-timer", "the real-time clock's alarm ends a shutdown"),
    ("autorepeat", "a key that is held down repeats its event"),
    ("bus-width", "how many data lines drivers may use"),
    ("cache-level", "the level of the cache"),
    ("cache-unified", "the cache is one for instructions and data"),
    ("cap-mmc-highspeed", "drivers may switch an MMC card to high speed"),
    ("cap-sd-highspeed", "drivers may switch an SD card to high speed"),
    ("clock-frequency", "the counter's frequency in hertz; what counts here is that of `clocks`"),
    ("clock-names", "names for `clocks`, whose order is fixed"),
    ("clocks", "its clock; what counts here is that of the bus"),
    ("color", "the light's colour"),
    ("debounce-interval", "for how long drivers wait until a key has settled, in milliseconds"),
    ("debounce-interval-ms", "for how long drivers wait until a key has settled"),
    ("default-state", "what drivers make of the light at first"),
    ("disable-wp", "the slot has no switch for write protection"),
    ("dma-channels", "how many channels there are"),
    ("dma-names", "names for `dmas`"),
    ("dma-requests", "how many request lines there are"),
    ("dmas", "its DMA requests, which its model does not make"),
    ("function", "what the light is for"),
    ("function-enumerator", "which of the lights of its function it is"),
    ("gpio-controller", "others can name the port's pins"),
    ("gpio-ranges", "which pins of a pin controller the port's are"),
    ("i2c-analog-filter", "the bus uses the controller's analog filter; firmware sets it"),
    ("i2c-gpio,delay-us", "what drivers wait for a quarter of a clock"),
    ("i2c-gpio,scl-open-drain", "the port's pin of SCL is open-drain by itself"),
    ("i2c-gpio,scl-output-only", "SCL can't be read, and no chip stretches the clock"),
    ("i2c-gpio,sda-open-drain", "the port's pin of SDA is open-drain by itself"),
    ("i2c-gpio,timeout-ms", "how long drivers wait for a stretched clock"),
    ("interrupt-affinity", "the cores whose interrupts they are, in order"),
    ("interrupt-names", "names for `interrupts`, whose order is fixed"),
    ("linux,code", "the event that the key makes"),
    ("linux,default-trigger", "what drivers have the light follow"),
    ("linux,input-type", "the type of the event that the key makes"),
    ("max-frequency", "the highest clock that drivers choose, in hertz"),
    ("mmu-type", "what the core's memory management unit can do"),
    ("ngpios", "how many pins of the port there are"),
    ("next-level-cache", "the second-level cache; of several cores, those that name none have none"),
    ("poll-interval", "how often drivers look at the keys, in milliseconds"),
    ("ranges", "how addresses below map to those above: they are the same"),
    ("reg-names", "names for `reg`, whose order is fixed"),
    ("resets", "the reset lines of the part"),
    ("riscv,isa", "the instruction set as one word"),
    ("riscv,isa-base", "the base instruction set"),
    ("st,neg-edge", "drivers let commands and data change with the falling edge"),
    ("st,proc-id", "the processor for whose side the node stands"),
    ("st,syscfg-fmp", "the bit that lets pins drive as Fast-mode Plus does"),
    ("swo-ref-frequency", "the clock that the trace's pin divides its rate from"),
    ("system-power-controller", "the device switches the board's power off"),
    ("voltage-ranges", "supply voltages of the slot in millivolts"),
    ("wakeup-source", "its interrupt ends a sleep"),
    ("xtal-trim", "what the crystal's load capacitors are set to"),
    ("zephyr,code", "the event that the key makes"),
];

/// Meaning of a property that models accept for Linux; empty if the list above lacks it, which a test finds.
pub fn meaning(name: &str) -> &'static str {
    TAKEN.iter().find(|(known, _)| *known == name).map_or("", |(_, meaning)| meaning)
}

/// True if any node may have the property.
pub fn is_common(name: &str) -> bool {
    COMMON.iter().any(|(common, _)| *common == name)
}
