"""Pictures of estimates, studies and plans: one look, colour-blind safe, readable in print.

Every text is measured before the page is cut to size, so labels are wrapped rather than
clipped and the page grows with its rows. The same input gives the same bytes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from respondent.checking import say
from respondent.laws import Plain, Wave

from .numbers import Number
from .result import PathLike, Result, Value
from .shares import MOST_PRINTED, Shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .sensitivity import Sensitivity
    from .study import Study, StudyRow

#: What a picture's file name may end in.
ENDINGS = (".svg", ".png", ".pdf")

#: Colours that the colour-blind tell apart (Okabe & Ito 2008), and shapes for grey print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, BAR, FAINT, GRID = "#1A1A1A", COLOURS[0], "#5A5A5A", "#DADADA"

# Inches and points.
WIDTH, MARGIN, GAP = 7.0, 0.15, 0.12
FULL = WIDTH - 2 * MARGIN
TITLE, TEXT, SMALL = 11.0, 9.0, 7.0
MOST_LABEL, MOST_LINES = 2.4, 4
DPI = 200
#: Letters are fitted to whole pixels, so a line may come out a little wider than measured.
SAFE = 1.02

FONTS = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
)


def plot_estimate(
    result: Result,
    path: PathLike | None = None,
    *,
    answers: Sequence[str] | None = None,
    top: int = 20,
) -> Figure:
    """Draw the estimates of a question with their intervals, beside the raw noisy shares.

    ``answers`` draws those only, in that order. A question with very many answers shows its
    ``top`` entries, with intervals that hold for all entries at once. Numbers show the mean
    and, where the law tells it, the distribution. The path's ending says which format:
    .svg, .png or .pdf. Returns the figure.
    """
    _check_ending(path)
    with _look():
        if isinstance(result, Number):
            figure = _number_figure(result)
        elif isinstance(result, Shares):
            figure = _shares_figure(result, answers, top)
        else:
            raise TypeError("result: must be what estimate() gave")
        _save(figure, path)
    return figure


def plot_study(
    study: Study | Sequence[Study], path: PathLike | None = None, *, fingerprint: str | None = None
) -> Figure:
    """Draw coverage and error of one or more studies, against n and against ε.

    Each line is a question: its mean coverage and root mean square error over its answers.
    Studies of different surveys, say the same questions at other ε, may be drawn together
    if they are of one level.
    """
    _check_ending(path)
    studies = list(study) if isinstance(study, Sequence) else [study]
    if not studies or not any(one.rows for one in studies):
        raise ValueError("study: there is nothing to draw")
    if len({one.level for one in studies}) > 1:
        raise ValueError("study: the studies must be of one level")
    with _look():
        figure = _study_figure(studies, fingerprint)
        _save(figure, path)
    return figure


def plot_sensitivity(result: Sensitivity, path: PathLike | None = None) -> Figure:
    """Draw an estimate against the share of people who always give the safe answer."""
    _check_ending(path)
    with _look():
        figure = _sensitivity_figure(result)
        _save(figure, path)
    return figure


def plot_plan(
    curves: Mapping[str, Sequence[tuple[int, float]]],
    path: PathLike | None = None,
    *,
    title: str,
    label: str,
    wanted: float | None = None,
    power: bool = False,
    note: str = "",
) -> Figure:
    """Draw what each plan reaches against n: margins on a logarithmic axis, or power in %.

    ``curves`` has the points (n, value) of each line by its name, ``label`` says what the values
    are, ``wanted`` draws a line across at that value, and ``note`` is the small print.
    """
    _check_ending(path)
    if not curves or not all(curves.values()):
        raise ValueError("curves: there is nothing to draw")
    with _look():
        figure = _plan_figure(curves, title, label, wanted, power, note)
        _save(figure, path)
    return figure


def _check_ending(path: PathLike | None) -> None:
    if path is not None and Path(path).suffix.lower() not in ENDINGS:
        raise ValueError(f"{Path(path).name}: its name must end in {', '.join(ENDINGS)}")


def _save(figure: Figure, path: PathLike | None) -> None:
    if path is None:
        return
    ending = Path(path).suffix.lower()
    # Without the hour in it, the same figure is the same file.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(ending)
    figure.savefig(path, dpi=DPI, metadata=metadata)


# The look


def _look() -> AbstractContextManager[None]:
    import matplotlib

    settings: dict[Any, Any] = {
        "font.family": list(_families()),
        "font.size": TEXT,
        "text.color": INK,
        "text.parse_math": False,
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "axes.labelsize": TEXT,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.unicode_minus": True,
        "grid.color": GRID,
        "grid.linewidth": 0.6,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "xtick.labelsize": TEXT - 1,
        "ytick.labelsize": TEXT - 1,
        "legend.frameon": False,
        "legend.fontsize": TEXT - 1,
        "figure.facecolor": "white",
        "savefig.facecolor": "white",
        "svg.fonttype": "path",
        "svg.hashsalt": "deniable",
        "pdf.fonttype": 42,
    }
    return matplotlib.rc_context(settings)


@lru_cache(maxsize=1)
def _families() -> tuple[str, ...]:
    """Fonts to look for a letter in, of those that this computer has."""
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return tuple(name for name in FONTS if name in known) or ("sans-serif",)


@lru_cache(maxsize=4096)
def _measured(text: str, size: float, weight: str = "normal") -> float:
    """Width of one line in inches."""
    from matplotlib.backends import backend_agg
    from matplotlib.font_manager import FontProperties

    font = FontProperties(family=list(_families()), size=size, weight=weight)
    renderer: Any = backend_agg.RendererAgg  # matplotlib leaves it without types
    with warnings.catch_warnings():
        # Letters that no font has are told of once, when the picture is drawn.
        warnings.filterwarnings("ignore", "Glyph")
        width, _, _ = renderer(100, 100, DPI).get_text_width_height_descent(text, font, False)
    return SAFE * float(width) / DPI


def _wrapped(
    text: str, width: float, size: float, most: int = 50, weight: str = "normal"
) -> list[str]:
    """Lines that are at most ``width`` inches wide; what needs more than ``most`` is cut."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        if _measured(joined, size, weight) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if lines[-1] and _measured(lines[-1] + letter, size, weight) > width:
                lines.append("")
            lines[-1] += letter
    if len(lines) > most:
        lines = lines[:most]
        while lines[-1] and _measured(lines[-1] + "…", size, weight) > width:
            lines[-1] = lines[-1][:-1]
        lines[-1] += "…"
    return lines


