"""Parts of reports: a table for the terminal and for pages alike, and an HTML page that needs no other file."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1f24; background: #fff }
h1 { margin-bottom: .2rem } h2 { margin-top: 2.4rem } .lead { color: #57606a; margin-top: 0 }
table { border-collapse: collapse; margin: 1rem 0 } .scroll { overflow-x: auto }
th, td { padding: .35rem .8rem; border-bottom: 1px solid #d0d7de; text-align: right }
th:first-child, td:first-child { text-align: left } tr.ours td { font-weight: 600 }
small { font-weight: 400; color: #57606a; white-space: nowrap; font-size: .78em } td { line-height: 1.25 }
figure { margin: 0 } .plate { margin: 1.2rem 0 2rem } .plate figcaption { font-size: .85rem; margin-top: .3rem }
.note { font-size: .85rem; color: #57606a } nav a { margin-right: 1rem }
figcaption { font-size: .78rem; line-height: 1.3 }
img { max-width: 100%; border-radius: 4px } .face img { width: 100% }
.right { color: #1a7f37 } .wrong { color: #cf222e }
.faces, .why { display: grid; gap: .8rem; margin-bottom: 1.4rem; grid-template-columns: repeat(5, 1fr) }
.faces { grid-template-columns: repeat(6, 1fr) }
.why { grid-template-columns: repeat(4, 1fr) }
@media (max-width: 40rem) {
  .faces { grid-template-columns: repeat(3, 1fr) } .why { grid-template-columns: repeat(2, 1fr) }
  th, td { padding: .3rem .4rem; font-size: .8rem }
}
@media (prefers-color-scheme: dark) {
  .note, small { color: #8d96a0 }
  body { color: #e6edf3; background: #0d1117 } th, td { border-color: #30363d } .lead { color: #8d96a0 }
  .right { color: #3fb950 } .wrong { color: #f85149 } .chart { background: #fff }
}
"""


@dataclass(frozen=True)
class TextTable:
    """A title, a head, lines of as many cells, and a note."""

    title: str
    head: list[str]
    lines: list[list[str]]
    note: str = ""


def page(title: str, body: Iterable[str]) -> str:
    """Make a page of pieces of HTML."""
    head = f"<meta charset=utf-8><meta name=viewport content='width=device-width'><title>{escape(title)}</title>"
    return f"<!doctype html><html lang=en><head>{head}<style>{_STYLE}</style></head><body>{''.join(body)}</body></html>"


def table(table: TextTable, strong: Iterable[str] = ()) -> str:
    """Write a table with its note; lines whose first cell is in ``strong`` are bold."""
    rows = ["<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in table.head) + "</tr>"]
    marked = set(strong)
    for line in table.lines:
        kind = " class=ours" if line[0] in marked else ""
        rows.append(f"<tr{kind}>" + "".join(f"<td>{_cell(cell)}</td>" for cell in line) + "</tr>")
    note = f"<p class=note>{escape(table.note)}</p>" if table.note else ""
    return f"<div class=scroll><table>{''.join(rows)}</table></div>{note}"


def image(png: bytes, alt: str, kind: str = "") -> str:
    """Write a picture into the page itself."""
    return f'<img class="{kind}" alt="{escape(alt)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def plate(png: bytes, title: str, caption: str) -> str:
    """Write a figure with its title above and its caption below."""
    shown = image(png, title, "chart")
    return f"<h3>{escape(title)}</h3><figure class=plate>{shown}<figcaption>{escape(caption)}</figcaption></figure>"


def _cell(text: str) -> str:
    """Write a cell; brackets after a figure come below it, in small letters."""
    parts = re.fullmatch(r"([\d.±]+) ([(\[].+[)\]])", text)
    if parts is None:
        return escape(text)
    return f"{escape(parts[1])}<br><small>{escape(parts[2])}</small>"
