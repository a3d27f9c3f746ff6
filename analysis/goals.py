"""What a survey is planned for: a margin of error, or the power of a test.

Each goal says how many people a question takes to reach it, and what a number of people
reach. What is wanted, the margin or the power, may be left out if only the latter is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from respondent import Question

from .planning import margin_of_error, mean_margin, n_for_margin, n_for_mean_margin
from .power import (
    group_power,
    group_sample_size,
    mean_power,
    mean_sample_size,
    share_power,
    share_sample_size,
)


class Goal:
    """What all goals share; most are tests, which reach a power."""

    #: What is reached.
    name: ClassVar[str] = "power"
    #: Whether n counts the people in each of two groups.
    each: ClassVar[bool] = False

    wanted: float | None
    alpha: float
    alternative: str

    def n(self, question: Question) -> int:
        """How many people it takes."""
        raise NotImplementedError

    def reached(self, question: Question, n: int) -> float:
        """What n people reach."""
        raise NotImplementedError

    def met(self, question: Question, n: int) -> bool:
        """Whether n people are enough, and any larger number too."""
        # The sample size is looked for only where there is a chance that it will do.
        return self.reached(question, n) >= self._wanted and self.n(question) <= n

    def scale(self, kind: str) -> int:
        """Shares are shown in percent, means in their units."""
        return 100

    def text(self, value: float, kind: str) -> str:
        """What is reached, as it is shown."""
        return f"{100 * value:.1f} %"

    def said(self, kind: str) -> str:
        """The goal in words, without what is wanted."""
        return f"{self._found()}, alpha = {self.alpha:g}, {self.alternative}"

    def _found(self) -> str:
        raise NotImplementedError

    @property
    def _wanted(self) -> float:
        if self.wanted is None:
            raise ValueError(f"wanted: must say which {self.name}")
        return self.wanted

    @property
    def _test(self) -> dict[str, Any]:
        return {"alpha": self.alpha, "alternative": self.alternative}


@dataclass(frozen=True)
class Margin(Goal):
    """A margin of error: of an answer that ``share`` give, or of the mean of a number, in its
    units, whose answers spread by ``sd`` if that is known."""

    name = "margin"

    wanted: float | None = None
    level: float = 0.95
    share: float = 0.5
    sd: float | None = None

    def n(self, question: Question) -> int:
        if question.kind == "number":
            return n_for_mean_margin(question, self._wanted, self.level, self.sd)
        return n_for_margin(question, self._wanted, self.level, self.share)

    def reached(self, question: Question, n: int) -> float:
        if question.kind == "number":
            return mean_margin(question, n, self.level, self.sd)
        return margin_of_error(question, n, self.level, self.share)

    def met(self, question: Question, n: int) -> bool:
        return self.n(question) <= n

    def scale(self, kind: str) -> int:
        return 1 if kind == "number" else 100

    def text(self, value: float, kind: str) -> str:
        return f"± {value:,.4g}" if kind == "number" else f"± {100 * value:.1f} points"

    def said(self, kind: str) -> str:
        of = "the mean" if kind == "number" else f"a share of {100 * self.share:g} %"
        return f"margin of error of {of}, level {100 * self.level:g} %"


@dataclass(frozen=True)
class ShareTest(Goal):
    """That ``share`` of the people, who give an answer, are told from ``null``."""

    share: float
    wanted: float | None = None
    null: float = 0.0
    alpha: float = 0.05
    alternative: str = "two-sided"

    def n(self, question: Question) -> int:
        wanted = self._wanted
        return share_sample_size(question, self.share, wanted, null=self.null, **self._test)

    def reached(self, question: Question, n: int) -> float:
        return share_power(question, self.share, n, null=self.null, **self._test)

    def _found(self) -> str:
        return f"power to tell a share of {100 * self.share:g} % from {100 * self.null:g} %"


@dataclass(frozen=True)
class GroupTest(Goal):
    """That two groups, of n people each, are told apart by an answer's shares in them."""

    each = True

    shares: tuple[float, float]
    wanted: float | None = None
    alpha: float = 0.05
    alternative: str = "two-sided"

    def n(self, question: Question) -> int:
        return group_sample_size(question, self.shares, self._wanted, **self._test)[0]

    def reached(self, question: Question, n: int) -> float:
        return group_power(question, self.shares, n, **self._test)

    def _found(self) -> str:
        one, other = self.shares
        return f"power to tell {100 * one:g} % in one group from {100 * other:g} % in another"


@dataclass(frozen=True)
class MeanTest(Goal):
    """That the mean of a number or scale is told from ``null``."""

    mean: float
    null: float
    wanted: float | None = None
    sd: float | None = None
    alpha: float = 0.05
    alternative: str = "two-sided"

    def n(self, question: Question) -> int:
        test = self._test | {"null": self.null, "sd": self.sd}
        return mean_sample_size(question, self.mean, self._wanted, **test)

    def reached(self, question: Question, n: int) -> float:
        test = self._test | {"null": self.null, "sd": self.sd}
        return mean_power(question, self.mean, n, **test)

    def _found(self) -> str:
        return f"power to tell a mean of {self.mean:,.10g} from {self.null:,.10g}"
