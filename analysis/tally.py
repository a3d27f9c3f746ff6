"""The counts of one question, checked: what every estimate starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from respondent import Question
from respondent.checking import say
from respondent.laws import KAry, Plain, Table

from .channel import Ints

#: What a caller may give: a mapping of responses, or one count for each response.
Counts: TypeAlias = Mapping[Any, int] | Sequence[int] | npt.NDArray[np.integer[Any]]

#: Mappings for laws with up to this many responses must name every one of them.
MOST_NAMED = 1000


@dataclass(frozen=True, eq=False)
class Tally:
    """How often each response was reported; responses that nobody sent are left out."""

    responses: Ints
    counts: Ints
    size: int
    not_asked: int = 0

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    def dense(self) -> Ints:
        """One count for each response."""
        found = np.zeros(self.size, dtype=np.int64)
        found[self.responses] = self.counts
        return found


def tally(question: Question, counts: Counts, n: int | None = None) -> Tally:
    """Check the counts of a question. ``n``, if given, is what they must add up to."""
    if isinstance(counts, Mapping):
        found = _from_mapping(question, counts)
    elif isinstance(counts, str | bytes) or not isinstance(counts, Sequence | np.ndarray):
        raise TypeError("counts: must be a mapping of responses, or one count for each response")
    else:
        found = _from_sequence(question, counts)
    if n is not None and found.n + found.not_asked != n:
        raise ValueError(
            f"question {question.id}: the counts add up to {found.n + found.not_asked}, not to {n}"
        )
    if found.n == 0:
        raise ValueError(f"question {question.id}: there are no responses to estimate from")
    return found


def _from_sequence(question: Question, counts: Sequence[int] | npt.NDArray[Any]) -> Tally:
    wanted = question.largest_response + 1
    if len(counts) != wanted:
        what = " and one for those who were not asked" if question.show_if else ""
        raise ValueError(
            f"question {question.id}: {len(counts)} counts were given; there must be {wanted}, "
            f"one for each response{what}"
        )
    values = _whole(question, np.asarray(counts) if isinstance(counts, np.ndarray) else counts)
    asked = values[: question.law.responses]
    used = np.flatnonzero(asked)
    not_asked = int(values[-1]) if question.show_if else 0
    return Tally(used, asked[used], question.law.responses, not_asked)


def _from_mapping(question: Question, counts: Mapping[Any, int]) -> Tally:
    size, numbers = question.law.responses, _numbers(question, counts)
    values = _whole(question, list(counts.values()))
    asked = numbers != size
    if size <= MOST_NAMED and asked.sum() < size:
        missing = min(set(range(size)) - set(numbers.tolist()))
        raise ValueError(
            f"question {question.id}: the count of response {missing} is missing; "
            "give 0 if nobody sent it"
        )
    order = np.argsort(numbers[asked], kind="stable")
    used = values[asked][order] > 0
    not_asked = int(values[~asked].sum())
    return Tally(numbers[asked][order][used], values[asked][order][used], size, not_asked)


def _numbers(question: Question, counts: Mapping[Any, int]) -> Ints:
    """The responses that a mapping counts, as numbers, each once."""
    if set(map(type, counts)) == {int}:
        # Hundreds of thousands of responses of a long list are checked all at once.
        most = question.largest_response
        if 0 <= min(counts) and max(counts) <= most:
            return np.fromiter(counts, dtype=np.int64, count=len(counts))
    names = _names(question)
    responses = [_response(question, key, names) for key in counts]
    if len(set(responses)) < len(responses):
        raise ValueError(f"question {question.id}: a response is counted twice in counts")
    return np.array(responses, dtype=np.int64)


def _names(question: Question) -> dict[str, int]:
    """The words that responses go by, where a response has some of its own."""
    texts = question.labels
    if not texts and isinstance(question.law, KAry | Plain) and question.kind != "choices":
        texts = question.options
    if (
        not texts
        and isinstance(question.law, Table)
        and question.law.responses == len(question.options)
    ):
        texts = question.options
    return {
        word: number
        for number, text in enumerate(texts)
        for word in ([text] if isinstance(text, str) else text.values())
    }


def _response(question: Question, key: object, names: Mapping[str, int]) -> int:
    if isinstance(key, str) and key in names:
        return names[key]
    most = question.largest_response
    whole = isinstance(key, int | np.integer) and not isinstance(key, bool)
    if whole and 0 <= int(key) <= most:  # type: ignore[call-overload]
        return int(key)  # type: ignore[call-overload, no-any-return]
    raise ValueError(
        f"question {question.id}: {key!r} is not one of its responses, "
        f"which are whole numbers from 0 to {most}"
    )


def _whole(question: Question, values: Sequence[Any] | npt.NDArray[Any]) -> Ints:
    """Counts as whole numbers from 0; anything else is an error that names the question."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
        found = values.astype(np.int64)
    elif set(map(type, values)) == {int}:
        found = np.array(values, dtype=np.int64)
    else:
        for value in values:
            if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
                raise TypeError(
                    f"question {question.id}: counts must be whole numbers, not {value!r}"
                )
        found = np.array([int(value) for value in values], dtype=np.int64)
    if found.size and found.min() < 0:
        raise ValueError(f"question {question.id}: counts must not be negative")
    return found


def answer_names(question: Question, language: str = "en") -> list[str]:
    return [say(option, language) for option in question.options]
