"""docs/reference/command-line.md: commands, arguments and options, from click's objects."""

from __future__ import annotations

import inspect

import click
import markdown

from cyclescope.cli import cli


def text() -> str:
    """The page."""
    context = _context(cli, "cyclescope", None)
    names = cli.list_commands(context)
    parts = [
        markdown.paragraph(cli.help or ""),
        markdown.code(_usage(context)),
        _parameters(context),
        markdown.paragraph(
            "How a command ends is told by its [exit status](exit-statuses.md). The commands:"
        ),
        "\n".join(f"- [`{name}`](#cyclescope-{name}): {_short(name, context)}" for name in names),
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
    return markdown.item(first)[2:]


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
    options = [
        param
        for param in context.command.get_params(context)
        if isinstance(param, click.Option) and not param.hidden
    ]
    return "\n".join(map(_option, options, [context] * len(options)))


def _option(option: click.Option, context: click.Context) -> str:
    names, words = option.get_help_record(context) or ("", "")
    facts = []
    if option.multiple:
        facts.append("may be given more than once")
    if option.required and "required" not in words:
        facts.append("required")
    default = option.default
    if isinstance(default, str | int | float) and not option.is_flag and "default" not in words:
        facts.append(f"default: {default}")
    more = f" ({'; '.join(facts)})" if facts else ""
    return markdown.item(f"`{names}`: {words.rstrip('.')}{more}.")
