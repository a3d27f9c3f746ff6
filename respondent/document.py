"""The published document: the rules that every survey keeps, whoever made it.

The browser module repeats these checks, in this order and with these words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from .checking import DECIMAL, UNKNOWN, Checker, within
from .exact import LIMIT
from .laws import LAWS, MOST_ANSWERS, MOST_TICKS, Distance, Law, Plain, Table

#: The version of the published document, and so of everything in ``docs/spec.md``.
FORMAT = 1

#: No response may be more than e^10 times as likely under one answer as under another.
MOST_RATIO = 22026

MOST_QUESTIONS = 200

#: Reports and their tables have these fields beside one for each question.
RESERVED = ("key", "survey")

KINDS = {
    "yes-no": ("k-ary", "table", "subset", "projective"),
    "choice": ("k-ary", "table", "subset", "projective"),
    "scale": ("k-ary", "table", "subset", "projective"),
    "list": ("k-ary", "table", "subset", "projective"),
    "choices": ("one-of",),
    "number": ("two-point", "wave", "distance"),
}

DESIGNS = ("coin", "warner", "forced", "unrelated", "crosswise")


def check_document(document: object, check: Checker) -> tuple[dict[str, Any], list[Law]]:
    """Note what is wrong with a document; give its fields and its questions' laws."""
    if document is UNKNOWN:
        return {}, []
    found = check.fields(
        document,
        "",
        ("deniable", "id", "languages", "questions", "title"),
        ("by", "closes", "consent", "intro", "opens", "own-coin"),
    )
    if "deniable" in found and (found["deniable"] != FORMAT or found["deniable"] is True):
        check.fail("deniable", f"must be {FORMAT}, the version of the format")
    if "id" in found:
        check.identifier(found["id"], "id")
    languages = check.languages(found["languages"]) if "languages" in found else ["en"]
    for key in ("title", "intro", "by", "consent"):
        if key in found:
            check.text(found[key], key, languages)
    days = [key for key in ("opens", "closes") if key in found and check.day(found[key], key)]
    if len(days) == 2 and found["closes"] < found["opens"]:
        check.fail("closes", "must not be before opens")
    if "own-coin" in found and found["own-coin"] is not True:
        check.fail("own-coin", "must be true or left out")
    laws: list[Law] = []
    if "questions" in found and found["questions"] is not UNKNOWN:
        _check_questions(found["questions"], languages, check, laws)
    return found, laws


def _check_questions(value: object, languages: list[str], check: Checker, laws: list[Law]) -> None:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_QUESTIONS:
        check.fail("questions", f"must be a list of 1 to {MOST_QUESTIONS} questions")
        return
    earlier: dict[str, dict[str, Any]] = {}
    for number, item in enumerate(value, 1):
        where = place(number, item)
        found = check.fields(
            item,
            where,
            ("ask", "id", "kind", "law"),
            (
                "design", "ends", "first", "help", "labels", "low",
                "options", "page", "show-if", "skip", "step", "unit",
            ),
        )  # fmt: skip
        law = _check_question(found, where, languages, check)
        if "show-if" in found:
            _check_conditions(found["show-if"], where, earlier, check)
        if isinstance(found.get("id"), str):
            if found["id"] in earlier:
                check.fail(within(where, "id"), "is already the id of an earlier question")
            earlier.setdefault(found["id"], found)
        if law is not None:
            laws.append(law)


def place(number: int, item: object) -> str:
    """How problems name a question: by its number, and its id if that is a text."""
    found = item.get("id") if isinstance(item, dict) else None
    return f"question {number}" + (f" ({found})" if isinstance(found, str) else "")


