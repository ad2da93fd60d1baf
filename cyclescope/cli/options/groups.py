"""Base classes of commands: options under headings in the help, arguments after `--`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click


class GroupedCommand(click.Command):
    """A command whose help has options under headings.

    `groups` maps a heading to names of parameters; options without a group are at the end of the
    help, as in click.
    """

    def __init__(
        self, *arguments: Any, groups: Mapping[str, Sequence[str]] | None = None, **more: Any
    ) -> None:
        super().__init__(*arguments, **more)
        self.groups = dict(groups or {})

    def grouped(self, ctx: click.Context) -> dict[str, list[click.Parameter]]:
        """The parameters by heading; those without a group are under "Options"."""
        of = {name: heading for heading, names in self.groups.items() for name in names}
        found: dict[str, list[click.Parameter]] = {heading: [] for heading in self.groups}
        found["Options"] = []
        for param in self.get_params(ctx):
            found[of.get(str(param.name), "Options")].append(param)
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group with visible options."""
        for heading, params in self.grouped(ctx).items():
            options = [param for param in params if isinstance(param, click.Option)]
            records = [record for option in options if (record := option.get_help_record(ctx))]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


class TakesArguments(GroupedCommand):
    """A command whose parameter `arguments` has everything after the first `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments before `--`."""
        end = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:end])
        ctx.params["arguments"] = tuple(args[end + 1 :])
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Add the arguments to the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- ARGUMENTS...]"]
