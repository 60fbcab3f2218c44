"""Every `tidewise` command that a document shows is one that exists, with options that exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tidewise.cli.main import cli

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "models" / "README.md"])
COMMAND = re.compile(r"(?:^ {4}|`)(?:\.venv/bin/)?tidewise ([a-z][^`#\n]*)", re.MULTILINE)


def shown(document: Path) -> Iterator[list[str]]:
    """The words after `tidewise` of every command in code, whether indented or in backticks."""
    for found in COMMAND.finditer(document.read_text(encoding="utf-8")):
        yield found[1].split()


def command_of(words: list[str]) -> tuple[click.Command, click.Context]:
    """The command that these words name, with its group's word if it is in one."""
    context = click.Context(cli)
    found = cli.get_command(context, words[0])
    assert found is not None, f"there is no verb {words[0]!r}"
    if isinstance(found, click.Group) and len(words) > 1:
        inner = found.get_command(context, words[1])
        assert inner is not None, f"{words[0]} has no verb {words[1]!r}"
        return inner, context
    return found, context


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.name)
def test_commands_and_options_in_documents_exist(document: Path) -> None:
    for words in shown(document):
        command, context = command_of(words)
        known = {option for one in command.get_params(context) for option in one.opts} | {"--help"}
        used = {one.partition("=")[0] for one in words if re.match(r"--?[a-z]", one)}
        assert used <= known, f"{document.name}: tidewise {' '.join(words)}"


def test_the_readme_shows_how_to_begin() -> None:
    verbs = {words[0] for words in shown(ROOT / "README.md")}
    assert verbs >= {"up", "status", "replay", "report", "down", "check", "simulate"}