def _check_question(
    found: Mapping[str, Any], where: str, languages: list[str], check: Checker
) -> Law | None:
    """Check one question apart from its conditions and return its law."""

    def at(key: str) -> str:
        return within(where, key)

    if "id" in found and check.identifier(found["id"], at("id")) and found["id"] in RESERVED:
        check.fail(at("id"), "is a word that reports use themselves")
    for key in ("ask", "help", "page"):
        if key in found:
            check.text(found[key], at(key), languages)
    if "skip" in found and found["skip"] is not True:
        check.fail(at("skip"), "must be true or left out")
    kind = found.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        if "kind" in found and kind is not UNKNOWN:
            check.fail(at("kind"), f"must be one of {', '.join(KINDS)}")
        return None
    belongs: dict[str, Callable[[object, str], bool]] = {
        "options": lambda value, where: _check_options(value, where, kind, languages, check),
        "first": lambda value, where: check.whole(value, where, -1000, 1000),
        "ends": lambda value, where: _check_texts(value, where, 2, languages, check),
        "low": lambda value, where: _check_decimal(value, where, check),
        "step": lambda value, where: _check_decimal(value, where, check),
        "unit": lambda value, where: check.text(value, where, languages, each=False),
    }
    own = {"number": ("low", "step"), "scale": ("options", "first")}.get(kind, ("options",))
    may = {"number": ("unit",), "scale": ("ends",)}.get(kind, ())
    good = True
    for key, test in belongs.items():
        if found.get(key) is UNKNOWN:
            good = False
        elif key in found and key in own + may:
            good &= test(found[key], at(key))
        elif key in found:
            check.fail(at(key), f"does not belong to a {kind} question")
        elif key in own:
            check.fail(at(key), "is missing")
            good = False
    if "law" not in found or found["law"] is UNKNOWN or not good:
        return None
    law = read_law(found["law"], at("law"), check)
    if law is None:
        return None
    if law.name != "plain" and law.name not in KINDS[kind]:
        check.fail(at("law"), f"must be plain, {' or '.join(KINDS[kind])} for a {kind} question")
        return None
    _check_fit(found, kind, law, where, languages, check)
    return law


def _check_fit(
    found: Mapping[str, Any],
    kind: str,
    law: Law,
    where: str,
    languages: list[str],
    check: Checker,
) -> None:
    """Rules that tie a law to its question."""
    if kind == "number":
        if "skip" in found and law.name != "plain":
            check.fail(within(where, "skip"), "a protected number cannot be skipped")
        span = Fraction(found["step"]) * law.answers + abs(Fraction(found["low"]))
        if span * 10**6 >= LIMIT:
            check.fail(within(where, "law"), "has more or larger values than can be kept exact")
    else:
        many = 1 << len(found["options"]) if kind == "choices" else len(found["options"])
        if law.answers != many:
            check.fail(within(where, "law"), "must have an answer for each option")
    if "labels" in found:
        labels = _check_texts(
            found["labels"], within(where, "labels"), law.responses, languages, check
        )
        if labels and not isinstance(law, Table):
            check.fail(within(where, "labels"), "does not belong to a law other than table")
    elif isinstance(law, Table) and law.responses != law.answers:
        check.fail(within(where, "labels"), "is missing")
    if "design" in found and found["design"] not in DESIGNS:
        check.fail(within(where, "design"), f"must be one of {', '.join(DESIGNS)}")


def _check_options(
    value: object, where: str, kind: str, languages: list[str], check: Checker
) -> bool:
    most = {"choices": MOST_TICKS, "yes-no": 3}.get(kind, MOST_ANSWERS)
    if not isinstance(value, list) or not 2 <= len(value) <= most:
        check.fail(where, f"must be a list of 2 to {most} texts")
        return False
    good = [
        check.text(option, f"{where}, number {number}", languages, each=False)
        for number, option in enumerate(value, 1)
    ]
    if not all(good):
        return False
    owner: dict[str, int] = {}
    for number, option in enumerate(value, 1):
        for label in [option] if isinstance(option, str) else option.values():
            if owner.setdefault(label, number) != number:
                check.fail(f"{where}, number {number}", f"is the same as number {owner[label]}")
                return False
    return True


def _check_texts(
    value: object, where: str, count: int, languages: list[str], check: Checker
) -> bool:
    if not isinstance(value, list) or len(value) != count:
        check.fail(where, f"must be a list of {count} texts")
        return False
    texts = enumerate(value, 1)
    return all([check.text(t, f"{where}, number {n}", languages, each=False) for n, t in texts])


def _check_decimal(value: object, where: str, check: Checker) -> bool:
    good = isinstance(value, str) and bool(DECIMAL.fullmatch(value))
    if good and where.endswith("step"):
        good = Fraction(str(value)) > 0
    if not good:
        check.fail(
            where, "must be a decimal number as a text, with at most 6 digits after the point"
        )
    return good


