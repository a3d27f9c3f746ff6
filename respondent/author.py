"""From a researcher's file to the published document: shorthand becomes weights.

Here is checked only what vanishes on the way (ε, coins, named designs, ranges) and what
a researcher may get wrong in a way that nobody else can (spelling, odds that tell
nothing). Texts and ids pass through; ``document`` checks them.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import Any

from . import odds, words
from .checking import UNKNOWN, Checker, likely, within
from .document import FORMAT, KINDS, law_document, place
from .exact import LIMIT, log_up
from .laws import MOST_ANSWERS, MOST_STEPS, MOST_TICKS, KAry, Law, OneOf, Plain, Table, TwoPoint

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 100), Fraction(10)

TEXT_FIELDS = ("title", "intro", "by", "consent")
SURVEY_FIELDS = ("id", *TEXT_FIELDS, "languages", "opens", "closes", "own-coin", "question")

#: What may state the odds of a protected question, and for which kinds.
COUNTED = ("yes-no", "choice", "scale", "list")
PROTECTIONS = {
    "epsilon": tuple(KINDS),
    "coin": (*COUNTED, "choices"),
    "odds": (*COUNTED, "choices", "number"),
    "table": ("yes-no", "choice", "scale"),
    "warner": ("yes-no",),
    "forced": ("yes-no",),
    "unrelated": ("yes-no",),
    "crosswise": ("yes-no",),
}

#: Fields of a question beside those, and for which kinds.
QUESTION_FIELDS = {
    "id": tuple(KINDS),
    "ask": tuple(KINDS),
    "kind": tuple(KINDS),
    "help": tuple(KINDS),
    "page": tuple(KINDS),
    "protect": tuple(KINDS),
    "skip": tuple(KINDS),
    "show-if": tuple(KINDS),
    "options": (*COUNTED, "choices"),
    "range": ("number", "scale"),
    "step": ("number",),
    "unit": ("number",),
    "ends": ("scale",),
    "responses": ("yes-no", "choice", "scale"),
    "law": (*COUNTED, "number"),
    "noise": ("number",),
    "delta": ("number",),
} | PROTECTIONS

HINTS = {
    "quota": "is refused: who is turned away would depend on answers",
    "required": 'is not a field: every question is required unless "skip = true"',
    "branch": 'is not a field: use "show-if" on a plain question',
    "goto": 'is not a field: use "show-if" on a plain question',
    "pipe": "is refused: texts must not depend on answers",
    "questions": 'is not a known field; did you mean "[[question]]"?',
    "secret": 'is not a field: every question is protected unless "protect = false"',
}

LAW_NAMES = {
    "k-ary": COUNTED,
    "subset": ("choice", "scale", "list"),
    "projective": ("choice", "scale", "list"),
    "exponential": ("scale",),
    "two-point": ("number",),
    "wave": ("number",),
}

PIPED = re.compile(r"\{\s*([a-z0-9][a-z0-9-]*)\s*\}")


class Wrong(Exception):
    """A field that cannot be translated; the message is the rule it breaks."""


def translate(source: object, check: Checker) -> object:
    """The published document of a researcher's file, problems noted in ``check``."""
    if not isinstance(source, dict):
        check.fail("the survey", "must be an object with named fields")
        return UNKNOWN
    found = check.fields(source, "", ("question",), SURVEY_FIELDS, HINTS)
    document: dict[str, Any] = {"deniable": FORMAT, "languages": found.get("languages", ["en"])}
    document |= {key: found[key] for key in ("id", *TEXT_FIELDS) if key in found}
    for key in ("opens", "closes"):
        if key in found:
            document[key] = _day(found[key])
    if found.get("own-coin") is not False and "own-coin" in found:
        document["own-coin"] = found["own-coin"]
    questions = found.get("question", UNKNOWN)
    if isinstance(questions, dict):
        check.fail("question", 'must be a list: write "[[question]]" with two brackets')
        questions = UNKNOWN
    document["questions"] = questions
    if isinstance(questions, list):
        _check_piping(questions, check)
        translator = _Translator(document["languages"], check)
        document["questions"] = [
            translator.question(item, place(number, item))
            for number, item in enumerate(questions, 1)
        ]
        if document.get("own-coin") is True:
            _check_own_coin(document["questions"], check)
    return document


