"""What the long commands share: lists on the command line, and work that can be interrupted."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from lightproof.cli.console import stream_bar, talk
from lightproof.datasets.base import FaceSet
from lightproof.errors import BadParameter
from lightproof.experiments.cache import Cache
from lightproof.experiments.plan import Experiment
from lightproof.experiments.runner import Result, run_all


def run(plan: Sequence[Experiment], faces: FaceSet, kept: Cache, jobs: int) -> list[Result]:
    """Run a plan; an interrupt leaves what is finished, and says so."""
    try:
        return run_all(plan, faces, kept, jobs, stream_bar("experiments"))
    except KeyboardInterrupt:
        talk.print(
            f"Stopped. What is finished is kept in {kept.folder}; the same command goes on from there.", soft_wrap=True
        )
        raise typer.Exit(130) from None


def listed(text: str) -> list[str]:
    """Split what was typed with commas."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def numbers(name: str, text: str, least: int) -> list[int]:
    """Read whole numbers typed with commas."""
    words = listed(text)
    if not words or not all(word.isdecimal() and int(word) >= least for word in words):
        raise BadParameter("sweep", name, f"whole numbers of at least {least}, with commas", text)
    return [int(word) for word in words]


def check_jobs(owner: str, jobs: int) -> None:
    """Refuse a number of processes that is none."""
    if jobs < 1 and jobs != -1:
        raise BadParameter(owner, "jobs", "a number of processes, or -1 for one a core", jobs)
