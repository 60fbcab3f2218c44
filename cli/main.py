"""The `tidewise` command: one click command a module, imported only when it is called."""

from __future__ import annotations

import importlib
import logging
import os
import sys

import click

from tidewise import __version__
from tidewise.cli.lifeline import follow_parent
from tidewise.cli.logs import start_logging, started_logging
from tidewise.core.errors import InputError, TidewiseError

SECTIONS = {
    "Begin": ("demo", "doctor"),
    "A cluster on this machine": ("up", "status", "down"),
    "Applications": ("check", "profile", "apply", "remove"),
    "Demand, and what became of it": ("trace", "replay", "report", "simulate", "plan"),
    "The processes of a cluster": ("controller", "router", "worker", "probe"),
}
COMMANDS = {name: f"tidewise.cli.{name}" for names in SECTIONS.values() for name in names}
PROCESSES = ("controller", "router", "worker")  # what they say is a log: JSON lines from the first to the last


class LazyGroup(click.Group):
    """A group whose commands live one a module, each as that module's ``command``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name."""
        return sorted(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in help, by what they are for."""
        room = max(map(len, COMMANDS))
        for title, names in SECTIONS.items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(f"{name:{room}}", one.get_short_help_str(70)) for name, one in found if one])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module and return the command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tidewise")
def cli() -> None:
    """Serve machine-learning models on a cluster of fixed size, trading accuracy only as far as demand requires."""


def main() -> None:
    """Run the command line; exit 0 if all went well, 1 if something failed, 2 if the input was wrong."""
    follow_parent()
    if sys.argv[1:2] and sys.argv[1] in PROCESSES and not sys.stderr.isatty():
        start_logging(sys.argv[1])
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its core logs in a form of its own what we raise or log anyway
    try:
        cli(prog_name="tidewise")
    except (TidewiseError, OSError) as error:  # OSError: a folder that cannot be written, a disk that is full
        _tell(str(error))
        sys.exit(2 if isinstance(error, InputError) else 1)


def _tell(sentence: str) -> None:
    """Why the command ends; as a line of the log where there is one."""
    if started_logging():
        logging.getLogger("tidewise").error(sentence)
    else:
        click.echo(f"tidewise: {sentence}", err=True)


if __name__ == "__main__":
    main()
