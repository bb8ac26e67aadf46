"""``lightproof demo``, ``lightproof reproduce`` and ``lightproof sweep``: the experiments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lightproof.cli.command import NOTHING_WRITTEN, Output, check_jobs, command, connected
from lightproof.cli.console import bar, check_folder, remark_on_photos, show, stdout, stream_bar, write, write_rows
from lightproof.cli.options import Jobs, JsonFile, OnCluster
from lightproof.errors import BadParameter, UserError
from lightproof.experiments import DATASETS, JITTERED_SETS, PAPER_SETS, PHOTO_SETS
from lightproof.experiments.crops import CROPS
from lightproof.method.illumination import LIGHTS
from lightproof.method.presets import PRESETS

if TYPE_CHECKING:
    from lightproof.core.dask_cluster import Cluster
    from lightproof.datasets import FaceSet
    from lightproof.experiments.cache import Cache
    from lightproof.experiments.methods import Method
    from lightproof.experiments.reproduction_report import Chapter

EXIT_CODES: Final = "0 done; 1 something could not be done, with a sentence on stderr"

ALL_CROPS: Final = ",".join(CROPS)

REPORTS: Final = Path("lightproof-reproduce")

Data = Annotated[Path | None, typer.Option(help="The folder of the data set, or the one it lies in.")]
Crops = Annotated[bool, typer.Option("--cropped", help="The photos of the folder are faces already.")]


def load(name: str, data: Path | None, cropped: bool = False) -> FaceSet:
    """Read a data set and say what was read; ``cropped`` is for a folder of photos."""
    from lightproof import datasets
    from lightproof.experiments.demonstration import render_people

    loaders: dict[str, Callable[..., FaceSet]] = {
        "yale": datasets.load_yale_b,
        "ar": datasets.load_ar,
        "cas-peal": datasets.load_cas_peal,
        "orl": datasets.load_orl,
        "lfw": datasets.load_lfw,
        "folder": datasets.load_folder,
    }
    progress = bar(f"reading {name}")
    if name == "rendered":
        faces = render_people(24, 0, progress)
    elif data is None:
        raise BadParameter(name, "--data", f"the folder with {'your photos' if name == 'folder' else name}", data)
    else:
        faces = loaders[name](data, progress=progress, **({"cropped": cropped} if name == "folder" else {}))
    remark_on_photos(name, len(faces), faces.skipped)
    return faces


def check_cropped(owner: str, name: str, cropped: bool) -> None:
    """Refuse ``--cropped`` for a set whose pictures are crops in any case."""
    if cropped and name != "folder":
        raise BadParameter(owner, "cropped", "given for the table folder alone", name)


def listed(text: str) -> list[str]:
    """Split words at commas, each once."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def numbers(name: str, text: str, least: int) -> list[int]:
    """Read whole numbers with commas between them."""
    words = listed(text)
    if not words or not all(word.isdecimal() and int(word) >= least for word in words):
        raise BadParameter("sweep", name, f"whole numbers of at least {least}, with commas", text)
    return [int(word) for word in words]


def kept_in(folder: Path) -> str:
    """Say where finished work is kept, and what to do with it."""
    kept = f"What is finished is kept in {folder}" if folder.is_dir() else "Nothing was finished yet"
    return f"{kept}; the same command goes on from there."


