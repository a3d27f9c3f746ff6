"""Results: what a researcher asked to see, its counts, and the estimates made of them.

Without a filter the kept counts are used, so that ten million reports take no longer than ten.
The libraries of ``analysis`` are heavy: they are imported when the first result is wanted.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from itertools import combinations
from typing import TYPE_CHECKING

from flask import abort
from werkzeug.datastructures import MultiDict

from respondent import InvalidAnswer, Question, Survey
from respondent.checking import IDENTIFIER, say

from .served import served, survey_or_404
from .store import ARMS, Store

if TYPE_CHECKING:
    from analysis import Result
    from analysis.result import Value

#: Levels that pages offer; over the API any from ``LOWEST`` to ``HIGHEST``.
LEVELS = (0.9, 0.95, 0.99)
LOWEST, HIGHEST = 0.5, 0.999
LEVEL = re.compile(r"0\.[0-9]{1,20}")
FINGERPRINT = re.compile(r"[0-9a-f]{64}")

#: Reports in a group, at least, for the group to be looked at by itself.
SMALLEST_GROUP = 30
#: Conditions of one filter, at most.
MOST_CONDITIONS = 3
#: Kinds of questions that a filter can name, if they are plain.
FILTERED = ("yes-no", "choice", "scale", "list")


class NothingToShow(ValueError):
    """There are no such reports, or too few for their group to be shown."""


@dataclass(frozen=True)
class Selection:
    """Which reports, and how sure the intervals are to be."""

    survey: Survey
    arm: str = "device"
    level: float = 0.95
    #: Plain questions and the response that reports must have to them.
    where: Mapping[str, int] = field(default_factory=dict)

    @property
    def conditions(self) -> dict[str, str]:
        """The filter in words: question and option."""
        return {name: say(self.survey[name].options[y], "en") for name, y in self.where.items()}

    @property
    def note(self) -> str:
        """What sets these reports apart from all that devices sent; nothing, if nothing does."""
        kinds = {
            "own-coin": ["reports with own coins"],
            "test": ["test reports, which are no data"],
        }
        only = [f"{name} is “{option}”" for name, option in self.conditions.items()]
        return "; ".join(
            kinds.get(self.arm, []) + ([f"only where {' and '.join(only)}"] if only else [])
        )


@dataclass(frozen=True)
class Results:
    """Estimates of the questions that have some, and why the others have none."""

    selection: Selection
    found: Sequence[Result]
    left_out: Mapping[str, str]


# What was asked for


def selection(survey_id: str, given: MultiDict[str, str]) -> Selection:
    """Read arm, level, version and conditions, strictly: 400 if malformed, 404 if unknown."""
    survey = version(survey_id, given.get("version"))
    arm = given.get("arm", "device")
    if arm not in ARMS:
        abort(HTTPStatus.BAD_REQUEST, f"arm: must be one of {', '.join(ARMS)}")
    level = given.get("level", "0.95")
    if not LEVEL.fullmatch(level) or not LOWEST <= float(level) <= HIGHEST:
        abort(HTTPStatus.BAD_REQUEST, f"level: must be a number from {LOWEST} to {HIGHEST}")
    return Selection(survey, arm, float(level), _conditions(survey, given.getlist("where")))


def version(survey_id: str, fingerprint: str | None) -> Survey:
    """The version that is served now, or the one of this fingerprint."""
    survey = survey_or_404(survey_id)
    if fingerprint in (None, survey.fingerprint):
        return survey
    if not FINGERPRINT.fullmatch(fingerprint or ""):
        abort(HTTPStatus.BAD_REQUEST, "version: must be 64 hexadecimal digits in lower case")
    for found in served().store.versions(survey_id):
        if found.fingerprint == fingerprint:
            return found
    abort(HTTPStatus.NOT_FOUND, "version: this survey has no version of this fingerprint")


def filterable(survey: Survey) -> list[Question]:
    """Questions that a filter may name: sent as they are, one option each."""
    return [q for q in survey if not q.protected and q.kind in FILTERED]


def _conditions(survey: Survey, given: Sequence[str]) -> dict[str, int]:
    known = {question.id: question for question in filterable(survey)}
    found: dict[str, int] = {}
    for condition in given:
        name, _, option = condition.partition(":")
        if not IDENTIFIER.fullmatch(name) or not option:
            abort(HTTPStatus.BAD_REQUEST, "where: must be question:option")
        if name not in known:
            there = ", ".join(known) or "this survey has none"
            told = "where: must name a question that is not protected and has options"
            abort(HTTPStatus.NOT_FOUND, f"{told} ({there})")
        try:
            response = known[name].encode(option)
        except InvalidAnswer:
            abort(HTTPStatus.NOT_FOUND, f"where: {name} has no such option")
        if found.setdefault(name, response) != response:
            raise NothingToShow(f"where: no report has two different responses to {name}")
    if len(found) > MOST_CONDITIONS:
        abort(HTTPStatus.BAD_REQUEST, f"where: may have {MOST_CONDITIONS} conditions at most")
    return found


# Groups


def large_enough(sizes: Mapping[int, int]) -> set[int]:
    """Options whose group may be looked at, given the sizes of all groups of a question.

    Groups below ``SMALLEST_GROUP`` may not. Nor may the next larger ones, until those left
    out have that many reports together: else the rest would tell by subtraction.
    """
    shown, hidden = set(), 0
    for option, size in sorted(sizes.items(), key=lambda item: (item[1], item[0])):
        if size < SMALLEST_GROUP or 0 < hidden < SMALLEST_GROUP:
            hidden += size
        else:
            shown.add(option)
    return shown


def check_groups(
    where: Mapping[str, int], together: Mapping[tuple[int, ...], int], names: Sequence[str]
) -> None:
    """Refuse a filter that singles out few people, by itself or by subtraction.

    ``together`` counts the combinations of responses to the questions ``names``. Each group
    into which the conditions split the reports, met or not met, must be large enough or
    empty; and each condition must name a group that ``large_enough`` shows among the reports
    that any of the other conditions leave.
    """
    split: Counter[tuple[bool, ...]] = Counter()
    for responses, size in together.items():
        split[tuple(y == where[name] for name, y in zip(names, responses, strict=True))] += size
    good = all(size >= SMALLEST_GROUP for size in split.values() if size)
    for count in range(len(names)):
        for others in combinations(range(len(names)), count):
            for place in set(range(len(names))) - set(others):
                sizes: Counter[int] = Counter()
                for responses, size in together.items():
                    if all(responses[other] == where[names[other]] for other in others):
                        sizes[responses[place]] += size
                good = good and where[names[place]] in large_enough(sizes)
    if not good:
        raise NothingToShow(
            f"this group, or what it leaves of others, has fewer than {SMALLEST_GROUP} reports: "
            "people could be singled out"
        )


def counts(
    store: Store, chosen: Selection, questions: Collection[Question] | None = None
) -> dict[str, dict[int, int]]:
    """How often each response was reported; every response of a small law is named."""
    wanted = chosen.survey.questions if questions is None else questions
    kept = store.counts(chosen.survey, chosen.arm)
    if chosen.where:
        names = list(chosen.where)
        together: dict[tuple[int, ...], int]
        if len(names) == 1:
            together = {(response,): size for response, size in kept[names[0]].items()}
        else:
            together = store.count_together(chosen.survey, names, chosen.arm)
        check_groups(chosen.where, together, names)
        kept = store.count_where(chosen.survey, chosen.where, chosen.arm, wanted)
    return {question.id: _named(question, kept[question.id]) for question in wanted}


def _named(question: Question, found: Mapping[int, int]) -> dict[int, int]:
    from analysis.tally import MOST_NAMED

    if question.largest_response > MOST_NAMED:
        return dict(sorted(found.items()))
    return {response: found.get(response, 0) for response in range(question.largest_response + 1)}


# Estimates


def results(
    store: Store, chosen: Selection, questions: Collection[Question] | None = None
) -> Results:
    """Estimates for all questions or these; ``NothingToShow`` if there are none."""
    from analysis import estimate

    wanted = chosen.survey.questions if questions is None else questions
    tallies = counts(store, chosen, wanted)
    found: list[Result] = []
    left_out: dict[str, str] = {}
    for question in wanted:
        try:
            result: Result = estimate(
                question,
                tallies[question.id],
                chosen.level,
                fingerprint=chosen.survey.fingerprint,
            )
        except ValueError as problem:
            left_out[question.id] = str(problem).removeprefix(f"question {question.id}: ")
            continue
        if chosen.note:
            result = replace(result, method=f"{result.method}; {chosen.note}")
        found.append(result)
    if not found:
        raise NothingToShow("there are no reports to estimate from")
    return Results(chosen, found, left_out)


# In words, for the page

#: What each flag of an estimate means for its reader.
FLAG_WORDS = {
    "outside the possible": (
        "The estimate lies below 0 or above what is possible, by chance: debiasing takes off the "
        "noise that is expected, and this time there was less or more of it. It is left as it "
        "is, because cutting it off would bias sums and comparisons."
    ),
    "outside the possible: likelihood-ratio interval": (
        "The estimate, and all of its usual interval, lie outside the possible. The interval "
        "shown is the likelihood-ratio interval within the possible instead."
    ),
    "nobody drew it: no estimate": (
        "Each respondent's device drew one of the options at random, and nobody's drew this one."
    ),
    "one response: nothing is excluded": (
        "One response says too little: the interval is all that is possible."
    ),
    "nobody seems to have answered: no mean": (
        "By the estimate everybody preferred not to say, so there is no mean of the others."
    ),
}


@dataclass(frozen=True)
class Row:
    """One line of a page's table, ready to be read."""

    answer: str
    noisy: str
    estimate: str
    se: str
    interval: str
    feasible: str
    flag: str


