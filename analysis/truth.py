"""Truths to simulate from: shares, joint tables, arrays or a DataFrame of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from respondent import InvalidAnswer, Question, Survey

from .channel import Floats, Ints

#: For each question one answer for each person, as the law numbers them.
Answers: TypeAlias = dict[str, Ints]

#: Shares may miss a sum of 1 by this much: rounding in a table somebody typed.
SLACK = 1e-6


def answers_of(survey: Survey, truth: object, n: int | None, rng: np.random.Generator) -> Answers:
    """Draw, or take over, everybody's answers."""
    if n is not None and (isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1):
        raise ValueError("n: must be a whole number of at least 1")
    columns: dict[Any, Any]
    if hasattr(truth, "columns"):
        columns, n = _frame(survey, truth, n, rng)
    elif truth is None or isinstance(truth, Mapping):
        columns = dict(truth or {})
    else:
        raise TypeError("truth: must be a mapping of question ids, or a DataFrame")
    size = _size(columns, n)
    found: Answers = {}
    for key, value in columns.items():
        if isinstance(key, tuple):
            found |= _joint(survey, key, value, size, rng)
        else:
            found[key] = _answers(_question(survey, key), value, size, rng)
    for question in survey:
        if question.id not in found:
            found[question.id] = rng.integers(0, question.law.answers, size=size, dtype=np.int64)
    return {question.id: found[question.id] for question in survey}


def _question(survey: Survey, name: object) -> Question:
    try:
        return survey[name]  # type: ignore[index]
    except KeyError:
        known = ", ".join(question.id for question in survey)
        raise ValueError(f"truth: {name!r} is not a question of the survey: {known}") from None


def _frame(
    survey: Survey, frame: Any, n: int | None, rng: np.random.Generator
) -> tuple[dict[Any, Any], int]:
    if not len(frame):
        raise ValueError("truth: the table has no rows")
    rows = np.arange(len(frame)) if n is None else rng.integers(0, len(frame), size=n)
    columns = {}
    for name in frame.columns:
        question = _question(survey, name)
        values = frame[name].to_numpy(dtype=object)
        if question.skip:
            values = np.array([None if value != value else value for value in values], dtype=object)
        columns[name] = _encoded(question, values)[rows]
    return {name: _Encoded(array) for name, array in columns.items()}, len(rows)


class _Encoded:
    """Answers that are numbered already."""

    def __init__(self, answers: Ints) -> None:
        self.answers = answers


def _size(columns: Mapping[Any, Any], n: int | None) -> int:
    sizes = {len(value) for value in columns.values() if _is_array(value)}
    if n is None and len(sizes) == 1:
        return sizes.pop()
    if n is None:
        raise ValueError("n: how many people must be said, unless truth has one row for each")
    return int(n)


def _is_array(value: object) -> bool:
    """One answer for each person, rather than one share for each answer."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind != "f")
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and not all(isinstance(item, float) for item in value)
    )


def _answers(question: Question, value: object, size: int, rng: np.random.Generator) -> Ints:
    if isinstance(value, _Encoded):
        return value.answers
    if _is_array(value) or (
        question.kind == "number" and isinstance(value, np.ndarray) and len(value) == size
    ):
        found = _encoded(question, np.asarray(_objects(value)))
        if len(found) != size:
            raise ValueError(f"truth, {question.id}: has {len(found)} answers for {size} people")
        return found
    if question.kind == "choices":
        return _ticks(question, value, size, rng)
    return rng.choice(question.law.answers, size=size, p=shares_of(question, value)).astype(
        np.int64
    )


def _objects(value: Any) -> npt.NDArray[Any]:
    found = np.empty(len(value), dtype=object)
    found[:] = [item.item() if isinstance(item, np.generic) else item for item in value]
    return found


def _encoded(question: Question, values: npt.NDArray[Any]) -> Ints:
    """Answers as people give them, numbered as the law does. Each is encoded once."""
    known: dict[Any, int] = {}
    found = np.empty(len(values), dtype=np.int64)
    for place, value in enumerate(values):
        value = value.item() if isinstance(value, np.generic) else value
        key = tuple(value) if isinstance(value, list | set | frozenset) else value
        if key not in known:
            try:
                known[key] = question.encode(value)
            except InvalidAnswer as problem:
                # Made-up answers are nobody's, so the message may name one.
                raise ValueError(f"truth: {problem}, not {value!r}") from None
        found[place] = known[key]
    return found


def shares_of(question: Question, value: object) -> Floats:
    """Shares of a question's answers, checked: from a mapping of answers or a sequence."""
    size = question.law.answers
    if isinstance(value, Mapping):
        shares = np.zeros(size)
        for answer, share in value.items():
            try:
                shares[question.encode(answer)] += _share(question, share)
            except InvalidAnswer as problem:
                raise ValueError(f"truth: {problem}, not {answer!r}") from None
    elif isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        if len(value) != size:
            raise ValueError(f"truth, {question.id}: has {len(value)} shares for {size} answers")
        shares = np.array([_share(question, share) for share in value])
    else:
        raise TypeError(f"truth, {question.id}: must be shares or one answer for each person")
    if abs(shares.sum() - 1) > SLACK:
        raise ValueError(f"truth, {question.id}: shares add up to {shares.sum():.6g}, not to 1")
    return np.asarray(shares / shares.sum())


