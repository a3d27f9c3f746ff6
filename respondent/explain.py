"""Plain sentences about a law, made from its weights; ``web/respondent.js`` says the same.

Counts that do not come out even say so ("about"). What protects is rounded up.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, prod
from typing import TYPE_CHECKING

from .checking import say
from .exact import round_half_up
from .laws import Distance, KAry, Law, NumberLaw, OneOf, Projective, Subset, Table, TwoPoint, Wave
from .words import word

if TYPE_CHECKING:
    from .survey import Question, Survey


def question(question: Question, language: str) -> list[str]:
    """What the law does to an answer, then what one response can tell."""
    if not question.protected:
        return [word(language, "plain")]
    return [*_channel(question, language), _tells([question.law], "tells", language)]


def survey(survey: Survey, language: str) -> list[str]:
    """What all responses add up to."""
    laws = [question.law for question in survey if question.protected]
    sentences = [_tells(laws, "whole", language)] if laws else []
    plain = len(survey.questions) - len(laws)
    return sentences + ([word(language, "whole-plain", count=plain)] if plain else [])


def _tells(laws: Sequence[Law], name: str, language: str) -> str:
    delta = sum((law.delta for law in laws), Fraction(0))
    epsilon = sum((law.epsilon_bound for law in laws), Fraction(0))
    return word(
        language,
        f"{name}-delta" if delta else name,
        count=len(laws),
        factor=rounded_up(Fraction(prod(law.ratio for law in laws))),
        epsilon=f"{Decimal(ceil(epsilon * 100)).scaleb(-2):f}",
        chance=floor(1 / delta) if delta else "",
    )


def rounded_up(value: Fraction) -> str:
    """Two decimals below 10, one below 100, none up to a million, then a power of ten."""
    if value >= 10**6:
        power = len(str(floor(value))) - 1
        tenths = ceil(value / 10 ** (power - 1))
        power, tenths = (power + 1, 10) if tenths == 100 else (power, tenths)
        return f"{tenths // 10}.{tenths % 10} × 10^{power}"
    digits = 2 if value < 10 else 1 if value < 100 else 0
    text = f"{Decimal(ceil(value * 10**digits)).scaleb(-digits):f}"
    return text.rstrip("0").rstrip(".") if digits else text


def _counts(chances: Sequence[Fraction], language: str) -> tuple[int, list[str]]:
    """How many of 100 people if that comes out even, else of 1000; and those counts."""
    even = all((chance * 100).denominator == 1 for chance in chances)
    total = 100 if even else 1000
    counts = []
    for chance in chances:
        count = round_half_up(chance * total)
        exact = count == chance * total
        counts.append(str(count) if exact else word(language, "about", count=count))
    return total, counts


def _channel(question: Question, language: str) -> list[str]:
    law = question.law
    if isinstance(law, Table) or (isinstance(law, KAry) and law.answers <= 3):
        # A long table is shown by its first and last row.
        rows = range(law.answers) if law.answers <= 3 else (0, law.answers - 1)
        return [_row(question, answer, language) for answer in rows]
    if isinstance(law, KAry):
        total, (truth, other) = _counts([law.p, law.q], language)
        values = {"truth": truth, "other": other, "others": law.answers - 1}
    elif isinstance(law, OneOf | Subset | Projective):
        total, (truth, other) = _counts([law.p, law.q], language)
        values = {"truth": truth, "other": other}
        for place in ("options", "size", "answers", "responses"):
            values[place] = getattr(law, place, "")
    else:
        assert isinstance(law, NumberLaw)
        total, values = _number(question, law, language)
    return [word(language, law.name, total=total, **values)]


def _row(question: Question, answer: int, language: str) -> str:
    law = question.law
    responses = range(law.responses)
    total, counts = _counts([law.probability(answer, r) for r in responses], language)
    labels = question.labels or question.options
    parts = [
        word(language, "sends", count=count, response=say(labels[response], language))
        for count, response in zip(counts, responses, strict=True)
    ]
    first = word(language, "comma").join(parts[:-1])
    joined = word(language, "and", first=first, last=parts[-1])
    true = say(question.options[answer], language)
    return word(language, "row", total=total, answer=true, parts=joined)


def _number(question: Question, law: NumberLaw, language: str) -> tuple[int, dict[str, object]]:
    step = Decimal(question.step or 1)
    total = 1000
    if isinstance(law, TwoPoint):
        total, (other, truth) = _counts([law.probability(x, 1) for x in (0, law.steps)], language)
        return total, {
            "other": other,
            "truth": truth,
            "least": question.value(0),
            "most": question.value(law.steps),
            "low": word(language, "low"),
            "high": word(language, "high"),
        }
    beyond = law.half_width if isinstance(law, Wave) else 0
    beyond = law.margin if isinstance(law, Distance) else beyond
    values: dict[str, object] = {
        "least": question.value(-beyond),
        "most": question.value(law.steps + beyond),
    }
    if isinstance(law, Wave):
        near = Fraction((2 * law.half_width + 1) * law.near, law.total(0))
        total, (count,) = _counts([near], language)
        values |= {"near": count, "width": beyond * step}
    elif isinstance(law, Distance):
        values["median"] = law.median_noise * step
    return total, values