def _height(lines: int, size: float) -> float:
    return lines * size * 1.3 / 72


class _Page:
    """A figure filled from the top, in inches, whose height is known before it is made."""

    def __init__(self, height: float) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.figure: Figure = Figure(figsize=(WIDTH, height), dpi=DPI)
        FigureCanvasAgg(self.figure)
        self.height = height
        self.y = MARGIN

    def lines(self, lines: Sequence[str], size: float, colour: str = INK, **font: Any) -> None:
        step = _height(1, size)
        for line in lines:
            place = (MARGIN / WIDTH, 1 - (self.y + step / 2) / self.height)
            self.figure.text(*place, line, size=size, color=colour, va="center", **font)
            self.y += step

    def axes(self, left: float, right: float, height: float, below: float) -> Axes:
        """Axes of this height, with room ``below`` for ticks and their label."""
        bottom = self.height - self.y - height
        self.y += height + below
        return self.figure.add_axes(
            (left / WIDTH, bottom / self.height, (right - left) / WIDTH, height / self.height)
        )

    def legend(self, handles: Sequence[Any], columns: int) -> None:
        self.figure.legend(
            handles=list(handles),
            loc="upper left",
            bbox_to_anchor=(MARGIN / WIDTH, 1 - self.y / self.height),
            borderaxespad=0,
            borderpad=0.1,
            handletextpad=0.5,
            columnspacing=1.6,
            labelspacing=0.4,
            ncols=columns,
        )


# Estimates of shares


