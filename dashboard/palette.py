"""Colours: one hue an application, dark for its most accurate variant to light for its cheapest; light and dark theme.

Figures are drawn in the light theme's colours. In a page every colour becomes a CSS variable, so one drawing serves
both themes; therefore no two names share a colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tidewise.core.outcome import Outcome
from tidewise.core.run import RunApplication

# name: (light theme, dark theme)
BASE: dict[str, tuple[str, str]] = {
    "page": ("#fefefe", "#14181d"),
    "ink": ("#1c2430", "#e6e9ed"),
    "muted": ("#68727e", "#98a2ae"),
    "line": ("#e2e6ea", "#2b323a"),
    "mark": ("#b4bcc5", "#4a545f"),
    "served": ("#cfd8e1", "#33404d"),
    "good": ("#1d7f5c", "#4fc493"),
    "fair": ("#a86f0a", "#e0ae4a"),
    "bad": ("#b3313c", "#f07a80"),
    "missed": ("#d9575d", "#d4565c"),
    "late": ("#eab54d", "#e8b450"),
    "dropped": ("#dd7a3c", "#e08347"),
    "refused": ("#bb4248", "#cf555b"),
    "failed": ("#5d1a2c", "#a34463"),
}
VIOLATIONS = (Outcome.LATE, Outcome.DROPPED, Outcome.REFUSED, Outcome.FAILED)

# Hues by application, in order: dark and light end of the light theme, the same of the dark theme, and the line colour
# of each theme.
HUES = (
    ("#0d3b66", "#b5d4ee", "#2d6fae", "#b4d5f2", "#2b7bc4", "#6cb2f0"),
    ("#0c5048", "#b3dfd0", "#1f8472", "#b2e2d2", "#14957d", "#4fd0b4"),
    ("#4b2a70", "#d8c8ec", "#7a52ad", "#d6c2f0", "#8650c6", "#b894ea"),
    ("#6a4310", "#efd7a8", "#a5731f", "#eed6a4", "#bb7d1c", "#e2b563"),
    ("#6b1f4a", "#efc3da", "#a94a7d", "#efc0da", "#c0488a", "#ea8fc0"),
    ("#3a4a1a", "#d5e0b4", "#6f8833", "#d6e3ae", "#76962a", "#b3cf6b"),
    ("#134a5a", "#b4dde6", "#238299", "#b0dde8", "#1b8fab", "#5cc7e0"),
    ("#6b2a1c", "#f0c8b8", "#ad5138", "#f0c4b2", "#c25a3c", "#ee9c80"),
    ("#33373d", "#cfd3d8", "#6a727c", "#ccd2d9", "#626b76", "#aab3bd"),
)


@dataclass(frozen=True, slots=True)
class Colour:
    """One named colour; ``light`` is also how figures are drawn."""

    name: str
    light: str
    dark: str


class Palette:
    """The colours of one report."""

    def __init__(self, applications: Mapping[str, RunApplication]) -> None:
        self._base = {name: Colour(name, *both) for name, both in BASE.items()}
        self._variants: dict[tuple[str, str], Colour] = {}
        self._texts: dict[tuple[str, str], Colour] = {}
        self._applications: dict[str, Colour] = {}
        for index, (name, application) in enumerate(sorted(applications.items())):
            hue = HUES[index % len(HUES)]
            self._applications[name] = Colour(f"a{index}", hue[4], hue[5])
            for one, colour in zip(application.variants, _ramp(index, len(application.variants)), strict=True):
                self._variants[name, one] = colour
                self._texts[name, one] = _text_on(colour, len(self._texts))

    def __getitem__(self, name: str) -> str:
        """The colour to draw a named thing with."""
        return self._base[name].light

    def variant(self, application: str, variant: str) -> str:
        """The colour of a variant; one the run did not know is drawn muted."""
        colour = self._variants.get((application, variant), self._base["muted"])
        return colour.light

    def variable(self, application: str, variant: str) -> str:
        """The name of the CSS variable that holds a variant's colour."""
        return self._variants.get((application, variant), self._base["muted"]).name

    def application(self, name: str) -> str:
        """The colour of an application's lines."""
        return self._applications.get(name, self._base["muted"]).light

    def on(self, application: str, variant: str) -> str:
        """Text colour readable on a variant's colour, in either theme."""
        colour = self._texts.get((application, variant), self._base["page"])
        return colour.light

    def colours(self) -> Iterator[Colour]:
        """Every colour of the report."""
        yield from self._base.values()
        yield from self._applications.values()
        yield from self._variants.values()
        yield from self._texts.values()


def _ramp(index: int, steps: int) -> Iterator[Colour]:
    hue = HUES[index % len(HUES)]
    turn = index // len(HUES)  # a tenth application repeats the first hue, one shade of blue apart to stay distinct
    for step in range(steps):
        at = step / max(1, steps - 1)
        light, dark = _between(hue[0], hue[1], at, turn), _between(hue[2], hue[3], at, turn)
        yield Colour(f"a{index}v{step}", light, dark)


def _text_on(colour: Colour, number: int) -> Colour:
    """Black or white in each theme, a shade of its own for each number so that it has a name of its own."""
    off = number % 6, number // 6 % 6, number // 36 % 6
    light, dark = (
        "#" + "".join(f"{16 + one if _bright(shade) else 255 - one:02x}" for one in off)
        for shade in (colour.light, colour.dark)
    )
    return Colour(f"{colour.name}t", light, dark)


def _bright(colour: str) -> bool:
    red, green, blue = _channels(colour)
    return 0.3 * red + 0.59 * green + 0.11 * blue > 145


def _between(one: str, other: str, at: float, shift: int) -> str:
    mixed = [round(a + (b - a) * at) for a, b in zip(_channels(one), _channels(other), strict=True)]
    mixed[2] = min(255, mixed[2] + shift)
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
