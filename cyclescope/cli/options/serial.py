"""The options of `run` for serial lines: `--console`, `--script`, `--no-pace`; and `--can`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from cyclescope.board import Board
from cyclescope.board.results import INTERRUPTED, RunResult
from cyclescope.board.wiring.lines import Session, port_of
from cyclescope.board.wiring.printed import Console, ConsoleSink
from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.host.outputs import write_text

if TYPE_CHECKING:
    from cyclescope.board.can import CanNode
    from cyclescope.board.scripts import Script, Step
    from cyclescope.host import consoles

    Opened = consoles.PseudoTerminal | consoles.TcpPort | consoles.StandardInput

_KINDS = "stdio, pty, tcp, tcp:PORT, tcp:HOST:PORT or file:PATH"
_MOST_INPUT_BYTES = 512 << 20
_LOCAL = "127.0.0.1"


@dataclass
class SerialLines:
    """The terminals and scripts at the board's serial lines, by the labels of their ports."""

    typed: dict[str | None, bytes] = field(default_factory=dict)
    scripts: dict[str | None, Script] = field(default_factory=dict)
    terminals: dict[str | None, Opened] = field(default_factory=dict)
    shown_elsewhere: set[str] = field(default_factory=set)
    console: str | None = None
    is_hidden: bool = False
    can: dict[str, CanNode] = field(default_factory=dict)
    can_logs: dict[str, str] = field(default_factory=dict)
    session: Session = field(default_factory=Session)
    _is_closed: bool = False

    def close(self) -> None:
        """Restore the terminal, and close pseudo-terminals and ports."""
        if not self._is_closed:
            self._is_closed = True
            for terminal in self.terminals.values():
                terminal.close()

    def show_on(self, sink: ConsoleSink, errors: str) -> None:
        """Show the output of a line other than the console whose input is standard input."""
        for name, terminal in self.terminals.items():
            if name != self.console and not terminal.takes_output:
                # only standard input takes none; its module is imported where a terminal is opened
                cast("consoles.StandardInput", terminal).show_by(Console(sink, errors).write)

    @property
    def is_interactive(self) -> bool:
        """Whether a line has an interactive terminal."""
        return bool(self.terminals)

    @property
    def takes_stdin(self) -> bool:
        """Whether a line's input is standard input."""
        return any(not terminal.takes_output for terminal in self.terminals.values())

    @property
    def hides_console(self) -> bool:
        """Whether the console's text is not shown on standard output."""
        return self.is_hidden or self.console in self.shown_elsewhere


@dataclass(frozen=True)
class LineOptions:
    """The values of the options for serial lines."""

    consoles: tuple[str, ...]
    scripts: tuple[str, ...]
    save_script: str | None
    pace: bool
    no_console: bool = False
    can: tuple[str, ...] = ()

    @contextmanager
    def opened(self, board: Board, stdin_is_taken: bool) -> Iterator[SerialLines]:
        """The opened lines, until the end of the block. Raises `UsageError`, `OSError`."""
        with _opened(board, self.consoles, self.scripts, stdin_is_taken) as lines:
            if self.save_script is not None and len(lines.terminals) != 1:
                raise UsageError(
                    "--save-script needs exactly one serial line with an interactive --console"
                )
            lines.is_hidden = self.no_console
            if self.can:
                from cyclescope.cli.options.can import read_nodes  # few runs have one

                lines.can, lines.can_logs = read_nodes(self.can)
                lines.shown_elsewhere |= lines.can_logs.keys()
            yield lines

    def arguments(self, lines: SerialLines) -> dict[str, Any]:
        """The lines as arguments of `Board.run`."""
        return {
            "typed": lines.typed,
            "script": lines.scripts,
            "terminals": lines.terminals,
            "pace": self.pace,
            "session": lines.session,
            "can": lines.can,
        }

    @property
    def outputs(self) -> dict[str, str | None]:
        """The files to write at the end, by their options."""
        logs = [value.partition("=log:") for value in self.can]
        return {"--save-script": self.save_script} | {
            f"--can {label}": path for label, _, path in logs if path
        }

    def save(self, lines: SerialLines, result: RunResult) -> None:
        """Write the typed input as a script, if requested, and the frames of CAN buses.

        Raises `OutputError`.
        """
        for label, path in lines.can_logs.items():
            write_text(path, result.streams.get(label, ""))
        if self.save_script is None:
            return
        from cyclescope.board.scripts import At, End, format_script

        (port,) = lines.terminals
        steps: list[Step] = lines.session.steps(str(port))
        if result.outcome == INTERRUPTED:
            steps += [At(result.elapsed_ps), End()]
        # a script begins at time 0, and input can't come earlier
        write_text(self.save_script, format_script(step for step in steps if step != At(0)))