def _small_print(result: Result, more: Iterable[str], method: str = "") -> list[str]:
    fingerprint = result.fingerprint[:16] if result.fingerprint else "not named"
    parts = [
        f"n = {result.n:,}",
        *([f"{result.not_asked:,} not asked"] if result.not_asked else []),
        f"ε = {result.epsilon:.4g}" if result.question.protected else "not protected",
        *([f"δ = {result.delta:.2g}"] if result.delta else []),
        f"level {100 * result.level:g} %",
        "for the population" if result.target == "population" else "for these respondents",
        method or result.method,
        *more,
        f"survey {fingerprint}",
    ]
    return _wrapped("; ".join(parts), FULL, SMALL)


def _title(result: Result) -> list[str]:
    return _wrapped(say(result.question.ask, "en"), FULL, TITLE, 6, "bold")


def _interval_text(value: Value, scale: float, digits: int) -> str:
    if math.isnan(value.estimate):
        return "no estimate"
    numbers = (f"{scale * x + 0.0:,.{digits}f}" for x in (value.estimate, value.low, value.high))
    middle, low, high = (_minus(number) for number in numbers)
    return f"{middle} ({low} to {high})" + ("*" if value.flag else "")


def _minus(number: str) -> str:
    """A true minus sign, and none before nothing."""
    if number.startswith("-") and not number.strip("-0.,"):
        number = number[1:]
    return number.replace("-", "−")


def _chosen(result: Shares, answers: Sequence[str] | None, top: int) -> tuple[list[Value], str]:
    """The rows to draw, and what the small print says about the choice."""
    if top < 1:
        raise ValueError("top: must be at least 1")
    if answers is not None:
        if not answers:
            raise ValueError("answers: must name at least one")
        return [result[answer] for answer in answers], ""
    if len(result.answers) <= MOST_PRINTED:
        return list(result.values()), ""
    values: list[Value] = list(result.top(top))
    return values, (
        f"the {len(values)} largest estimates of {len(result.answers):,} answers, "
        "intervals that hold for all answers at once (Bonferroni)"
    )


def _shares_figure(result: Shares, answers: Sequence[str] | None, top: int) -> Figure:
    values, choice = _chosen(result, answers, top)
    widths = [100 * (value.high - value.low) for value in values]
    texts = [_interval_text(value, 100, 2 if max(widths) < 1 else 1) for value in values]
    more: list[str] = []
    if result.question.kind == "scale" and answers is None:
        more.append(f"mean score {_interval_text(result.mean, 1, 2)}")
    ends = _ends([100 * x for value in values for x in _numbers(value)] + [0.0])
    kind = "the population" if result.target == "population" else "these respondents"
    page, axes, rows = _rows_page(
        result, values, texts, _small_print(result, _noted(values, more), choice), "estimate, %"
    )
    _draw_rows(axes, values, rows, 100)
    axes.set_xlim(*ends)
    _few_ticks(axes)
    axes.axvline(0, color=FAINT, linewidth=0.8, zorder=1)
    axes.set_xlabel(f"share of {kind} (%)")
    return page.figure


def _noted(values: Sequence[Value], more: Sequence[str]) -> list[str]:
    flags = sorted({value.flag for value in values if value.flag})
    return [*more, *(f"* {flag}" for flag in flags)]


def _numbers(value: Value) -> list[float]:
    found = (value.noisy, value.estimate, value.low, value.high)
    return [x for x in found if not math.isnan(x)]


def _ends(numbers: Sequence[float]) -> tuple[float, float]:
    low, high = min(numbers), max(numbers)
    room = 0.04 * ((high - low) or 1.0)
    return low - room, high + room


