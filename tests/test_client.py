"""The client against a real HTTP server on loopback: sealing, sending, refusing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from respondent import InvalidReport, InvalidSurvey, Survey, client
from respondent.client import Client, ClientError, NotSent, OverLimit

from .collector_double import Collector
from .support import EXAMPLES

SURVEY = Survey.load(EXAMPLES / "coin.toml")
ANSWERS = {"cheated": "Yes"}


@pytest.fixture
def person(tmp_path: Path) -> Client:
    return Client(tmp_path / "home", pause=lambda seconds: None)


def test_fetch_seal_send(collector: Collector, person: Client) -> None:
    survey = person.fetch(collector.url)
    assert survey == SURVEY
    sealed = person.seal(survey, ANSWERS)
    assert person.send(collector.url, survey) == sealed
    assert collector.bodies == [sealed]
    assert [(entry.id, entry.sent) for entry in person.ledger()] == [("coin", True)]
    assert person.spent() == SURVEY.epsilon


def test_every_way_to_write_the_address(collector: Collector) -> None:
    for url in ("", "/", "/survey.json", "#top", "?from=mail"):
        assert Survey.fetch(collector.url + url) == SURVEY


def test_an_invitation_travels_in_a_header_only(collector: Collector, person: Client) -> None:
    person.seal(SURVEY, ANSWERS)
    person.send(f"{collector.url}#aToken_22-characters", SURVEY)
    assert collector.headers[-1]["Deniable-Invitation"] == "aToken_22-characters"
    assert collector.paths[-1] == "/s/coin/reports"
    with pytest.raises(ClientError, match="not an invitation"):
        person.send(f"{collector.url}#a\nHost: b", SURVEY)


def test_sealed_once_whatever_is_answered_later(collector: Collector, person: Client) -> None:
    first = person.seal(SURVEY, ANSWERS)
    for answer in ["No", "Yes"] * 10:
        assert person.seal(SURVEY, {"cheated": answer}) == first
    again = Client(person.home, pause=person.pause)
    for _ in range(3):
        again.send(collector.url, SURVEY)
    assert set(collector.bodies) == {first}


def test_sealed_by_one_of_many_at_once(person: Client) -> None:
    sealed: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: sealed.append(person.seal(SURVEY, ANSWERS)))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sealed) == 16
    assert len(set(sealed)) == 1


def test_only_the_noisy_report_is_on_disk_and_for_its_owner_only(person: Client) -> None:
    report = person.seal(SURVEY, ANSWERS)
    files = sorted(path for path in person.home.rglob("*") if path.is_file())
    assert [path.name for path in files] == ["report.json", "survey.json"]
    assert files[0].read_bytes() == report
    assert files[1].read_bytes() == SURVEY.publish()
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE(files[0].parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("trouble", [500, 503, 429, "hang up", "time out"])
def test_trouble_is_retried_with_the_same_bytes(
    collector: Collector, person: Client, trouble: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "TIMEOUT", 1.0)
    collector.replies = [trouble, trouble]
    sealed = person.seal(SURVEY, ANSWERS)
    assert person.send(collector.url, SURVEY) == sealed
    assert collector.bodies == [sealed] * 3


def test_pauses_grow_and_vary(collector: Collector, tmp_path: Path) -> None:
    pauses: list[float] = []
    person = Client(tmp_path, pause=pauses.append)
    collector.replies = [503] * 99
    person.seal(SURVEY, ANSWERS)
    with pytest.raises(NotSent, match="sealed but could not be delivered.*503"):
        person.send(collector.url, SURVEY)
    assert len(collector.bodies) == 5
    assert all(2**n * 0.5 <= pause <= 2**n for n, pause in enumerate(pauses))
    collector.replies = []
    person.send(collector.url, SURVEY)
    assert len(set(collector.bodies)) == 1


def test_nobody_listens(person: Client) -> None:
    with pytest.raises(ClientError, match="cannot be reached"):
        Survey.fetch("http://127.0.0.1:9/s/coin")
    person.seal(SURVEY, ANSWERS)
    with pytest.raises(NotSent, match="the same bytes will be sent"):
        person.send("http://127.0.0.1:9/s/coin", SURVEY)
    assert person.sealed(SURVEY) is not None


def test_a_refusal_is_not_retried(collector: Collector, person: Client) -> None:
    collector.replies = [400]
    person.seal(SURVEY, ANSWERS)
    with pytest.raises(InvalidReport, match="refuses the report .400.: said by the collector"):
        person.send(collector.url, SURVEY)
    assert len(collector.bodies) == 1


@pytest.mark.parametrize("where", ["http://127.0.0.1:9/s/coin/survey.json", "http://localhost/x"])
def test_a_survey_elsewhere_is_not_followed(collector: Collector, where: str) -> None:
    collector.redirect = where
    with pytest.raises(ClientError, match="redirects to .* which was not followed"):
        Survey.fetch(collector.url)


def test_a_report_is_never_redirected(collector: Collector, person: Client) -> None:
    collector.replies = ["redirect"]
    person.seal(SURVEY, ANSWERS)
    with pytest.raises(ClientError, match="was not followed"):
        person.send(collector.url, SURVEY)


def test_tampered_surveys_are_refused(collector: Collector) -> None:
    collector.published = SURVEY.publish().replace(b'"other":1,"truth":3', b'"other":1,"truth":9')
    with pytest.raises(InvalidSurvey, match="its fingerprint is not the expected one"):
        Survey.fetch(collector.url, SURVEY.fingerprint)
    collector.published = SURVEY.publish() + b" "
    with pytest.raises(InvalidSurvey, match="canonical"):
        Survey.fetch(collector.url)


@pytest.mark.parametrize("url", ["ftp://x/s/coin", "file:///etc/passwd", "coin", "http://"])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ClientError, match="must begin with http"):
        Survey.fetch(url)


def test_a_missing_survey_says_so(collector: Collector) -> None:
    with pytest.raises(ClientError, match="answers 404"):
        Survey.fetch(collector.url + "-other")


def test_above_the_limit_nothing_is_sealed(collector: Collector, tmp_path: Path) -> None:
    careful = Client(tmp_path / "home", limit=1.0)
    with pytest.raises(OverLimit, match="ε is 1.099, above your limit of 1;"):
        careful.fetch(collector.url)
    with pytest.raises(OverLimit):
        careful.seal(SURVEY, ANSWERS)
    assert not careful.home.exists()


def test_the_budget_counts_all_surveys(tmp_path: Path) -> None:
    other = Survey.load(EXAMPLES / "names.toml")
    person = Client(tmp_path, budget=2.0)
    person.seal(SURVEY, ANSWERS)
    with pytest.raises(OverLimit, match="with this survey, the ε is 2.099, above your budget of 2"):
        person.seal(other, {"place": str(other["place"].options[0])})
    assert len(person.ledger()) == 1
    richer = Client(tmp_path, budget=2.1)
    richer.seal(other, {"place": str(other["place"].options[0])})
    assert richer.spent() == pytest.approx(SURVEY.epsilon + other.epsilon, rel=1e-15)


@pytest.mark.parametrize("keep", [0, 1, 50, -1])
def test_a_truncated_sealed_file_is_never_drawn_again(person: Client, keep: int) -> None:
    report = person.seal(SURVEY, ANSWERS)
    path = person.home / SURVEY.fingerprint / "report.json"
    path.write_bytes(report[:keep])
    with pytest.raises(ClientError, match="report.json is damaged. No second report is drawn"):
        person.seal(SURVEY, ANSWERS)
    assert path.read_bytes() == report[:keep]


def test_a_full_disk_while_sealing_loses_nothing(tmp_path: Path) -> None:
    """The kernel refuses to write past 100 bytes, as it does on a full disk."""
    script = """
import resource, sys
from pathlib import Path
from respondent import Survey
from respondent.client import Client, ClientError
survey = Survey.load(sys.argv[1])
person = Client(Path(sys.argv[2]))
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
try:
    person.seal(survey, {"cheated": "Yes"})
except ClientError as problem:
    print(problem)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(person.sealed(survey), sum(1 for p in Path(sys.argv[2]).rglob("*") if p.is_file()))
print(len(person.seal(survey, {"cheated": "Yes"})))
"""
    command = [sys.executable, "-c", script, str(EXAMPLES / "coin.toml"), str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    told, nothing, later = result.stdout.splitlines()
    assert "could not be sealed" in told and "nothing was sent" in told
    assert nothing == "None 0"
    assert int(later) > 100


def test_an_unreadable_home_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ClientError, match="cannot be read: Not a directory"):
        Client(blocked / "home").seal(SURVEY, ANSWERS)


def test_a_ledger_folder_with_another_survey_is_noticed(person: Client) -> None:
    person.seal(SURVEY, ANSWERS)
    os.rename(person.home / SURVEY.fingerprint, person.home / ("0" * 64))
    with pytest.raises(ClientError, match="does not hold the survey that its name says"):
        person.ledger()
