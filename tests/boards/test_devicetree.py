from pathlib import Path

import pytest

from cyclescope.board.description import devicetree
from cyclescope.errors import BoardError

SOURCE = """/dts-v1/;
/ {
    model = "test";
    cpus {
        cpu0: cpu@0 {
            compatible = "acme,core";
            flag;
            many =
                <1>,
                <2>;
            mixed = <1>, "one";
            raw = [ 01 02 ];
        };
    };
};
&cpu0 {
    many = <7>;
    more;
};
"""


def parse(tmp_path: Path, source: str | bytes) -> devicetree.Node:
    path = tmp_path / "board.dts"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    return devicetree.parse(path)


def test_each_node_and_property_has_its_line(tmp_path: Path) -> None:
    root = parse(tmp_path, SOURCE)
    nodes = {node.path: node for node in root.walk()}
    assert {path: node.line for path, node in nodes.items()} == {
        "/": 2,
        "/cpus": 4,
        "/cpus/cpu@0": 5,
    }
    core = nodes["/cpus/cpu@0"]
    assert core.labels == ["cpu0"]
    assert {name: prop.line for name, prop in core.props.items()} == {
        "compatible": 6,
        "flag": 7,
        "many": 17,
        "mixed": 11,
        "raw": 12,
        "more": 18,
    }


def test_values_are_raw_bytes_with_the_way_they_were_written(tmp_path: Path) -> None:
    core = next(node for node in parse(tmp_path, SOURCE).walk() if node.name == "cpu@0")
    assert {name: (prop.kind, prop.value) for name, prop in core.props.items()} == {
        "compatible": ("strings", b"acme,core\0"),
        "flag": ("empty", b""),
        "many": ("cells", b"\0\0\0\7"),
        "mixed": ("mixed", b"\0\0\0\1one\0"),
        "raw": ("bytes", b"\1\2"),
        "more": ("empty", b""),
    }


def test_an_included_file_is_named_as_the_place(tmp_path: Path) -> None:
    (tmp_path / "part.dtsi").write_text('/ {\n    model = "part";\n};\n')
    root = parse(tmp_path, '/dts-v1/;\n/include/ "part.dtsi"\n/ {\n    own;\n};\n')
    assert Path(root.props["model"].file).name == "part.dtsi"
    assert root.props["model"].line == 2
    assert Path(root.props["own"].file).name == "board.dts"
    assert root.props["own"].line == 4


def test_a_reference_is_the_phandle_of_its_node(tmp_path: Path) -> None:
    root = parse(tmp_path, "/dts-v1/;\n/ { a: a { }; b { to = <&a>; }; };\n")
    nodes = {node.name: node for node in root.walk()}
    assert nodes["a"].phandle == int.from_bytes(nodes["b"].props["to"].value, "big")
    assert nodes["b"].phandle is None


@pytest.mark.parametrize(
    ("source", "place_and_text"),
    [
        ("/ { };", "board.dts:1: expected '/dts-v1/;'"),
        ("/dts-v1/;\n/ {\n    a = <1>\n};\n", "board.dts:4: expected ';' or ','"),
        ("/dts-v1/;\n/ {\n", "board.dts:3: expected node name"),
        ("/dts-v1/;\n/ {\n    a = <08>;\n};\n", "board.dts:3: malformed"),
        ("/dts-v1/;\n/ {\n    a = <0x100000000>;\n};\n", "board.dts:3: 4294967296 does not fit"),
        (
            "/dts-v1/;\n/ { b = <1>;\n a = <1 &nobody>; };\n",
            "board.dts:3: /: undefined node label 'nobody'",
        ),
        ("/dts-v1/;\n/delete-node/ &{/};\n", "board.dts:2"),
        (b'/dts-v1/;\n/ { a = "\xff"; };\n', "not text"),
        ("/dts-v1/;\n/ { a { " + "x { " * 5000, "nest too deep"),
    ],
)
def test_a_syntax_error_is_one_line_with_its_place(
    tmp_path: Path, source: str | bytes, place_and_text: str
) -> None:
    with pytest.raises(BoardError) as caught:
        parse(tmp_path, source)
    assert len(caught.value.faults) == 1
    assert "\n" not in caught.value.faults[0]
    assert place_and_text in caught.value.faults[0]