def _day(value: object) -> object:
    """TOML has dates of its own; JSON has texts."""
    is_day = isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
    return value.isoformat() if is_day and isinstance(value, datetime.date) else value


def _check_piping(questions: list[object], check: Checker) -> None:
    """Refuse texts that quote an answer, as other survey tools allow: "You said {drug}"."""
    found = [item.get("id") for item in questions if isinstance(item, dict)]
    ids = {id_ for id_ in found if isinstance(id_, str)}
    for number, item in enumerate(questions, 1):
        for key in ("ask", "help", "page"):
            text = item.get(key) if isinstance(item, dict) else None
            texts = text.values() if isinstance(text, dict) else [text]
            quoted = [found for t in texts if isinstance(t, str) for found in PIPED.findall(t)]
            if ids.intersection(quoted):
                check.fail(within(place(number, item), key), "must not quote another answer")


def _check_own_coin(questions: list[dict[str, Any]], check: Checker) -> None:
    """A person with coins and dice must be able to draw the odds."""
    for number, question in enumerate(questions, 1):
        law = question.get("law")
        if law is UNKNOWN or not isinstance(law, dict) or law["law"] == "plain":
            continue
        totals = [law["truth"] + law["other"]] if "truth" in law else []
        if law["law"] == "k-ary":
            totals = [law["truth"] + (law["answers"] - 1) * law["other"]]
        elif law["law"] == "table":
            totals = [sum(row) for row in law["rows"]]
        playable = law["law"] in ("k-ary", "table") and all(
            total <= 216 and 6**8 % total == 0 for total in totals
        )
        if not playable:
            check.fail(
                within(place(number, question), "own-coin"),
                "coins and dice cannot draw these odds; give a coin such as "
                '"1/2", or odds whose total is a product of 2s and 3s, at most 216',
            )


