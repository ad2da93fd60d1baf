from pathlib import Path

import pytest

from cyclescope.board.description import devicetree
from cyclescope.board.description.overrides import apply_overrides, parse_set
from cyclescope.errors import SettingError

SOURCE = """/dts-v1/;
/ {
    cpu0: cpu { };
    axi {
        spi0: spi@c4000000 {
            compatible = "acme,spi", "spi";
            label = "x,y";
            clock-frequency = <80000000>;
            reg = <0xc4000000 0x10000>;
            master;
            served-by = <&cpu0>;
        };
    };
};
"""


@pytest.fixture
def root(tmp_path: Path) -> devicetree.Node:
    path = tmp_path / "board.dts"
    path.write_text(SOURCE)
    return devicetree.parse(path)


def spi(root: devicetree.Node) -> devicetree.Node:
    return next(node for node in root.walk() if "spi0" in node.labels)


@pytest.mark.parametrize("node", ["spi0", "spi@c4000000", "/axi/spi@c4000000"])
def test_a_node_is_named_by_label_name_or_path(root: devicetree.Node, node: str) -> None:
    apply_overrides(root, {f"{node}.clock-frequency": "40M"})
    prop = spi(root).props["clock-frequency"]
    assert prop.value == (40_000_000).to_bytes(4, "big")
    assert (prop.file, prop.line) == ("--set", 0)


@pytest.mark.parametrize(
    ("name", "value", "raw"),
    [
        ("clock-frequency", "0x10", b"\0\0\0\x10"),
        ("clock-frequency", 16, b"\0\0\0\x10"),
        ("clock-frequency", "0xffffffff", b"\xff\xff\xff\xff"),
        ("reg", "1,2", b"\0\0\0\1\0\0\0\2"),
        ("reg", [1, 2], b"\0\0\0\1\0\0\0\2"),
        ("label", "p,q", b"p,q\0"),
        ("compatible", "p,q", b"p\0q\0"),
        ("master", "true", b""),
    ],
)
def test_a_value_is_read_as_what_the_property_holds(
    root: devicetree.Node, name: str, value: str | int | list[int], raw: bytes
) -> None:
    apply_overrides(root, {f"spi0.{name}": value})
    assert spi(root).props[name].value == raw


@pytest.mark.parametrize("value", ["false", False, "0"])
def test_a_false_flag_is_gone(root: devicetree.Node, value: str | bool) -> None:
    apply_overrides(root, {"spi0.master": value})
    assert "master" not in spi(root).props


@pytest.mark.parametrize("value", ["true", True])
def test_a_flag_that_is_not_there_can_be_set(root: devicetree.Node, value: str | bool) -> None:
    apply_overrides(root, {"spi0.slave": value})
    prop = spi(root).props["slave"]
    assert (prop.kind, prop.value, prop.file) == ("empty", b"", "--set")


def test_a_label_is_a_reference(root: devicetree.Node) -> None:
    apply_overrides(root, {"spi0.clock-frequency": "&cpu0"})
    assert spi(root).props["clock-frequency"].value == spi(root).props["served-by"].value


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("spi0.clock-freqency", "spi0.clock-frequency"),
        ("spi1.clock-frequency", "spi0.clock-frequency"),
        ("spi0.zzz", "spi0.compatible"),
        ("clock-frequency", "spi0.clock-frequency"),
    ],
)
def test_an_unknown_path_is_refused_with_near_matches(
    root: devicetree.Node, path: str, near: str
) -> None:
    with pytest.raises(SettingError) as caught:
        apply_overrides(root, {path: "1"})
    assert path in str(caught.value)
    assert near in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spi0.clock-frequency", "fast"),
        ("spi0.clock-frequency", "5G"),
        ("spi0.clock-frequency", ""),
        ("spi0.clock-frequency", "-1"),
        ("spi0.clock-frequency", -1),
        ("spi0.clock-frequency", 2**32),
        pytest.param("spi0.clock-frequency", 10**6000, id="6000 digits"),
        ("spi0.reg", [0, -(2**31)]),
        ("spi0.label", "a\0b"),
        ("spi0.label", "\udcff"),
        ("spi0.clock-frequency", "&nobody"),
        ("spi0.clock-frequency", False),
        ("spi0.clock-frequency", True),
        ("spi0.master", "perhaps"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(
    root: devicetree.Node, path: str, value: str | bool
) -> None:
    with pytest.raises(SettingError, match=path.replace(".", r"\.")):
        apply_overrides(root, {path: value})


@pytest.mark.parametrize("argument", ["", "a", "=1", " =1"])
def test_a_set_needs_a_path_and_a_value(argument: str) -> None:
    with pytest.raises(SettingError, match="PATH=VALUE"):
        parse_set(argument)
