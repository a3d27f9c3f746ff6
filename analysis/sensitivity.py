"""Sensitivity: how an estimate moves if some people always give the safe answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from respondent import Question

from .channel import Floats, Ints
from .designs import Design, design
from .intervals import check_level, wilson
from .means import FLAGS
from .result import PathLike, aligned
from .shares import binary_table, table_shares
from .tally import Counts, tally

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
TOO_MANY = "more than gave the safe response"


@dataclass(frozen=True)
class SensitivityRow:
    """If a share ``safe`` always give the safe answer: what is true of the others, with an
    interval, and from ``least`` to ``most`` of everybody, whatever is true of those."""

    safe: float
    estimate: float
    se: float
    low: float
    high: float
    least: float
    most: float
    flag: str = ""


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """A row for each share of people that might always give the safe answer."""

    name: str
    answer: str
    safe_answer: str
    rows: tuple[SensitivityRow, ...]
    n: int
    level: float
    through_coin: bool

    def to_frame(self) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame.from_records([asdict(row) for row in self.rows])

    def to_csv(self, path: PathLike | None = None) -> str | None:
        """The table as CSV: written to ``path``, or returned if there is none."""
        text: str | None = self.to_frame().to_csv(path, index=False, lineterminator="\n")
        return text

    def plot(self, path: PathLike | None = None) -> Figure:
        """A picture of the rows; the path's ending says which format."""
        from .plots import plot_sensitivity

        return plot_sensitivity(self, path)

    @property
    def caption(self) -> str:
        how = "answer" if self.through_coin else "send"
        return (
            f"{self.name}: share of {self.answer} among the others, if a share always {how}s "
            f"{self.safe_answer}; least to most: of everybody; n = {self.n}; "
            f"{100 * self.level:g} % intervals"
        )

    def __str__(self) -> str:
        flagged = any(row.flag for row in self.rows)
        head = ["safe", "estimate", "se", "low", "high", "least", "most"]
        lines = [[*head, *(["flag"] if flagged else [])]]
        for row in self.rows:
            numbers = (row.estimate, row.se, row.low, row.high, row.least, row.most)
            lines.append(
                [
                    f"{row.safe:.2f}",
                    *(f"{x:.4f}" for x in numbers),
                    *([row.flag] if flagged else []),
                ]
            )
        return "\n".join([*aligned(lines, (7,)), self.caption])


def sensitivity(
    question: Question | Design,
    counts: Counts,
    safe_answer: str | int,
    *,
    answer: str | None = None,
    shares: Sequence[float] = SHARES,
    through_coin: bool = False,
    level: float = 0.95,
) -> Sensitivity:
    """How the share of an answer moves if some always give the safe answer.

    ``safe_answer``: the answer that protects them; or the number of the response, where several
    speak for it. Of a share s of people the *response* is the safe one whatever the coin
    says, which those can do who handle the coin themselves: λ = (1 − s) P π + s e. Where the
    device flips it, they can only give the safe *answer*, and the coin is flipped on it:
    λ = P((1 − s) π + s e). Choose that by ``through_coin``. Both are channels for the shares
    π among the others, so estimates and intervals follow as always.

    How many they are, counts cannot say; designs that can are in ``compliance``.
    ``answer``: whose share; by default that of "Yes", else of the last.
    """
    each, numbers = _counted(question, counts)
    own = each.answer(answer)
    check_level(level)
    if not through_coin:
        place = _response(each, safe_answer)
    elif isinstance(safe_answer, str):
        place = each.answer(safe_answer)
    else:
        raise ValueError("safe_answer: must be an answer if it goes through the coin")
    word = safe_answer if isinstance(safe_answer, str) else f"response {safe_answer}"
    rows = []
    for share in shares:
        if not 0 <= share < 1:
            raise ValueError("shares: must be from 0 to less than 1")
        row = _row(with_safe(each, place, share, through_coin), numbers, own, float(share), level)
        if not through_coin and numbers[place] < share * numbers.sum():
            row = replace(row, flag=TOO_MANY)
        rows.append(row)
    n = int(numbers.sum())
    return Sensitivity(each.name, each.answers[own], word, tuple(rows), n, level, through_coin)


def with_safe(each: Design, place: int, share: float, through_coin: bool = False) -> Design:
    """The channel of those who play along, seen through all responses.

    A share sends response ``place`` or, through the coin, gives answer ``place``.
    """
    told = each.channel[:, place] if through_coin else np.eye(each.responses)[place]
    return replace(each, channel=(1 - share) * each.channel + share * told[:, None])


def _row(seen: Design, counts: Ints, own: int, share: float, level: float) -> SensitivityRow:
    if seen.channel.shape == (2, 2):
        found = binary_table(counts, seen.channel, level, "population", wilson)
    else:
        found = table_shares(counts, seen.channel, level)
    estimate, se, low, high = (
        float(array[own]) for array in (found.estimate, found.se, found.low, found.high)
    )
    others = (1 - share) * estimate
    flag = FLAGS[int(found.flag[own])]
    return SensitivityRow(share, estimate, se, low, high, others, others + share, flag)


def _counted(question: Question | Design, counts: Counts) -> tuple[Design, Ints]:
    if isinstance(question, Question):
        return design(question), tally(question, counts).dense()
    if not isinstance(question, Design):
        raise TypeError("question: must be a question of a survey or a Design")
    found = np.asarray(counts)
    if found.shape != (question.responses,) or found.dtype.kind not in "iu" or (found < 0).any():
        raise ValueError(f"counts: must be {question.responses} whole numbers, one a response")
    if not found.sum():
        raise ValueError("counts: there are no responses to estimate from")
    return question, found


def _response(each: Design, safe: str | int) -> int:
    """The response that speaks most for the safe answer."""
    if isinstance(safe, int):
        if not 0 <= safe < each.responses:
            raise ValueError(f"safe_answer: responses are from 0 to {each.responses - 1}")
        return safe
    chances: Floats = each.channel[:, each.answer(safe)] / each.channel.mean(axis=1)
    best = np.flatnonzero(chances >= chances.max() * (1 - 1e-12))
    if len(best) > 1:
        raise ValueError(
            f"safe_answer: several responses speak for {safe!r}; give the number of one"
        )
    return int(best[0])