@command()
def demo(
    people: Annotated[int, typer.Option(min=2, help="How many people to render.")] = 24,
    seed: Annotated[int, typer.Option(min=0, help="Other seed, other people.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("lightproof-demo"),
    json_file: JsonFile = None,
) -> Output:
    """Render people, enroll one photo each, and name them under ever harder light, and turned."""
    from lightproof.experiments.demo_report import demo_page, demo_table
    from lightproof.experiments.demonstration import render_demo, run_demo

    check_folder(out)
    page = out / "report.html"
    faces = render_demo(people, seed, bar("rendering people"))
    result = run_demo(faces, bar("naming photos"))
    write(page, demo_page(result))

    def show_all() -> None:
        show(demo_table(result))
        stdout.print(f"The report with pictures: {page}")

    return Output(result.rows(), show_all)


@dataclass(frozen=True)
class Reproduction:
    """What ``reproduce`` was asked for; the attributes are its options."""

    table: str
    data: Path | None = None
    methods: str = ""
    preset: str = ""
    frames: str = ALL_CROPS
    end_to_end: bool = False
    cropped: bool = False
    deep: bool = False
    budget: float | None = None
    device: str = "cpu"
    jobs: int = -1
    cluster: str | None = None

    @property
    def searched(self) -> bool:
        """Return whether the detector finds the faces; in photos it always does."""
        return self.end_to_end or self.table in PHOTO_SETS

    def chosen_methods(self) -> list[Method]:
        """Refuse options that do not go together, and return the methods to run."""
        from lightproof.estimators.baselines.deep_networks import check_device
        from lightproof.experiments.methods import check_name, choose_methods, methods_of_preset

        if self.preset and (self.methods or self.deep):
            raise BadParameter("reproduce", "preset", "given without --methods and --deep", self.preset)
        chosen = methods_of_preset(self.preset) if self.preset else choose_methods(listed(self.methods), self.deep)
        if self.end_to_end:
            _check_searched("end-to-end", self.table)
        if self.searched and (self.deep or self.frames != ALL_CROPS):
            owner = "end-to-end" if self.end_to_end else self.table
            raise BadParameter("reproduce", owner, "given without --deep and --frames", "one of them")
        check_cropped("reproduce", self.table, self.cropped)
        for frame in listed(self.frames) or [self.frames]:
            check_name("frame", frame, list(CROPS))
        if self.budget is not None and not 0 < self.budget < math.inf:
            raise BadParameter("reproduce", "budget", "more than 0 minutes", self.budget)
        check_jobs("reproduce", self.jobs)
        if any(method.kind == "network" for method in chosen):
            check_device(self.device)
        elif self.budget is not None:
            legal = "given together with --deep or a network among --methods"
            raise BadParameter("reproduce", "budget", legal, self.budget)
        return [trained(method, self.budget, self.device) for method in chosen]

    def run(self, name: str, faces: FaceSet, methods: list[Method], cache: Cache, workers: Cluster | None) -> Chapter:
        """Run the experiments on one data set."""
        from lightproof.experiments.end_to_end import find_again
        from lightproof.experiments.plan import make_plan, plan_end_to_end, plan_photos
        from lightproof.experiments.reproduction_report import Chapter
        from lightproof.experiments.runner import run_all

        search = find_again(faces, self.jobs, stream_bar("finding faces")) if self.searched else None
        if search is None:
            plan = make_plan(name, faces, methods, listed(self.frames))
        else:
            faces = search.faces
            by_pose = name in PHOTO_SETS
            plan = plan_photos(name, faces, search.yaws, methods) if by_pose else plan_end_to_end(name, methods)
        results = run_all(plan, faces, cache, self.jobs, stream_bar("experiments"), workers)
        return Chapter(name, faces, results, search)

    def as_typed(self) -> str:
        """Write down the command for the report, without the places on this machine."""
        options = {
            " --data FOLDER": self.table != "rendered",
            f" --methods {self.methods}": self.methods,
            f" --preset {self.preset}": self.preset,
            f" --frames {self.frames}": self.frames != ALL_CROPS,
            " --deep": self.deep,
            f" --budget {self.budget or 0:g}": self.budget is not None,
            f" --device {self.device}": self.device != "cpu",
            " --end-to-end": self.end_to_end,
            " --cropped": self.cropped,
        }
        return f"lightproof reproduce {self.table}" + "".join(text for text, given in options.items() if given)


def trained(method: Method, budget: float | None, device: str) -> Method:
    """Give a network its budget, from minutes to seconds, and its device."""
    if method.kind != "network":
        return method
    return method.changed(budget=None if budget is None else 60 * budget, device=device)


def _left_by_reproduce(given: Mapping[str, Any]) -> str:
    return NOTHING_WRITTEN if given["open_set"] else kept_in((given["out"] or REPORTS / given["table"]) / "cache")


@command(left=_left_by_reproduce)
def reproduce(
    table: Annotated[str, typer.Argument(help=f"{', '.join(DATASETS)}, or all: the paper's three.")] = "all",
    data: Data = None,
    methods: Annotated[
        str, typer.Option(help="Only these, with commas, such as hog,robust; a wrong one is answered with all.")
    ] = "",
    preset: Annotated[str, typer.Option(help=f"Only our own method in this preset: {', '.join(PRESETS)}.")] = "",
    frames: Annotated[str, typer.Option(help="What of the pictures is shown, with commas.")] = ALL_CROPS,
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Set the crops into a frame, find the faces, and cut them anew.")
    ] = False,
    open_set: Annotated[
        bool, typer.Option("--open-set", help="Enroll half of the people: who is found, and how many strangers get in.")
    ] = False,
    cropped: Crops = False,
    deep: Annotated[bool, typer.Option("--deep", help="Train the networks too.")] = False,
    budget: Annotated[float | None, typer.Option(help="Minutes for each training of a network.")] = None,
    device: Annotated[str, typer.Option(help="Where networks are trained, as PyTorch calls it.")] = "cpu",
    jobs: Jobs = -1,
    cluster: OnCluster = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for reports and finished work; lightproof-reproduce/TABLE if not given.")
    ] = None,
    json_file: JsonFile = None,
) -> Output:
    """Run the paper's experiments again, the published figure beside ours.

    What is finished is kept: after an interrupt the same command goes on where it stopped.
    """
    from lightproof.experiments.methods import check_name

    check_name("table", table, [*DATASETS, "all"])
    asked = Reproduction(table, data, methods, preset, frames, end_to_end, cropped, deep, budget, device, jobs, cluster)
    return _reproduce_open_set(asked) if open_set else _reproduce_tables(asked, out or REPORTS / table)


