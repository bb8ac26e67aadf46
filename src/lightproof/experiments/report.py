"""Reports as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from lightproof.experiments.demo import METHODS, OURS, SEVERITIES, Demo, why_not_second
from lightproof.experiments.tables import TextTable, demo_table, yale_tables
from lightproof.experiments.yale import SUBSETS, Row
from lightproof.plots import accuracy_chart, overlay_map, png_of

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1f24; background: #fff }
h1 { margin-bottom: .2rem } h2 { margin-top: 2.4rem } .lead { color: #57606a; margin-top: 0 }
table { border-collapse: collapse; margin: 1rem 0 } .scroll { overflow-x: auto }
th, td { padding: .35rem .8rem; border-bottom: 1px solid #d0d7de; text-align: right }
th:first-child, td:first-child { text-align: left } tr.ours td { font-weight: 600 }
figure { margin: 0 } figcaption { font-size: .78rem; line-height: 1.3 }
img { max-width: 100%; border-radius: 4px } .face img { width: 100% }
.right { color: #1a7f37 } .wrong { color: #cf222e }
.faces, .why { display: grid; gap: .8rem; margin-bottom: 1.4rem; grid-template-columns: repeat(5, 1fr) }
.why { grid-template-columns: repeat(4, 1fr) }
@media (max-width: 40rem) {
  .faces { grid-template-columns: repeat(3, 1fr) } .why { grid-template-columns: repeat(2, 1fr) }
  th, td { padding: .3rem .4rem; font-size: .8rem }
}
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117 } th, td { border-color: #30363d } .lead { color: #8d96a0 }
  .right { color: #3fb950 } .wrong { color: #f85149 } .chart { background: #fff }
}
"""


def demo_page(demo: Demo, n_shown: int = 4) -> str:
    """Write the report of the demonstration."""
    people = len(np.unique(demo.faces.labels))
    chart = accuracy_chart(
        {method: [demo.accuracy(method, s) for s in SEVERITIES] for method in METHODS},
        list(SEVERITIES.values()),
    )
    body = [
        "<h1>Faces under hard light</h1>",
        f"<p class=lead>{people} rendered people, one evenly lit photo enrolled of each, "
        f"{sum(map(len, demo.split.probes.values()))} photos to name. Nobody was trained on anything.</p>",
        _table(demo_table(demo), strong=OURS),
        "<p>Photos named correctly, in percent, by where the light comes from: mild is up to 25° aside, slanting up to "
        "60°, side up to 95°; the last is lit from behind the ear or from straight above.</p>",
        _image(chart, "accuracy by light", "chart"),
        "<h2>What the methods saw</h2>",
        "<p>First the enrolled photo, then one photo of each kind of light, with the name each method gave.</p>",
        *(_person(demo, str(name)) for name in np.unique(demo.faces.labels)[:n_shown]),
        "<h2>Why this person and not the next</h2>",
        f"<p>By the method “{OURS}”. Blue patches are nearer to the person named than to the runner-up, red ones "
        "nearer to the runner-up. What they add up to is the decision.</p>",
        *(_why(demo, photo) for photo in _telling_photos(demo)),
    ]
    return _page("lightproof demo", body)


def yale_page(rows: Sequence[Row], notes: Sequence[str]) -> str:
    """Write the report of the experiments on Extended Yale B."""
    means: dict[str, list[float]] = {}
    for row in rows:
        if row.std is not None and row.subset != "all":
            means.setdefault(f"{row.method} ({row.preset})", []).append(row.accuracy)
    body = [
        "<h1>Extended Yale B</h1>",
        "<p class=lead>Rank-1 accuracy; ± is the standard deviation over the galleries.</p>",
    ]
    if means:
        chart = accuracy_chart(means, [f"subset {s}" for s in SUBSETS])
        body += [
            "<h2>One photo a person, mean over the gallery lights</h2>",
            _image(chart, "accuracy by subset", "chart"),
        ]
    body += [
        *(f"<h2>{escape(table.title)}</h2>{_table(table)}" for table in yale_tables(rows)),
        *(f"<p>{escape(note)}.</p>" for note in notes),
    ]
    return _page("lightproof on Extended Yale B", body)


def _person(demo: Demo, name: str) -> str:
    enrolled = next(i for i in demo.split.gallery if demo.faces.labels[i] == name)
    cells = [_face(demo, int(enrolled), f"<b>{escape(name)}</b><br>enrolled")]
    for probes in demo.split.probes.values():
        mine = probes[demo.faces.labels[probes] == name]
        photo = int(mine[len(mine) // 3])
        light = f"light {demo.faces.azimuths[photo]:+.0f}°, {demo.faces.elevations[photo]:+.0f}°"
        cells.append(_face(demo, photo, f"{light}<br>" + "<br>".join(_verdicts(demo, photo))))
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
    overlaid = _image(png_of(overlay_map(demo.faces.images[photo], favor), 2), "map of patches")
    speaks_for, against = float(favor[favor > 0].sum()), float(-favor[favor < 0].sum())
    cells = [
        _face(demo, photo, "the photo to name"),
        _face(demo, shown[first], f"<b>{escape(first)}</b>: the answer"),
        _face(demo, shown[second], f"{escape(second)}: the runner-up"),
        _captioned(overlaid, f"blue adds {speaks_for:.2f} for the answer, red takes {against:.2f} away"),
    ]
    return f"<div class=why>{''.join(cells)}</div>"


def _face(demo: Demo, photo: int, caption: str) -> str:
    picture = _image(png_of(demo.faces.images[photo], 2), demo.faces.files[photo])
    return _captioned(picture, caption)


def _captioned(picture: str, caption: str) -> str:
    return f"<figure class=face>{picture}<figcaption>{caption}</figcaption></figure>"


def _image(png: bytes, alt: str, kind: str = "") -> str:
    return f'<img class="{kind}" alt="{escape(alt)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def _table(table: TextTable, strong: str = "") -> str:
    rows = ["<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in table.head) + "</tr>"]
    for line in table.lines:
        kind = " class=ours" if line[0] == strong else ""
        rows.append(f"<tr{kind}>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>")
    return f"<div class=scroll><table>{''.join(rows)}</table></div>"


def _page(title: str, body: Iterable[str]) -> str:
    head = f"<meta charset=utf-8><meta name=viewport content='width=device-width'><title>{escape(title)}</title>"
    return f"<!doctype html><html lang=en><head>{head}<style>{_STYLE}</style></head><body>{''.join(body)}</body></html>"
