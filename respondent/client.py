"""Taking part from Python: fetch and check a survey, seal a report on disk, send it.

On disk, under ``home``, is one folder for each survey, named by its fingerprint:
``survey.json`` as published, ``report.json`` as sealed (noisy responses only), and
``sent`` once the collector has it. The ledger is read off these folders, so it cannot
disagree with what was sealed.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import secrets
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from .checking import say
from .errors import InvalidReport, InvalidSurvey
from .exact import float_up
from .report import make_report, parse_report
from .survey import Survey

#: What one survey may add up to unless a person sets another limit.
LIMIT = 12.0

LARGEST_SURVEY = 64 * 2**20
TIMEOUT = 20.0
ATTEMPTS = 5
RETRY = frozenset({408, 425, 429, 500, 502, 503, 504})


class ClientError(Exception):
    """Something between this device and the collector went wrong. Nothing is lost."""


class OverLimit(ClientError):
    """The survey asks for more ε than this person allows."""


class NotSent(ClientError):
    """The report is sealed but not delivered; sending again sends the same bytes."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    id: str
    title: str
    fingerprint: str
    epsilon: float
    sent: bool


def default_home() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "deniable"


@dataclass(frozen=True)
class Client:
    """One person's reports, limit and ledger."""

    home: Path = field(default_factory=default_home)
    limit: float = LIMIT
    budget: float | None = None
    pause: Callable[[float], None] = time.sleep

    def fetch(self, url: str, fingerprint: str | None = None) -> Survey:
        """The survey at ``url``, checked; ``OverLimit`` if it asks for too much."""
        return fetch(url, fingerprint, self.limit)

    def sealed(self, survey: Survey) -> bytes | None:
        """The report already sealed for this survey, if any."""
        path = self._folder(survey) / "report.json"
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise ClientError(f"{path} cannot be read: {problem.strerror}") from None
        try:
            return bytes(parse_report(survey, data))
        except InvalidReport:
            raise ClientError(
                f"{path} is damaged. No second report is drawn: compared with the first, it "
                "would tell more than one. If the first was never sent, delete the folder."
            ) from None

    def seal(self, survey: Survey, answers: Mapping[str, object]) -> bytes:
        """Draw and seal a report, once; from then on give the same bytes, whatever is asked."""
        existing = self.sealed(survey)
        if existing is not None:
            return existing
        _check_limit(survey, self.limit)
        if self.budget is not None:
            after = float_up(sum((s.epsilon_bound for s in self._surveys()), survey.epsilon_bound))
            if after > self.budget:
                raise OverLimit(_over(after, self.budget, "with this survey, the", "budget"))
        report = bytes(make_report(survey, answers))
        folder = self._folder(survey)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_once(folder / "survey.json", survey.publish())
            _write_once(folder / "report.json", report)
        except OSError as problem:
            raise ClientError(
                f"the report could not be sealed in {folder}: {problem.strerror}; nothing was sent"
            ) from None
        sealed = self.sealed(survey)  # another process may have been first
        assert sealed is not None
        return sealed

    def send(self, url: str, survey: Survey) -> bytes:
        """Deliver the sealed report, trying again with growing pauses; return its bytes.

        What stands after # in ``url`` is an invitation, for surveys that need one.
        """
        report = self.sealed(survey)
        if report is None:
            raise ClientError("no report is sealed for this survey")
        problem = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self.pause(2 ** (attempt - 1) * (0.5 + secrets.randbelow(500) / 1000))
            problem = _post(address(url) + "/reports", report, invitation(url))
            if not problem:
                self._mark_sent(survey)
                return report
        raise NotSent(
            f"the report is sealed but could not be delivered: {problem}. "
            "Run again later: the same bytes will be sent."
        )

    def _mark_sent(self, survey: Survey) -> None:
        try:
            _write_once(self._folder(survey) / "sent", b"")
        except OSError as problem:
            raise ClientError(
                "the report was delivered, but the ledger could not be brought up to date: "
                f"{problem.strerror}"
            ) from None

    def ledger(self) -> list[Entry]:
        """What this person's sealed reports have spent, survey by survey."""
        return [
            Entry(
                survey.id,
                say(survey.title, survey.languages[0]),
                survey.fingerprint,
                survey.epsilon,
                (self._folder(survey) / "sent").exists(),
            )
            for survey in self._surveys()
        ]

    def spent(self) -> float:
        """What the ledger adds up to."""
        return float_up(sum((s.epsilon_bound for s in self._surveys()), Fraction(0)))

    def _surveys(self) -> list[Survey]:
        found = []
        for path in sorted(self.home.glob("*/report.json")):
            survey = Survey.load(path.with_name("survey.json"))
            if survey.fingerprint != path.parent.name:
                raise ClientError(f"{path.parent} does not hold the survey that its name says")
            found.append(survey)
        return found

    def _folder(self, survey: Survey) -> Path:
        return self.home / survey.fingerprint


