"""A figure as bytes: a PNG, or an inline SVG whose colours are CSS variables."""

from __future__ import annotations

import io
import re

import matplotlib as mpl
from matplotlib.figure import Figure

from tidewise.dashboard.figures import style
from tidewise.dashboard.palette import Palette

DPI = 160


def png(figure: Figure, palette: Palette, dpi: int = DPI) -> bytes:
    """The figure as a PNG in the light theme."""
    out = io.BytesIO()
    with mpl.rc_context(style()):  # type: ignore[arg-type]
        figure.savefig(out, format="png", dpi=dpi, facecolor=palette["page"], metadata={"Software": "Tidewise"})
    return out.getvalue()


def svg(figure: Figure, palette: Palette, name: str) -> str:
    """The figure as SVG for a page; ``name`` keeps its inner names apart from those of other figures there."""
    out = io.StringIO()
    with mpl.rc_context({**style(), "svg.hashsalt": name}):  # type: ignore[dict-item]
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'\bid="(figure|axes|patch|line|text|xtick|ytick|matplotlib|FillBetween)[^"]*"', "", text)
    text = re.sub(r"font: ([\d.]+px|bold [\d.]+px|[\d]+ [\d.]+px) [^;\"]*", r"font: \1 var(--font)", text)
    return _themed(text, palette)


def _themed(text: str, palette: Palette) -> str:
    names = {one.light: f"var(--{one.name})" for one in palette.colours()}
    return re.sub(r"#[0-9a-f]{6}", lambda found: names.get(found[0], found[0]), text)