def _share(question: Question, share: object) -> float:
    number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
    if not number or not 0 <= float(share) <= 1 + SLACK:  # type: ignore[arg-type]
        raise ValueError(f"truth, {question.id}: shares must be numbers from 0 to 1")
    return float(share)  # type: ignore[arg-type]


def ticks_of(question: Question, value: object) -> Floats:
    """The chance that each option is ticked."""
    if isinstance(value, Mapping):
        chances = np.zeros(len(question.options))
        for option, share in value.items():
            try:
                number = question.encode([option]).bit_length() - 1
            except InvalidAnswer as problem:
                raise ValueError(f"truth: {problem}, not {option!r}") from None
            chances[number] = _share(question, share)
        return chances
    if not isinstance(value, Sequence | np.ndarray) or len(value) != len(question.options):
        raise ValueError(f"truth, {question.id}: must give a chance for each option")
    return np.array([_share(question, share) for share in value])


def _ticks(question: Question, value: object, size: int, rng: np.random.Generator) -> Ints:
    """Options ticked independently; "prefer not to say" goes with no other."""
    chances = ticks_of(question, value)
    ticked = rng.random((size, len(chances))) < chances
    if question.skip:
        ticked[ticked[:, -1], :-1] = False
    return np.asarray(ticked @ (1 << np.arange(len(chances), dtype=np.int64)))


def _joint(
    survey: Survey, names: tuple[Any, ...], value: object, size: int, rng: np.random.Generator
) -> Answers:
    """Answers to several questions from one table: {(answer, answer): share} or an array."""
    questions = [_question(survey, name) for name in names]
    shape = tuple(question.law.answers for question in questions)
    where = ", ".join(map(str, names))
    if isinstance(value, Mapping):
        table = np.zeros(shape)
        for answers, share in value.items():
            if not isinstance(answers, tuple) or len(answers) != len(questions):
                raise ValueError(f"truth, {where}: keys must be {len(questions)} answers each")
            cell = tuple(
                int(_encoded(question, _objects([answer]))[0])
                for question, answer in zip(questions, answers, strict=True)
            )
            table[cell] += _share(questions[0], share)
    else:
        table = np.asarray(value, dtype=float)
        if table.shape != shape:
            raise ValueError(f"truth, {where}: the table must be of shape {shape}")
        if not np.isfinite(table).all() or table.min() < 0:
            raise ValueError(f"truth, {where}: shares must be numbers from 0 to 1")
    if abs(table.sum() - 1) > SLACK:
        raise ValueError(f"truth, {where}: shares add up to {table.sum():.6g}, not to 1")
    flat = rng.choice(table.size, size=size, p=table.ravel() / table.sum())
    cells = np.unravel_index(flat, shape)
    return {
        question.id: cell.astype(np.int64) for question, cell in zip(questions, cells, strict=True)
    }


def safe_answer(question: Question, given: object) -> int:
    """The answer of somebody who wants to give nothing away."""
    if given is not None:
        try:
            return question.encode(given)
        except InvalidAnswer as problem:
            raise ValueError(f"safe_answers: {problem}") from None
    return 1 if question.kind == "yes-no" else 0
