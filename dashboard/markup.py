"""Pieces of HTML: the page around a report, tables, headline figures, notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tidewise.dashboard.palette import Palette
from tidewise.dashboard.verdict import Note

FONT = "Inter, system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table and the CSS class it wears."""

    text: str
    look: str = ""
    swatch: str = ""


def document(title: str, palette: Palette, parts: Iterable[str], look: str = "") -> str:
    """A whole page, complete in itself: no script, nothing loaded from elsewhere."""
    style = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    light = "".join(f"--{one.name}:{one.light};" for one in palette.colours())
    dark = "".join(f"--{one.name}:{one.dark};" for one in palette.colours())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
:root {{ color-scheme: light dark; --font: {FONT}; {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
{style}</style>
</head>
<body>
<main class="{look}">
{chr(10).join(parts)}
</main>
</body>
</html>
"""


def heading(kind: str, note: Note) -> str:
    """The headline sentence; the words before its colon carry the colour of the news."""
    start, colon, rest = note.text.partition(":")
    words = f'<b class="{note.level}">{escape(start)}{colon}</b>{escape(rest)}'
    if not colon:
        words = f'<b class="{note.level}">{escape(note.text)}</b>'
    return f'<header><p class="kind">{escape(kind)}</p><h1>{words}</h1></header>'


def section(title: str, under: str = "") -> str:
    """A heading and a line of explanation."""
    return f"<h2>{escape(title)}</h2>" + (f'<p class="under">{escape(under)}</p>' if under else "")


def headline_figures(figures: Iterable[tuple[str, str]]) -> str:
    """Big figures with what they mean; the first leads."""
    boxes = [f"<div><strong>{escape(value)}</strong><span>{escape(meaning)}</span></div>" for value, meaning in figures]
    return f'<div class="figures">{"".join(boxes)}</div>'


def share_bar(shares: Sequence[tuple[str, float, str]]) -> str:
    """A bar of (legend, share, colour variable) parts with its legend."""
    there = [one for one in shares if one[1] > 0]
    bars = "".join(f'<i style="flex:{share:.6f} 0 0;background:var(--{colour})"></i>' for _, share, colour in there)
    legend = "".join(f"<span>{swatch(colour)}{escape(text)}</span>" for text, _, colour in there)
    return f'<div class="bar">{bars}</div><p class="legend">{legend}</p>'


def swatch(colour: str) -> str:
    """A small square in a colour variable."""
    return f'<i class="swatch" style="background:var(--{colour})"></i>'


def note_list(notes: Iterable[Note]) -> str:
    """Notes, each with the colour of its level."""
    items = "".join(f'<li class="{one.level}">{escape(one.text)}</li>' for one in notes)
    return f'<ul class="notes">{items}</ul>' if items else ""


def table(heads: Sequence[str], rows: Sequence[tuple[Sequence[Cell], str]]) -> str:
    """A table; each row comes with the CSS class it wears. A column is aligned as its first cell is."""
    aligned = [one.look for one in rows[0][0]] if rows else [""] * len(heads)
    head = "".join(_tag("th", Cell(text, look)) for text, look in zip(heads, aligned, strict=True))
    body = "".join(f'<tr class="{look}">{"".join(_tag("td", one) for one in cells)}</tr>' for cells, look in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def figure(svg: str, description: str) -> str:
    """A drawing and what it shows, for readers who cannot see it."""
    labelled = re.sub(r"<svg ", f'<svg role="img" aria-label="{escape(description)}" ', svg, count=1)
    return f"<figure>{labelled}</figure>"


def _tag(tag: str, cell: Cell) -> str:
    look = f' class="{cell.look}"' if cell.look else ""
    return f"<{tag}{look}>{swatch(cell.swatch) if cell.swatch else ''}{escape(cell.text)}</{tag}>"