def _rows_page(
    result: Result,
    values: Sequence[Value],
    texts: Sequence[str],
    footer: Sequence[str],
    heading: str,
    beneath: float = 0.0,
) -> tuple[_Page, Axes, list[float]]:
    """A page with a row for each value: label, room to draw in, numbers."""
    natural = max(_measured(value.name, TEXT) for value in values)
    least = 0.8 if beneath else 0.4
    label_width = min(max(natural, least), MOST_LABEL) + 0.01
    labels = [_wrapped(value.name, label_width, TEXT, MOST_LINES) for value in values]
    heights = [max(0.26, _height(len(label), TEXT) + 0.08) for label in labels]
    text_width = max(_measured(text, TEXT - 1) for text in [*texts, heading])
    left, right = MARGIN + label_width + 0.12, WIDTH - MARGIN - text_width - 0.2
    title = _title(result)
    body = sum(heights)
    below = 0.5
    page = _Page(
        MARGIN + _height(len(title), TITLE) + GAP / 2 + _height(1, TEXT) + GAP
        + body + below + beneath + _height(len(footer), SMALL) + MARGIN
    )  # fmt: skip
    page.lines(title, TITLE, weight="bold")
    page.y += GAP / 2
    level = f"estimate with {100 * result.level:g} % interval"
    page.legend(_row_handles(level), 2)
    heading_y = 1 - (page.y + _height(1, TEXT) / 2 - 0.01) / page.height
    page.figure.text(
        1 - MARGIN / WIDTH, heading_y, heading, size=TEXT - 1, color=FAINT, ha="right", va="center"
    )
    page.y += _height(1, TEXT) + GAP
    axes = page.axes(left, right, body, below)
    rows, y = [], 0.0
    for label, text, height in zip(labels, texts, heights, strict=True):
        middle = y + height / 2
        place = axes.get_yaxis_transform()
        axes.text(
            -0.12 / (right - left), middle, "\n".join(label),
            transform=place, ha="right", va="center", size=TEXT, linespacing=1.15,
        )  # fmt: skip
        axes.text(
            1 + (text_width + 0.2) / (right - left), middle, text,
            transform=place, ha="right", va="center", size=TEXT - 1,
        )  # fmt: skip
        rows.append(middle)
        y += height
    axes.set_ylim(body, 0)
    axes.set_yticks([])
    axes.grid(axis="x")
    here = page.y
    page.y = page.height - MARGIN - _height(len(footer), SMALL)
    page.lines(footer, SMALL, FAINT)
    page.y = here
    return page, axes, rows


