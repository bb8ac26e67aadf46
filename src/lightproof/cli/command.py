"""What the commands share: an open gallery, and how a command reports and ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, cast

import typer

from lightproof.cli.console import STDOUT, check_rows_place, remark, say, stderr, write_rows
from lightproof.cli.options import WAIT
from lightproof.errors import BadParameter, UserError

if TYPE_CHECKING:
    from lightproof.core.dask_cluster import Cluster
    from lightproof.gallery import Gallery

P = ParamSpec("P")

EXIT_CODES: Final = "0 done; 1 nothing was changed, with a sentence on stderr"
"""Of most commands that use a gallery."""

WHOLE: Final = "The gallery is whole: a change is there altogether or not at all."
NOTHING_WRITTEN: Final = "Nothing was written."
NOTHING_CHANGED: Final = "Nothing was changed."
"""Sentences on what an interrupt leaves."""


@dataclass(frozen=True)
class Output:
    """What a command has to show."""

    rows: list[dict[str, Any]] = field(default_factory=list)  # for machines
    show: Callable[[], None] | str = ""  # prints the rows for people, or is what to print
    leftover: str | None = None  # a remark on bytes that could not be overwritten
    failed: bool = False  # ends with exit code 1
    mistake: str = ""  # the sentence of an error that is raised at the end


def command(
    left: str | Callable[[Mapping[str, Any]], str] = NOTHING_WRITTEN, writes: tuple[str, ...] = ()
) -> Callable[[Callable[P, Output]], Callable[P, None]]:
    """Make a command of a function with a parameter ``json_file``: write its rows, then show them to people.

    ``left`` is what an interrupt leaves, or a function that tells it by the arguments of the call. ``writes`` are the
    parameters that name other files the command writes; rows must not go there.
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
    from lightproof.core.dask_cluster import Cluster

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
