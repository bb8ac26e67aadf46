"""The commands in one place, and what a mistake or an interrupt looks like."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from lightproof import __version__
from lightproof.cli import photos
from lightproof.cli.console import printable
from lightproof.cli.crop import crop
from lightproof.cli.demo import demo
from lightproof.cli.doctor import EXIT_CODES as DOCTOR_EXIT_CODES
from lightproof.cli.doctor import doctor
from lightproof.cli.light import light
from lightproof.cli.reproduce import reproduce
from lightproof.cli.sweep import sweep
from lightproof.errors import UserError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command(epilog=photos.EXIT_CODES)(light)
app.command(epilog=photos.EXIT_CODES)(crop)
app.command(epilog=DOCTOR_EXIT_CODES)(doctor)
app.command()(demo)
app.command()(reproduce)
app.command()(sweep)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it and stop.")
    ] = False,
) -> None:
    """Face recognition that does not care about the light."""


def main() -> None:
    """Run the command line; a mistake of the user is one sentence and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal without some sign shows a question mark instead of a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except UserError as mistake:
        print(f"lightproof: {printable(str(mistake))}", file=sys.stderr)
        sys.exit(1)
