"""The commands in one place, and what a mistake or an interrupt looks like."""

from __future__ import annotations

import io
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperCommand

from lightproof.cli import enroll as enrolling
from lightproof.cli import evaluate as evaluating
from lightproof.cli import forget as forgetting
from lightproof.cli import gallery, photos, work
from lightproof.cli import identify as identifying
from lightproof.cli import serve as serving
from lightproof.cli import sync as syncing
from lightproof.cli import verify as verifying
from lightproof.cli import watch as watching
from lightproof.cli.calibrate import calibrate, rebuild
from lightproof.cli.compact import compact
from lightproof.cli.console import printable
from lightproof.cli.crop import crop
from lightproof.cli.demo import demo
from lightproof.cli.doctor import EXIT_CODES as DOCTOR_EXIT_CODES
from lightproof.cli.doctor import doctor
from lightproof.cli.exchange import export, import_
from lightproof.cli.explain import explain
from lightproof.cli.light import light
from lightproof.cli.people import people, rename
from lightproof.cli.reproduce import reproduce
from lightproof.cli.sweep import sweep
from lightproof.errors import BadParameter, GridDoesNotFit, UnknownName, UserError


class PlainCommand(TyperCommand):
    """A command whose help texts are no markup: rich would take ``[camera]`` for a style, and leave it out."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for part in (self, *self.params):
            for text in ("help", "short_help", "epilog"):
                if isinstance(getattr(part, text, None), str):
                    setattr(part, text, escape(getattr(part, text)))


app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

PEOPLE, PHOTOS, RESEARCH = "People", "Photographs", "Experiments"

app.command(cls=PlainCommand, epilog=enrolling.EXIT_CODES, rich_help_panel=PEOPLE)(enrolling.enroll)
app.command(cls=PlainCommand, epilog=identifying.EXIT_CODES, rich_help_panel=PEOPLE)(identifying.identify)
app.command(cls=PlainCommand, epilog=verifying.EXIT_CODES, rich_help_panel=PEOPLE)(verifying.verify)
app.command(cls=PlainCommand, epilog=gallery.EXIT_CODES, rich_help_panel=PEOPLE)(people)
app.command(cls=PlainCommand, epilog=gallery.EXIT_CODES, rich_help_panel=PEOPLE)(rename)
app.command(cls=PlainCommand, epilog=forgetting.EXIT_CODES, rich_help_panel=PEOPLE)(forgetting.forget)
app.command(cls=PlainCommand, epilog=syncing.EXIT_CODES, rich_help_panel=PEOPLE)(syncing.sync)
app.command(cls=PlainCommand, epilog=gallery.EXIT_CODES, rich_help_panel=PEOPLE)(calibrate)
app.command(cls=PlainCommand, epilog=gallery.EXIT_CODES, rich_help_panel=PEOPLE)(explain)
app.command(cls=PlainCommand, epilog=watching.EXIT_CODES, rich_help_panel=PEOPLE)(watching.watch)
app.command(cls=PlainCommand, epilog=serving.EXIT_CODES, rich_help_panel=PEOPLE)(serving.serve)
app.command(cls=PlainCommand, epilog=gallery.EXIT_CODES, rich_help_panel=PEOPLE)(compact)
app.command(cls=PlainCommand, epilog=gallery.EXIT_CODES, rich_help_panel=PEOPLE)(rebuild)
app.command(cls=PlainCommand, epilog=gallery.EXIT_CODES, rich_help_panel=PEOPLE)(export)
app.command("import", cls=PlainCommand, epilog=gallery.EXIT_CODES, rich_help_panel=PEOPLE)(import_)
app.command(cls=PlainCommand, epilog=evaluating.EXIT_CODES, rich_help_panel=PEOPLE)(evaluating.evaluate)
app.command(cls=PlainCommand, epilog=photos.EXIT_CODES, rich_help_panel=PHOTOS)(light)
app.command(cls=PlainCommand, epilog=photos.EXIT_CODES, rich_help_panel=PHOTOS)(crop)
app.command(cls=PlainCommand, epilog=DOCTOR_EXIT_CODES, rich_help_panel=PHOTOS)(doctor)
app.command(cls=PlainCommand, epilog=work.EXIT_CODES, rich_help_panel=RESEARCH)(demo)
app.command(cls=PlainCommand, epilog=work.EXIT_CODES, rich_help_panel=RESEARCH)(reproduce)
app.command(cls=PlainCommand, epilog=work.EXIT_CODES, rich_help_panel=RESEARCH)(sweep)


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
        # A terminal without some sign shows a question mark instead of a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except UserError as mistake:
        print(f"lightproof: {printable(str(mistake))}", file=sys.stderr)
        sys.exit(2 if _is_wrong_call(mistake) else 1)
    except OSError as problem:
        # What nobody foresaw, such as a name too long for the disk.
        what = problem.filename or "Every file and device"
        sentence = f"{what} must be one that can be used; got: {problem.strerror or problem}."
        print(f"lightproof: {printable(sentence)}", file=sys.stderr)
        sys.exit(1)


def _is_wrong_call(mistake: UserError) -> bool:
    """Tell what is wrong on the command line itself from what is wrong in a file."""
    return isinstance(mistake, BadParameter | UnknownName) and not isinstance(mistake, GridDoesNotFit)
