"""Results from the store's counts: the right numbers, and nobody singled out."""

from __future__ import annotations

import csv
import io
import sqlite3
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet  # noqa: F401  (its import is not to be measured)
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import analysis
from analysis import simulate
from analysis.means import FLAGS
from analysis.result import NUMBERS
from analysis.shares import NO_MEAN
from collector import Store, downloads
from collector.results import (
    FLAG_WORDS,
    SMALLEST_GROUP,
    NothingToShow,
    Selection,
    check_groups,
    counts,
    facts,
    large_enough,
    results,
    rows,
    units,
)
from respondent import Survey

from .support import EXAMPLES, ROOT

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
COIN = Survey.load(EXAMPLES / "coin.toml")
TRUTH = {"cheated": {"Yes": 0.3, "No": 0.7}, "year": [0.4, 0.3, 0.295, 0.005]}
SAMPLE = simulate(CAMPUS, TRUTH, n=3_000, seed=5)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("results") / "reports.db")
    store.publish(CAMPUS)
    store.publish(COIN)
    store.add_vouched(CAMPUS, SAMPLE.reports)
    return store


# Numbers


def test_results_are_what_analysis_makes_of_the_same_reports(store: Store) -> None:
    found = results(store, Selection(CAMPUS, level=0.9))
    assert [result.question.id for result in found.found] == [question.id for question in CAMPUS]
    for result in found.found:
        expected = analysis.estimate(
            result.question,
            SAMPLE.counts[result.question.id],
            0.9,
            fingerprint=CAMPUS.fingerprint,
        )
        assert result.to_csv() == expected.to_csv()
    # The standard error is 0.018; 4.5 of them are allowed.
    yes = next(r for r in found.found if r.question.id == "cheated")["Yes"]  # type: ignore[index]
    assert abs(yes.estimate - 0.3) < 4.5 * yes.se


def test_kept_counts_are_enough(tmp_path: Path) -> None:
    """Ten million reports, of which the table holds none: only the kept counts are read."""
    store = Store(tmp_path / "reports.db")
    store.publish(COIN)
    with sqlite3.connect(store.path) as database:
        kept = [("cheated", 0, 4_000_000), ("cheated", 1, 6_000_000)]
        name = f"reports_{COIN.fingerprint[:16]}"
        database.executemany("INSERT INTO counts VALUES (?, ?, ?, ?)", [(name, *k) for k in kept])
    database.close()
    assert store.count(COIN) == 10_000_000
    (result,) = results(store, Selection(COIN)).found
    # (0.4 - 0.25) / 0.5
    assert result.n == 10_000_000
    assert result.values()[0].estimate == pytest.approx(0.3, abs=1e-12)


def test_arms_are_apart(tmp_path: Path) -> None:
    store = Store(tmp_path / "reports.db")
    store.publish(COIN)
    for arm, n in (("device", 5), ("own-coin", 7), ("test", 11)):
        store.add_vouched(COIN, simulate(COIN, n=n, seed=n).reports, arm)
    for arm, n in (("device", 5), ("own-coin", 7), ("test", 11)):
        (result,) = results(store, Selection(COIN, arm)).found
        assert result.n == n
        assert ("own coins" in result.method) == (arm == "own-coin")
        assert ("test reports" in result.method) == (arm == "test")


def test_nothing_to_estimate_from(tmp_path: Path) -> None:
    store = Store(tmp_path / "reports.db")
    store.publish(COIN)
    with pytest.raises(NothingToShow, match="no reports"):
        results(store, Selection(COIN))
    assert counts(store, Selection(COIN)) == {"cheated": {0: 0, 1: 0}}


def test_a_question_nobody_was_asked_is_left_out(tmp_path: Path) -> None:
    store = Store(tmp_path / "reports.db")
    store.publish(CAMPUS)
    sample = simulate(CAMPUS, {"year": {"1": 0, "2": 1, "3": 0, "4+": 0}}, n=50, seed=1)
    store.add_vouched(CAMPUS, sample.reports)
    found = results(store, Selection(CAMPUS))
    assert found.left_out == {"hall": "there are no responses to estimate from"}
    assert len(found.found) == len(CAMPUS.questions) - 1


# Groups


