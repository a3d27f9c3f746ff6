"""Coins and dice: every outcome is thrown, and what is read gives exactly the law's odds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.dice import COIN, DIE, Instructions, Plan, instructions, plan
from respondent import Question, Survey
from respondent.checking import say
from respondent.laws import KAry, Law, Plain, Subset, Table

from .support import EXAMPLES, question

#: Every total that a survey with ``own-coin`` may have: 2^a 3^b up to 216, but for 1 and 2,
#: which no two rows of positive weights that differ can share.
TOTALS = [total for total in range(3, 217) if 6**8 % total == 0]

EXAMPLE_QUESTIONS = [
    pytest.param(one, id=f"{name}-{one.id}")
    for name in ("coin", "own-coin")
    for one in Survey.load(EXAMPLES / f"{name}.toml")
    if one.protected
]

COINS = {
    "heads, then heads": {(1, 1)},
    "heads, then tails": {(1, 2)},
    "tails, then heads": {(2, 1)},
    "tails, then tails": {(2, 2)},
    "heads first, whatever comes second": {(1, 1), (1, 2)},
    "tails first, whatever comes second": {(2, 1), (2, 2)},
    "heads once and tails once": {(1, 2), (2, 1)},
    "heads at least once": {(1, 1), (1, 2), (2, 1)},
    "tails at least once": {(1, 2), (2, 1), (2, 2)},
}


def made(law: Law, design: str | None = None) -> Question:
    """A question whose law has the responses' own names where they are not the answers."""
    answers = tuple(f"answer {number}" for number in range(law.answers))
    named = law.responses != law.answers or design == "crosswise"
    labels = tuple(f"response {number}" for number in range(law.responses)) if named else ()
    return Question("q", "choice", "?", law, options=answers, labels=labels, design=design)


def is_got(text: str, throws: tuple[int, ...]) -> bool:
    """Whether a person who threw this finds it under ``text``."""
    if text.lower() in COINS:
        return throws in COINS[text.lower()]
    number = int("".join(map(str, throws)))
    if " or " in text:
        return number in map(int, text.split(" or "))
    first, _, last = text.partition(" to ")
    return int(first) <= number <= int(last or first)


def obey(found: Instructions, asked: Question, answer: int, throws: tuple[int, ...]) -> str:
    """What a person with this true answer enters, reading the instructions and nothing else."""
    options = [say(option, "en") for option in asked.options]
    true = options[answer]
    entered = []
    for rule in found.rules:
        if pair := re.fullmatch(
            "“(.+)” and true answer “(.+)”, or anything else and true answer “(.+)”: enter “(.+)”.",
            rule,
        ):
            if true == pair[2 if is_got(pair[1], throws) else 3]:
                entered.append(pair[4])
            continue
        got, _, do = rule.partition(": enter ")
        if is_got(got, throws):
            entered.append(
                {
                    "your true answer.": true,
                    "the opposite of your true answer.": options[1 - answer],
                }.get(do, do.strip("“”."))
            )
    for name, rows in found.table:
        if name == true:
            entered += [response for got, response in rows if is_got(got, throws)]
    (one,) = entered
    return one


def check(asked: Question) -> Plan:
    """Throw everything that can be thrown, for every answer: by the plan and by its words."""
    law, found, told = asked.law, plan(asked), instructions(asked, "en")
    names = [say(name, "en") for name in asked.labels or asked.options]
    everything = list(product(*(range(1, sides + 1) for sides in found.throws)))
    assert [found.throw(outcome) for outcome in range(found.outcomes)] == everything
    for answer in range(law.answers):
        planned = [found.respond(answer, outcome) for outcome in range(found.outcomes)]
        read = [names.index(obey(told, asked, answer, throws)) for throws in everything]
        assert read == planned
        counts = Counter(planned)
        for response in range(law.responses):
            share = Fraction(counts[response], len(everything))
            assert share == law.probability(answer, response)
    return found


@pytest.mark.parametrize("asked", EXAMPLE_QUESTIONS)
def test_examples(asked: Question) -> None:
    check(asked)