def _reproduce_tables(asked: Reproduction, folder: Path) -> Output:
    """Run the closed-set experiments and write their report; with ``all``, of the data sets that are there."""
    from lightproof.experiments.cache import Cache
    from lightproof.experiments.reproduction_report import reports

    chosen = asked.chosen_methods()
    check_folder(folder)
    cache = Cache(folder / "cache")
    chapters: list[Chapter] = []
    missing: list[str] = []
    with connected(asked.cluster) as workers:
        for name in PAPER_SETS if asked.table == "all" else [asked.table]:
            try:
                faces = load(name, asked.data, asked.cropped)
            except UserError as mistake:
                if asked.table != "all":
                    raise
                missing.append(str(mistake))
            else:
                chapters.append(asked.run(name, faces, chosen, cache, workers))
    for path, content in reports(chapters, cache, asked.as_typed()):
        write(folder / path, content)

    def show_all() -> None:
        for chapter in chapters:
            stdout.print(f"\n{chapter.title}")
            for shown in chapter.tables:
                show(shown)
        if chapters:
            stdout.print(f"The report with figures: {folder / 'report.html'}")

    rows = [row.as_dict() for chapter in chapters for row in chapter.rows]
    return Output(rows, show_all, mistake=" ".join(missing))


def _check_searched(option: str, table: str) -> None:
    if table not in (*JITTERED_SETS, *PHOTO_SETS):
        tables = ", ".join((*JITTERED_SETS, *PHOTO_SETS))
        raise BadParameter("reproduce", option, f"given for one of the tables {tables}", table)


