"""What the commands of the gallery share: where it is, how it is opened, what they ask and say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lightproof.cli.console import say, talk
from lightproof.errors import UserError

if TYPE_CHECKING:
    from lightproof.core.cluster import Cluster
    from lightproof.gallery import Gallery

DEFAULT: Final = "people.gallery"
"""Where the gallery is if nobody says."""

WAIT: Final = 30.0
"""Seconds to wait for other writers."""

EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 nothing was changed, with a sentence on stderr; 2 a wrong call; 130 stopped by Ctrl-C."
)

WHOLE: Final = "The gallery is whole: a change is there altogether or not at all."
"""What is left after an interrupt."""

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
Cropped = Annotated[bool, typer.Option("--cropped", help="The pictures are faces already: nothing is looked for.")]
Rows = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Also write rows to this file; - is stdout, and no table."),
]
Far = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Strangers that may be accepted; what calibrate set, or 0.001, if not given."),
]
Wait = Annotated[float, typer.Option(metavar="SECONDS", min=0, help="How long to wait for other writers.")]
Jobs = Annotated[int, typer.Option(help="Processes; -1 is one for each core.")]
OnCluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Let the workers of this Dask scheduler do it: tcp://HOST:8786."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@contextmanager
def opened(place: str, *, wait: float = WAIT, **how: Any) -> Iterator[Gallery]:
    """Open a gallery; one that is not there is made only where ``create=True`` is said."""
    from lightproof.gallery import Gallery

    with Gallery.open(place, **{"create": False, "timeout": wait, **how}) as gallery:
        yield gallery


def connected(cluster: str | None) -> AbstractContextManager[Cluster | None]:
    """Connect to a cluster, if one was named, before anything is made or read."""
    if cluster is None:
        return nullcontext()
    from lightproof.core.cluster import Cluster

    return Cluster(cluster)


def is_new(place: str) -> bool:
    """Whether a gallery would be a new file."""
    from lightproof.gallery.store import find_place

    file = find_place(place).file
    return file is not None and not file.exists()


def named(place: str) -> str:
    """What messages may say of a place; never a password."""
    from lightproof.gallery.store import find_place

    return find_place(place).shown


def check_share(owner: str, far: float | None) -> None:
    """Refuse what is no share of strangers, before anything is read."""
    from lightproof.matching.calibration import check_far

    if far is not None:
        check_far(owner, far)


def shown(name: object) -> str:
    """Make a name harmless for a terminal; the letters that join others stay, some names need them."""
    return "".join(sign if sign.isprintable() or sign in _JOINERS else "?" for sign in str(name))


def agreed(question: str, yes: bool) -> bool:
    """Ask before something is lost; who cannot be asked must have said --yes."""
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise UserError(f"{question} must be answered in a terminal, or with --yes; got neither.")
    talk.print(f"{question} [y/N] ", end="", soft_wrap=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        talk.print()  # the answer was the end of the input, and the line is still open
    return answer.strip().lower() in ("y", "yes")


def in_words(text: str) -> None:
    """Print text that a terminal gets in whole words, and a pipe in whole lines."""
    say.print(text, soft_wrap=not say.is_terminal)


def counted_photos(count: int) -> str:
    """Write how many photos."""
    return "1 photo" if count == 1 else f"{count:,} photos"


def counted_people(count: int) -> str:
    """Write how many people."""
    return "1 person" if count == 1 else f"{count:,} people"
