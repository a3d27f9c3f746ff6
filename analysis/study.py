"""``study``: the same survey many times over, and how its estimates do.

Counts are drawn at once from the exact chances of the responses, which is what many
people with independent answers give, so ten thousand surveys take no longer than one.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from respondent import Question, Survey
from respondent.laws import Distance, Law, NumberLaw, OneOf, Plain, SupportLaw, TwoPoint, Wave

from .channel import Floats, Ints, channel, support_counts, supporting
from .feasible import likelihood
from .intervals import BinomialInterval, bonferroni, check_level
from .means import BOUNDED, OUTSIDE, Arrays, mean_interval
from .numbers import noise_variance, scores
from .result import aligned
from .shares import (
    binary_table,
    inverse_columns,
    least_variance,
    one_of_shares,
    support_shares,
    table_shares,
    usual_interval,
)
from .simulate import generator, respond
from .tally import Tally, answer_names
from .truth import safe_answer, shares_of, ticks_of

if TYPE_CHECKING:
    import pandas

#: Told how many repetitions are done, of how many.
Progress: TypeAlias = Callable[[int, int], None]

#: Counts of at most this many entries are held at a time.
MOST_HELD = 2 * 10**7
#: Laws with more responses are drawn person by person.
MOST_RESPONSES = 20_000


@dataclass(frozen=True)
class StudyRow:
    """How the estimate of one value did over all repetitions.

    ``coverage`` is the share of intervals that held the truth, ``flagged`` that of estimates
    outside the possible, ``bounded`` that of intervals by likelihood ratio because the usual
    one held nothing possible; ``missing`` that of surveys in which there was no estimate.
    """

    question: str
    law: str
    epsilon: float
    n: int
    answer: str
    truth: float
    mean: float
    bias: float
    rmse: float
    coverage: float
    width: float
    flagged: float
    bounded: float
    missing: float


@dataclass(frozen=True, eq=False)
class Study:
    """What a study found; one row for each question, n and value."""

    rows: tuple[StudyRow, ...]
    #: The share of surveys in which the intervals of all values held; with ``simultaneous``
    #: this is what the level promises. By question and n.
    together: Mapping[tuple[str, int], float]
    repetitions: int
    level: float
    target: str
    simultaneous: bool
    seed: int | None

    @property
    def coverage_se(self) -> float:
        """Standard error of a coverage, if it is what the level says."""
        return float(np.sqrt(self.level * (1 - self.level) / self.repetitions))

    def to_frame(self) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame.from_records([asdict(row) for row in self.rows])

    def to_csv(self, path: str | Path | None = None) -> str:
        out = io.StringIO()
        writer = csv.DictWriter(out, [f.name for f in fields(StudyRow)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, self.rows))
        if path is not None:
            Path(path).write_text(out.getvalue(), encoding="utf-8", newline="")
        return out.getvalue()

    def __str__(self) -> str:
        head = ("question", "n", "answer", "truth", "bias", "rmse", "coverage", "flagged")
        lines: list[tuple[str, ...]] = [head]
        for row in self.rows:
            numbers = (row.truth, row.bias, row.rmse)
            lines.append(
                (
                    row.question,
                    str(row.n),
                    row.answer,
                    *(f"{value:.5g}" for value in numbers),
                    f"{100 * row.coverage:.2f} %",
                    f"{100 * row.flagged:.1f} %",
                )
            )
        text = aligned(lines, (0, 2))
        caption = (
            f"{self.repetitions} repetitions; {100 * self.level:g} % intervals "
            f"for the {self.target}; "
            f"coverage ± {100 * self.coverage_se:.2f} (standard error)"
        )
        return "\n".join([*text, caption])


def study(
    survey: Survey | Question,
    truth: Mapping[str, object] | None = None,
    n: int | Sequence[int] = 1000,
    repetitions: int = 1000,
    seed: int | None = None,
    *,
    level: float = 0.95,
    interval: BinomialInterval | None = None,
    simultaneous: bool = False,
    safe: float = 0.0,
    random: float = 0.0,
    refuse: float = 0.0,
    safe_answers: Mapping[str, object] | None = None,
    progress: bool | Progress = False,
) -> Study:
    """Repeat a survey and compare its estimates with the truth, for the population.

    ``truth`` maps question ids to shares as in ``simulate``; questions left out: every answer
    alike. Each question is studied by itself, asked of all ``n`` people; several ``n`` may be
    given. People who do not comply (see ``simulate``) bias the estimates, and the rows show
    by how much. ``progress``: True for a bar on stderr, or a function of (done, total).
    """
    check_level(level)
    if repetitions < 1:
        raise ValueError("repetitions: must be at least 1")
    if min(safe, random, refuse) < 0 or safe + random + refuse > 1 or refuse == 1:
        raise ValueError("safe, random, refuse: must be shares that add up to at most 1")
    questions = [survey] if isinstance(survey, Question) else list(survey)
    sizes = [n] if isinstance(n, int) else list(n)
    given = dict(truth or {})
    unknown = set(given) - {question.id for question in questions}
    if unknown:
        raise ValueError(f"truth: {min(unknown)!r} is not a question of the survey")
    rng = np.random.default_rng(seed)
    report = _progress(progress)
    total = repetitions * len(questions) * len(sizes)
    rows: list[StudyRow] = []
    together: dict[tuple[str, int], float] = {}
    done = 0
    for question in questions:
        design = _Design(
            question, given.get(question.id), (safe, random, refuse), (safe_answers or {})
        )
        together_here = simultaneous and question.kind != "number"
        each = bonferroni(level, len(question.options)) if together_here else level
        method = interval or usual_interval(question, "population", together_here)
        for size in sizes:
            if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
                raise ValueError("n: must be a whole number of at least 1")
            found = []
            for batch in design.batches(int(size), repetitions, rng):
                found.append(design.estimates(batch, each, method))
                done += len(batch)
                report(done, total)
            arrays = _joined(found)
            rows += _rows(design, arrays, int(size))
            held = (arrays.low <= design.true) & (design.true <= arrays.high)
            together[question.id, int(size)] = float(held.all(axis=1).mean())
    return Study(tuple(rows), together, repetitions, level, "population", simultaneous, seed)


def _progress(progress: bool | Progress) -> Progress:
    if callable(progress):
        return progress
    return bar if progress else lambda done, total: None


def bar(done: int, total: int) -> None:
    """A bar on stderr."""
    filled = 40 * done // total
    end = "\n" if done == total else ""
    print(f"\r[{'#' * filled}{' ' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr)


class _Design:
    """One question with its truth: draws counts of many surveys, and estimates from them."""

    def __init__(
        self,
        question: Question,
        truth: object,
        shares: tuple[float, float, float],
        safe_answers: Mapping[str, object],
    ) -> None:
        self.question = question
        self.law: Law = question.law
        self.refuse = shares[2]
        careful = safe_answer(question, safe_answers.get(question.id))
        safe, random = (share / (1 - shares[2]) for share in shares[:2])
        if question.kind == "choices":
            if isinstance(self.law, Plain):
                raise ValueError(f"question {question.id}: plain ticks are not studied")
            size = len(question.options)
            ticks = np.full(size, 0.5) if truth is None else ticks_of(question, truth)
            self.true: Floats = ticks
            bits = (careful >> np.arange(size)) & 1
            self.told = safe * bits + random * 0.5 + (1 - safe - random) * ticks
            self.names = answer_names(question)
            return
        size = self.law.answers
        answers = np.full(size, 1 / size) if truth is None else shares_of(question, truth)
        self.told = (1 - safe - random) * answers + random / size
        self.told[careful] += safe
        if question.kind == "number":
            values = np.array([float(question.value(cell)) for cell in range(size)])
            self.true, self.names = np.array([answers @ values]), ["mean"]
        else:
            self.true, self.names = answers, answer_names(question)
        if question.kind == "scale" and not question.skip:
            points = (question.first or 0) + np.arange(size)
            self.true = np.append(answers, answers @ points)
            self.names = [*self.names, "mean"]

    # Drawing

    def batches(self, n: int, repetitions: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Counts of several surveys at a time, one row each."""
        by_person = self.law.responses > MOST_RESPONSES
        held = max(1, MOST_HELD // (max(n, self.law.answers) if by_person else self.law.responses))
        chances = None if by_person else self.chances()
        while repetitions > 0:
            size = min(held, repetitions)
            sizes = np.full(size, n) if not self.refuse else rng.binomial(n, 1 - self.refuse, size)
            sizes = np.maximum(sizes, 1)
            if chances is None:
                yield self._supports_by_person(sizes, rng)
            else:
                yield rng.multinomial(sizes, chances).astype(float)
            repetitions -= size

    def chances(self) -> Floats:
        """The exact chance of each response."""
        law = self.law
        if isinstance(law, OneOf):
            p, q = float(law.p), float(law.q)
            ticked = q + (p - q) * self.told
            found = np.stack([1 - ticked, ticked], axis=1).ravel() / law.options
        elif isinstance(law, Wave | Distance):
            every = np.arange(law.responses)
            found = likelihood(law, Tally(every, every, law.responses)).forward(self.told)
        else:
            found = channel(law) @ self.told
        return np.asarray(found / found.sum())

    def _supports_by_person(self, sizes: Ints, rng: np.random.Generator) -> Floats:
        """Support counts, with n in a last column, of a law with very many responses."""
        law = self.law
        assert isinstance(law, SupportLaw)
        rows = np.empty((len(sizes), law.answers + 1))
        for row, size in zip(rows, sizes, strict=True):
            answers = rng.choice(law.answers, size=int(size), p=self.told).astype(np.int64)
            responses = respond(law, answers, generator(rng))
            row[:-1] = support_counts(law, *np.unique(responses, return_counts=True))
            row[-1] = size
        return rows

    # Estimating

    def estimates(self, counts: Floats, level: float, interval: BinomialInterval) -> Arrays:
        law = self.law
        if self.question.kind == "number":
            return self._means(counts, level, interval)
        if isinstance(law, OneOf):
            return one_of_shares(counts, law, level, interval=interval)[0]
        n = counts.sum(axis=1, keepdims=True)
        if isinstance(law, Plain):
            found = support_shares(counts, n, 1.0, 0.0, level, interval=interval)
        elif isinstance(law, SupportLaw):
            if law.responses > MOST_RESPONSES:
                supports, n = counts[:, :-1], counts[:, -1:]
            else:
                supports = counts @ self._members()
            found = support_shares(
                supports, n, float(law.p), float(law.q), level, interval=interval
            )
        else:
            matrix = channel(law)
            if matrix.shape == (2, 2):
                found = binary_table(counts, matrix, level, "population", interval)
            else:
                found = table_shares(counts, matrix, level)
        if len(self.true) > law.answers:
            return _with_mean(found, self._scale_mean(counts, level))
        return found

    def _members(self) -> Floats:
        law = self.law
        assert isinstance(law, SupportLaw)
        every = np.arange(law.responses)
        return np.stack([supporting(law, every, x) for x in range(law.answers)], axis=1).astype(
            float
        )

    def _scale_mean(self, counts: Floats, level: float) -> Arrays:
        points = (self.question.first or 0) + np.arange(self.law.answers, dtype=float)
        matrix = channel(self.law)
        line = points @ inverse_columns(self.law, np.arange(self.law.responses))
        return mean_interval(
            line, counts, level, (points[0], points[-1]), least_variance(matrix, line)
        )

    def _means(self, counts: Floats, level: float, interval: BinomialInterval) -> Arrays:
        law = self.law
        if isinstance(law, TwoPoint):
            total = law.truth + law.other
            p, q = law.truth / total, law.other / total
            n = counts.sum(axis=1, keepdims=True)
            found = support_shares(counts[:, 1:], n, p, q, level, interval=interval)
            scale: float = law.steps
        else:
            floor = float(noise_variance(law).min()) if isinstance(law, NumberLaw) else 0.0
            ends = (0.0, float(law.answers - 1))
            found = _column(mean_interval(scores(law), counts, level, ends, floor))
            scale = 1.0
        low, step = float(self.question.low or 0), float(self.question.step or 1) * scale
        return Arrays(
            found.noisy,
            low + step * found.estimate,
            step * found.se,
            low + step * found.low,
            low + step * found.high,
            found.flag,
        )


NAMES = tuple(field.name for field in fields(Arrays))


def _column(found: Arrays) -> Arrays:
    return Arrays(*(np.atleast_1d(getattr(found, name))[:, None] for name in NAMES))


def _with_mean(found: Arrays, mean: Arrays) -> Arrays:
    last = _column(mean)
    pairs = ((getattr(found, name), getattr(last, name)) for name in NAMES)
    return Arrays(*(np.concatenate(pair, axis=1) for pair in pairs))


def _joined(found: Sequence[Arrays]) -> Arrays:
    return Arrays(*(np.concatenate([getattr(part, name) for part in found]) for name in NAMES))


def _rows(design: _Design, arrays: Arrays, n: int) -> Iterator[StudyRow]:
    question = design.question
    for place, (name, true) in enumerate(zip(design.names, design.true.tolist(), strict=True)):
        there = ~np.isnan(arrays.estimate[:, place])
        estimate = arrays.estimate[there, place]
        low, high = arrays.low[:, place], arrays.high[:, place]
        outside = np.isin(arrays.flag[:, place], (OUTSIDE, BOUNDED))
        nothing = not there.any()
        yield StudyRow(
            question.id,
            question.law.name,
            question.epsilon,
            n,
            name,
            true,
            float("nan") if nothing else float(estimate.mean()),
            float("nan") if nothing else float(estimate.mean() - true),
            float("nan") if nothing else float(np.sqrt(((estimate - true) ** 2).mean())),
            float(((low <= true) & (true <= high)).mean()),
            float((high - low).mean()),
            float(outside.mean()),
            float((arrays.flag[:, place] == BOUNDED).mean()),
            float(1 - there.mean()),
        )
