"""What the commands share: their options, an open gallery, and how a command reports and ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, ParamSpec, cast

import typer

from lightproof.cli.console import STDOUT, check_rows_place, remark, say, stderr, write_rows
from lightproof.errors import BadParameter, UserError

if TYPE_CHECKING:
    from lightproof.core.cluster import Cluster
    from lightproof.gallery import Gallery

P = ParamSpec("P")

DEFAULT: Final = "people.gallery"
"""The place of the gallery if none is given."""

WAIT: Final = 30.0
"""Seconds to wait for other writers."""

EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 nothing was changed, with a sentence on stderr; 2 a wrong call; 130 stopped by Ctrl-C."
)
"""Of most commands that use a gallery."""

WHOLE: Final = "The gallery is whole: a change is there altogether or not at all."
GOES_ON: Final = "What is enrolled is whole; the same command goes on from there."
NOTHING_WRITTEN: Final = "Nothing was written."
NOTHING_CHANGED: Final = "Nothing was changed."
"""Sentences on what an interrupt leaves."""

_JOINERS: Final = "\u200c\u200d"

Place = Annotated[
    str,
    typer.Option(
        "--gallery",
        metavar="FILE_OR_URL",
        envvar="LIGHTPROOF_GALLERY",
        show_envvar=False,
        help="The gallery, a file or postgresql://USER@HOST/DATABASE; LIGHTPROOF_GALLERY if not given.",
    ),
]
Photos = Annotated[
    list[Path], typer.Argument(metavar="PHOTO", readable=False, help="Photographs, of any size and format.")
]
Cropped = Annotated[bool, typer.Option("--cropped", help="The pictures are faces already: nothing is looked for.")]
Several = Annotated[
    Literal["largest", "refuse"], typer.Option(help="Of several faces take the largest, or refuse the photo.")
]
Force = Annotated[bool, typer.Option("--force", help="Write over files that are there already.")]
Rows = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Also write rows to this file; - is stdout, and no table."),
]
Far = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Strangers that may be accepted; what calibrate set, or 0.001, if not given."),
]
Preset = Literal["robust", "fast"]
Wait = Annotated[float, typer.Option(metavar="SECONDS", min=0, help="How long to wait for other writers.")]
Retry = Annotated[bool, typer.Option("--retry", help="Try refused photos of the folder again.")]
Jobs = Annotated[int, typer.Option(help="Processes; -1 is one for each core.")]
OnCluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Let the workers of this Dask scheduler do it: tcp://HOST:8786."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@dataclass(frozen=True)
class Output:
    """What a command has to show.

    Attributes
    ----------
    rows : list of dict
        For machines.
    show : callable or str
        Prints the rows for people, or is what to print.
    leftover : str, optional
        A remark on bytes that could not be overwritten.
    failed : bool
        Whether the command ends with exit code 1.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    show: Callable[[], None] | str = ""
    leftover: str | None = None
    failed: bool = False
    mistake: str = ""


def command(
    left: str | Callable[[Mapping[str, Any]], str] = NOTHING_WRITTEN, writes: tuple[str, ...] = ()
) -> Callable[[Callable[P, Output]], Callable[P, None]]:
    """Make a command of a function with a parameter ``json_file``: write its rows, then show them to people.

    Parameters
    ----------
    left : str or callable
        What an interrupt leaves, or a function that tells it by the arguments of the call.
    writes : tuple of str
        Parameters that name other files the command writes; rows must not go there.
    """

    def decorate(function: Callable[P, Output]) -> Callable[P, None]:
        @wraps(function)
        def run(*args: P.args, **given: P.kwargs) -> None:
            json_file = cast("Path | None", given["json_file"])
            check_rows_place(json_file, *(cast("str | Path | None", given[name]) for name in writes))
            with stoppable(lambda: left if isinstance(left, str) else left(given)):
                output = function(*args, **given)
                # Files first: a closed pipe must not cost them.
                write_rows(json_file, output.rows)
            if json_file != STDOUT:
                if callable(output.show):
                    output.show()
                elif output.show:
                    say(output.show)
            if output.leftover:
                remark(output.leftover)
            if output.mistake:
                raise UserError(output.mistake)
            if output.failed:
                raise typer.Exit(1)

        return run

    return decorate


@contextmanager
def stoppable(left: Callable[[], str]) -> Iterator[None]:
    """Let an interrupt end the command with exit code 130 and a sentence on what is left, asked for only then."""
    try:
        yield
    except KeyboardInterrupt:
        stderr.print(f"Stopped. {left()}", soft_wrap=True)
        raise typer.Exit(130) from None


@contextmanager
def opened(place: str, *, wait: float = WAIT, **settings: Any) -> Iterator[Gallery]:
    """Open a gallery; make one that is not there only with ``create=True``."""
    from lightproof.gallery import Gallery

    with Gallery.open(place, **{"create": False, "timeout": wait, **settings}) as gallery:
        yield gallery


def connected(cluster: str | None) -> AbstractContextManager[Cluster | None]:
    """Connect to a cluster, if one was given, before anything is made or read."""
    if cluster is None:
        return nullcontext()
    from lightproof.core.cluster import Cluster

    return Cluster(cluster)


def place_name(place: str) -> str:
    """What messages may say of the place of a gallery; never a password."""
    from lightproof.gallery.store import find_place

    return find_place(place).shown


def confirmed(question: str, yes: bool = False) -> bool:
    """Ask before something is lost; without a terminal to ask at, ``--yes`` must be given."""
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise UserError(f"{question} must be answered in a terminal, or with --yes; got neither.")
    stderr.print(f"{question} [y/N] ", end="", soft_wrap=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        stderr.print()  # the answer was the end of the input, and the line is still open
    if answer.strip().lower() in ("y", "yes"):
        return True
    stderr.print(NOTHING_CHANGED)
    return False


def check_share(owner: str, far: float | None) -> None:
    """Refuse a share of strangers that is none, before anything is read."""
    from lightproof.matching.calibration import check_far

    if far is not None:
        check_far(owner, far)


def check_jobs(owner: str, jobs: int) -> None:
    """Refuse a number of processes that is none."""
    if jobs < 1 and jobs != -1:
        raise BadParameter(owner, "jobs", "a number of processes, or -1 for one a core", jobs)


def harmless(name: object) -> str:
    """Replace what would move the cursor in a name; letters that join others stay, because some names need them."""
    return "".join(letter if letter.isprintable() or letter in _JOINERS else "?" for letter in str(name))


def n_photos(count: int) -> str:
    """Write how many photos."""
    return "1 photo" if count == 1 else f"{count:,} photos"


def n_people(count: int) -> str:
    """Write how many people."""
    return "1 person" if count == 1 else f"{count:,} people"
