"""``lightproof reproduce``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lightproof.cli.console import (
    STDOUT,
    bar,
    check_folder,
    check_rows_place,
    make_folder,
    say,
    show,
    stream_bar,
    write,
    write_rows,
)
from lightproof.cli.data import check_cropped, describe, load
from lightproof.cli.gallery import Jobs, OnCluster, connected
from lightproof.cli.work import check_jobs, kept_in, listed, stoppable
from lightproof.errors import BadParameter, UserError
from lightproof.experiments import DATASETS, JITTERED_SETS, PAPER_SETS
from lightproof.experiments.crops import CROPS
from lightproof.method.presets import PRESETS

if TYPE_CHECKING:
    from lightproof.experiments.methods import Method


def reproduce(
    table: Annotated[str, typer.Argument(help=f"{', '.join(DATASETS)}, or all: the paper's three.")] = "all",
    data: Annotated[Path | None, typer.Option(help="The folder of the data set, or the one it lies in.")] = None,
    methods: Annotated[
        str, typer.Option(help="Only these, with commas, such as hog,robust; a wrong one is answered with all.")
    ] = "",
    preset: Annotated[str, typer.Option(help=f"Only our own method in this preset: {', '.join(PRESETS)}.")] = "",
    frames: Annotated[str, typer.Option(help="What of the pictures is shown, with commas.")] = ",".join(CROPS),
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Set the crops into a frame, find the faces, and cut them anew.")
    ] = False,
    open_set: Annotated[
        bool, typer.Option("--open-set", help="Enroll half of the people: who is found, and how many strangers get in.")
    ] = False,
    cropped: Annotated[bool, typer.Option("--cropped", help="The photos of the folder are faces already.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Train the networks too.")] = False,
    budget: Annotated[float | None, typer.Option(help="Minutes for each training of a network.")] = None,
    device: Annotated[str, typer.Option(help="Where networks are trained, as PyTorch calls it.")] = "cpu",
    jobs: Jobs = -1,
    cluster: OnCluster = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for reports and finished work; lightproof-reproduce/TABLE if not given.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the rows to this file; - is stdout, and no tables.")
    ] = None,
) -> None:
    """Run the paper's experiments again, the published figure beside ours.

    What is finished is kept: after an interrupt the same command goes on where it stopped.
    """
    from lightproof.estimators.baselines.deep_networks import check_device
    from lightproof.experiments.cache import Cache
    from lightproof.experiments.end_to_end import find_again
    from lightproof.experiments.methods import check_name, choose_methods, methods_of_preset
    from lightproof.experiments.plan import make_plan, plan_end_to_end
    from lightproof.experiments.reproduction_report import Chapter, reports
    from lightproof.experiments.runner import run_all

    check_name("table", table, [*DATASETS, "all"])
    if open_set:
        if cluster is not None:
            raise BadParameter("reproduce", "cluster", "given without --open-set", cluster)
        _check_open_set(table, methods, frames, deep)
        _open_set(table, data, preset, end_to_end, jobs, json_file)
        return
    if preset and (methods or deep):
        raise BadParameter("reproduce", "preset", "given without --methods and --deep", preset)
    wanted = methods_of_preset(preset) if preset else choose_methods(listed(methods), deep)
    chosen = [_trained(method, budget, device) for method in wanted]
    _check_end_to_end(end_to_end, table, frames, deep)
    check_cropped("reproduce", table, cropped)
    for frame in listed(frames) or [frames]:
        check_name("frame", frame, list(CROPS))
    if budget is not None and not 0 < budget < math.inf:
        raise BadParameter("reproduce", "budget", "more than 0 minutes", budget)
    check_jobs("reproduce", jobs)
    networks = any(method.kind == "network" for method in chosen)
    if budget is not None and not networks:
        raise BadParameter("reproduce", "budget", "given together with --deep or a network among --methods", budget)
    if networks:
        check_device(device)
    check_rows_place(json_file)
    folder = out or Path("lightproof-reproduce") / table
    check_folder(folder)
    kept = Cache(folder / "cache")
    chapters: list[Chapter] = []
    missing: list[str] = []
    with stoppable(lambda: kept_in(kept)), connected(cluster) as workers:
        for name in PAPER_SETS if table == "all" else [table]:
            try:
                faces = load(name, data, bar(f"reading {name}"), cropped)
            except UserError as mistake:
                if table != "all":
                    raise
                missing.append(str(mistake))
                continue
            describe(name, faces)
            search = find_again(faces, jobs, stream_bar("finding faces")) if end_to_end else None
            faces = faces if search is None else search.faces
            plan = plan_end_to_end(name, chosen) if search else make_plan(name, faces, chosen, listed(frames))
            results = run_all(plan, faces, kept, jobs, stream_bar("experiments"), workers)
            chapters.append(Chapter(name, faces, results, search))
        # Files first: a closed pipe must not cost them.
        command = _command(table, methods, frames, deep, budget, device, preset)
        command += " --end-to-end" * end_to_end + " --cropped" * cropped
        for path, content in reports(chapters, kept, command):
            make_folder((folder / path).parent)
            write(folder / path, content)
        write_rows(json_file, [row.as_dict() for chapter in chapters for row in chapter.rows])
    for chapter in chapters if json_file != STDOUT else []:
        say.print(f"\n{chapter.title}")
        for shown in chapter.tables:
            show(shown)
    if chapters and json_file != STDOUT:
        say.print(f"The report with figures: {folder / 'report.html'}")
    if missing:
        raise UserError(" ".join(missing))


def _check_open_set(table: str, methods: str, frames: str, deep: bool) -> None:
    if table not in JITTERED_SETS:
        raise BadParameter("reproduce", "open-set", f"given for the tables {' and '.join(JITTERED_SETS)}", table)
    if methods or deep or frames != ",".join(CROPS):
        raise BadParameter("reproduce", "open-set", "given without --methods, --deep and --frames", "one of them")


def _open_set(table: str, data: Path | None, preset: str, end_to_end: bool, jobs: int, json_file: Path | None) -> None:
    """Run the open-set protocol, with its two tables and its rows; there is no page of figures."""
    from lightproof.experiments.end_to_end import find_again
    from lightproof.experiments.open_set import open_set_tables, run_open_set
    from lightproof.matching.matcher import preset_settings
    from lightproof.method.presets import GALLERIES

    presets = [preset] if preset else list(GALLERIES)
    for name in presets:
        preset_settings(name)
    check_jobs("reproduce", jobs)
    check_rows_place(json_file)
    with stoppable(lambda: "Nothing was written."):
        faces = load(table, data, bar(f"reading {table}"), False)
        describe(table, faces)
        if end_to_end:
            faces = find_again(faces, jobs, stream_bar("finding faces")).faces
        rows = run_open_set(faces, presets, jobs, stream_bar("comparing"))
        write_rows(json_file, [row.as_dict() for row in rows])
    for shown in open_set_tables(rows) if json_file != STDOUT else []:
        show(shown)


def _check_end_to_end(wanted: bool, table: str, frames: str, deep: bool) -> None:
    if not wanted:
        return
    if table not in JITTERED_SETS:
        raise BadParameter("reproduce", "end-to-end", f"given for the tables {' and '.join(JITTERED_SETS)}", table)
    if deep or frames != ",".join(CROPS):
        raise BadParameter("reproduce", "end-to-end", "given without --deep and --frames", "one of them")


def _command(
    table: str, methods: str, frames: str, deep: bool, budget: float | None, device: str, preset: str = ""
) -> str:
    """Write down what was asked, without the places on this machine."""
    words = ["lightproof reproduce", table]
    words += ["--data FOLDER"] if table != "rendered" else []
    words += [f"--methods {methods}"] if methods else []
    words += [f"--preset {preset}"] if preset else []
    words += [f"--frames {frames}"] if frames != ",".join(CROPS) else []
    words += ["--deep"] if deep else []
    words += [f"--budget {budget:g}"] if budget is not None else []
    words += [f"--device {device}"] if device != "cpu" else []
    return " ".join(words)


def _trained(method: Method, budget: float | None, device: str) -> Method:
    if method.kind != "network":
        return method
    return method.changed(budget=None if budget is None else 60 * budget, device=device)