def _reproduce_open_set(asked: Reproduction) -> Output:
    """Run the open-set protocol, with its two tables and its rows; there is no page of figures."""
    import numpy as np

    from lightproof.datasets.protocols import pose_test
    from lightproof.experiments.end_to_end import find_again
    from lightproof.experiments.open_set import N_PHOTO_SPLITS, open_set_tables, run_open_set
    from lightproof.matching.matcher import preset_settings
    from lightproof.method.presets import ENGINES

    if asked.cluster is not None:
        raise BadParameter("reproduce", "cluster", "given without --open-set", asked.cluster)
    _check_searched("open-set", asked.table)
    if asked.methods or asked.deep or asked.frames != ALL_CROPS:
        raise BadParameter("reproduce", "open-set", "given without --methods, --deep and --frames", "one of them")
    presets = [asked.preset] if asked.preset else list(ENGINES)
    for name in presets:
        preset_settings(name)
    check_jobs("reproduce", asked.jobs)
    faces = load(asked.table, asked.data)
    galleries: dict[str, Any] = {}
    if asked.searched:
        search = find_again(faces, asked.jobs, stream_bar("finding faces"))
        faces = search.faces
        if asked.table in PHOTO_SETS:
            # Somebody without a single face that is found can neither be enrolled nor be a stranger.
            known = np.isin(faces.labels, faces.labels[faces.found])
            faces, protocol = faces.take(known), pose_test(search.yaws[known])
            galleries = {"protocols": [protocol], "picks": [0], "draws": N_PHOTO_SPLITS}
    rows = run_open_set(faces, presets, asked.jobs, stream_bar("comparing"), **galleries)

    def show_all() -> None:
        for table in open_set_tables(rows):
            show(table)

    return Output([row.as_dict() for row in rows], show_all)


@command(left=lambda given: kept_in(given["out"] / "cache"))
def sweep(
    dataset: Annotated[str, typer.Argument(help=f"{', '.join(DATASETS)}.")] = "rendered",
    data: Data = None,
    cells: Annotated[str, typer.Option(help="Sides of a patch in pixels, with commas.")] = "4,8,16",
    overlaps: Annotated[str, typer.Option(help="Pixels that neighbors share, with commas.")] = "0,1,2",
    angles: Annotated[str, typer.Option(help="Numbers of projections, with commas.")] = "2,4,8",
    lights: Annotated[str, typer.Option(help=f"With commas: {', '.join(LIGHTS)}.")] = "none,log",
    cropped: Crops = False,
    jobs: Jobs = -1,
    out: Annotated[Path, typer.Option(help="Folder for the report, and for finished work.")] = Path("lightproof-sweep"),
    json_file: JsonFile = None,
) -> Output:
    """Run the method over cell size x overlap x projections x light.

    To choose settings, sweep over people you will not test on.
    """
    from lightproof.experiments.accuracies import rows_of
    from lightproof.experiments.cache import Cache
    from lightproof.experiments.end_to_end import find_again
    from lightproof.experiments.methods import METHODS, check_name
    from lightproof.experiments.parameter_grid import Grid, plan_sweep, sweep_page, sweep_tables
    from lightproof.experiments.runner import run_all

    check_name("data set", dataset, DATASETS)
    for light in listed(lights) or [lights]:
        check_name("light", light, list(LIGHTS))
    grid = Grid(
        numbers("cells", cells, 2), numbers("overlaps", overlaps, 0), numbers("angles", angles, 1), listed(lights)
    )
    side = min(METHODS["rcdt"].size)
    if max(grid.cells) > side:
        raise BadParameter("sweep", "cells", f"at most {side}, the side of the picture", cells)
    if min(grid.overlaps) >= max(grid.cells):
        raise BadParameter("sweep", "overlaps", "smaller than the largest of the cells", overlaps)
    check_jobs("sweep", jobs)
    check_cropped("sweep", dataset, cropped)
    check_folder(out)
    faces = load(dataset, data, cropped)
    if dataset in PHOTO_SETS:
        faces = find_again(faces, jobs, stream_bar("finding faces")).faces
    results = run_all(plan_sweep(dataset, faces, grid), faces, Cache(out / "cache"), jobs, stream_bar("experiments"))
    rows = [row.as_dict() for result in results for row in rows_of(result)]
    write_rows(out / "rows.json", rows)
    write(out / "report.html", sweep_page(results, grid, dataset))

    def show_all() -> None:
        for table in sweep_tables(results, grid):
            show(table)
        stdout.print(f"The report with maps: {out / 'report.html'}")

    return Output(rows, show_all)
