"""`cyclescope ipc`: the tests on a terminal, with a table and a file."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from cyclescope import firmware
from cyclescope.board import Board, find_board, shipped_boards
from cyclescope.board.description.overrides import parse_set
from cyclescope.board.results import Value
from cyclescope.cli import completions
from cyclescope.cli.options.board import devices_option
from cyclescope.cli.tables import run as tables
from cyclescope.cli.tables.columns import Fitted
from cyclescope.errors import IpcError, OutputError, UsageError, complain
from cyclescope.experiments.rpmsg_tty import LINUX_DELAY_US
from cyclescope.host.interrupts import Interrupted
from cyclescope.host.outputs import check_outputs, write_text
from cyclescope.ipc.client import Results, run_tests
from cyclescope.ipc.link import Link, open_link
from cyclescope.ipc.protocol import TtyTest, parse_test, report_tests
from cyclescope.ipc.server import Server
from cyclescope.ipc.virtual import VirtualTty
from cyclescope.statuses import Status
from cyclescope.units import parse_time_ps

DEFAULT_PORT = "/dev/ttyRPMSG0"
BRIDGE = "rpmsg_tty_bridge"
# added to the board's name for the path of its link
TTY_SUFFIX = "-tty"


@click.command("ipc")
@click.option("--port", help=f"Serial port or pseudo-terminal [default: {DEFAULT_PORT}].")
@click.option(
    "--board",
    help="Use a virtual board instead: its name, or the path of a .dts file.",
    shell_complete=completions.boards,
)
@devices_option
@click.option("--serve", is_flag=True, help="Only offer the board's tty as a pseudo-terminal.")
@click.option(
    "--link",
    type=click.Path(path_type=Path),
    help="Create a symbolic link to that pseudo-terminal.",
)
@click.option(
    "--firmware",
    "elf",
    type=click.Path(path_type=Path),
    metavar="ELF",
    help=f"Firmware of the board [default: app {BRIDGE}].",
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE",
    help="Set a board property or a setting of its app.",
)
@click.option(
    "--test",
    "tests",
    multiple=True,
    metavar="BYTESxBLOCKS",
    help="Test to run: 512x8 [default: the report's eleven].",
)
@click.option(
    "--timeout",
    default="2s",
    show_default=True,
    help="Timeout for a block or an answer (simulated time on a virtual board).",
)
@click.option(
    "--baud",
    type=click.IntRange(1, 2**31 - 1),
    default=115200,
    show_default=True,
    help="Baud rate of a real serial port.",
)
@click.option("--check-crc", is_flag=True, help="Expect a CRC in the firmware's answers.")
@click.option("--json", "json_file", metavar="FILE|-", help="Write the results as JSON.")
def ipc_command(
    port: str | None,
    board: str | None,
    serve: bool,
    link: Path | None,
    elf: Path | None,
    sets: tuple[str, ...],
    tests: tuple[str, ...],
    timeout: str,
    baud: int,
    check_crc: bool,
    json_file: str | None,
) -> int:
    """Measure RPMsg over a tty, on a real port or a virtual board."""
    _check_usage(port, board, serve, {"--link": link, "--firmware": elf, "--set": sets})
    outputs = {"--json": None if json_file == "-" else json_file}
    check_outputs(outputs, {})
    timeout_ps = parse_time_ps(timeout)
    chosen = tuple(map(parse_test, tests)) or report_tests()
    try:
        if board is None:
            return _measure(port or DEFAULT_PORT, chosen, timeout_ps, baud, check_crc, json_file)
        tty = _virtual_tty(board, elf, sets, outputs)
        server = Server(tty, link)
        if serve:
            return _serve(server, tty)
        try:
            with server:
                status = _measure(server.port, chosen, timeout_ps, baud, check_crc, json_file)
        finally:
            unsaved = _saved(tty)
        for words in tty.last_words() if status else ():
            print(f"cyclescope: note: {words}", file=sys.stderr)
        return status or unsaved
    except IpcError as error:
        complain(str(error))
        return Status.FAILED


def _check_usage(
    port: str | None, board: str | None, serve: bool, of_board: dict[str, object]
) -> None:
    if port is not None and board is not None:
        raise UsageError("--port and --board exclude each other: a virtual board has its own port")
    given = [option for option, value in {**of_board, "--serve": serve}.items() if value]
    if board is None and given:
        raise UsageError(f"{given[0]} needs --board")


def _virtual_tty(
    name: str, elf: Path | None, sets: tuple[str, ...], outputs: dict[str, str | None]
) -> VirtualTty:
    find_board(name)
    changes = dict(map(parse_set, sets))
    settings: dict[str, Value] = {"linux_delay_us": LINUX_DELAY_US}
    if elf is None:
        kinds = firmware.load_app(BRIDGE).settings
        for path in [path for path in changes if path in kinds]:
            text = changes.pop(path)
            value = kinds[path].parse(text)
            if value is None:
                raise UsageError(f"--set {path}={text}: allowed: {kinds[path]}")
            settings[path] = value
        elf = firmware.build_app(BRIDGE, name, settings, changes)
    has_tty = f"{name}{TTY_SUFFIX}"
    virtual = Board(has_tty if has_tty in shipped_boards() else name, changes)
    check_outputs(outputs, {**virtual.inputs, str(elf): "the firmware"})
    return VirtualTty(virtual, elf)


def _saved(tty: VirtualTty) -> int:
    """End the board's run: 1 if an image of one of its chips could not be saved."""
    failed = tty.finish()
    for failure in failed:
        complain(failure)
    return Status.FAILED if failed else Status.SUCCESS


