"""The own-coin form: from a survey to its fields, and from what was sent to responses.

Fields hold responses, never answers, padded with zeros to the width of their question, so
that a form is as long whatever is entered. Only a plain number with many values is typed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from respondent import InvalidAnswer, InvalidReport, Question, Survey, words
from respondent.checking import say

from .dice import COIN, DIE, Instructions, instructions, plan
from .own_words import either, join, word

#: More choices than this are a list to open.
MOST_BUTTONS = 12

#: A plain number with more values than this is typed.
MOST_VALUES = 200

#: Values of one option of a tick-all-that-apply question.
NO, YES, NONE = "0", "1", "2"


@dataclass(frozen=True)
class Field:
    """One thing to fill in. Without choices it is a number to type."""

    name: str
    label: str
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def opens(self) -> bool:
        return len(self.choices) > MOST_BUTTONS


@dataclass(frozen=True)
class Asked:
    """A question as the form shows it."""

    question: Question
    number: int
    notes: tuple[str, ...]
    fields: tuple[Field, ...]
    instructions: Instructions | None


@dataclass(frozen=True)
class Entered:
    """What was sent, as far as it makes sense, and what is not right yet, by question."""

    responses: dict[str, int] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def ask(survey: Survey, language: str) -> list[Asked]:
    return [
        Asked(
            question,
            number,
            tuple(_notes(survey, question, language)),
            tuple(_fields(question, language)),
            instructions(question, language) if question.protected else None,
        )
        for number, question in enumerate(survey, 1)
    ]


def needed(survey: Survey) -> str:
    """What a respondent needs: "need-coin", "need-die", "need-both", or "" for nothing."""
    throws = {sides for question in survey if question.protected for sides in plan(question).throws}
    if throws == {COIN, DIE}:
        return "need-both"
    return {COIN: "need-coin", DIE: "need-die"}[throws.pop()] if throws else ""


def _notes(survey: Survey, question: Question, language: str) -> list[str]:
    """Whom the question is for, and what may be typed."""
    ids = [other.id for other in survey]
    notes = []
    for condition in question.show_if:
        other = survey[condition.question]
        answers = [other.option(index, language) for index in condition.among]
        number = ids.index(other.id) + 1
        notes.append(word(language, "only-if", answers=either(answers, language), number=number))
    typed = _typed(question)
    if question.show_if:
        name = "else-empty" if typed else "else-choose"
        notes.append(word(language, name, none=word(language, "none")))
    if typed:
        notes.append(_range(question, language))
        if question.skip:
            notes.append(word(language, "skip-empty"))
    return notes


def _typed(question: Question) -> bool:
    return question.kind == "number" and question.law.answers > MOST_VALUES


def ends(question: Question) -> tuple[str, str]:
    """The smallest and the largest number that may be typed."""
    most = question.law.answers - 1 - question.skip
    return f"{question.value(0):f}", f"{question.value(most):f}"


def _range(question: Question, language: str) -> str:
    low, high = ends(question)
    return word(language, "number", low=low, high=high)


def _fields(question: Question, language: str) -> list[Field]:
    if question.kind == "choices":
        said = [(YES, words.word(language, "yes")), (NO, words.word(language, "no"))]
        said += [(NONE, word(language, "none"))] if question.show_if else []
        return [
            Field(name, say(option, language), tuple(said))
            for name, option in zip(names(question), question.options, strict=True)
        ]
    label = word(language, "outcome" if question.protected else "answer")
    if _typed(question):
        return [Field(question.id, label)]
    choices = [
        (str(response).zfill(question.width), tell(question, response, language))
        for response in range(question.largest_response + 1)
    ]
    return [Field(question.id, label, tuple(choices))]


def tell(question: Question, response: int, language: str) -> str:
    """A response in words."""
    if response == question.not_asked:
        return word(language, "none")
    if question.kind == "choices":
        ticked = [index for index in range(len(question.options)) if response >> index & 1]
        return join([question.option(index, language) for index in ticked], language) or "–"
    last = question.law.answers - 1 - question.skip
    if question.kind == "number":
        if response > last:
            return words.word(language, "skip")
        return f"{question.value(response):f} {say(question.unit, language)}".rstrip()
    if question.labels:
        return say(question.labels[response], language)
    end = {0: 0, last: 1}.get(response) if question.ends else None
    more = "" if end is None else f" ({say(question.ends[end], language)})"
    return question.option(response, language) + more


def names(question: Question) -> list[str]:
    """The names of a question's fields: one for each option to tick. Ids have no dot."""
    if question.kind == "choices":
        return [f"{question.id}.{index}" for index in range(len(question.options))]
    return [question.id]


def read(survey: Survey, sent: Mapping[str, str], language: str) -> Entered:
    """Responses from what was sent. ``InvalidReport`` for what the form cannot have sent."""
    entered = Entered()
    for question in survey:
        known = all(condition.question in entered.responses for condition in question.show_if)
        shown = known and survey.shown(question, entered.responses)
        try:
            response = _read(question, sent, shown, language)
        except InvalidAnswer as problem:
            entered.problems[question.id] = str(problem)
            continue
        if known and shown == (response == question.not_asked):
            entered.problems[question.id] = word(language, "applies" if shown else "applies-not")
        entered.responses[question.id] = response
    return entered


def _read(question: Question, sent: Mapping[str, str], shown: bool, language: str) -> int:
    if question.kind == "choices":
        return _read_ticks(question, sent, language)
    value = sent.get(question.id, "").strip()
    if _typed(question):
        return _read_number(question, value, shown, language)
    if not value:
        raise InvalidAnswer(word(language, "missing"))
    return int(_known(question, value, question.largest_response))


def _known(question: Question, value: str, largest: int) -> str:
    width = len(str(largest))
    if not re.fullmatch(f"[0-9]{{{width}}}", value) or int(value) > largest:
        raise InvalidReport(
            f"{question.id}: must be a whole number from {'0' * width} to {largest}"
        )
    return value


def _read_number(question: Question, value: str, shown: bool, language: str) -> int:
    """A number that was typed; nothing typed is not for everyone a problem."""
    if not value and not shown:
        return question.law.responses
    try:
        return question.encode(value or None)
    except InvalidAnswer:
        told = _range(question, language) if value else word(language, "missing")
        raise InvalidAnswer(told) from None


def _read_ticks(question: Question, sent: Mapping[str, str], language: str) -> int:
    values = [sent.get(name, "") for name in names(question)]
    if "" in values:
        raise InvalidAnswer(word(language, "missing"))
    largest = int(NONE) if question.show_if else int(YES)
    ticks = [_known(question, value, largest) for value in values]
    if NONE in ticks:
        if set(ticks) != {NONE}:
            raise InvalidAnswer(word(language, "together", none=word(language, "none")))
        return question.law.responses
    if question.skip and ticks[-1] == YES and ticks.count(YES) > 1:
        skip = question.option(len(ticks) - 1, language)
        raise InvalidAnswer(word(language, "alone", skip=skip))
    return sum(1 << index for index, tick in enumerate(ticks) if tick == YES)