class _Translator:
    """Translates questions; knows the survey's languages and the questions so far."""

    def __init__(self, languages: object, check: Checker) -> None:
        codes = languages if isinstance(languages, list) else []
        good = codes and all(isinstance(code, str) for code in codes)
        self.languages: list[str] = codes if good else ["en"]
        self.options: dict[str, list[Any]] = {}
        self.check = check

    def question(self, item: object, where: str) -> dict[str, Any]:
        found = self.check.fields(item, where, ("kind",), QUESTION_FIELDS, HINTS)
        kind = found.get("kind")
        kind = kind if isinstance(kind, str) else ""
        if "kind" in found and kind not in KINDS:
            self.check.fail(within(where, "kind"), f'"{kind}" is not a kind{likely(kind, KINDS)}')
        document: dict[str, Any] = {
            key: found[key] for key in ("id", "ask", "help", "page") if key in found
        }
        if kind not in KINDS:
            return document | {"kind": UNKNOWN, "law": UNKNOWN}
        before = len(self.check.problems)
        for key in found:
            if kind not in QUESTION_FIELDS[key]:
                kinds = ", ".join(QUESTION_FIELDS[key])
                self.check.fail(within(where, key), f"is for {kinds} questions only")
        own = ("low", "step") if kind == "number" else ("options",)
        document |= {"kind": kind, "law": UNKNOWN} | dict.fromkeys(own, UNKNOWN)
        if kind == "scale":
            document["first"] = 1
        self._attempt(where, "skip", self._skip, found, document)
        if kind == "number":
            self._attempt(where, "range", self._grid, found, document)
        else:
            self._attempt(where, "options", self._options, found, document)
        if isinstance(found.get("id"), str):
            options = document.get("options", UNKNOWN)
            self.options.setdefault(found["id"], [] if options is UNKNOWN else options)
        if "show-if" in found:
            self._attempt(where, "show-if", self._conditions, found, document)
        if len(self.check.problems) == before:
            self._attempt(where, None, self._law, found, document)
        for needed_here_only in ("skip-word", "steps"):
            document.pop(needed_here_only, None)
        return document

    def _attempt(
        self,
        where: str,
        key: str | None,
        translate: Callable[[dict[str, Any], dict[str, Any]], None],
        found: dict[str, Any],
        document: dict[str, Any],
    ) -> None:
        """Run one translation and note what it finds wrong, under its field."""
        try:
            translate(found, document)
        except Wrong as problem:
            named = problem.args[1] if len(problem.args) > 1 else key
            self.check.fail(within(where, named) if named else where, problem.args[0])

    def _word(self, name: str) -> str | dict[str, str]:
        """A built-in word in the survey's languages."""
        missing = [code for code in self.languages if code not in words.LANGUAGES]
        if missing:
            raise Wrong(f"has no built-in words in {', '.join(missing)}: give the texts yourself")
        texts = {code: words.word(code, name) for code in self.languages}
        return texts if len(texts) > 1 else texts[self.languages[0]]

    def _skip(self, found: dict[str, Any], document: dict[str, Any]) -> None:
        skip = found.get("skip", False)
        if skip is False:
            return
        if found["kind"] == "number" and found.get("protect", True) is not False:
            raise Wrong(
                "a protected number cannot be skipped: no cell is free to say so; "
                "ask a yes-no question instead, or give the range a value that means none"
            )
        document["skip"] = True
        if found["kind"] != "number":
            document["skip-word"] = self._word("skip") if skip is True else skip

    def _options(self, found: dict[str, Any], document: dict[str, Any]) -> None:
        """The options with "prefer not to say" last, where a question may be skipped."""
        kind, options = found["kind"], found.get("options")
        skip = [document["skip-word"]] if "skip-word" in document else []
        if kind == "scale" and "range" in found:
            options, document["first"] = self._scale(found)
        elif kind == "yes-no" and "options" not in found:
            options = [self._word("yes"), self._word("no")]
        if options is None:
            raise Wrong("is missing")
        most = (MOST_TICKS if kind == "choices" else MOST_ANSWERS) - len(skip)
        if kind == "yes-no":
            most = 2
        if not isinstance(options, list) or not 2 <= len(options) <= most:
            raise Wrong(f"must be a list of {'2' if most == 2 else f'2 to {most}'} texts")
        document["options"] = [*options, *skip]
        if "ends" in found:
            document["ends"] = found["ends"]

    def _scale(self, found: dict[str, Any]) -> tuple[list[str], int]:
        if "options" in found:
            raise Wrong("goes without options", "range")
        ends = found["range"]
        good = isinstance(ends, list) and len(ends) == 2 and all(type(end) is int for end in ends)
        if not good or not -1000 <= ends[0] < ends[1] <= 1000 or ends[1] - ends[0] > 100:
            raise Wrong("must be two whole numbers, the smaller first, at most 100 apart", "range")
        return [str(score) for score in range(ends[0], ends[1] + 1)], ends[0]

    def _grid(self, found: dict[str, Any], document: dict[str, Any]) -> None:
        """Low end, step and number of steps of a number question."""
        ends = found.get("range")
        if ends is None:
            raise Wrong("is missing: the smallest and the largest answer")
        if not isinstance(ends, list) or len(ends) != 2:
            raise Wrong("must be the smallest and the largest answer, such as [0, 100]")
        low, high = (self._decimal(end, "range") for end in ends)
        step = self._decimal(found.get("step", 1), "step")
        if low >= high:
            raise Wrong("is upside down: the smaller number comes first")
        if step <= 0:
            raise Wrong("must be above 0", "step")
        steps = (high - low) / step
        if steps.denominator != 1:
            raise Wrong("does not fit: the range must be a whole number of steps", "step")
        if steps > MOST_STEPS:
            raise Wrong(f"makes more than {MOST_STEPS} steps of the range", "step")
        document |= {"low": _decimal_text(low), "step": _decimal_text(step), "steps": int(steps)}
        if "unit" in found:
            document["unit"] = found["unit"]

    def _decimal(self, value: object, key: str) -> Fraction:
        number = fraction(value)
        if number is None or abs(number) >= 10**15 or (number * 10**6).denominator != 1:
            raise Wrong("must be numbers with at most 6 digits after the point", key)
        return number

    def _conditions(self, found: dict[str, Any], document: dict[str, Any]) -> None:
        """{year = ["1", "2"]} becomes [{question: year, among: [0, 1]}]."""
        wanted = found["show-if"]
        if not isinstance(wanted, dict) or not wanted:
            raise Wrong('must name an earlier question and its answers: { year = ["1", "2"] }')
        conditions = []
        for other, labels in wanted.items():
            labels = labels if isinstance(labels, list) else [labels]
            index = {
                label: number
                for number, option in enumerate(self.options.get(other, []))
                for label in (option.values() if isinstance(option, dict) else [option])
                if isinstance(label, str)
            }
            among: object = UNKNOWN
            if index:
                strange = [str(label) for label in labels if str(label) not in index]
                if strange:
                    raise Wrong(
                        f'"{strange[0]}" is not an option of {other}{likely(strange[0], index)}'
                    )
                among = sorted({index[str(label)] for label in labels})
            conditions.append({"question": other, "among": among})
        document["show-if"] = conditions

    def _law(self, found: dict[str, Any], document: dict[str, Any]) -> None:
        given = [key for key in PROTECTIONS if key in found]
        protect = found.get("protect", True)
        if not isinstance(protect, bool):
            raise Wrong("must be true or false", "protect")
        if not protect:
            extra = [key for key in (*given, "law", "noise", "delta", "responses") if key in found]
            if extra:
                raise Wrong("goes without protect = false", extra[0])
            document["law"] = law_document(Plain(_plain_answers(document)))
            return
        if not given:
            usable = [key for key, kinds in PROTECTIONS.items() if found["kind"] in kinds]
            raise Wrong(f"needs one of {', '.join(usable)}, or protect = false")
        if len(given) > 1:
            raise Wrong(f"says the odds again: {given[0]} says them already", given[1])
        for key in ("law", "noise", "delta"):
            if key in found and given[0] not in ("epsilon", "odds"):
                raise Wrong(f"goes with epsilon, not with {given[0]}", key)
        make = getattr(self, f"_law_from_{given[0]}")
        law = make(found, document, len(document.get("options", [])))
        if "responses" in found:
            if not isinstance(law, Table):
                raise Wrong("goes with table only", "responses")
            document["labels"] = found["responses"]
        if law.largest_draw >= LIMIT:
            raise Wrong("weights must add up to less than 2^53", given[0])
        if not _tells_apart(law):
            raise Wrong("says nothing: these odds cannot tell the answers apart", given[0])
        document["law"] = law_document(law)

    def _law_from_epsilon(
        self, found: dict[str, Any], document: dict[str, Any], answers: int
    ) -> Law:
        epsilon = fraction(found["epsilon"])
        if epsilon is None or not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
            raise Wrong("must be a number from 0.01 to 10", "epsilon")
        if found["kind"] == "number":
            return self._number_law(found, document["steps"], epsilon)
        if found["kind"] == "choices":
            return odds.one_of(answers, epsilon)
        name = self._law_name(found)
        if name == "exponential":
            return odds.exponential(answers, epsilon)
        if name == "subset":
            if not 3 <= answers <= 128:
                raise Wrong("subset is for 3 to 128 answers", "law")
            return odds.subset(answers, epsilon)
        if name == "projective":
            return odds.projective(answers, epsilon)
        if name == "k-ary":
            return odds.k_ary(answers, epsilon)
        return odds.least_variance(answers, epsilon)

    def _number_law(self, found: dict[str, Any], steps: int, epsilon: Fraction) -> Law:
        noise, name = found.get("noise"), self._law_name(found)
        if name and noise:
            raise Wrong("goes without noise: it is one or the other", "law")
        if "delta" in found and noise != "gaussian":
            raise Wrong('goes with noise = "gaussian" only', "delta")
        if name == "two-point" or (steps > 10_000 and not noise and not name):
            return odds.two_point(steps, epsilon)
        if steps > 10_000:
            raise Wrong("makes more than 10000 steps of the range; use a larger step", "step")
        if name == "wave":
            return odds.wave(steps, epsilon)
        if noise == "laplace":
            return odds.laplace(steps, epsilon)
        if noise == "gaussian":
            delta = fraction(found.get("delta"))
            if delta is None or not 0 < delta <= Fraction(1, 1000):
                raise Wrong("must be above 0 and at most 0.001 for Gaussian noise", "delta")
            try:
                return odds.gaussian(steps, epsilon, delta)
            except ValueError as problem:
                raise Wrong(str(problem), "step") from None
        if noise is not None:
            known = ("laplace", "gaussian")
            raise Wrong(f'"{noise}" is not a kind of noise{likely(str(noise), known)}', "noise")
        return odds.number(steps, epsilon)

    def _law_name(self, found: dict[str, Any]) -> str | None:
        name = found.get("law")
        if name is None:
            return None
        usable = [law for law, kinds in LAW_NAMES.items() if found["kind"] in kinds]
        if name not in usable:
            raise Wrong(
                f'"{name}" is not a law for {found["kind"]} questions{likely(str(name), usable)}',
                "law",
            )
        return str(name)

    def _law_from_odds(self, found: dict[str, Any], document: dict[str, Any], answers: int) -> Law:
        pair = found["odds"]
        good = isinstance(pair, list) and len(pair) == 2
        if not good or not all(type(w) is int and 0 < w < LIMIT for w in pair):
            raise Wrong("must be two whole numbers above 0: the truth's and each other's", "odds")
        truth, other = pair
        name = self._law_name(found)
        if found["kind"] == "choices":
            return OneOf(answers, truth, other)
        if found["kind"] != "number":
            if name not in (None, "k-ary"):
                raise Wrong("takes epsilon, not odds", "law")
            return KAry(answers, truth, other)
        if "noise" in found:
            raise Wrong("takes epsilon, not odds", "noise")
        if truth <= other:
            raise Wrong("must favour the truth: the larger number first", "odds")
        steps = document["steps"]
        if name != "wave":
            return TwoPoint(steps, truth, other)
        return odds.wave_of(steps, log_up(Fraction(truth, other)), truth, other)

    def _law_from_coin(self, found: dict[str, Any], document: dict[str, Any], answers: int) -> Law:
        chance = self._chance(found["coin"], "coin")
        document["design"] = "coin"
        if found["kind"] == "choices":
            return OneOf(answers, *odds.coin(chance, 2))
        return KAry(answers, *odds.coin(chance, answers))

    def _chance(self, value: object, key: str) -> Fraction:
        chance = fraction(value)
        if chance is None or not 0 < chance < 1:
            raise Wrong('must be a chance between 0 and 1, such as "1/2" or 0.5', key)
        return chance

    def _law_from_table(self, found: dict[str, Any], document: dict[str, Any], answers: int) -> Law:
        rows = found["table"]
        good = isinstance(rows, list) and len(rows) == answers
        if not good or not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
            raise Wrong(f"must be {answers} rows of equal length, one for each answer", "table")
        if not 2 <= len(rows[0]) <= 64:
            raise Wrong("must have 2 to 64 columns, one for each response", "table")
        if not all(type(weight) is int and 0 < weight < LIMIT for row in rows for weight in row):
            raise Wrong(
                "weights must be whole numbers above 0: a response that some answer "
                "never gives would prove the others",
                "table",
            )
        if len(rows[0]) != answers and "responses" not in found:
            raise Wrong("is missing: name each column's response", "responses")
        return Table(tuple(map(tuple, rows)))

    def _two_by_two(
        self,
        found: dict[str, Any],
        document: dict[str, Any],
        design: str,
        yes: Fraction,
        no: Fraction,
    ) -> Law:
        """The table in which a true yes responds yes with chance ``yes``, a true no with ``no``."""
        if "skip" in found and found["skip"] is not False:
            raise Wrong(f"{design} is for two answers: use coin, epsilon or table", "skip")
        document["design"] = design
        return Table((_weights(yes, 1 - yes), _weights(no, 1 - no)))

    def _law_from_warner(self, found: dict[str, Any], document: dict[str, Any], _: int) -> Law:
        """With ``chance`` the question itself, otherwise its negation (Warner 1965)."""
        chance = self._chance(found["warner"], "warner")
        return self._two_by_two(found, document, "warner", chance, 1 - chance)

    def _law_from_crosswise(self, found: dict[str, Any], document: dict[str, Any], _: int) -> Law:
        """Same or different from a statement true with ``chance`` (Yu, Tian & Tang 2008)."""
        chance = self._chance(found["crosswise"], "crosswise")
        document["labels"] = [self._word("same"), self._word("different")]
        return self._two_by_two(found, document, "crosswise", chance, 1 - chance)

    def _parts(
        self, found: dict[str, Any], key: str, one: str, two: str
    ) -> tuple[Fraction, Fraction]:
        value = found[key]
        if not isinstance(value, dict) or set(value) != {one, two}:
            raise Wrong(
                f'must give {one} and {two}, such as {{ {one} = "1/6", {two} = "1/6" }}', key
            )
        return self._chance(value[one], key), self._chance(value[two], key)

    def _law_from_forced(self, found: dict[str, Any], document: dict[str, Any], _: int) -> Law:
        """Forced yes, forced no, otherwise the truth (Boruch 1971)."""
        yes, no = self._parts(found, "forced", "yes", "no")
        if yes + no >= 1:
            raise Wrong(
                "must leave a chance for the truth: yes and no add up to 1 or more", "forced"
            )
        return self._two_by_two(found, document, "forced", 1 - no, yes)

    def _law_from_unrelated(self, found: dict[str, Any], document: dict[str, Any], _: int) -> Law:
        """With chance ``sensitive`` the question, otherwise one to which ``yes`` say yes."""
        asked, yes = self._parts(found, "unrelated", "sensitive", "yes")
        return self._two_by_two(
            found, document, "unrelated", asked + (1 - asked) * yes, (1 - asked) * yes
        )


