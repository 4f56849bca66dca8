"""`python -m deploy.dashboards.draw PANELS FOLDER`: draws each dashboard from its definition and recorded values.

Not a screenshot of Grafana: a picture with the same panels at the same places, in similar colours, for the docs.
PANELS is what `make pictures-dashboards` recorded. It runs in the environment of `make deploy-check`.
"""

import json
import math
import re
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from PIL import Image

from deploy.dashboards.queries import DASHBOARDS

COLUMNS = 24
ROW_INCHES, WIDTH_INCHES, DPI = 0.36, 15.0, 80
PAGE, PANEL, TEXT, FAINT, GRID = "#111217", "#181b1f", "#d8d9da", "#8e8e8e", "#2c3035"
LINES = ("#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2", "#b877d9", "#56a64b", "#ffa6b0")
NAMED = {"green": "#73bf69", "yellow": "#f2cc0c", "red": "#f2495c"}
COLOURS = 200
LEGENDS_MAX = 8
LEGEND_CHARS_MAX = 26
CAPTION = "Drawn from the dashboard's definition and recorded values; not a screenshot of Grafana."
UNITS = {"s": (("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)),
         "bytes": (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30))}  # fmt: skip
PER_SECOND = {"reqps": " req/s", "ops": " ops/s"}

Series = tuple[str, list[float], list[float]]


def shown(value: float, unit: str) -> str:
    """Returns a value as people read it, with its unit."""
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    if unit in UNITS:
        name, size = next(((n, s) for n, s in reversed(UNITS[unit]) if abs(value) >= s), UNITS[unit][0])
        return f"{value / size:.3g} {name}"
    number = f"{value:,.0f}" if value == int(value) else f"{value:.3g}"
    return number + PER_SECOND.get(unit, "")


def named(template: str, labels: dict[str, str]) -> str:
    """Returns the name of a line: the template with its labels."""
    name = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda found: labels.get(found[1], ""), template).strip()
    return name if len(name) <= LEGEND_CHARS_MAX else name[: LEGEND_CHARS_MAX - 1] + "…"


def series_of(panel: dict[str, Any], recorded: list[list[dict[str, Any]]]) -> list[Series]:
    """Returns the lines of a panel: names, seconds before the end, values."""
    found: list[Series] = []
    for target, answer in zip(panel["targets"], recorded, strict=True):
        for line in answer:
            points = [(float(at), float(value)) for at, value in line["values"]]
            points = [(at, value) for at, value in points if not math.isnan(value)]
            if points:
                name = named(target["legendFormat"], line["metric"])
                found.append((name, [at for at, _ in points], [value for _, value in points]))
    return sorted(found, key=lambda one: -max(one[2]))


def draw(board: dict[str, Any], recorded: dict[str, Any], stem: str, file: Path) -> None:
    """Draws one dashboard."""
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"]) + 2
    figure = Figure(figsize=(WIDTH_INCHES, rows * ROW_INCHES), facecolor=PAGE, dpi=DPI)
    figure.text(0.008, 1 - 0.9 / rows, board["title"], color=TEXT, size=13, weight="bold", va="center")
    figure.text(0.992, 1 - 0.9 / rows, CAPTION, color=FAINT, size=8, va="center", ha="right")
    for panel in board["panels"]:
        place = panel["gridPos"]
        left, top = place["x"] / COLUMNS, 1 - (place["y"] + 1.8) / rows
        width, height = place["w"] / COLUMNS, place["h"] / rows
        box = (left + 0.004, top - height + 0.12 / rows, width - 0.008, height - 0.24 / rows)
        frame = figure.add_axes(box, facecolor=PANEL, xticks=[], yticks=[])
        for side in frame.spines.values():
            side.set_color(GRID)
        frame.text(
            0.1 / place["w"], 1 - 0.65 / place["h"], panel["title"], color=TEXT, size=9.5,
            va="center", transform=frame.transAxes,
        )  # fmt: skip
        series = series_of(panel, recorded[f"{stem}: {panel['title']}"])
        if not series:
            frame.text(0.5, 0.45, "No data", color=FAINT, size=9, ha="center", transform=frame.transAxes)
        elif panel["type"] == "stat":
            _numbers(frame, panel, series)
        else:
            _lines(figure, box, panel, series)
    drawn = BytesIO()
    figure.savefig(drawn, facecolor=PAGE)
    # A palette takes half of the bytes.
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(file, optimize=True)


def _numbers(frame: Any, panel: dict[str, Any], series: list[Series]) -> None:
    defaults = panel["fieldConfig"]["defaults"]
    for at, (name, _, values) in enumerate(sorted(series)):
        middle = (at + 0.5) / len(series)
        colour = _colour(values[-1], defaults)
        if panel["options"]["colorMode"] == "background":
            half = 0.46 / len(series)
            frame.axvspan(middle - half, middle + half, 0.06, 0.72, color=colour, alpha=0.85, lw=0)
            colour = PAGE
        size = 19 if len(series) < LEGENDS_MAX // 2 else 14
        text = shown(values[-1], defaults["unit"])
        frame.text(middle, 0.44, text, color=colour, size=size, weight="bold", ha="center", va="center")
        below = colour if panel["options"]["colorMode"] == "background" else FAINT
        frame.text(middle, 0.16, name, color=below, size=8, ha="center", va="center")
    frame.set_xlim(0, 1)
    frame.set_ylim(0, 1)


def _colour(value: float, defaults: dict[str, Any]) -> str:
    steps = defaults["thresholds"]["steps"]
    reached = [step["color"] for step in steps if step["value"] is None or value >= step["value"]]
    return NAMED[reached[-1]]


def _lines(
    figure: Any, box: tuple[float, float, float, float], panel: dict[str, Any], series: list[Series]
) -> None:
    left, bottom, width, height = box
    axes = figure.add_axes(
        (left + width * 0.09, bottom + height * 0.26, width * 0.89, height * 0.58), facecolor=PANEL
    )
    defaults = panel["fieldConfig"]["defaults"]
    end = max(times[-1] for _, times, _ in series)
    for number, (name, times, values) in enumerate(series):
        colour = LINES[number % len(LINES)]
        label = name if number < LEGENDS_MAX else None
        axes.plot([at - end for at in times], values, color=colour, lw=1.2, label=label)
        axes.fill_between([at - end for at in times], values, color=colour, alpha=0.06, lw=0)
    highest = max(max(values) for _, _, values in series)
    axes.set_ylim(0, highest * 1.15 or 1)
    for step in defaults.get("thresholds", {}).get("steps", []):
        if step["value"] is not None and step["value"] <= highest * 1.15:
            axes.axhline(step["value"], color=NAMED[step["color"]], lw=0.9, ls=(0, (6, 4)))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value, defaults["unit"])))
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f} s"))
    axes.tick_params(colors=FAINT, labelsize=7.5, length=0)
    axes.grid(color=GRID, lw=0.6)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.legend(
        loc="upper left", bbox_to_anchor=(-0.09, -0.16), ncols=4, fontsize=7, frameon=False, labelcolor=TEXT,
        handlelength=1.2, columnspacing=1.2, borderaxespad=0,
    )  # fmt: skip


def main(recorded: Path, folder: Path) -> None:
    """Draws every dashboard as `dashboard-<name>.png`."""
    mpl.rcParams["font.family"] = "DejaVu Sans"
    values = json.loads(recorded.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(DASHBOARDS.glob("*.json")):
        board = json.loads(file.read_text(encoding="utf-8"))
        draw(board, values, file.stem, folder / f"dashboard-{file.stem}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
