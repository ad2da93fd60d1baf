"""docs/reference/command-line.md: commands, arguments and options, from click's objects."""

from __future__ import annotations

import inspect
import re

import click
import markdown

from cyclescope.cli import cli
from cyclescope.cli.options.groups import GroupedCommand


def text() -> str:
    """The page."""
    context = _context(cli, "cyclescope", None)
    names = cli.list_commands(context)
    parts = [
        markdown.paragraph(cli.help or ""),
        markdown.code(_usage(context)),
        _parameters(context),
        markdown.paragraph(
            "The [exit status](exit-statuses.md) says how a command ended. The commands:"
        ),
        markdown.items(
            f"[`{name}`](#cyclescope-{name}): {_short(name, context)}" for name in names
        ),
    ]
    for name in names:
        command = cli.get_command(context, name)
        assert command is not None
        parts.append(_section(command, _context(command, name, context)))
    return markdown.page("Command line", *parts)


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def _short(name: str, context: click.Context) -> str:
    command = cli.get_command(context, name)
    assert command is not None
    first = inspect.cleandoc(command.help or "").split("\n\n")[0]
    return " ".join(first.split())


def _usage(context: click.Context) -> str:
    return context.command.get_usage(context).removeprefix("Usage: ")


def _section(command: click.Command, context: click.Context) -> str:
    parts = [
        f"## cyclescope {command.name}",
        markdown.code(_usage(context)),
        markdown.paragraphs(inspect.cleandoc(command.help or "").replace("\b\n", "")),
        _parameters(context),
        markdown.paragraphs((command.epilog or "").replace("\b\n", "")),
    ]
    return "\n\n".join(part for part in parts if part)


def _parameters(context: click.Context) -> str:
    """The options, under the headings that the help has."""
    command = context.command
    if not isinstance(command, GroupedCommand):
        return _options(command.get_params(context), context)
    groups = [
        (heading, _options(params, context)) for heading, params in command.grouped(context).items()
    ]
    return "\n\n".join(f"{heading}:\n\n{options}" for heading, options in groups if options)


def _options(params: list[click.Parameter], context: click.Context) -> str:
    options = [param for param in params if isinstance(param, click.Option) and not param.hidden]
    return "\n".join(map(_option, options, [context] * len(options)))


def _option(option: click.Option, context: click.Context) -> str:
    names, words = option.get_help_record(context) or ("", "")
    # click puts defaults and ranges after the text, in brackets
    text, facts = re.fullmatch(r"(.*?)((?:\s*\[[^\]]*\]\.?)*)", words, re.DOTALL).groups()
    details = re.findall(r"\[([^\]]*)\]", facts)
    if option.multiple:
        details.append("may be given more than once")
    more = f" ({'; '.join(details)})" if details else ""
    return markdown.item(f"`{names}`: {text.rstrip('. ')}{more}.".replace(":  (", ": ("))