def fraction(value: object) -> Fraction | None:
    """A number or a text such as "1/6" or "0.25", exactly as written; None if it is neither."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        return Fraction(value) if isinstance(value, str | int) else Fraction(Decimal(str(value)))
    except (ValueError, InvalidOperation, OverflowError, ZeroDivisionError):
        return None


def _decimal_text(number: Fraction) -> str:
    text = f"{Decimal(number.numerator) / Decimal(number.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _weights(*chances: Fraction) -> tuple[int, ...]:
    """Chances as whole-number weights in lowest terms."""
    scale = lcm(*(chance.denominator for chance in chances))
    weights = [int(chance * scale) for chance in chances]
    shared = reduce(gcd, weights)
    return tuple(weight // shared for weight in weights)


def _plain_answers(document: Mapping[str, Any]) -> int:
    if document["kind"] == "number":
        return int(document["steps"]) + 1 + bool(document.get("skip"))
    options = len(document["options"])
    return 1 << options if document["kind"] == "choices" else options


def _tells_apart(law: Law) -> bool:
    """Whether shares of answers follow from shares of responses: full rank, exactly."""
    if not isinstance(law, Table):
        return law.ratio > 1
    rows = [[Fraction(weight) for weight in row] for row in law.rows]
    for column in range(law.responses):
        pivot = next((row for row in rows if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows = [
            [
                value - row[column] / pivot[column] * lead
                for value, lead in zip(row, pivot, strict=True)
            ]
            for row in rows
        ]
    return not rows