def test_a_filter_counts_the_reports_that_meet_it(store: Store) -> None:
    year, hall = SAMPLE.responses["year"], SAMPLE.responses["hall"]
    for where, meets in (
        ({"year": 1}, year == 1),
        ({"year": 0, "hall": 1}, (year == 0) & (hall == 1)),
    ):
        found = counts(store, Selection(CAMPUS, where=where))
        for question in CAMPUS:
            expected = Counter(SAMPLE.responses[question.id][meets].tolist())
            assert +Counter(found[question.id]) == expected
        (result,) = results(store, Selection(CAMPUS, where=where), [CAMPUS["cheated"]]).found
        assert result.n == meets.sum()
        assert "only where year is" in result.method


def test_a_small_group_is_refused(store: Store) -> None:
    assert 0 < SAMPLE.counts["year"][3] < SMALLEST_GROUP
    with pytest.raises(NothingToShow, match="fewer than 30 reports"):
        counts(store, Selection(CAMPUS, where={"year": 3}))
    # With the smallest of the others it stays hidden: all but it would tell by subtraction.
    smallest = min((0, 1, 2), key=lambda y: SAMPLE.counts["year"][y])
    for year in {0, 1, 2} - {smallest}:
        counts(store, Selection(CAMPUS, where={"year": year}))
    with pytest.raises(NothingToShow):
        counts(store, Selection(CAMPUS, where={"year": smallest}))


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        ({}, set()),
        ({0: 29}, set()),
        ({0: 30}, {0}),
        ({0: 1_000, 1: 29}, set()),
        ({0: 1_000, 1: 30}, {0, 1}),
        ({0: 1_000, 1: 15, 2: 15}, {0}),
        ({0: 1_000, 1: 500, 2: 5}, {0}),
        ({0: 1_000, 1: 0}, {0}),
    ],
)
def test_large_enough(sizes: dict[int, int], shown: set[int]) -> None:
    assert large_enough(sizes) == shown


def allowed(where: dict[str, int], table: dict[tuple[int, int], int]) -> bool:
    names = list(where)
    together: Counter[tuple[int, ...]] = Counter()
    for cell, size in table.items():
        together[tuple(cell["ab".index(name)] for name in names)] += size
    try:
        check_groups(where, together, names)
    except NothingToShow:
        return False
    return True


cells = st.tuples(st.integers(0, 2), st.integers(0, 2))


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.dictionaries(cells, st.sampled_from([0, 1, 5, 29, 30, 31, 60, 400])))
def test_no_two_filters_differ_by_few(table: dict[tuple[int, int], int]) -> None:
    """What a filter shows, and what is left of any shown group without it, is empty or large."""

    def size(meets: Callable[[tuple[int, int]], bool]) -> int:
        return sum(n for cell, n in table.items() if meets(cell))

    def small(n: int) -> bool:
        return 0 < n < SMALLEST_GROUP

    for a in range(3):
        if not allowed({"a": a}, table):
            continue
        assert size(lambda c, a=a: c[0] == a) >= SMALLEST_GROUP  # type: ignore[misc]
        assert not small(size(lambda c, a=a: c[0] != a))  # type: ignore[misc]
        for b in range(3):
            if not allowed({"a": a, "b": b}, table):
                continue
            assert allowed({"b": b}, table)
            for one in (True, False):
                for other in (True, False):
                    left = size(
                        lambda c, a=a, b=b, one=one, other=other: (  # type: ignore[misc]
                            (c[0] == a) == one and (c[1] == b) == other
                        )
                    )
                    assert not small(left)
    hidden = size(lambda c: not allowed({"a": c[0]}, table))
    assert not small(hidden) or not any(allowed({"a": a}, table) for a in range(3))


# Words


def test_every_flag_is_explained() -> None:
    assert set(FLAG_WORDS) == {flag for flag in (*FLAGS, NO_MEAN) if flag}


def test_rows_are_ready_to_be_read(store: Store) -> None:
    found = {result.question.id: result for result in results(store, Selection(CAMPUS)).found}
    yes = rows(found["cheated"])[0]
    value = found["cheated"].values()[0]
    # Two digits of a standard error of 1.8 %.
    assert yes.estimate == f"{100 * value.estimate:.1f}"
    assert yes.interval == f"{100 * value.low:.1f} to {100 * value.high:.1f}"
    assert units(found["cheated"]) == "In per cent"
    assert [row.answer for row in rows(found["mood"])] == [*"1234567", "Mean score"]
    assert "points of the scale" in units(found["mood"])
    assert [row.answer for row in rows(found["debt"])][0] == "mean"
    assert units(found["debt"]) == "In €"
    assert rows(found["debt"])[1].noisy == "–"
    assert "n = 3,000" in facts(found["cheated"])
    assert "not protected: sent as it is" in facts(found["year"])
    assert any("were not asked" in fact for fact in facts(found["hall"]))


