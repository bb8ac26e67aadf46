"""The report of the demonstration."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from lightproof.core.report_parts import TextTable, image, page, table
from lightproof.experiments.demonstration import COLUMNS, METHODS, OURS, SEVERITIES, YAW, Demo, why_not_second
from lightproof.plots import accuracy_chart, overlay_map, png_of


def demo_page(demo: Demo, n_shown: int = 4) -> str:
    """Write the report of the demonstration."""
    people = len(np.unique(demo.faces.labels))
    series = {method: [demo.accuracy(method, s) for s in SEVERITIES] for method in METHODS}
    chart = accuracy_chart(series, list(SEVERITIES.values()))
    body = [
        "<h1>Faces under hard light</h1>",
        f"<p class=lead>{people} rendered people, one evenly lit photo enrolled of each, "
        f"{sum(map(len, demo.split.probes.values()))} photos to name. "
        "The discriminants of lightproof were measured on others of their kind.</p>",
        table(demo_table(demo), strong=[OURS]),
        "<p>Photos named correctly, in percent, by where the light comes from: mild is up to 25° aside, slanting up to "
        "60°, side up to 95°, then from behind the ear or from straight above. In the last column the light is mild "
        f"and the head is turned by {YAW:g}° to either side.</p>",
        image(chart, "accuracy by light", "chart"),
        "<h2>What the methods saw</h2>",
        "<p>First the enrolled photo, then one photo of each kind of light and one of a turned head, with the name "
        "each method gave.</p>",
        *(_person(demo, str(name)) for name in np.unique(demo.faces.labels)[:n_shown]),
        "<h2>Why this person and not the next</h2>",
        f"<p>By the method “{OURS}”. Blue patches are nearer to the person named than to the runner-up, red ones "
        "nearer to the runner-up. What they add up to is the decision.</p>",
        *(_why(demo, photo) for photo in _telling_photos(demo)),
    ]
    return page("lightproof demo", body)


def demo_table(demo: Demo) -> TextTable:
    """Accuracy of every method by severity of the light, and for turned heads."""
    head = ["method", *COLUMNS.values()]
    lines = [[method, *(f"{demo.accuracy(method, s):.1f}" for s in COLUMNS)] for method in METHODS]
    lines.append(["photos", *(str(len(demo.split.probes[s])) for s in COLUMNS)])
    return TextTable("Named correctly from one photo a person, %, by where the light comes from", head, lines)


def _person(demo: Demo, name: str) -> str:
    enrolled = next(i for i in demo.split.gallery if demo.faces.labels[i] == name)
    cells = [_face(demo, int(enrolled), f"<b>{escape(name)}</b><br>enrolled")]
    for probes in demo.split.probes.values():
        mine = probes[demo.faces.labels[probes] == name]
        photo = int(mine[len(mine) // 3])
        light = f"light {demo.faces.azimuths[photo]:+.0f}°, {demo.faces.elevations[photo]:+.0f}°"
        turned = f", turned {demo.faces.yaws[photo]:+.0f}°" if demo.faces.yaws[photo] else ""
        cells.append(_face(demo, photo, f"{light}{turned}<br>" + "<br>".join(_verdicts(demo, photo))))
    return f"<div class=faces>{''.join(cells)}</div>"


def _verdicts(demo: Demo, photo: int) -> Iterable[str]:
    for method in METHODS:
        right = demo.answers[method][photo] == demo.faces.labels[photo]
        mark, kind = ("✓", "right") if right else ("✗", "wrong")
        short = method.replace(", nearest", "")
        yield f"<span class={kind}>{mark} {escape(short)}: {escape(str(demo.answers[method][photo]))}</span>"


def _telling_photos(demo: Demo) -> list[int]:
    """Pick photos worth explaining: slanting and side light, named by ours and missed by raw pixels."""
    chosen: list[int] = []
    for severity in (2, 3):
        for photo in demo.split.probes[severity]:
            name = demo.faces.labels[photo]
            ours, theirs = (demo.answers[method][photo] == name for method in (OURS, next(iter(METHODS))))
            if ours and not theirs and name not in demo.faces.labels[chosen]:
                chosen.append(int(photo))
                break
    return chosen


def _why(demo: Demo, photo: int) -> str:
    first, second, favor = why_not_second(demo, photo)
    shown = {str(demo.faces.labels[i]): int(i) for i in demo.split.gallery}
    overlaid = image(png_of(overlay_map(demo.faces.images[photo], favor), 2), "map of patches")
    speaks_for, against = float(favor[favor > 0].sum()), float(-favor[favor < 0].sum())
    cells = [
        _face(demo, photo, "the photo to name"),
        _face(demo, shown[first], f"<b>{escape(first)}</b>: the answer"),
        _face(demo, shown[second], f"{escape(second)}: the runner-up"),
        _captioned(overlaid, f"blue adds {speaks_for:.2f} for the answer, red takes {against:.2f} away"),
    ]
    return f"<div class=why>{''.join(cells)}</div>"


def _face(demo: Demo, photo: int, caption: str) -> str:
    return _captioned(image(png_of(demo.faces.images[photo], 2), demo.faces.files[photo]), caption)


def _captioned(picture: str, caption: str) -> str:
    return f"<figure class=face>{picture}<figcaption>{caption}</figcaption></figure>"