def _serve(server: Server, tty: VirtualTty) -> int:
    """Offer the terminal until a signal, a request to end, or the end of the program."""
    click.echo(server.port)
    sys.stdout.flush()
    try:
        server.run()
    finally:
        server.close()
        status = _saved(tty)
    return status


def _measure(
    port: str,
    tests: tuple[TtyTest, ...],
    timeout_ps: int,
    baud: int,
    check_crc: bool,
    json_file: str | None,
) -> int:
    with contextlib.closing(open_link(port, timeout_ps, baud)) as link:
        results = Results(link.port, link.clock)
        with _reported(results, tables.console(stderr=json_file == "-"), json_file):
            _run(link, tests, timeout_ps, check_crc, results)
    if results.error:
        complain(results.error)
    return Status.FAILED if results.error else Status.SUCCESS


def _run(
    link: Link, tests: tuple[TtyTest, ...], timeout_ps: int, check_crc: bool, results: Results
) -> None:
    try:
        run_tests(link, tests, timeout_ps, check_crc, results)
    except Interrupted as interrupted:
        results.error = str(interrupted)
        raise


@contextlib.contextmanager
def _reported(results: Results, terminal: Console, json_file: str | None) -> Iterator[None]:
    """Show and write the results at the end of the block, also after an error."""
    try:
        yield
    finally:
        if results.measured:
            terminal.print(results_table(results))
        text = json.dumps(results.to_dict(), indent=2) + "\n"
        if json_file == "-":
            sys.stdout.write(text)
            sys.stdout.flush()
        elif json_file:
            _write(json_file, text, results)


def _write(json_file: str, text: str, results: Results) -> None:
    """Write the results; a failure to write is added to their errors."""
    try:
        write_text(json_file, text)
    except OutputError as error:
        if results.error:
            complain(str(error))
        results.error = results.error or str(error)


def results_table(results: Results) -> Table:
    """Published and measured times, one row for each test."""
    title = f"RPMsg over {results.port}, {results.clock} time"
    table = Fitted(title=title, title_justify="left")
    for heading in ("test", "bytes", "published", "measured", "error", "KiB/s"):
        table.add_column(heading, justify="left" if heading == "test" else "right", no_wrap=True)
    for measured in results.measured:
        published = measured.test.published_ns
        table.add_row(
            str(measured.test),
            str(measured.test.total_bytes),
            "" if published is None else f"{published / 1e6:.3f} ms",
            f"{measured.time_ns / 1e6:.3f} ms",
            "" if measured.error_pct is None else f"{measured.error_pct:+.1f} %",
            f"{measured.rate_kib_per_s:.1f}",
        )
    return table
