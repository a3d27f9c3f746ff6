"""What can be wrong with data that reaches us, one class for each thing worth catching.

Messages name the field and the rule. They never contain an answer.
"""

from __future__ import annotations

from collections.abc import Iterable


class InvalidData(ValueError):
    """Base of everything below: data from outside broke a rule."""


class InvalidSurvey(InvalidData):
    """A survey broke rules; ``problems`` lists every one of them."""

    def __init__(self, problems: Iterable[str], source: str = "the survey") -> None:
        self.problems = tuple(problems)
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__("\n  ".join([f"{source} has {count}:", *self.problems]))


class InvalidAnswer(InvalidData):
    """An answer does not fit its question; the message names the question only."""


class InvalidReport(InvalidData):
    """A report does not fit its survey."""