def rows(result: Result) -> list[Row]:
    """What a table shows: shares in per cent, numbers and mean scores in their own unit."""
    if result.question.kind == "number":
        return _rows(result.shown(), 1)
    scores = [replace(value, name="Mean score") for value in result.summary()]
    return _rows(result.shown(), 100) + _rows(scores, 1)


def _rows(values: Sequence[Value], scale: int) -> list[Row]:
    """Numbers to two digits of the largest standard error, all alike."""
    errors = [scale * value.se for value in values if value.se > 0]
    digits = min(max(1 - math.floor(math.log10(max(errors))), 0), 4) if errors else 1

    def text(number: float) -> str:
        if math.isnan(number):
            return "–"
        return f"{round(scale * number, digits) + 0.0:,.{digits}f}".replace("-", "−")

    return [
        Row(
            value.name,
            text(value.noisy),
            text(value.estimate),
            text(value.se),
            f"{text(value.low)} to {text(value.high)}",
            text(value.feasible),
            value.flag,
        )
        for value in values
    ]


def facts(result: Result) -> list[str]:
    """What a table rests on: people, protection, level, method."""
    question, answers = result.question, len(result.question.options)
    asked = f" ({result.not_asked:,} were not asked)" if result.not_asked else ""
    shown = len(result.shown())
    return [
        f"n = {result.n:,}{asked}",
        f"ε = {question.epsilon:.4g}" if question.protected else "not protected: sent as it is",
        *([f"δ = {question.delta:.2g}"] if question.delta else []),
        f"{100 * result.level:g} % intervals for the population",
        result.method,
        *(
            [f"the {shown} largest of {answers:,} answers, intervals that hold for all at once"]
            if question.options and shown < answers
            else []
        ),
    ]


def units(result: Result) -> str:
    """What the numbers of a table are in."""
    question = result.question
    if question.kind != "number":
        return "In per cent" + (", the mean in points of the scale" if result.summary() else "")
    return f"In {say(question.unit, 'en')}" if question.unit else "In the question's own unit"
