"""Every verb of the command line is there and explains itself."""

import pytest
from click.testing import CliRunner

from tidewise.cli.main import COMMANDS, cli


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_verb_has_a_help_text(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith(f"Usage: cli {name}")


def test_the_list_of_verbs_says_what_each_is_for() -> None:
    result = CliRunner().invoke(cli, ["--help"])
    assert result.exit_code == 0
    said = result.output.partition("--help")[2].partition("\n")[2]
    listed = [line.split(maxsplit=1) for line in said.splitlines() if line.startswith("  ")]
    assert sorted(words[0] for words in listed) == sorted(COMMANDS)
    assert all(len(words) == 2 and words[1].endswith(".") and "..." not in words[1] for words in listed)


def test_an_unknown_verb_is_wrong_input() -> None:
    assert CliRunner().invoke(cli, ["fly"]).exit_code == 2
