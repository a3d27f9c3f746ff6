"""The report: all the responses of one respondent, sealed in the bytes that are sent."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from .canonical import read_json
from .errors import InvalidAnswer, InvalidReport
from .randomness import RandBytes, randbelow
from .survey import Survey

KEY = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Report:
    """Noisy responses, one for each question, and a random key. Nothing here is an answer."""

    survey: str
    key: str
    responses: tuple[int, ...]
    widths: tuple[int, ...]

    def __bytes__(self) -> bytes:
        """What is sealed and sent: as long for every report of a survey.

        Responses are padded to the digits of their question's largest one.
        """
        padded = ",".join(
            str(response).rjust(width)
            for response, width in zip(self.responses, self.widths, strict=True)
        )
        return f'{{"survey":"{self.survey}","key":"{self.key}","responses":[{padded}]}}'.encode()


def make_report(
    survey: Survey, answers: Mapping[str, object], randbytes: RandBytes = os.urandom
) -> Report:
    """Randomise the answers, once. Send these bytes again rather than make another report.

    ``answers`` maps question ids to an option, a list of options, a number, or None for
    "prefer not to say". Questions that are not shown must not be answered.
    """
    unknown = set(answers) - {question.id for question in survey}
    if unknown:
        raise InvalidAnswer("an answer was given to a question that the survey does not have")
    draw = partial(randbelow, randbytes=randbytes)
    key = randbytes(16).hex()
    responses: dict[str, int] = {}
    for question in survey:
        if not survey.shown(question, responses):
            if question.id in answers:
                raise InvalidAnswer(f"question {question.id}: was answered but is not shown")
            responses[question.id] = question.law.responses
        elif question.id not in answers:
            raise InvalidAnswer(f"question {question.id}: is not answered")
        else:
            responses[question.id] = question.randomise(answers[question.id], draw)
    return _report(survey, key, tuple(responses.values()))


def _report(survey: Survey, key: str, responses: tuple[int, ...]) -> Report:
    return Report(survey.fingerprint, key, responses, survey.widths)


def parse_report(survey: Survey, data: bytes) -> Report:
    """Read the bytes of a report, strictly; ``InvalidReport`` says what is wrong."""
    try:
        found = read_json(data)
    except ValueError as problem:
        raise InvalidReport(f"the report {problem}") from None
    if not isinstance(found, dict) or set(found) != {"survey", "key", "responses"}:
        raise InvalidReport("the report must be an object with survey, key and responses only")
    if found["survey"] != survey.fingerprint:
        raise InvalidReport("survey: must be the survey's fingerprint")
    key, responses = found["key"], found["responses"]
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise InvalidReport("key: must be 32 hexadecimal digits in lower case")
    if not isinstance(responses, list) or len(responses) != len(survey.questions):
        raise InvalidReport(f"responses: must be a list of {len(survey.questions)}")
    by_id: dict[str, int] = {}
    for question, response in zip(survey, responses, strict=True):
        most = question.law.responses
        shown = not question.show_if or survey.shown(question, by_id)
        if not shown and response != most:
            raise InvalidReport(f"responses, {question.id}: must be {most}, for not shown")
        if shown and not (type(response) is int and 0 <= response < most):
            raise InvalidReport(
                f"responses, {question.id}: must be a whole number from 0 to {most - 1}"
            )
        by_id[question.id] = response
    report = _report(survey, key, tuple(responses))
    if bytes(report) != data:
        raise InvalidReport("the report is not in canonical form")
    return report