def _check_conditions(
    value: object, where: str, earlier: Mapping[str, Mapping[str, Any]], check: Checker
) -> None:
    where = within(where, "show-if")
    if not isinstance(value, list) or not value:
        check.fail(where, "must be a list of conditions")
        return
    for item in value:
        found = check.fields(item, where, ("among", "question"))
        if len(found) < 2:
            continue
        other = earlier.get(found["question"]) if isinstance(found["question"], str) else None
        law = other.get("law") if other else None
        if other is None:
            check.fail(where, "must name an earlier question")
        elif not isinstance(law, dict) or law.get("law") != "plain":
            if law is not UNKNOWN:
                check.fail(where, "depends on a protected answer: it would show who answered what")
        elif other.get("kind") in ("number", "choices"):
            check.fail(where, "can depend on yes-no, choice, scale and list questions only")
        elif found["among"] is not UNKNOWN:
            options = other.get("options")
            most = len(options) - 1 if isinstance(options, list) else 0
            among = found["among"]
            if not (
                isinstance(among, list)
                and among
                and all(type(answer) is int and 0 <= answer <= most for answer in among)
                and all(one < next_one for one, next_one in zip(among, among[1:], strict=False))
            ):
                check.fail(where, f"must list answers from 0 to {most} in ascending order")


def read_law(document: object, where: str, check: Checker) -> Law | None:
    """The law that a document describes, or None with the problems noted."""
    name = document.get("law") if isinstance(document, dict) else None
    kind = LAWS.get(name) if isinstance(name, str) else None
    if kind is None:
        check.fail(where, f"must name a law: {', '.join(LAWS)}")
        return None
    before = len(check.problems)
    names = [field.name.replace("_", "-") for field in fields(kind)]  # type: ignore[arg-type]
    optional = ["bound"] if kind is Distance else []
    required = [name for name in names if name not in optional]
    found = check.fields(document, where, ["law", *required], optional)
    del found["law"]
    for key, value in found.items():
        at = within(where, key)
        if key in kind.bounds:
            check.whole(value, at, *kind.bounds[key])
        elif key == "rows":
            _check_rows(value, at, check)
        elif key == "bound":
            _check_weights(value, at, 2, check)
        else:
            _check_weights(value, at, None, check)
    if len(check.problems) > before:
        return None
    law = kind(**{key.replace("-", "_"): _tuples(value) for key, value in found.items()})
    problems = list(law.problems())
    if not problems and law.largest_draw >= LIMIT:
        problems = ["weights must add up to less than 2^53"]
    if not problems and law.responses > LIMIT:
        problems = ["must have at most 2^53 responses"]
    if not problems and not isinstance(law, Plain) and law.ratio > MOST_RATIO:
        problems = [
            f"some response is over {MOST_RATIO} times likelier under one answer than another"
        ]
    for problem in problems:
        check.fail(where, problem)
    return None if problems else law


def _check_rows(value: object, where: str, check: Checker) -> None:
    if not isinstance(value, list) or not 2 <= len(value) <= 64:
        check.fail(where, "must be a list of 2 to 64 rows")
        return
    length = len(value[0]) if isinstance(value[0], list) else 0
    if not 2 <= length <= 64:
        check.fail(f"{where}, row 1", "must be a list of 2 to 64 weights")
        return
    for number, row in enumerate(value, 1):
        _check_weights(row, f"{where}, row {number}", length, check)


def _check_weights(value: object, where: str, count: int | None, check: Checker) -> None:
    if not isinstance(value, list) or (count is not None and len(value) != count):
        check.fail(where, f"must be a list of {count} whole numbers" if count else "must be a list")
        return
    for weight in value:
        if not (type(weight) is int and 1 <= weight < LIMIT):
            check.fail(where, "must be whole numbers of at least 1 and below 2^53")
            return


def law_document(law: Law) -> dict[str, Any]:
    found: dict[str, Any] = {"law": law.name}
    for field in fields(law):  # type: ignore[arg-type]
        value = getattr(law, field.name)
        if value is not None:
            found[field.name.replace("_", "-")] = _lists(value)
    return found


def _lists(value: object) -> object:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
