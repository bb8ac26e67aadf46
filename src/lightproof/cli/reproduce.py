"""``lightproof reproduce``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from lightproof.baselines.networks import check_device
from lightproof.cli.console import bar, check_folder, check_place, make_folder, say, show, stream_bar, write, write_json
from lightproof.cli.data import describe, load
from lightproof.cli.work import check_jobs, listed, stoppable
from lightproof.errors import BadParameter, UserError
from lightproof.experiments.cache import Cache
from lightproof.experiments.methods import METHODS, Method, check_name, choose_methods, methods_of_preset
from lightproof.experiments.plan import DATASETS, PAPER_SETS, make_plan
from lightproof.experiments.runner import run_all
from lightproof.frames import FRAMES
from lightproof.settings import PRESETS


def reproduce(
    table: Annotated[str, typer.Argument(help=f"{', '.join(DATASETS)}, or all: the paper's three.")] = "all",
    data: Annotated[Path | None, typer.Option(help="The folder of the data set, or the one it lies in.")] = None,
    methods: Annotated[str, typer.Option(help=f"Only these, with commas: {', '.join(METHODS)}.")] = "",
    preset: Annotated[str, typer.Option(help=f"Only our own method in this preset: {', '.join(PRESETS)}.")] = "",
    frames: Annotated[str, typer.Option(help="What of the pictures is shown, with commas.")] = ",".join(FRAMES),
    deep: Annotated[bool, typer.Option("--deep", help="Train the networks too.")] = False,
    budget: Annotated[float | None, typer.Option(help="Minutes for each training of a network.")] = None,
    device: Annotated[str, typer.Option(help="Where networks are trained, as PyTorch calls it.")] = "cpu",
    jobs: Annotated[int, typer.Option(help="Processes; -1 is one for each core.")] = -1,
    out: Annotated[
        Path | None, typer.Option(help="Folder for reports and finished work; lightproof-reproduce/TABLE if not given.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the rows to this file.")] = None,
) -> None:
    """Run the paper's experiments again, the published figure beside ours.

    What is finished is kept: after an interrupt the same command goes on where it stopped.
    """
    from lightproof.experiments.report import Chapter, reports

    check_name("table", table, [*DATASETS, "all"])
    if preset and (methods or deep):
        raise BadParameter("reproduce", "preset", "given without --methods and --deep", preset)
    wanted = methods_of_preset(preset) if preset else choose_methods(listed(methods), deep)
    chosen = [_trained(method, budget, device) for method in wanted]
    for frame in listed(frames) or [frames]:
        check_name("frame", frame, list(FRAMES))
    if budget is not None and not 0 < budget < math.inf:
        raise BadParameter("reproduce", "budget", "more than 0 minutes", budget)
    check_jobs("reproduce", jobs)
    networks = any(method.kind == "network" for method in chosen)
    if budget is not None and not networks:
        raise BadParameter("reproduce", "budget", "given together with --deep or a network among --methods", budget)
    if networks:
        check_device(device)
    check_place(json_file)
    folder = out or Path("lightproof-reproduce") / table
    check_folder(folder)
    kept = Cache(folder / "cache")
    chapters: list[Chapter] = []
    missing: list[str] = []
    with stoppable(kept):
        for name in PAPER_SETS if table == "all" else [table]:
            try:
                faces = load(name, data, bar(f"reading {name}"))
            except UserError as mistake:
                if table != "all":
                    raise
                missing.append(str(mistake))
                continue
            describe(name, faces)
            plan = make_plan(name, faces, chosen, listed(frames))
            chapters.append(Chapter(name, faces, run_all(plan, faces, kept, jobs, stream_bar("experiments"))))
        # Files first: a closed pipe must not cost them.
        command = _command(table, methods, frames, deep, budget, device, preset)
        for path, content in reports(chapters, kept, command):
            make_folder((folder / path).parent)
            write(folder / path, content)
        if json_file is not None:
            write_json(json_file, [row.as_dict() for chapter in chapters for row in chapter.rows])
    for chapter in chapters:
        say.print(f"\n{chapter.title}")
        for shown in chapter.tables:
            show(shown)
    if chapters:
        say.print(f"The report with figures: {folder / 'report.html'}")
    if missing:
        raise UserError(" ".join(missing))


def _command(
    table: str, methods: str, frames: str, deep: bool, budget: float | None, device: str, preset: str = ""
) -> str:
    """Write down what was asked, without the places on this machine."""
    words = ["lightproof reproduce", table]
    words += ["--data FOLDER"] if table != "rendered" else []
    words += [f"--methods {methods}"] if methods else []
    words += [f"--preset {preset}"] if preset else []
    words += [f"--frames {frames}"] if frames != ",".join(FRAMES) else []
    words += ["--deep"] if deep else []
    words += [f"--budget {budget:g}"] if budget is not None else []
    words += [f"--device {device}"] if device != "cpu" else []
    return " ".join(words)


def _trained(method: Method, budget: float | None, device: str) -> Method:
    if method.kind != "network":
        return method
    return method.changed(budget=None if budget is None else 60 * budget, device=device)
