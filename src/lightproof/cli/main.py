"""All commands in one list, and what a mistake of the user looks like."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperCommand

from lightproof.cli import (
    command,
    doctor,
    enroll,
    enrolled_people,
    evaluate,
    explain,
    identify,
    light_and_crop,
    maintenance,
    research,
    serve,
    watch,
)
from lightproof.cli.console import printable
from lightproof.errors import BadParameter, GridDoesNotFit, UnknownName, UserError


class PlainCommand(TyperCommand):
    """A command whose help texts are no markup: rich would take ``[camera]`` for a style and leave it out."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for part in (self, *self.params):
            for text in ("help", "short_help", "epilog"):
                if isinstance(getattr(part, text, None), str):
                    setattr(part, text, escape(getattr(part, text)))


app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

PEOPLE, PHOTOS, RESEARCH = "People", "Photographs", "Experiments"

COMMANDS: list[tuple[str, str, Callable[..., None]]] = [
    (PEOPLE, enroll.ENROLL_EXIT_CODES, enroll.enroll),
    (PEOPLE, identify.IDENTIFY_EXIT_CODES, identify.identify),
    (PEOPLE, identify.VERIFY_EXIT_CODES, identify.verify),
    (PEOPLE, command.EXIT_CODES, enrolled_people.people),
    (PEOPLE, command.EXIT_CODES, enrolled_people.rename),
    (PEOPLE, enrolled_people.FORGET_EXIT_CODES, enrolled_people.forget),
    (PEOPLE, enroll.SYNC_EXIT_CODES, enroll.sync),
    (PEOPLE, command.EXIT_CODES, maintenance.calibrate),
    (PEOPLE, command.EXIT_CODES, explain.explain),
    (PEOPLE, watch.EXIT_CODES, watch.watch),
    (PEOPLE, serve.EXIT_CODES, serve.serve),
    (PEOPLE, command.EXIT_CODES, maintenance.compact),
    (PEOPLE, command.EXIT_CODES, maintenance.rebuild),
    (PEOPLE, command.EXIT_CODES, maintenance.export),
    (PEOPLE, command.EXIT_CODES, maintenance.import_),
    (PEOPLE, evaluate.EXIT_CODES, evaluate.evaluate),
    (PHOTOS, light_and_crop.EXIT_CODES, light_and_crop.light),
    (PHOTOS, light_and_crop.EXIT_CODES, light_and_crop.crop),
    (PHOTOS, doctor.EXIT_CODES, doctor.doctor),
    (RESEARCH, research.EXIT_CODES, research.demo),
    (RESEARCH, research.EXIT_CODES, research.reproduce),
    (RESEARCH, research.EXIT_CODES, research.sweep),
]
for panel, exit_codes, function in COMMANDS:
    name = function.__name__.rstrip("_")
    stopped = "" if name in ("watch", "serve") else "; 130 stopped by Ctrl-C"  # which is the usual end of those two
    epilog = f"Exit codes: {exit_codes}; 2 a wrong call{stopped}."
    app.command(name, cls=PlainCommand, epilog=epilog, rich_help_panel=panel)(function)


def _version(wanted: bool) -> None:
    if wanted:
        print(version("lightproof"))
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it and stop.")
    ] = False,
) -> None:
    """Face recognition that does not care about the light."""


def main() -> None:
    """Run the command line; a mistake of the user is one sentence, and exit code 1, or 2 for a wrong call."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a letter shows a question mark instead of a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except UserError as mistake:
        print(f"lightproof: {printable(str(mistake))}", file=sys.stderr)
        # A mistake on the command line itself, not in a file, is a wrong call.
        wrong_call = isinstance(mistake, BadParameter | UnknownName) and not isinstance(mistake, GridDoesNotFit)
        sys.exit(2 if wrong_call else 1)
    except OSError as problem:
        # An error that nobody foresaw, such as a name too long for the disk.
        path = problem.filename or "Every file and device"
        sentence = f"{path} must be one that can be used; got: {problem.strerror or problem}."
        print(f"lightproof: {printable(sentence)}", file=sys.stderr)
        sys.exit(1)