def test_a_negative_estimate_is_shown_with_its_flag(tmp_path: Path) -> None:
    store = Store(tmp_path / "reports.db")
    store.publish(COIN)
    with sqlite3.connect(store.path) as database:
        name = f"reports_{COIN.fingerprint[:16]}"
        kept = [(name, "cheated", 0, 20), (name, "cheated", 1, 80)]
        database.executemany("INSERT INTO counts VALUES (?, ?, ?, ?)", kept)
    database.close()
    (result,) = results(store, Selection(COIN)).found
    yes = rows(result)[0]
    # (0.2 - 0.25) / 0.5
    assert (yes.estimate, yes.feasible) == ("−10.0", "0.0")
    assert yes.flag in FLAG_WORDS


# Files


def many_reports(data: Path, n: int) -> Store:
    store = Store(data)
    store.publish(COIN)
    with sqlite3.connect(data) as database:
        database.executemany(
            f"INSERT INTO reports_{COIN.fingerprint[:16]} VALUES (?, ?)",
            ((f"{number:032x}", number % 2) for number in range(n)),
        )
    database.close()
    return store


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_reports_come_in_bounded_memory(tmp_path: Path, form: str) -> None:
    """Twice as many reports take no more memory."""
    peaks = []
    for n in (40_000, 80_000):
        store = many_reports(tmp_path / f"{len(peaks)}.db", n)
        tracemalloc.start()
        size = sum(map(len, downloads.reports(store, COIN, "device", form)))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert size > n
    assert peaks[1] < 1.2 * peaks[0]


def test_figures_of_a_filter_say_so(store: Store) -> None:
    chosen = Selection(CAMPUS, where={"year": 0})
    (result,) = results(store, chosen, [CAMPUS["country"]]).found
    plain = downloads.figure(result, Selection(CAMPUS), "svg")
    assert plain.startswith(b"<?xml")
    assert downloads.figure(result, chosen, "svg") != plain
    assert downloads.figure(result, chosen, "png").startswith(b"\x89PNG")
    assert downloads.figure(result, chosen, "pdf").startswith(b"%PDF")


def test_the_recompute_script_gives_the_same_numbers(store: Store, tmp_path: Path) -> None:
    (tmp_path / "recompute.py").write_text(analysis.recompute_script(CAMPUS), encoding="utf-8")
    with (tmp_path / "reports.csv").open("wb") as file:
        file.writelines(downloads.reports(store, CAMPUS, "device", "csv"))
    command = [sys.executable, "recompute.py", "reports.csv", "estimates.csv"]
    env = {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, cwd=tmp_path, env=env, capture_output=True)
    recomputed = read((tmp_path / "estimates.csv").read_bytes())
    downloaded = read(downloads.estimates(results(store, Selection(CAMPUS)), "csv"))
    assert len(recomputed) == len(downloaded)
    for one, other in zip(recomputed, downloaded, strict=True):
        for column, value in one.items():
            if column in NUMBERS and value:
                # EM stops within 1e-7 of the largest log-likelihood, which fixes fewer digits.
                close = 1e-5 if column == "feasible" else 1e-9
                assert float(value) == pytest.approx(float(other[column]), rel=close, abs=close)
            else:
                assert value == other[column]


def read(data: bytes) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def test_estimates_of_one_question(store: Store) -> None:
    chosen = Selection(CAMPUS, level=0.99)
    found = read(downloads.estimates(results(store, chosen, [CAMPUS["mood"]]), "csv"))
    assert [row["answer"] for row in found] == [*"1234567", "mean"]
    assert {row["level"] for row in found} == {"0.99"}


def test_heavy_libraries_wait_until_they_are_needed() -> None:
    code = "import sys, collector.app; print({'scipy', 'matplotlib', 'segno'} & set(sys.modules))"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert found.stdout.strip() == "set()"
