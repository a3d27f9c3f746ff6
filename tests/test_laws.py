"""Every law against its definition, in exact arithmetic, and against the shared vectors."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest

from respondent import InvalidAnswer
from respondent.checking import Checker
from respondent.document import read_law
from respondent.laws import Distance, Law, NumberLaw, OneOf, Plain, Subset, SupportLaw, members
from respondent.randomness import randbelow

from .support import SMALL_LAWS, Script, outcomes, vectors

PROTECTED = [law for law in SMALL_LAWS if not isinstance(law, Plain)]


@pytest.mark.parametrize("law", SMALL_LAWS, ids=str)
def test_every_draw_gives_exactly_the_weights(law: Law) -> None:
    for answer in range(law.answers):
        found = outcomes(partial(law.randomise, answer))
        expected = {
            response: Fraction(law.weight(answer, response), law.total(answer))
            for response in range(law.responses)
            if law.weight(answer, response)
        }
        assert found == expected


@pytest.mark.parametrize("law", [law for law in PROTECTED if not law.delta], ids=str)
def test_ratio_is_the_largest_over_all_pairs_of_answers(law: Law) -> None:
    largest = max(
        law.probability(one, response) / law.probability(other, response)
        for response in range(law.responses)
        for one in range(law.answers)
        for other in range(law.answers)
    )
    assert law.ratio == largest


@pytest.mark.parametrize(
    "law",
    [
        Distance(2, 1, (8, 5, 2, 1), (3, 2)),
        Distance(3, 2, (100, 80, 50, 20, 5, 1), (2, 1)),
        Distance(4, 3, (1000, 900, 600, 300, 110, 30, 6, 1), (9, 4)),
    ],
    ids=str,
)
def test_delta_is_the_largest_over_all_pairs_of_answers(law: Distance) -> None:
    assert not list(law.problems())
    largest = max(
        sum(
            max(Fraction(0), law.probability(one, y) - law.ratio * law.probability(other, y))
            for y in range(law.responses)
        )
        for one in range(law.answers)
        for other in range(law.answers)
    )
    assert law.delta == largest > 0


@pytest.mark.parametrize("law", [law for law in PROTECTED if isinstance(law, SupportLaw)], ids=str)
def test_p_and_q_are_the_chances_of_support(law: SupportLaw) -> None:
    if isinstance(law, OneOf):
        # Given the option drawn, which here is the first: ticked in answer 1, not in answer 0.
        drawn = [law.probability(1, response) * law.options for response in (0, 1)]
        assert (law.q, law.p) == tuple(drawn)
        return
    for answer in range(law.answers):
        for other in range(law.answers):
            chance = sum(
                law.probability(answer, response)
                for response in range(law.responses)
                if law.supports(response, other)
            )
            assert chance == (law.p if other == answer else law.q)


@pytest.mark.parametrize(
    "law",
    [law for law in PROTECTED if isinstance(law, NumberLaw) and not isinstance(law, Distance)],
    ids=str,
)
def test_scores_are_unbiased(law: NumberLaw) -> None:
    for answer in range(law.answers):
        responses = range(law.responses)
        assert sum(law.probability(answer, y) * law.score(y) for y in responses) == answer
        assert law.variance(answer) == sum(
            law.probability(answer, y) * (law.score(y) - answer) ** 2 for y in responses
        )


def test_one_to_one_odds_say_so() -> None:
    law = SMALL_LAWS[3]
    assert isinstance(law, SupportLaw)
    assert law.epsilon == 0
    with pytest.raises(ZeroDivisionError, match="one to one"):
        law.variance  # noqa: B018


@pytest.mark.parametrize("answer", [-1, 99_999_999])
@pytest.mark.parametrize("law", SMALL_LAWS, ids=str)
def test_an_answer_out_of_range_is_refused_without_naming_it(law: Law, answer: int) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        law.randomise(answer)
    assert str(answer) not in str(caught.value)


@pytest.mark.parametrize("vector", vectors("randomise"), ids=lambda v: v["name"])
def test_vectors(vector: dict) -> None:
    for case in vector["vectors"]:
        check, script = Checker(), Script(case["bytes"])
        law = read_law(case["law"], "law", check)
        assert law is not None, check.problems
        response = law.randomise(case["answer"], partial(randbelow, randbytes=script))
        assert response == case["response"], case
        assert not script.left, case


def test_there_are_two_thousand_vectors_and_some_refuse_draws() -> None:
    cases = [case for vector in vectors("randomise") for case in vector["vectors"]]
    assert len(cases) >= 2000
    refusing = 0
    for case in cases:
        law = read_law(case["law"], "law", Checker())
        assert law is not None
        draws: list[int] = []

        def count(total: int, draws: list[int] = draws) -> int:
            draws.append(((total - 1).bit_length() + 7) // 8)
            return 0

        law.randomise(case["answer"], count)
        refusing += len(case["bytes"]) // 2 > sum(draws)
    assert refusing >= 500


def test_subset_numbers_name_each_set_once() -> None:
    law = Subset(7, 3, 2, 1)
    sets = {tuple(members(number, 3)) for number in range(law.responses)}
    assert len(sets) == law.responses == 35