def _check_limit(survey: Survey, limit: float) -> None:
    if survey.epsilon > limit:
        raise OverLimit(_over(survey.epsilon, limit, "this survey's", "limit"))


def _over(epsilon: float, allowed: float, whose: str, what: str) -> str:
    return f"{whose} ε is {epsilon:.4g}, above your {what} of {allowed:.4g}; nothing was sent"


def _write_once(path: Path, data: bytes) -> None:
    """Write a whole file, readable by its owner only, or leave what is there alone."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(temporary, path)  # fails if the file exists, whoever made it
        except FileExistsError:
            return
    finally:
        os.unlink(temporary)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def address(url: str) -> str:
    """The survey's address without what a person may have copied along with it."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ClientError("the address must begin with http:// or https://")
    return f"{parts.scheme}://{parts.netloc}{parts.path.removesuffix('/survey.json').rstrip('/')}"


def invitation(url: str) -> str:
    """The single-use token of an invitation, which stands after #; "" if there is none."""
    token = urlsplit(url.strip()).fragment
    if not re.fullmatch(r"[A-Za-z0-9_-]*", token):
        raise ClientError("what stands after # in the address is not an invitation")
    return token


def fetch(url: str, fingerprint: str | None = None, limit: float | None = None) -> Survey:
    """Download a published survey, check it strictly and recompute its ε from the weights."""
    where = address(url) + "/survey.json"
    try:
        with _open(urllib.request.Request(where, headers={"Accept": "application/json"})) as reply:
            data = reply.read(LARGEST_SURVEY + 1)
    except urllib.error.HTTPError as problem:
        raise ClientError(f"{where} answers {problem.code} {problem.reason}") from None
    except (OSError, http.client.HTTPException) as problem:
        raise ClientError(f"{where} cannot be reached: {_reason(problem)}") from None
    if len(data) > LARGEST_SURVEY:
        raise InvalidSurvey([f"is larger than {LARGEST_SURVEY} bytes"], where)
    survey = Survey.from_published(data, where)
    if fingerprint is not None and survey.fingerprint != fingerprint.lower():
        raise InvalidSurvey(["its fingerprint is not the expected one: it was changed"], where)
    if limit is not None:
        _check_limit(survey, limit)
    return survey


def _post(where: str, report: bytes, token: str) -> str:
    """Send a report: "" if it was taken, what went wrong if another try may help."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Deniable-Invitation"] = token
    try:
        with _open(urllib.request.Request(where, report, headers, method="POST")):
            return ""
    except urllib.error.HTTPError as problem:
        with problem:
            if problem.code in RETRY:
                return f"the collector answers {problem.code} {problem.reason}"
            raise InvalidReport(
                f"the collector refuses the report ({problem.code}): {_said(problem)}"
            ) from None
    except (OSError, http.client.HTTPException) as problem:
        return _reason(problem)


def _said(problem: urllib.error.HTTPError) -> str:
    """The collector's own explanation, if it gives one."""
    try:
        return str(json.loads(problem.read(2000))["problem"])
    except (ValueError, KeyError, TypeError, OSError):
        return problem.reason


def _reason(problem: Exception) -> str:
    reason = getattr(problem, "reason", problem)
    return getattr(reason, "strerror", None) or str(reason) or type(problem).__name__


class _SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows no redirect to another host, and none at all with a report in hand."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if req.data is not None or (old.scheme, old.netloc) != (new.scheme, new.netloc):
            raise ClientError(f"{req.full_url} redirects to {newurl}, which was not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _open(request: urllib.request.Request) -> http.client.HTTPResponse:
    request.add_header("User-Agent", "deniable")
    reply: http.client.HTTPResponse = urllib.request.build_opener(_SameOrigin).open(
        request, timeout=TIMEOUT
    )
    return reply