def _few_ticks(axes: Axes) -> None:
    """As many round numbers as fit beside each other."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    def text(value: float) -> str:
        digits = 0 if abs(value) >= 100 else 6
        number = f"{value:,.{digits}f}"
        return _minus(number.rstrip("0").rstrip(".") if digits else number)

    widest = max(
        _measured(text(round(end, 3 if abs(end) < 10 else 0)), TEXT - 1) for end in axes.get_xlim()
    )
    room = axes.get_position().width * WIDTH / max(0.5, widest + 0.15)
    axes.xaxis.set_major_locator(
        MaxNLocator(nbins=max(2, min(8, int(room))), steps=[1, 2, 2.5, 5, 10])
    )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def _row_handles(level: str) -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=BAR, marker="o", markersize=5.5, linewidth=1.8, label=level),
        Line2D([], [], linestyle="", label="noisy, before debiasing", **_hollow()),
    ]


def _hollow() -> dict[str, Any]:
    return {
        "marker": "D",
        "markersize": 5,
        "markerfacecolor": "none",
        "markeredgecolor": FAINT,
        "markeredgewidth": 1.0,
    }


def _draw_rows(axes: Axes, values: Sequence[Value], rows: Sequence[float], scale: float) -> None:
    for value, y in zip(values, rows, strict=True):
        axes.plot([scale * value.low, scale * value.high], [y, y], color=BAR, linewidth=1.8)
        axes.plot([scale * value.estimate], [y], color=BAR, marker="o", markersize=5.5)
        axes.plot([scale * value.noisy], [y], linestyle="", **_hollow())


# Numbers


def _number_figure(result: Number) -> Figure:
    mean, question = result.mean, result.question
    unit = f" ({say(question.unit, 'en')})" if question.unit else ""
    step = float(question.step or 1)
    digits = max(0, 2 - int(math.floor(math.log10(step))))
    spread = isinstance(question.law, Wave | Plain)
    more = ["distribution by EM with smoothing, band from a bootstrap"] if spread else []
    if isinstance(question.law, Wave):
        more.append("dashed: noisy responses")
    if result.skipped:
        more.append(f"{result.skipped:,} skipped")
    panel = 2.2 if spread else 0.0
    # Two panels share their x axis, so the upper one needs room for no label.
    page, axes, rows = _rows_page(
        result,
        [mean],
        [_interval_text(mean, 1, digits)],
        _small_print(result, _noted([mean], more)),
        "estimate",
        panel + (GAP + 0.1 if spread else 0.0),
    )
    _draw_rows(axes, [mean], rows, 1)
    last = question.law.answers - 1 - (1 if question.skip else 0)
    range_ends = [float(question.value(0)), float(question.value(last))]
    ends = _ends(range_ends + _numbers(mean))
    axes.set_xlim(*ends)
    _few_ticks(axes)
    label = _wrapped(f"value{unit}", 4.0, TEXT, 1)[0]
    if not spread:
        axes.set_xlabel(label)
        return page.figure
    axes.tick_params(axis="x", labelbottom=False)
    page.y += GAP + 0.1 - 0.5
    box = axes.get_position()
    lower = page.axes(box.x0 * WIDTH, box.x1 * WIDTH, panel, 0.5)
    lower.set_xlim(*ends)
    lower.grid(axis="x")
    _draw_distribution(lower, result, step)
    lower.set_xlabel(label)
    _few_ticks(lower)
    return page.figure


def _draw_distribution(axes: Axes, result: Number, step: float) -> None:
    """Shares per step of the number, so that bins of different sizes compare."""
    found = result.distribution
    sizes = np.diff(found.edges) / step
    # The outermost bins end at the outermost answers, not half a step beyond.
    sizes[0] += 0.5
    sizes[-1] += 0.5

    def stairs(shares: Any) -> Any:
        return np.append(100 * shares / sizes, (100 * shares / sizes)[-1])

    axes.fill_between(
        found.edges, stairs(found.low), stairs(found.high),
        step="post", color=BAR, alpha=0.25, linewidth=0,
    )  # fmt: skip
    axes.step(found.edges, stairs(found.shares), where="post", color=BAR, linewidth=1.6)
    law = result.question.law
    highest = float(stairs(found.high).max())
    if isinstance(law, Wave):
        width = max(1, round(float(np.median(sizes))))
        cells = np.arange(law.responses) - law.half_width
        edges = np.arange(cells[0] - 0.5, cells[-1] + 0.5 + width, width)
        raw, _ = np.histogram(cells, edges, weights=result.tally.dense())
        # The last bin may reach beyond the last cell.
        wide = np.minimum(edges[1:], cells[-1] + 0.5) - edges[:-1]
        noisy = 100 * raw / result.n / wide
        edges = result.in_units(np.minimum(edges, cells[-1] + 0.5))
        axes.step(
            edges, np.append(noisy, noisy[-1]), where="post",
            color=FAINT, linewidth=0.9, linestyle=(0, (3, 2)),
        )  # fmt: skip
        highest = max(highest, float(noisy.max()))
    axes.set_ylim(0, 1.05 * highest or 1.0)
    axes.set_ylabel(f"% of people per {step:,.10g}")
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))


# Studies


def _study_figure(studies: Sequence[Study], fingerprint: str | None) -> Figure:
    rows = [row for study in studies for row in study.rows]
    sizes = sorted({row.n for row in rows})
    # Plain questions have no ε to be drawn at.
    epsilons = sorted({row.epsilon for row in rows if row.epsilon > 0})
    groups = {"n": _lines_against_n(rows), "ε": _lines_against_epsilon(rows, sizes)}
    if len(sizes) == 1 and groups["ε"]:
        del groups["n"]
    groups = {what: lines for what, lines in groups.items() if lines}
    columns = {what: _legend_columns(lines) for what, lines in groups.items()}
    legends = {
        what: _height(math.ceil(len(lines) / columns[what]), TEXT) * 1.1
        for what, lines in groups.items()
    }
    footer = _wrapped(_study_print(studies, sizes, epsilons, fingerprint), FULL, SMALL)
    panel, below, above = 2.0, 0.6, 0.16
    page = _Page(
        MARGIN + _height(1, TITLE) + GAP / 2 + sum(legends.values())
        + len(groups) * (above + panel + below) + _height(len(footer), SMALL) + MARGIN
    )  # fmt: skip
    page.lines(["Coverage and error of the estimates"], TITLE, weight="bold")
    page.y += GAP / 2
    for what, lines in groups.items():
        page.legend([_study_handle(*item) for item in enumerate(lines)], columns[what])
        page.y += legends[what] + above
        top = page.y
        means = [_is_mean(row) for every in lines.values() for row in every]
        kinds = ["share"] * (not all(means)) + ["mean"] * any(means)
        width = FULL / (1 + len(kinds))
        for place, kind in enumerate(["coverage", *kinds]):
            page.y = top
            left = MARGIN + place * width + 0.55
            axes = page.axes(left, MARGIN + (place + 1) * width - 0.08, panel, below)
            if kind == "coverage":
                _draw_coverage(axes, lines, what, studies)
            else:
                _draw_errors(axes, lines, what, kind)
            there = sorted(
                {row.n if what == "n" else row.epsilon for every in lines.values() for row in every}
            )
            _log_axis(axes.xaxis, there, width)
            axes.set_xlabel("n, respondents" if what == "n" else "ε of the question")
            axes.grid(True)
    page.y = page.height - MARGIN - _height(len(footer), SMALL)
    page.lines(footer, SMALL, FAINT)
    return page.figure


def _legend_columns(lines: Mapping[str, object]) -> int:
    longest = max(_measured(name, TEXT - 1) for name in lines)
    return max(1, min(len(lines), int(FULL / (longest + 0.75))))


def _is_mean(row: StudyRow) -> bool:
    return row.answer == "mean" and not 0 <= row.truth <= 1 or row.law in NUMBER_LAWS


NUMBER_LAWS = ("two-point", "wave", "distance")


def _lines_against_n(rows: Sequence[StudyRow]) -> dict[str, list[StudyRow]]:
    lines: dict[str, list[StudyRow]] = {}
    for row in rows:
        lines.setdefault(f"{row.question} ({row.law})", []).append(row)
    return lines


def _lines_against_epsilon(
    rows: Sequence[StudyRow], sizes: Sequence[int]
) -> dict[str, list[StudyRow]]:
    """Questions that differ in ε only make a line, for the least, a middle and the largest n."""
    answers: dict[tuple[str, float], set[str]] = {}
    for row in rows:
        answers.setdefault((row.question, row.epsilon), set()).add(row.answer)
    wanted = {sizes[0], sizes[len(sizes) // 2], sizes[-1]}
    lines: dict[str, list[StudyRow]] = {}
    for row in sorted(rows, key=lambda row: row.n):
        if row.n in wanted and row.epsilon > 0:
            size = len(answers[row.question, row.epsilon])
            kind = row.law if _is_mean(row) else f"{row.law} of {size}"
            lines.setdefault(f"{kind}, n = {row.n:,}", []).append(row)
    return {name: found for name, found in lines.items() if len({row.epsilon for row in found}) > 1}


def _study_print(
    studies: Sequence[Study],
    sizes: Sequence[int],
    epsilons: Sequence[float],
    fingerprint: str | None,
) -> str:
    parts = [
        f"n = {', '.join(f'{size:,}' for size in sizes)}",
        f"ε = {', '.join(dict.fromkeys(f'{epsilon:.4g}' for epsilon in epsilons)) or 'none'}",
        f"level {100 * studies[0].level:g} %",
        f"{min(study.repetitions for study in studies):,} repetitions",
        "grey: within two standard errors of the level",
        f"seed {', '.join(dict.fromkeys(str(study.seed) for study in studies))}",
        f"survey {fingerprint[:16] if fingerprint else 'not named'}",
    ]
    return "; ".join(parts)


def _style(number: int) -> dict[str, Any]:
    again = number // len(COLOURS)
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[(number + again) % len(MARKERS)],
        "linestyle": ("-", "--", ":")[again % 3],
        "markersize": 4.5,
        "linewidth": 1.3,
    }


def _study_handle(number: int, name: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], label=name, **_style(number))


def _points(
    rows: Sequence[StudyRow], what: str, field: str, together: Any
) -> tuple[list[float], list[float]]:
    """One point for each n, or each ε, over all answers; not-a-number is left out."""
    found: dict[float, list[float]] = {}
    for row in rows:
        value = float(getattr(row, field))
        if not math.isnan(value) and (what == "n" or row.epsilon > 0):
            found.setdefault(row.n if what == "n" else row.epsilon, []).append(value)
    places = sorted(found)
    return places, [float(together(np.array(found[place]))) for place in places]


def _draw_coverage(
    axes: Axes, lines: Mapping[str, list[StudyRow]], what: str, studies: Sequence[Study]
) -> None:
    level = studies[0].level
    repetitions = min(study.repetitions for study in studies)
    se = 100 * math.sqrt(level * (1 - level) / repetitions)
    axes.axhspan(100 * level - 2 * se, min(100.0, 100 * level + 2 * se), color="#E8E8E8")
    axes.axhline(100 * level, color=FAINT, linewidth=0.8)
    lowest = 100 * level - 4 * se
    for number, rows in enumerate(lines.values()):
        x, y = _points(rows, what, "coverage", lambda values: 100 * values.mean())
        axes.plot(x, y, **_style(number))
        lowest = min([lowest, *y])
    room = 0.08 * (100 - lowest)
    axes.set_ylim(lowest - room, 100 + room / 2)
    axes.set_ylabel("coverage (%)")


def _draw_errors(axes: Axes, lines: Mapping[str, list[StudyRow]], what: str, kind: str) -> None:
    scale = 100 if kind == "share" else 1
    every: list[float] = []
    for number, rows in enumerate(lines.values()):
        wanted = [row for row in rows if _is_mean(row) == (kind == "mean")]
        x, y = _points(wanted, what, "rmse", lambda values: scale * math.sqrt((values**2).mean()))
        axes.plot(x, y, **_style(number))
        every += [value for value in y if value > 0]
    if every:
        axes.set_yscale("log")
        low, high = min(every) / 1.4, max(every) * 1.4
        axes.set_ylim(low, high)
        _log_axis(axes.yaxis, _round_numbers(low, high), 1.0)
    axes.set_ylabel("error of shares (points)" if kind == "share" else "error of means (own units)")


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2, 5, 10 … between two numbers; only powers of ten if they are far apart."""
    firsts = (1, 2, 5) if high / low < 200 else (1,)
    tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [first * 10.0**ten for ten in tens for first in firsts]
    return [number for number in found if low <= number <= high] or [math.sqrt(low * high)]


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"


