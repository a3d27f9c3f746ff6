"""The survey: frozen objects, read strictly from the published document and back.

A researcher's file becomes such a document in ``author``; a client receives one over
the network. Both are checked here, by the rules that the browser module repeats.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from . import author, explain
from .canonical import canonical, read_json
from .checking import Checker, Text, say
from .document import FORMAT, check_document, law_document
from .errors import InvalidAnswer, InvalidSurvey
from .exact import float_up, round_half_up
from .laws import Law, Plain
from .randomness import RandBelow, randbelow

#: Past this exponent a number is out of every range, or too close to another to matter.
MOST_PLACES = 10_000


@dataclass(frozen=True)
class Condition:
    """A question is shown if the response to the plain question ``question`` is in ``among``."""

    question: str
    among: tuple[int, ...]


@dataclass(frozen=True)
class Question:
    """One question with the law that protects it (``Plain`` if none does)."""

    id: str
    kind: str
    ask: Text
    law: Law
    help: Text | None = None
    page: Text | None = None
    options: tuple[Text, ...] = ()
    skip: bool = False
    labels: tuple[Text, ...] = ()
    design: str | None = None
    first: int | None = None
    ends: tuple[Text, ...] = ()
    low: str | None = None
    step: str | None = None
    unit: Text | None = None
    show_if: tuple[Condition, ...] = ()

    @property
    def protected(self) -> bool:
        return not isinstance(self.law, Plain)

    @property
    def epsilon_bound(self) -> Fraction:
        """ε as a fraction; 0 for a plain question, which no ε describes."""
        return self.law.epsilon_bound if self.protected else Fraction(0)

    @property
    def epsilon(self) -> float:
        return float_up(self.epsilon_bound)

    @property
    def delta(self) -> float:
        return float_up(self.law.delta)

    @property
    def not_asked(self) -> int | None:
        """The response that says the question was not shown; None if it always is."""
        return self.law.responses if self.show_if else None

    @property
    def largest_response(self) -> int:
        """The largest number that a report may have here, "not shown" included."""
        return self.law.responses if self.show_if else self.law.responses - 1

    @property
    def width(self) -> int:
        """Digits of the largest response: every response is sent this wide."""
        return len(str(self.largest_response))

    def option(self, index: int, language: str) -> str:
        return say(self.options[index], language)

    def value(self, cell: int) -> Decimal:
        """The number that a cell of a number question stands for; cells may lie outside."""
        return Decimal(self.low or 0) + cell * Decimal(self.step or 1)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {
            label: index
            for index, option in enumerate(self.options)
            for label in ([option] if isinstance(option, str) else option.values())
        }

    def encode(self, answer: object) -> int:
        """The answer as the law counts it. Errors name the question, never the answer."""
        if self.kind == "choices":
            return self._encode_ticks(answer)
        if answer is None and self.skip:
            return self.law.answers - 1
        if self.kind == "number":
            return self._encode_number(answer)
        index = self._index.get(answer) if isinstance(answer, str) else None
        if index is None and self.kind == "scale" and type(answer) is int:
            index = self._index.get(str(answer))
        if index is None:
            raise InvalidAnswer(f"question {self.id}: the answer must be one of its options")
        return index

    def _encode_ticks(self, answer: object) -> int:
        if answer is None and self.skip:
            return 1 << len(self.options) - 1
        if isinstance(answer, str) or not isinstance(answer, Iterable):
            raise InvalidAnswer(f"question {self.id}: the answer must be a list of its options")
        ticks = {self._index.get(tick) if isinstance(tick, str) else None for tick in answer}
        if None in ticks:
            raise InvalidAnswer(f"question {self.id}: the answer must be a list of its options")
        last = len(self.options) - 1
        if self.skip and last in ticks and len(ticks) > 1:
            raise InvalidAnswer(f"question {self.id}: prefer not to say goes with no other option")
        return sum(1 << tick for tick in ticks if tick is not None)

    def _encode_number(self, answer: object) -> int:
        steps = self.law.answers - 1 - (1 if self.skip else 0)
        try:
            if isinstance(answer, bool) or not isinstance(answer, int | float | str | Decimal):
                raise InvalidOperation
            cells = Fraction(_decimal(str(answer))) - Fraction(self.low or 0)
        except (InvalidOperation, ValueError, OverflowError):
            raise InvalidAnswer(f"question {self.id}: the answer must be a number") from None
        cell = round_half_up(cells / Fraction(self.step or 1))
        if not 0 <= cells <= steps * Fraction(self.step or 1):
            ends = f"{self.value(0)} to {self.value(steps)}"
            raise InvalidAnswer(f"question {self.id}: the answer must be from {ends}")
        return cell

    def randomise(self, answer: object, randbelow: RandBelow = randbelow) -> int:
        return self.law.randomise(self.encode(answer), randbelow)

    def explain(self, language: str = "en") -> str:
        """What the law does to an answer and what a response can tell, in plain sentences."""
        return " ".join(explain.question(self, language))

    def document(self) -> dict[str, Any]:
        """The question as published; fields that say nothing are left out."""
        found = {
            "id": self.id,
            "kind": self.kind,
            "ask": _plain(self.ask),
            "law": law_document(self.law),
            "help": _plain(self.help),
            "page": _plain(self.page),
            "options": [_plain(option) for option in self.options],
            "skip": self.skip,
            "labels": [_plain(label) for label in self.labels],
            "design": self.design,
            "ends": [_plain(end) for end in self.ends],
            "low": self.low,
            "step": self.step,
            "unit": _plain(self.unit),
            "show-if": [{"question": c.question, "among": list(c.among)} for c in self.show_if],
        }
        document = {key: value for key, value in found.items() if value}
        return document if self.first is None else document | {"first": self.first}


@dataclass(frozen=True)
class Survey:
    """Everything a respondent's device needs, and what its fingerprint covers."""

    id: str
    title: Text
    questions: tuple[Question, ...]
    languages: tuple[str, ...] = ("en",)
    intro: Text | None = None
    by: Text | None = None
    consent: Text | None = None
    opens: str | None = None
    closes: str | None = None
    own_coin: bool = False

    @classmethod
    def load(cls, path: str | Path) -> Survey:
        """Read a researcher's TOML or JSON file, or a published JSON document."""
        path = Path(path)
        try:
            data = path.read_bytes()
            if path.suffix == ".json":
                found = json.loads(data, parse_float=Decimal)
                if isinstance(found, dict) and "deniable" in found:
                    return cls.from_published(data, path.name)
            else:
                found = tomllib.loads(data.decode("utf-8"), parse_float=Decimal)
        except OSError as problem:
            raise InvalidSurvey([f"cannot be read: {problem.strerror}"], path.name) from None
        except UnicodeDecodeError:
            raise InvalidSurvey(["is not text in UTF-8"], path.name) from None
        except (ValueError, RecursionError) as problem:
            raise InvalidSurvey([str(problem)], path.name) from None
        return cls.parse(found, path.name)

    @classmethod
    def parse(cls, source: object, name: str = "the survey") -> Survey:
        """Make a survey of a researcher's file that has been read into a dict."""
        check = Checker()
        return _survey(author.translate(source, check), check, name)

    @classmethod
    def from_published(cls, data: bytes, name: str = "the published survey") -> Survey:
        """Read the canonical JSON that ``publish`` made."""
        try:
            document = read_json(data)
        except ValueError as problem:
            raise InvalidSurvey([str(problem)], name) from None
        survey = _survey(document, Checker(), name)
        if survey.publish() != data:
            raise InvalidSurvey(["is not in canonical form: it was changed or re-spelt"], name)
        return survey

    @classmethod
    def fetch(cls, url: str, fingerprint: str | None = None, limit: float | None = None) -> Survey:
        """Download and check a published survey; see ``respondent.client``."""
        from .client import fetch  # urllib takes longer to import than all the rest

        return fetch(url, fingerprint, limit)

    def publish(self) -> bytes:
        """The one document that clients download, with the weights in it."""
        found = {
            "deniable": FORMAT,
            "id": self.id,
            "title": _plain(self.title),
            "languages": list(self.languages),
            "intro": _plain(self.intro),
            "by": _plain(self.by),
            "consent": _plain(self.consent),
            "opens": self.opens,
            "closes": self.closes,
            "own-coin": self.own_coin,
            "questions": [question.document() for question in self.questions],
        }
        return canonical({key: value for key, value in found.items() if value})

    @cached_property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.publish()).hexdigest()

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Digits of each response in a report."""
        return tuple(question.width for question in self.questions)

    @cached_property
    def epsilon_bound(self) -> Fraction:
        return sum((question.epsilon_bound for question in self.questions), Fraction(0))

    @property
    def epsilon(self) -> float:
        """What all protected responses of one person add up to."""
        return float_up(self.epsilon_bound)

    @property
    def delta(self) -> float:
        return float_up(sum((question.law.delta for question in self.questions), Fraction(0)))

    def epsilon_of_group(self, people: int) -> float:
        """What the reports of a group, say a household, can tell about the group as one."""
        return float_up(people * self.epsilon_bound)

    def explain(self, language: str = "en") -> str:
        return " ".join(explain.survey(self, language))

    def __getitem__(self, question_id: str) -> Question:
        for question in self.questions:
            if question.id == question_id:
                return question
        raise KeyError(question_id)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def shown(self, question: Question, responses: Mapping[str, int]) -> bool:
        """Whether the question is shown, given the responses to earlier plain questions."""
        return all(responses[c.question] in c.among for c in question.show_if)


def _decimal(text: str) -> Decimal:
    """The number that was typed. An absurd exponent is cut: it would take for ever to expand."""
    number = Decimal(text)
    if not number.is_finite():
        raise InvalidOperation
    sign, digits, exponent = number.as_tuple()
    return Decimal((sign, digits, max(-MOST_PLACES, min(int(exponent), MOST_PLACES))))


def _plain(text: Text | None) -> str | dict[str, str] | None:
    return dict(text) if isinstance(text, Mapping) else text


def _survey(document: object, check: Checker, name: str) -> Survey:
    found, laws = check_document(document, check)
    if check.problems:
        raise InvalidSurvey(check.problems, name)
    return Survey(
        id=found["id"],
        title=found["title"],
        questions=tuple(map(_question, found["questions"], laws)),
        languages=tuple(found["languages"]),
        intro=found.get("intro"),
        by=found.get("by"),
        consent=found.get("consent"),
        opens=found.get("opens"),
        closes=found.get("closes"),
        own_coin=found.get("own-coin", False),
    )


def _question(found: Mapping[str, Any], law: Law) -> Question:
    return Question(
        id=found["id"],
        kind=found["kind"],
        ask=found["ask"],
        law=law,
        help=found.get("help"),
        page=found.get("page"),
        options=tuple(found.get("options", ())),
        skip=found.get("skip", False),
        labels=tuple(found.get("labels", ())),
        design=found.get("design"),
        first=found.get("first"),
        ends=tuple(found.get("ends", ())),
        low=found.get("low"),
        step=found.get("step"),
        unit=found.get("unit"),
        show_if=tuple(
            Condition(condition["question"], tuple(condition["among"]))
            for condition in found.get("show-if", ())
        ),
    )
