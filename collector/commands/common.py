"""What the commands share: files and pipes, options, tables and the progress bar."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from respondent import Question, Survey

PIPE = "-"
INTERVALS = ("wilson", "clopper-pearson", "likelihood-ratio")

# Reading and writing


@contextmanager
def as_path(name: str, kept_as: str) -> Iterator[Path]:
    """The path itself, or what comes through the pipe as a file of its own."""
    if name != PIPE:
        yield Path(name)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / kept_as
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path


def read_survey(name: str) -> Survey:
    """A survey file; through a pipe TOML or JSON, whichever it is."""
    with as_path(name, "standard-input.toml") as path:
        if name == PIPE and path.read_bytes().lstrip().startswith(b"{"):
            path = path.rename(path.with_suffix(".json"))
        return Survey.load(path)


def read_counts(survey: Survey, name: str, others: str) -> dict[str, dict[int, int]]:
    from analysis import counts

    with as_path(name, "standard input") as path:
        return counts(survey, path, others)


def read_truth(name: str | None) -> dict[str, Any] | None:
    if name is None:
        return None
    with as_path(name, "standard input") as path:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise click.ClickException(f"{path.name}: is not text in UTF-8") from None
        except ValueError as problem:
            raise click.ClickException(f"{path.name}: is not JSON: {problem}") from None
    if not isinstance(found, dict):
        raise click.ClickException(f"{path.name}: must be an object with question ids for names")
    return found


def one_pipe(*names: str | None) -> None:
    if list(names).count(PIPE) > 1:
        raise click.UsageError('only one input can be "-": there is one pipe to read from')


def write(text: str, out: str) -> None:
    if out == PIPE:
        click.echo(text, nl=False)
    else:
        Path(out).write_text(text, encoding="utf-8", newline="")


def chosen_questions(survey: Survey, ids: Sequence[str]) -> list[Question]:
    known = {question.id: question for question in survey}
    for name in ids:
        if name not in known:
            raise click.ClickException(
                f"{name!r} is not a question of the survey, which has {', '.join(known)}"
            )
    return [known[name] for name in dict.fromkeys(ids)] or list(survey)


def text_table(rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Columns in line; the first ``words`` of them flush left."""
    from analysis.result import aligned

    return "\n".join(aligned(rows, range(words)))


# Options that several commands share

survey_argument = click.argument("survey", metavar="SURVEY")
data_option = click.option(
    "--data",
    type=click.Path(dir_okay=False, path_type=Path),
    default="reports.db",
    show_default=True,
    help="The SQLite file with the reports.",
)
reports_argument = click.argument("reports", metavar="REPORTS")
level_option = click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)
interval_option = click.option(
    "--interval",
    type=click.Choice(INTERVALS),
    default="wilson",
    show_default=True,
    help="Which binomial interval to map; wilson goes with every law.",
)
simultaneous_option = click.option(
    "--simultaneous", is_flag=True, help="Intervals that hold for all answers at once."
)
others_option = click.option(
    "--others",
    type=click.Choice(["refuse", "skip", "count"]),
    default="refuse",
    show_default=True,
    help="Reports of another survey or version: an error, left out, or counted.",
)
truth_option = click.option(
    "--truth",
    metavar="FILE.json",
    help='Shares of true answers, such as {"cheated": {"Yes": 0.3, "No": 0.7}}. '
    "Questions left out: every answer alike.",
)
seed_option = click.option("--seed", type=click.IntRange(min=0), help="Makes a run repeatable.")


def compliance_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options for the shares of people who do not do as told."""
    for name, what in (
        ("--refuse", "send no report"),
        ("--random", "answer anything, all answers alike"),
        ("--safe", "always give the safe answer"),
    ):
        command = click.option(
            name,
            type=click.FloatRange(0, 1),
            default=0.0,
            help=f"Share of people who {what}.",
        )(command)
    return command


def named_interval(name: str) -> Any:
    import analysis

    return getattr(analysis, name.replace("-", "_"))


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr for people; nothing for a file or a pipe."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with click.progressbar(length=total, file=sys.stderr) as bar:
        yield lambda done, total: bar.update(done - bar.pos)
