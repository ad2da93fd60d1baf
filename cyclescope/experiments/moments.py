"""Windows of runs that show the subjects of experiments: timelines of the report."""

from cyclescope.bench.views import Moment

_US, _MS = 10**6, 10**9
# A console's characters, and the tick of an idle operating system, are not part of the subject.
_CONSOLE, _TICK = "uart4: *", "systick: *"

QUAD_SPI = Moment(
    "A page, written in quad mode",
    "The page goes to the controller by DMA and over the wire in 20 us. Then the flash programs "
    "it; the processor polls it by frames, and sleeps between them.",
    settings={"mode": "quad", "access": "dma"},
    shortened={"pages": 64},
    function="program_page",
    call=2,
    before_ps=5 * _US,
    length_ps=120 * _US,
    hidden=("uart0: *",),
)

PICOSOC = Moment(
    "Code, fetched from flash in place",
    "There is no cache: sequential words continue a frame to the flash, and each jump ends it and "
    "begins another, with its address and dummy clocks, before an instruction arrives.",
    settings={},
    app="picosoc_flash_bench",
    function="crc_of_text",
    before_ps=60 * _US,
    length_ps=400 * _US,
    in_place=True,
)

FAT_WRITE = Moment(
    "A block of 512 bytes, written to the card",
    "The processor computes the block's CRC, passes it to the controller byte by byte, and waits "
    "for the card, which is busy until it accepts another.",
    settings={"transfer": "all", "write_order": "r006"},
    shortened={"file_bytes": 65536, "transfer": "512"},
    function="xmit_datablock",
    call=20,
    before_ps=100 * _US,
    length_ps=1300 * _US,
    depth=5,
    hidden=("timer0: *",),
)

FAT_ACCESS = Moment(
    "Blocks of a file, read at random",
    "The card looks for each block before it sends it, and the processor computes its CRC.",
    settings={"access": "random", "operation": "read"},
    shortened={"file_bytes": 65536, "calls": 4},
    function="access_block",
    call=2,
    before_ps=100 * _US,
    length_ps=4 * _MS,
    hidden=("timer0: *", "uart0: *"),
)

CARD_PROBE = Moment(
    "A block, written to see how long the card is busy",
    "The block goes over the wire in less than a millisecond. After that, the processor reads from "
    "the card until it is no longer busy.",
    settings={"port": "mmc", "operation": "probe"},
    shortened={"blocks": 16},
    function="probe_busy_after",
    call=3,
    before_ps=100 * _US,
    length_ps=2 * _MS,
    hidden=("timer0: *",),
)

RHEALSTONE = Moment(
    "A task switch, with code in flash and caches off",
    "Two tasks yield to each other: the lane of tasks shows which one runs. The processor reads "
    "each instruction from the flash in place, which takes most of the time.",
    settings={"operation": "task-switch", "memory": "qspi", "cache": "off", "loops": 1},
    function="vTaskSwitchContext",
    call=5,
    before_ps=15 * _US,
    length_ps=240 * _US,
    hidden=("pit: *", "sfr: *"),
    in_place=True,
)

QSPI_READ = Moment(
    "A word, read from the flash",
    "The flash has been programmed. Two frames to the flash set up the controller; then one load "
    "of the processor becomes a frame with an instruction, the address, and the word.",
    settings={"readings": "one-word"},
    function="qspi_map_width",
    before_ps=5 * _US,
    length_ps=13 * _US,
    hidden=("sfr: *", "qspi0: interrupt*"),
    in_place=True,
)

BITBANG = Moment(
    "A register of the transceiver, read by GPIO pins",
    "Each edge on a wire is a call that looks up the pin and stores to its port.",
    settings={"operation": "access"},
    function="at86rf230_read_register",
    call=5,
    before_ps=5 * _US,
    length_ps=100 * _US,
    depth=4,
    hidden=("tcu: *",),
    wires=("atben.*",),
)

RPMSG_TTY = Moment(
    "A message from core to core, and its log",
    "The Cortex-A7 computes its CRC, puts the message into a shared buffer and rings the mailbox. "
    "The Cortex-M4 logs it on its UART, one character after the other, before it frees the buffer.",
    settings={"tests": "all", "log": "on"},
    function="run_test",
    before_ps=50 * _US,
    length_ps=1 * _MS,
    hidden=(_CONSOLE, _TICK),
)

IPC_MODES = Moment(
    "Blocks, moved by DMA and announced by messages",
    "A message has the address of a block; DMA moves the block itself, between memories that both "
    "cores can access.",
    settings={"mode": "indirect", "direction": "to-m4", "dma": "on"},
    function="link_tell",
    call=20,
    before_ps=5 * _US,
    length_ps=40 * _US,
    hidden=(_TICK,),
)

FLASH_WAITS = Moment(
    "The same work with different settings",
    "Each call is the same work at another clock, or with other wait states, prefetch and caches.",
    settings={"sweep": "whole"},
    function="timed_rounds",
    length_ps=100 * _MS,
    depth=2,
)

THREAD_METRIC = Moment(
    "Threads that resume each other, each of a higher priority",
    "The kernel switches to a thread as soon as it is resumed: each lane is a thread.",
    settings={"test": "preemptive"},
    function="vTaskResume",
    call=40,
    length_ps=40 * _US,
    hidden=("systick: *",),
)
