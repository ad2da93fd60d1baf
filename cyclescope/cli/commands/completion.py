"""`cyclescope completion`: the completion script for a shell."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

_PROGRAM, _VARIABLE = "cyclescope", "_CYCLESCOPE_COMPLETE"


class _Bash(BashComplete):
    """Click's script, but without a space after an incomplete value, and without file patterns for
    `*`.
    """

    def source(self) -> str:
        """The script."""
        taken = "COMPREPLY+=($value)"
        open_ended = "[[ $value == *[.=] ]] && compopt -o nospace"
        kept = 'COMPREPLY+=("$value")'
        return super().source().replace(taken, f"{kept}\n            {open_ended}")


class _Fish(FishComplete):
    """Click's script, but values may contain commas, as properties do."""

    def source(self) -> str:
        """The script."""
        return super().source().replace('string split ","', 'string split --max 1 ","')


_SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": ZshComplete, "fish": _Fish}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    r"""Print a shell's completion script.

    Bash, in ~/.bashrc: eval "$(cyclescope completion bash)"

    Zsh, in ~/.zshrc: eval "$(cyclescope completion zsh)"

    Fish: cyclescope completion fish > ~/.config/fish/completions/cyclescope.fish
    """
    script = _SHELLS[shell](ctx.find_root().command, {}, _PROGRAM, _VARIABLE)
    click.echo(script.source(), nl=False)