script_option = click.option(
    "--script",
    "scripts",
    multiple=True,
    metavar="[LABEL=]FILE",
    help="Script that sends and expects text on serial lines, in simulated time.",
)


def line_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options; it gets them as `line`."""

    @click.option(
        "--console",
        "consoles",
        multiple=True,
        metavar="[LABEL=]WHERE",
        help=(
            "Connect the console, or another serial line by its port's label, to stdio, "
            "pty, tcp[:[HOST:]PORT] or file:PATH."
        ),
    )
    @script_option
    @click.option("--save-script", metavar="FILE", help="Record typed input as a script.")
    @click.option(
        "--can",
        "can",
        multiple=True,
        metavar="LABEL=WHAT",
        help="Another node on a CAN bus: ack[:RATE], log[:FILE], or a FILE with frames.",
    )
    @click.option(
        "--pace/--no-pace",
        default=True,
        help="On an interactive console, slow the simulation down to real time, or not.",
    )
    @click.option("--no-console", is_flag=True, help="Do not show the output of serial lines.")
    @wraps(command)
    def with_options(
        *,
        consoles: tuple[str, ...],
        scripts: tuple[str, ...],
        save_script: str | None,
        pace: bool,
        no_console: bool,
        can: tuple[str, ...],
        **others: Any,
    ) -> Any:
        line = LineOptions(consoles, scripts, save_script, pace, no_console, can)
        return command(line=line, **others)

    return with_options


@contextmanager
def _opened(
    board: Board, consoles: Sequence[str], scripts: Sequence[str], stdin_is_taken: bool
) -> Iterator[SerialLines]:
    ports, console = board.serial_ports
    lines = SerialLines(console=console)
    taken: set[str] = set()

    def parted(value: str) -> tuple[str | None, str]:
        label, equals, rest = value.partition("=")
        is_label = bool(equals) and (label in ports or label.isidentifier())
        return (label, rest) if is_label else (None, value)

    def port(option: str, value: str) -> tuple[str, str]:
        label, rest = parted(value)
        name = port_of(label, ports, console)
        if name in taken:
            raise UsageError(f"{option} {inputs.printable(value)}: {name} already has an input")
        taken.add(name)
        return name, rest

    if scripts:
        from cyclescope.board.scripts import read_script  # most runs don't need it
    for value in scripts:
        label, path = parted(value)
        script = read_script(path)
        if label is None and not script.needs_line:
            if None in lines.scripts:
                has = "there can be only one script without serial steps"
                raise UsageError(f"--script {inputs.printable(value)}: {has}")
            lines.scripts[None] = script
            continue
        name, _ = port("--script", value)
        lines.scripts[name] = script
    try:
        for value in consoles:
            name, kind = port("--console", value)
            _open(lines, name, kind, stdin_is_taken)
        yield lines
    finally:
        lines.close()


def _open(lines: SerialLines, name: str, kind: str, stdin_is_taken: bool) -> None:
    what, _, rest = kind.partition(":")
    if what == "file" and rest:
        lines.typed[name] = inputs.read(Path(rest), _MOST_INPUT_BYTES)
        return
    from cyclescope.host import consoles  # only interactive runs need it

    if kind == "stdio":
        if stdin_is_taken or any(
            isinstance(other, consoles.StandardInput) for other in lines.terminals.values()
        ):
            raise UsageError("--console stdio: another option already uses the standard input")
        lines.terminals[name] = consoles.StandardInput()
        if name != lines.console:
            lines.shown_elsewhere.add(name)
        return
    terminal: consoles.PseudoTerminal | consoles.TcpPort
    if kind == "pty":
        terminal = consoles.PseudoTerminal()
    elif what == "tcp":
        terminal = consoles.TcpPort(*_address(kind, rest))
    else:
        raise UsageError(f"--console {inputs.printable(kind)}: expected {_KINDS}")
    lines.terminals[name] = terminal
    lines.shown_elsewhere.add(name)
    print(f"cyclescope: {name} is at {terminal.name}", file=sys.stderr, flush=True)


def _address(kind: str, rest: str) -> tuple[str, int]:
    host, _, port = rest.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or _LOCAL
    digits = port or "0"
    if digits.isascii() and digits.isdecimal() and len(digits) <= 5 and int(digits) < 65536:
        return host, int(digits)
    what = f"--console {inputs.printable(kind)}"
    raise UsageError(f"{what}: a port is a number from 1 to 65535, or 0 for any free port")