def _log_axis(axis: Any, places: Sequence[float], width: float) -> None:
    """A logarithmic axis with ticks at these places, or at those of them that fit."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    if axis.axis_name == "x":
        axis.axes.set_xscale("log")
        first, last = math.log10(places[0]), math.log10(places[-1])
        room = 0.06 * (last - first) or 0.3
        axis.axes.set_xlim(10 ** (first - room), 10 ** (last + room))
        drawn = (width - 0.63) / (last - first + 2 * room)
        kept: list[float] = []
        end = -math.inf
        for place in places:
            half = _measured(_short(place), TEXT - 1) / 2
            middle = drawn * math.log10(place)
            if middle - half > end + 0.08:
                kept.append(place)
                end = middle + half
        places = kept
    axis.set_major_locator(FixedLocator(list(places)))
    axis.set_major_formatter(FixedFormatter([_short(place) for place in places]))
    axis.set_minor_locator(NullLocator())


# Sensitivity


def _sensitivity_figure(result: Sensitivity) -> Figure:
    title = _wrapped(f"{result.name}: share of {result.answer}", FULL, TITLE, 3, "bold")
    footer = _wrapped(result.caption, FULL, SMALL)
    panel, below, legend = 2.6, 0.6, _height(1, TEXT)
    page = _Page(
        MARGIN + _height(len(title), TITLE) + GAP / 2 + legend + GAP
        + panel + below + _height(len(footer), SMALL) + MARGIN
    )  # fmt: skip
    page.lines(title, TITLE, weight="bold")
    page.y += GAP / 2
    handles_at = page.y
    page.y += legend + GAP
    axes = page.axes(MARGIN + 0.55, WIDTH - MARGIN - 0.1, panel, below)
    rows = sorted(result.rows, key=lambda row: row.safe)
    columns = {
        name: [100 * getattr(row, name) for row in rows]
        for name in ("safe", "estimate", "low", "high", "least", "most")
    }
    x = columns["safe"]
    handles = [
        *axes.plot(x, columns["estimate"], **_style(0), label="among the others"),
        axes.fill_between(
            x, columns["low"], columns["high"], color=COLOURS[0], alpha=0.2, linewidth=0,
            label=f"its {100 * result.level:g} % interval",
        ),
        *axes.plot(x, columns["least"], "--", color=FAINT, label="of everybody, at least"),
        *axes.plot(x, columns["most"], ":", color=FAINT, label="of everybody, at most"),
    ]  # fmt: skip
    axes.axhline(0, color=FAINT, linewidth=0.8, zorder=1)
    axes.set_xlabel(f"share who always give {result.safe_answer} (%)")
    axes.set_ylabel(f"share of {result.answer} (%)")
    axes.grid(True)
    page.y = handles_at
    page.legend(handles, len(handles))
    page.y = page.height - MARGIN - _height(len(footer), SMALL)
    page.lines(footer, SMALL, FAINT)
    return page.figure


# Plans


def _plan_figure(
    curves: Mapping[str, Sequence[tuple[int, float]]],
    title: str,
    label: str,
    wanted: float | None,
    power: bool,
    note: str,
) -> Figure:
    columns = _legend_columns(curves)
    legend = _height(math.ceil(len(curves) / columns), TEXT) * 1.1
    heading, footer = _wrapped(title, FULL, TITLE, 3, "bold"), _wrapped(note, FULL, SMALL)
    panel, below, above = 3.0, 0.6, 0.16
    page = _Page(
        MARGIN + _height(len(heading), TITLE) + GAP / 2 + legend + above + panel + below
        + _height(len(footer), SMALL) + MARGIN
    )  # fmt: skip
    page.lines(heading, TITLE, weight="bold")
    page.y += GAP / 2
    page.legend([_study_handle(*item) for item in enumerate(curves)], columns)
    page.y += legend + above
    axes = page.axes(MARGIN + 0.65, WIDTH - MARGIN - 0.45, panel, below)
    for number, points in enumerate(curves.values()):
        every = max(1, len(points) // 8)
        axes.plot(*zip(*points, strict=True), markevery=every, **_style(number))
    if wanted is not None:
        axes.axhline(wanted, color=FAINT, linewidth=0.8, linestyle=(0, (3, 2)))
    sizes = [n for points in curves.values() for n, _ in points]
    _log_axis(axes.xaxis, _round_numbers(min(sizes), max(sizes)), FULL - 0.45)
    axes.set_xlim(min(sizes), max(sizes))
    values = [value for points in curves.values() for _, value in points]
    if power:
        axes.set_ylim(0, 101)
    elif min(values) > 0:
        axes.set_yscale("log")
        axes.set_ylim(min(values) / 1.2, max(values) * 1.2)
        _log_axis(axes.yaxis, _round_numbers(min(values) / 1.2, max(values) * 1.2), 1.0)
    axes.set_xlabel("n, people")
    axes.set_ylabel(label)
    axes.grid(True)
    page.lines(footer, SMALL, FAINT)
    return page.figure
