"""The report of an evaluation: tables for the terminal, and a page with curves and the worst mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape

from lightproof.core.report_parts import TextTable, image, page, table
from lightproof.datasets.file_readers import count
from lightproof.evaluation.evaluator import Evaluation
from lightproof.evaluation.leave_one_out import Counted, Within
from lightproof.evaluation.light_groups import LIGHTS
from lightproof.evaluation.mistakes import KINDS, Mistake
from lightproof.evaluation.rates_by_light import Figure
from lightproof.plots import Line, det_chart, open_set_chart, png_of, rank_chart, roc_chart
from lightproof.types import Array

ABSENT = "-"

_SIDE_BY_SIDE = "display:grid;gap:1.2rem;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr))"
_CARDS = "display:grid;gap:1.6rem 2rem;grid-template-columns:repeat(auto-fill,minmax(min(24rem,100%),1fr))"
_THREE = "display:grid;gap:.4rem;grid-template-columns:repeat(3,1fr);margin-bottom:.4rem"


def evaluation_tables(evaluation: Evaluation) -> list[TextTable]:
    """Every figure, in tables: with everybody enrolled, then among strangers for each rate."""
    tables = (_closed_table(evaluation), *(_open_table(evaluation, far) for far in evaluation.fars))
    return [_with_dash_explained(each) for each in tables]


def setting(evaluation: Evaluation) -> str:
    """Say in a sentence or two what was evaluated."""
    photos, people = count(evaluation.n_photos, "photo"), count(evaluation.n_people, "person", "people")
    start = f"{photos} of {people}; enrolled: {evaluation.source}"
    if evaluation.draws > 1:
        start += f", drawn {evaluation.draws} times"
    if not evaluation.stranger_questions:
        return f"{start}. There are no strangers among the photos."
    if evaluation.figure("rank-1") is None:
        return f"{start}. There are only strangers among the photos."
    enrolled, strangers = (
        count(number, "person", "people") for number in (evaluation.n_enrolled, evaluation.n_strangers)
    )
    return f"{start}. Among strangers: {enrolled} enrolled, {strangers} left out."


def summary(evaluation: Evaluation) -> list[str]:
    """Say the main figures in words."""
    sentences = []
    named, far = evaluation.figure("rank-1"), evaluation.fars[0]
    if named is not None:
        sentences.append(f"{_percent(named)} of the photos are named correctly where everybody is enrolled.")
    accepted, found = (evaluation.figure(measure, "all", "used", far) for measure in ("strangers accepted", "found"))
    verbs = [f"lets in {_percent(accepted)}"] if accepted else []
    verbs += [f"finds {_percent(found)} of the photos of its people"] if found else []
    if verbs:
        sentences.append(f"Meant to let in {_share(far)} of strangers, a gallery {', and '.join(verbs)}.")
    if accepted is not None and accepted.low is not None and accepted.low > far:
        sentences.append(
            "More strangers get in than are meant to. Enroll photos in even light: the same hard light makes people "
            "alike."
        )
    return sentences


def evaluation_page(evaluation: Evaluation, title: str) -> str:
    """Write the report: one page that needs nothing else."""
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p class=lead>{escape(setting(evaluation))}</p>",
        f"<p>{escape(' '.join(summary(evaluation)))}</p>",
        *(
            f"<h2>{escape(shown.title)}</h2>{table(shown, strong=[LIGHTS['all']])}"
            for shown in evaluation_tables(evaluation)
        ),
        "<h2>Curves</h2>",
        f'<div style="{_SIDE_BY_SIDE}">{"".join(_curves(evaluation)) or "<p>There is nothing to draw.</p>"}</div>',
        "<h2>The worst mistakes</h2>",
        *_mistakes(evaluation),
    ]
    return page(title, body)


def _closed_table(evaluation: Evaluation) -> TextTable:
    head = ["light", "photos", "named", "1:1 error"]
    lines = []
    for light in evaluation.curves:
        named, error = evaluation.figure("rank-1", light), evaluation.figure("equal error", light)
        if named is not None or light == "all":
            lines.append([LIGHTS[light], str(named.photos if named else 0), _cell(named), _cell(error)])
    note = (
        "Named: the best match is the right person, %. 1:1 error: two photos compared, where as many of different "
        "people are accepted as of the same person refused, %. In brackets: 95 % intervals, with people drawn again "
        "and not photos."
    )
    return TextTable("Everybody is enrolled", head, lines, note)


def _open_table(evaluation: Evaluation, far: float) -> TextTable:
    head = ["light", "found", "misnamed", "strangers accepted", "found, best threshold"]
    lines = []
    for light in evaluation.curves:
        used = [evaluation.figure(m, light, "used", far) for m in ("found", "misnamed", "strangers accepted")]
        if any(used) or light == "all":
            lines.append([LIGHTS[light], *map(_cell, used), _cell(evaluation.figure("found", light, "measured", far))])
    note = (
        f"At the threshold that a gallery uses, meant to let in {_share(far)} of strangers. Found: enrolled, accepted "
        "and rightly named, %. Misnamed: enrolled, and taken for somebody else. Best threshold: the one that lets in "
        f"{_share(far)} of these very strangers, which nobody knows beforehand."
    )
    if 0 < far * evaluation.stranger_questions < 1:
        note += (
            f" Strangers were asked about {count(evaluation.stranger_questions, 'time')}, too few to measure this "
            "rate: the best threshold lets in none of them."
        )
    return TextTable(f"Among strangers, {_share(far)} of whom may pass", head, lines, note)


def own_photos_table(evaluation: Within) -> TextTable:
    """The figures of a gallery on its own photos."""
    head = ["light", "photos", "named", "found", "strangers", "let in"]
    lines = []
    for group in evaluation.lights:
        named, found, strangers = map(_cell, (group.named, group.found, group.strangers))
        lines.append([group.words, str(group.named.of), named, found, str(group.strangers.of), strangers])
    note = (
        "Named: left out of the photos of its person, the best match is the right one, %. Found: and accepted at the "
        f"threshold that the gallery uses, meant to let in {_share(evaluation.far)} of strangers. Let in: a "
        "stranger's, with its person left out, and taken for somebody else, %. In brackets: 95 % intervals, with "
        "people drawn again and not photos. A dash: not available, since there was nothing to ask."
    )
    return TextTable("Own photos, each left out in turn", head, lines, note)


def _with_dash_explained(shown: TextTable) -> TextTable:
    if not any(ABSENT in line for line in shown.lines):
        return shown
    return replace(shown, note=f"{shown.note} A dash: not available, since there was nothing to ask.")


def _share(far: float) -> str:
    return f"{100 * far:g} %"


def _percent(figure: Figure) -> str:
    return f"{100 * figure.value:.1f} %"


def _cell(figure: Figure | Counted | None) -> str:
    if figure is None or (share := figure.share if isinstance(figure, Counted) else figure.value) is None:
        return ABSENT
    interval = (
        "" if figure.low is None or figure.high is None else f" [{100 * figure.low:.1f}, {100 * figure.high:.1f}]"
    )
    return f"{100 * share:.1f}{interval}"


def _curves(evaluation: Evaluation) -> Iterator[str]:
    ranks, pairs, strangers = {}, {}, {}
    for light, curves in evaluation.curves.items():
        title, marks = LIGHTS[light], _marks(evaluation) if light == "all" else ()
        if curves.cmc is not None:
            ranks[title] = curves.cmc
        if curves.pairs is not None:
            pairs[title] = Line(curves.pairs.far, curves.pairs.frr)
        if curves.strangers is not None:
            strangers[title] = Line(curves.strangers.far, curves.strangers.frr, marks)
    if ranks:
        yield _chart(rank_chart(ranks), "Rank", "The right person among the best few; everybody is enrolled.")
    if strangers:
        caption = "Found among strangers, at every threshold. The points are the thresholds that a gallery uses."
        yield _chart(open_set_chart(strangers), "Strangers", caption)
    if pairs:
        yield _chart(roc_chart(pairs), "ROC", "Two photos compared: same person accepted, different people accepted.")
        caption = "The same as errors, on axes of normal deviates. On the thin line both errors are equal."
        yield _chart(det_chart(pairs), "DET", caption)


def _marks(evaluation: Evaluation) -> tuple[tuple[float, float], ...]:
    measures = ("strangers accepted", "found")
    used = ([evaluation.figure(measure, "all", "used", far) for measure in measures] for far in evaluation.fars)
    return tuple((passed.value, 1 - named.value) for passed, named in used if passed and named)


def _chart(png: bytes, title: str, caption: str) -> str:
    return _captioned(image(png, title, "chart"), f"<b>{escape(title)}.</b> {escape(caption)}")


def _mistakes(evaluation: Evaluation) -> Iterator[str]:
    if not evaluation.mistakes:
        yield "<p>There is none to show.</p>"
        return
    yield (
        f"<p>At the threshold that a gallery uses for {_share(evaluation.fars[0])} of strangers. From left to right: "
        "the photo asked about, the best match, the right person. A score of 0.33 means that one in a hundred "
        "strangers would do as well, 0.5 one in a thousand, 1 one in a million or fewer.</p>"
    )
    for kind, words in KINDS.items():
        some = [mistake for mistake in evaluation.mistakes if mistake.kind == kind]
        if some:
            yield f"<h3>{escape(kind.capitalize())}</h3><p class=note>{escape(words.capitalize())}.</p>"
            yield f'<div style="{_CARDS}">{"".join(map(_card, some))}</div>'


def _card(mistake: Mistake) -> str:
    right = mistake.nearest == mistake.truth
    is_stranger = mistake.kind == "stranger accepted"
    shown: list[tuple[Array | None, str]] = [
        (mistake.face, "asked about"),
        (mistake.nearest_face, f"{'the right one: ' if right else ''}{mistake.nearest}"),
        (None if right or is_stranger else mistake.true_face, mistake.truth),
    ]
    faces = "".join(_face(face, words) for face, words in shown if face is not None)
    who = f"shows {mistake.truth}{', not enrolled' if is_stranger else ''}"
    return (
        f'<div><div style="{_THREE}">{faces}</div><div class=note style="overflow-wrap:anywhere">'
        f"{escape(mistake.file)} {escape(who)}; score {mistake.score:.2f}</div></div>"
    )


def _face(face: Array, words: str) -> str:
    return _captioned(image(png_of(face), words), f'<span style="overflow-wrap:anywhere">{escape(words)}</span>')


def _captioned(picture: str, caption: str) -> str:
    return f"<figure class=face>{picture}<figcaption>{caption}</figcaption></figure>"
