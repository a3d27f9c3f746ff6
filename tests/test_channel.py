"""Channels and supports against the laws' own exact weights."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.channel import (
    channel,
    covariance,
    kronecker_covariance,
    kronecker_solve,
    left_inverse,
    orthogonal_sums,
    set_members,
    support_counts,
    supporting,
)
from respondent import odds
from respondent.laws import KAry, Law, OneOf, Projective, Subset, SupportLaw, members

from .support import SMALL_LAWS

SUPPORTED = [
    law for law in SMALL_LAWS if isinstance(law, SupportLaw) and not isinstance(law, OneOf)
]


@pytest.mark.parametrize("law", SMALL_LAWS, ids=str)
def test_channels_are_the_exact_weights(law: Law) -> None:
    exact = [
        [float(law.probability(x, y)) for x in range(law.answers)] for y in range(law.responses)
    ]
    np.testing.assert_allclose(channel(law), exact, rtol=1e-14)


@pytest.mark.parametrize("law", SUPPORTED, ids=str)
def test_supports_are_those_of_the_law(law: SupportLaw) -> None:
    responses = np.arange(law.responses)
    counts = np.random.default_rng(1).integers(0, 1000, law.responses)
    expected = [
        sum(int(counts[y]) for y in range(law.responses) if law.supports(y, x))
        for x in range(law.answers)
    ]
    assert support_counts(law, responses, counts).tolist() == expected
    for x in range(law.answers):
        assert supporting(law, responses, x).tolist() == [
            law.supports(y, x) for y in range(law.responses)
        ]


def test_one_fft_gives_all_supports_of_a_long_list() -> None:
    law = odds.projective(5000, odds.Fraction(2))
    counts = np.random.default_rng(2).integers(0, 10**6, law.responses)
    found = orthogonal_sums(law, counts.astype(float))
    for point in (0, 1, 7, law.responses // 2, law.responses - 1):
        expected = counts[supporting(law, np.arange(law.responses), point)].sum()
        assert round(found[point]) == expected
        assert abs(found[point] - expected) < 1e-3


def test_set_members_for_sets_up_to_2_to_the_53() -> None:
    law = odds.subset(60, odds.Fraction(2))
    assert law.responses > 10**8
    numbers = np.array([0, 1, law.responses // 3, law.responses - 1])
    for row, number in zip(set_members(numbers, 60, law.size), numbers.tolist(), strict=True):
        assert row.tolist() == members(number, law.size)


def test_a_channel_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        channel(KAry(100_000, 2, 1))
    with pytest.raises(TypeError, match="support"):
        support_counts(OneOf(2, 3, 1), np.arange(2), np.arange(2))


def test_left_inverse_undoes_the_channel() -> None:
    rng = np.random.default_rng(3)
    for shape in ((3, 3), (6, 2), (9, 4)):
        matrix = rng.random(shape)
        matrix /= matrix.sum(axis=0)
        np.testing.assert_allclose(left_inverse(matrix) @ matrix, np.eye(shape[1]), atol=1e-12)
    with pytest.raises(ValueError, match="tell the answers apart"):
        left_inverse(np.full((2, 2), 0.5))


def test_kronecker_by_axes_is_the_kronecker_product() -> None:
    rng = np.random.default_rng(4)
    channels = [channel(law) for law in (KAry(2, 3, 1), KAry(3, 4, 1), KAry(4, 5, 2))]
    truth = rng.dirichlet(np.ones(24)).reshape(2, 3, 4)
    whole = np.kron(np.kron(channels[0], channels[1]), channels[2])
    table = (whole @ truth.ravel()).reshape(2, 3, 4)
    np.testing.assert_allclose(kronecker_solve(channels, table), truth, atol=1e-13)
    np.testing.assert_allclose(
        kronecker_covariance(channels, table, 500),
        covariance(np.linalg.inv(whole), table.ravel(), 500),
        atol=1e-13,
    )
    with pytest.raises(ValueError, match="axes"):
        kronecker_solve(channels, table[0])
    with pytest.raises(ValueError, match="axis 1"):
        kronecker_solve(channels, np.zeros((2, 2, 4)))


def test_projective_and_subset_channels_have_columns_that_sum_to_one() -> None:
    for law in (Projective(20, 5, 3, 3, 1), Subset(9, 3, 5, 2)):
        np.testing.assert_allclose(channel(law).sum(axis=0), 1, rtol=1e-14)
