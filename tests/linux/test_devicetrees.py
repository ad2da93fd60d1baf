"""Devicetrees for Linux: written and read, made from a board, or pruned to what it has."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from cyclescope import Board
from cyclescope.board import board_tree
from cyclescope.board.description import devicetree
from cyclescope.board.description.devicetree import Node
from cyclescope.errors import UsageError
from cyclescope.linux import flattened, own_devicetree, vendor_devicetree, wired
from cyclescope.linux.boards import LinuxBoard, core_settings, texts
from cyclescope.linux.chosen import Chosen

BOARD = "stm32mp157c-dk2"
CHOSEN = Chosen("console=ttySTM0", (0xC5000000, 0xC5001000))

VENDOR = """
/dts-v1/;
/ {
    #address-cells = <1>;
    #size-cells = <1>;
    compatible = "somebody,own-board", "st,stm32mp157";
    aliases { serial0 = &uart4; };
    chosen { stdout-path = "serial0:115200n8"; };
    memory@c0000000 { device_type = "memory"; reg = <0xc0000000 0x20000000>; };
    cpus {
        #address-cells = <1>;
        #size-cells = <0>;
        cpu0: cpu@0 { device_type = "cpu"; compatible = "arm,cortex-a7"; reg = <0>; };
        cpu1: cpu@1 { device_type = "cpu"; compatible = "arm,cortex-a7"; reg = <1>; };
    };
    pmu {
        compatible = "arm,cortex-a7-pmu";
        interrupts = <0 200 4>, <0 201 4>;
        interrupt-affinity = <&cpu0>, <&cpu1>;
    };
    firmware { optee { compatible = "linaro,optee-tz"; method = "smc"; }; };
    soc {
        compatible = "simple-bus";
        #address-cells = <1>;
        #size-cells = <1>;
        ranges;
        dma1: dma@48004000 { compatible = "vendor,dma"; reg = <0x48004000 4>; #dma-cells = <4>; };
        uart4: serial@40010000 {
            compatible = "st,stm32h7-uart";
            reg = <0x40010000 0x400>;
            dmas = <&dma1 63 0x400 0x15 0>;
            dma-names = "rx";
        };
        off: nothing@70000000 { compatible = "x,y"; reg = <0x70000000 4>; status = "disabled"; };
        pinctrl@50002000 {
            compatible = "st,stm32mp157-pinctrl";
            #address-cells = <1>;
            #size-cells = <1>;
            ranges = <0 0x50002000 0xa400>;
            gpioa: gpio@0 { compatible = "vendor,gpio"; reg = <0 0x400>; };
        };
        bus@60000000 {
            compatible = "simple-bus";
            #address-cells = <1>;
            #size-cells = <1>;
            ranges = <0 0x60000000 0x1000>;
            inner@0 { compatible = "vendor,inner"; reg = <0 4>; };
        };
        etzpc: bus@5c007000 {
            compatible = "vendor,firewall", "simple-bus";
            reg = <0x5c007000 0x400>;
            #address-cells = <1>;
            #size-cells = <1>;
            ranges;
            uart7: serial@40018000 {
                compatible = "st,stm32h7-uart";
                reg = <0x40018000 0x400>;
                access-controllers = <&etzpc 50>;
            };
            spi@4000b000 { compatible = "vendor,spi"; reg = <0x4000b000 0x400>; };
        };
        i2c@40015000 {
            compatible = "st,stm32mp15-i2c";
            reg = <0x40015000 0x400>;
            #address-cells = <1>;
            #size-cells = <0>;
            codec@4a { compatible = "vendor,codec"; reg = <0x4a>; };
        };
    };
};
"""


def parsed(path: Path, source: str) -> Node:
    file = path / "tree.dts"
    file.write_text(source)
    return devicetree.parse(file)


def linux_board(
    name: str = BOARD, overrides: Mapping[str, str] | None = None, cores: int = 1
) -> LinuxBoard:
    settings = core_settings(name, board_tree(name), cores)
    board = Board(name, {**settings, **(overrides or {})})
    return LinuxBoard(board.name, board.tree, board.describe()["map"])


def plain(node: Node) -> tuple[object, ...]:
    values = {name: prop.value for name, prop in node.props.items()}
    return (node.path, values, *map(plain, node.children))


def node_at(tree: Node, path: str) -> Node:
    (found,) = (node for node in tree.walk() if node.path == path)
    return found


def test_a_tree_is_read_as_it_was_written(tmp_path: Path) -> None:
    tree = parsed(tmp_path, VENDOR)
    data = flattened.written(tree)
    again = flattened.read(data, "again.dtb")
    assert plain(again) == plain(tree)
    assert flattened.written(again) == data
    assert node_at(again, "/cpus/cpu@1").phandle == node_at(tree, "/cpus/cpu@1").phandle


@pytest.mark.parametrize("size", [0, 4, 39, 40, 60, 200])
def test_cut_trees_are_refused(tmp_path: Path, size: int) -> None:
    data = flattened.written(parsed(tmp_path, VENDOR))
    with pytest.raises(UsageError, match=r"^cut\.dtb: (not a flattened|a damaged) devicetree"):
        flattened.read(data[:size], "cut.dtb")


def test_damaged_trees_are_refused_or_read(tmp_path: Path) -> None:
    data = flattened.written(parsed(tmp_path, VENDOR))
    for at in range(4, len(data), 7):
        damaged = bytearray(data)
        damaged[at] ^= 0xFF
        with suppress(UsageError):
            flattened.read(bytes(damaged), "damaged.dtb")


def test_trees_nest_within_bounds() -> None:
    nested = struct.pack(">I4s", 1, b"n") * 10_000
    header = struct.pack(
        ">10I", 0xD00DFEED, 40 + len(nested), 40, 40, 40, 17, 16, 0, 0, len(nested)
    )
    with pytest.raises(UsageError, match="its nodes nest deeper than 64"):
        flattened.read(header + nested, "deep.dtb")


def test_a_board_gives_a_tree_of_what_linux_needs() -> None:
    made = own_devicetree.from_board(linux_board(), CHOSEN)
    tree = made.tree
    names = {name for node in tree.walk() for name in node.props}
    assert not [name for name in names if name.startswith("cyclescope,")]
    assert [node.name for node in node_at(tree, "/cpus").children] == ["cpu@0"]
    assert texts(node_at(tree, "/cpus/cpu@0"), "enable-method") == ["psci"]
    assert node_at(tree, "/memory@c0000000").cells("reg") == [0xC0000000, 0x1E000000]
    uart = node_at(tree, "/soc/serial@40010000")
    assert uart.cells("interrupts") == [0, 52, 4]
    (clock,) = (node for node in tree.walk() if node.number("phandle") == uart.number("clocks"))
    assert clock.number("clock-frequency") == 64_000_000
    chosen = node_at(tree, "/chosen")
    assert texts(chosen, "bootargs") == ["console=ttySTM0"]
    assert chosen.cells("linux,initrd-end") == [0xC5001000]
    assert texts(chosen, "stdout-path") == ["serial0:115200n8"]
    assert texts(node_at(tree, "/aliases"), "serial0") == ["/soc/serial@40010000"]
    assert "rcc" in made.left_out
    assert "uart4" not in made.left_out
    assert "intc" not in made.left_out


def test_a_card_and_a_flash_are_in_the_tree_with_fixed_clocks_and_a_supply() -> None:
    card = own_devicetree.from_board(linux_board(overrides={"sd_card.status": "okay"}), CHOSEN)
    slot = node_at(card.tree, "/soc/mmc@58005000")
    assert slot.cells("interrupts") == [0, 49, 4]
    assert slot.number("bus-width") == 4
    assert slot.children == []
    clock, supply = (
        next(node for node in card.tree.walk() if node.number("phandle") == slot.number(name))
        for name in ("clocks", "vmmc-supply")
    )
    assert clock.number("clock-frequency") == 99_000_000
    assert supply.number("regulator-min-microvolt") == 3_300_000
    assert not {"sdmmc1", "sd_card"} & set(card.left_out)
    without = own_devicetree.from_board(linux_board(), CHOSEN)
    assert "sdmmc1" in without.left_out
    nor = own_devicetree.from_board(linux_board(f"{BOARD}-nor"), CHOSEN)
    flash = node_at(nor.tree, "/soc/spi@58003000/flash@0")
    assert flash.compatibles == ["micron,n25q128a13", "jedec,spi-nor"]
    assert flash.number("spi-rx-bus-width") == 4


def test_both_cores_are_in_either_tree(tmp_path: Path) -> None:
    board = linux_board(cores=2)
    cores = ["cpu@0", "cpu@1"]
    made = own_devicetree.from_board(board, CHOSEN).tree
    assert [node.name for node in node_at(made, "/cpus").children] == cores
    assert texts(node_at(made, "/cpus/cpu@1"), "enable-method") == ["psci"]
    assert texts(node_at(made, "/cpus/cpu@1"), "status") in ([], ["okay"])
    pruned = vendor_devicetree.pruned(parsed(tmp_path, VENDOR), board, CHOSEN).tree
    assert [node.name for node in node_at(pruned, "/cpus").children] == cores
    assert node_at(pruned, "/pmu").cells("interrupts") == [0, 200, 4, 0, 201, 4]


def test_a_vendors_tree_keeps_what_the_board_has(tmp_path: Path) -> None:
    tree = parsed(tmp_path, VENDOR)
    pruned = vendor_devicetree.pruned(tree, linux_board(), CHOSEN)
    buses = ("bus@5c007000 itself", "spi@4000b000")
    assert pruned.disabled == ("dma@48004000", "inner@0", *buses, "i2c@40015000", "optee")
    bus = node_at(tree, "/soc/bus@5c007000")
    assert (bus.compatibles, bus.cells("reg")) == (["simple-bus"], [])
    assert "access-controllers" not in bus.children[0].props
    for node in tree.walk():
        is_off = node.name in pruned.disabled or node.name == "nothing@70000000"
        assert (texts(node, "status") == ["disabled"]) == is_off, node.path
    uart = node_at(tree, "/soc/serial@40010000")
    assert not {"dmas", "dma-names"} & uart.props.keys()
    assert node_at(tree, "/memory@c0000000").cells("reg") == [0xC0000000, 0x1E000000]
    assert [node.name for node in node_at(tree, "/cpus").children] == ["cpu@0"]
    pmu = node_at(tree, "/pmu")
    assert pmu.cells("interrupts") == [0, 200, 4]
    assert len(pmu.cells("interrupt-affinity")) == 1


def test_a_tree_for_another_board_is_refused(tmp_path: Path) -> None:
    source = '/dts-v1/;\n/ { compatible = "ti,am335x-bone"; };\n'
    with pytest.raises(UsageError, match=r"is for ti,am335x-bone, and stm32mp157c-dk2 is st,"):
        vendor_devicetree.pruned(parsed(tmp_path, source), linux_board(), CHOSEN)


@pytest.mark.parametrize(
    ("board", "why"),
    [
        ("kc705-axi-quad-spi", "no core that runs Linux: it needs a Cortex-A"),
        ("minimal-armv7a", "no interrupt controller"),
    ],
)
def test_a_board_that_linux_can_not_run_on_says_why(board: str, why: str) -> None:
    with pytest.raises(UsageError, match=f"{board} has {why}"):
        own_devicetree.from_board(linux_board(board), CHOSEN)


def test_the_clocks_of_what_it_boots_from_are_open() -> None:
    card = linux_board(overrides={"sd_card.status": "okay"})
    assert (0x50000218, 1 << 16) in card.loader_writes()
    assert (0x50000218, 1 << 14) in linux_board(f"{BOARD}-nor").loader_writes()


def test_the_console_is_set_up_as_a_loader_does() -> None:
    assert linux_board().loader_writes() == [
        (0x50000A00, 1 << 16),
        (0x4001000C, 556),
        (0x40010000, 0xD),
    ]


def test_chips_on_pins_are_added_with_the_ports_of_the_other_tree(tmp_path: Path) -> None:
    made = Board(f"{BOARD}-rf231")
    board = LinuxBoard(made.name, made.tree, made.describe()["map"])
    source = tmp_path / "vendor.dts"
    source.write_text(
        """/dts-v1/; / { #address-cells = <1>; #size-cells = <1>;
        compatible = "st,stm32mp157c-dk2";
        e: gpio@50006000 { gpio-controller; phandle = <0x51>; };
        g: gpio@50008000 { gpio-controller; phandle = <0x52>; }; };"""
    )
    tree = devicetree.parse(source)
    assert wired.add_wired(tree, board) == ("spi", "transceiver@0")
    bus = next(node for node in tree.walk() if node.name == "spi")
    assert bus.cells("sck-gpios") == [0x51, 12, 0]
    (chip,) = bus.children
    assert chip.cells("interrupt-parent") == [0x51]
    assert chip.cells("reset-gpio") == [0x52, 3, 1]
    assert chip.compatibles == ["atmel,at86rf231"]
    assert not any(name.startswith("cyclescope,") for name in chip.props)
    # a tree without the port
    source.write_text('/dts-v1/; / { compatible = "st,stm32mp157c-dk2"; };')
    with pytest.raises(UsageError, match="sck-gpios: the devicetree for Linux has no GPIO port"):
        wired.add_wired(devicetree.parse(source), board)