@pytest.mark.parametrize("total", TOTALS)
@pytest.mark.parametrize("design", [None, "warner", "crosswise"])
def test_every_total(total: int, design: str | None) -> None:
    check(made(Table(((total - 1, 1), (1, total - 1))), design))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Rows of any allowed totals, cut at random."""
    responses = draw(st.integers(2, 4))
    totals = [total for total in TOTALS if total >= responses]
    rows = []
    for _ in range(draw(st.integers(2, 3))):
        total = draw(st.sampled_from(totals))
        cuts = draw(
            st.sets(st.integers(1, total - 1), min_size=responses - 1, max_size=responses - 1)
        )
        ends = [0, *sorted(cuts), total]
        rows.append(tuple(b - a for a, b in zip(ends, ends[1:], strict=False)))
    return Table(tuple(rows))


@settings(max_examples=60, deadline=None)
@given(tables())
def test_random_tables(law: Table) -> None:
    check(made(law))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TOTALS), st.integers(2, 9), st.data())
def test_k_ary(total: int, answers: int, data: st.DataObject) -> None:
    most = (total - 1) // (answers - 1)
    if most < 1:
        return
    other = data.draw(st.integers(1, most))
    check(made(KAry(answers, total - (answers - 1) * other, other)))


@pytest.mark.parametrize(
    ("total", "dice", "coins"),
    [
        (4, 0, 2),
        (8, 0, 3),
        (128, 0, 7),
        (3, 1, 0),
        (6, 1, 0),
        (9, 2, 0),
        (12, 2, 0),
        (36, 2, 0),
        (24, 3, 0),
        (216, 3, 0),
        (81, 4, 0),
        (162, 4, 0),
        (48, 1, 3),
        (192, 1, 5),
        (144, 2, 2),
    ],
)
def test_what_to_throw(total: int, dice: int, coins: int) -> None:
    throws = plan(made(Table(((total - 1, 1), (1, total - 1))))).throws
    assert throws == (DIE,) * dice + (COIN,) * coins


@pytest.mark.parametrize("rows", [((1, 2, 3), (3, 2, 1)), ((3, 1), (1, 2)), ((1, 3), (2, 2))])
@pytest.mark.parametrize("design", ["coin", "warner", "forced", "unrelated", "crosswise"])
def test_the_weights_count_and_not_the_name_of_the_design(
    rows: tuple[tuple[int, ...], ...], design: str
) -> None:
    check(made(Table(rows), design))


def test_odds_are_taken_in_lowest_terms() -> None:
    assert plan(made(KAry(2, 27, 9))).throws == (COIN, COIN)


def test_totals_that_differ_share_their_throws() -> None:
    """Who hears two coins or one die must not learn the answer."""
    assert check(made(Table(((3, 1), (1, 2))))).throws == (DIE, DIE)


@pytest.mark.parametrize(
    ("fields", "throw", "rules"),
    [
        (
            {"coin": "1/2"},
            ("Flip a coin twice, out of sight.",),
            (
                "Heads, then heads: enter “Yes”.",
                "Heads, then tails: enter “No”.",
                "Tails first, whatever comes second: enter your true answer.",
            ),
        ),
        (
            {"forced": {"yes": "1/6", "no": "1/6"}},
            ("Roll a die once, out of sight.",),
            ("1: enter “Yes”.", "2: enter “No”.", "3 to 6: enter your true answer."),
        ),
        (
            {"warner": "2/3"},
            ("Roll a die once, out of sight.",),
            ("1 to 4: enter your true answer.", "5 or 6: enter the opposite of your true answer."),
        ),
        (
            {"unrelated": {"sensitive": "2/3", "yes": "1/4"}},
            (
                "Roll a die twice, out of sight.",
                "Put them in a row as one number: after 3, 5 that is 35.",
            ),
            (
                "11 to 13: enter “Yes”.",
                "14 to 26: enter “No”.",
                "31 to 66: enter your true answer.",
            ),
        ),
        (
            {"crosswise": "1/4"},
            ("Flip a coin twice, out of sight.",),
            (
                "“Heads, then heads” and true answer “Yes”, or anything else and true answer "
                "“No”: enter “Both or neither”.",
                "“Heads, then heads” and true answer “No”, or anything else and true answer "
                "“Yes”: enter “Exactly one”.",
            ),
        ),
        (
            {"kind": "choice", "options": ["A", "B", "C"], "coin": "1/2"},
            ("Roll a die once, out of sight.",),
            (
                "1: enter “A”.",
                "2: enter “B”.",
                "3: enter “C”.",
                "4 to 6: enter your true answer.",
            ),
        ),
        (
            {"odds": [47, 1]},
            (
                "Roll a die once, out of sight.",
                "Flip a coin 3 times, out of sight.",
                "Heads counts as 1, tails as 2.",
                "Put them in a row as one number: after 3, heads, tails, tails that is 3122.",
            ),
            (
                "1111: enter “Yes”.",
                "1112: enter “No”.",
                "1121 to 6222: enter your true answer.",
            ),
        ),
    ],
)
def test_classical_words(
    fields: dict[str, object], throw: tuple[str, ...], rules: tuple[str, ...]
) -> None:
    asked = Survey.parse(
        {
            "id": "s",
            "title": "S",
            "question": [{"id": "q", "ask": "?", "kind": "yes-no"} | fields],
        }
    )["q"]
    assert instructions(asked, "en") == Instructions(throw, rules)


def test_a_table_for_each_answer() -> None:
    asked = question(table=[[1, 2, 3], [3, 2, 1]], responses=["x", "y", "z"])
    assert instructions(asked, "en").table == (
        ("Yes", (("1", "x"), ("2 or 3", "y"), ("4 to 6", "z"))),
        ("No", (("1 to 3", "x"), ("4 or 5", "y"), ("6", "z"))),
    )


@pytest.mark.parametrize(
    "law",
    [
        lambda: KAry(2, 4, 1),
        lambda: KAry(2, 216, 216),
        lambda: KAry(2, 287, 1),
        lambda: Table(((3, 1), (2, 3))),
        lambda: Subset(4, 1, 3, 1),
        lambda: Plain(2),
    ],
)
def test_odds_that_cannot_be_thrown(law: Callable[[], Law]) -> None:
    with pytest.raises(ValueError, match="coins and dice cannot draw"):
        plan(made(law()))
