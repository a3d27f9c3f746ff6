"""The ``deniable`` command: check, simulate, estimate, plot and study a survey, or try one.

Every command reads and writes files or pipes (``-``). What is wrong is said in one line on
stderr, with exit code 1; a wrong call exits with 2.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from respondent import InvalidSurvey, Question, Survey
from respondent.checking import say

if TYPE_CHECKING:
    from analysis.result import Result

SIZES = (100, 1_000, 10_000)
PIPE = "-"
FORMATS = ("table", "csv", "json", "markdown", "latex")
INTERVALS = ("wilson", "clopper-pearson", "likelihood-ratio")


class _Commands(click.Group):
    """Turns what callers and files get wrong into one line."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except InvalidSurvey as problem:
            count = len(problem.problems)
            more = f" (and {count - 1} more: see deniable check)" if count > 1 else ""
            start = str(problem).partition(" has ")[0]
            raise click.ClickException(f"{start}: {problem.problems[0]}{more}") from None
        except OSError as problem:
            name = f"{problem.filename}: " if problem.filename else ""
            raise click.ClickException(f"{name}{problem.strerror or problem}") from None
        except ImportError as problem:
            raise click.ClickException(
                f'{problem.name} is not installed: pip install "deniable[collector]"'
            ) from None
        except KeyError as problem:
            raise click.ClickException(str(problem.args[0])) from None
        except (ValueError, TypeError, MemoryError) as problem:
            raise click.ClickException(_one_line(str(problem) or "out of memory")) from None


def _one_line(text: str) -> str:
    return " ".join(text.split())


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Surveys on sensitive questions: the respondent's own device flips the coin.

    A survey is a TOML file. From idea to paper:

    \b
        deniable demo                                   a whole survey on this machine
        deniable check survey.toml                      is it sound? how exact will it be?
        deniable simulate survey.toml -n 1000 -o r.csv  try it out on made-up people
        deniable estimate survey.toml r.csv             from reports to estimates
        deniable plot survey.toml r.csv --question q -o q.svg
        deniable study survey.toml -n 200 -n 5000       do the intervals hold?

    Each command explains itself with --help. "-" reads from or writes to a pipe.
    """


@main.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="A free one unless given.")
def demo(port: int) -> None:
    """Run a whole survey on this machine.

    Serves the example surveys on loopback, lets 2,000 simulated respondents send their
    reports over HTTP, prints what the noisy responses say, and serves on until Ctrl-C.

    \b
        deniable demo
        deniable demo --port 8000
    """
    from .demo import run

    run(port)


# Reading and writing


@contextmanager
def _as_path(name: str, kept_as: str) -> Iterator[Path]:
    """The path itself, or what comes through the pipe as a file of its own."""
    if name != PIPE:
        yield Path(name)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / kept_as
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path


def _survey(name: str) -> Survey:
    """A survey file; through a pipe TOML or JSON, whichever it is."""
    with _as_path(name, "standard-input.toml") as path:
        if name == PIPE and path.read_bytes().lstrip().startswith(b"{"):
            path = path.rename(path.with_suffix(".json"))
        return Survey.load(path)


def _counts(survey: Survey, name: str, others: str) -> dict[str, dict[int, int]]:
    from analysis import counts

    with _as_path(name, "standard input") as path:
        return counts(survey, path, others)


def _truth(name: str | None) -> dict[str, Any] | None:
    if name is None:
        return None
    with _as_path(name, "standard input") as path:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise click.ClickException(f"{path.name}: is not text in UTF-8") from None
        except ValueError as problem:
            raise click.ClickException(f"{path.name}: is not JSON: {problem}") from None
    if not isinstance(found, dict):
        raise click.ClickException(f"{path.name}: must be an object with question ids for names")
    return found


def _one_pipe(*names: str | None) -> None:
    if list(names).count(PIPE) > 1:
        raise click.UsageError('only one input can be "-": there is one pipe to read from')


def _write(text: str, out: str) -> None:
    if out == PIPE:
        click.echo(text, nl=False)
    else:
        Path(out).write_text(text, encoding="utf-8", newline="")


def _chosen(survey: Survey, ids: Sequence[str]) -> list[Question]:
    known = {question.id: question for question in survey}
    for name in ids:
        if name not in known:
            raise click.ClickException(
                f"{name!r} is not a question of the survey, which has {', '.join(known)}"
            )
    return [known[name] for name in dict.fromkeys(ids)] or list(survey)


def _table(rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Columns in line; the first ``words`` of them flush left."""
    from analysis.result import aligned

    return "\n".join(aligned(rows, range(words)))


# Options that several commands share

survey_argument = click.argument("survey", metavar="SURVEY")
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


def _compliance(command: Callable[..., None]) -> Callable[..., None]:
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


def _interval(name: str) -> Any:
    import analysis

    return getattr(analysis, name.replace("-", "_"))


# check


@main.command()
@survey_argument
@level_option
@click.option("--language", default="en", show_default=True, help="Language of the explanations.")
def check(survey: str, level: float, language: str) -> None:
    """Check a survey file, and say what it protects and how exact it will be.

    Lists every problem at once. A sound survey is explained: ε of each question and their
    sum, what happens to an answer, and the margin of error to expect. Shares: of an answer
    that half of the people give. Numbers and scales: of the mean, when all values are alike.

    \b
    Examples:
        deniable check survey.toml
        deniable check - < survey.toml
        deniable check survey.toml --level 0.99
    """
    try:
        found = _survey(survey)
    except InvalidSurvey as problem:
        raise click.ClickException(str(problem)) from None
    language = language if language in found.languages else found.languages[0]
    click.echo(f"{say(found.title, language)} ({found.id}): {len(found.questions)} questions, ok")
    click.echo(f"fingerprint {found.fingerprint}\n")
    click.echo(_epsilon_table(found))
    click.echo()
    for question in found:
        click.echo(f"{question.id}: {question.explain(language)}")
    click.echo(f"\n{found.explain(language)}\n")
    click.echo(_margin_table(found, level))


def _up(epsilon: Any) -> str:
    """Two decimals, rounded up as everywhere that a respondent reads it."""
    return f"{Decimal(ceil(epsilon * 100)) / 100:.2f}"


def _epsilon_table(survey: Survey) -> str:
    rows = [["question", "kind", "law", "ε"]]
    for question in survey:
        epsilon = _up(question.epsilon_bound) if question.protected else "plain"
        rows.append([question.id, question.kind, question.law.name, epsilon])
    rows.append(["sum", "", "", _up(survey.epsilon_bound)])
    text = _table(rows, 3)
    return f"{text}\nδ = {survey.delta:.2g} in all" if survey.delta else text


def _margin_table(survey: Survey, level: float) -> str:
    from analysis.planning import margin_of_error, mean_margin

    rows = [[f"± at {100 * level:g} %, of", *(f"n = {size:,}" for size in SIZES)]]
    for question in survey:
        if question.kind != "number":
            margins = [margin_of_error(question, size, level) for size in SIZES]
            rows.append([question.id, *(f"{100 * margin:.1f} points" for margin in margins)])
        if question.kind in ("number", "scale"):
            unit = f" {say(question.unit, 'en')}" if question.unit else ""
            margins = [mean_margin(question, size, level) for size in SIZES]
            rows.append([f"{question.id} (mean)", *(f"{m:,.4g}{unit}" for m in margins)])
    return _table(rows)


# simulate


@main.command()
@survey_argument
@click.option("-n", "n", type=click.IntRange(min=1), required=True, help="How many people.")
@seed_option
@truth_option
@_compliance
@click.option(
    "-o",
    "--output",
    default=PIPE,
    metavar="FILE",
    help="Where reports go: .csv, .jsonl or .parquet. Without it, CSV to the pipe.",
)
def simulate(
    survey: str,
    n: int,
    seed: int | None,
    truth: str | None,
    safe: float,
    random: float,
    refuse: float,
    output: str,
) -> None:
    """Make up people who take part, and write their reports.

    Answers are randomised with the survey's own whole-number odds, as devices do it.

    \b
    Examples:
        deniable simulate survey.toml -n 1000 --seed 1 -o reports.csv
        deniable simulate survey.toml -n 1000 --truth truth.json --safe 0.1 -o reports.jsonl
        deniable simulate survey.toml -n 1000 | deniable estimate survey.toml -
    """
    from analysis import simulate

    _one_pipe(survey, truth)
    writers = {".csv": "to_csv", ".jsonl": "to_json_lines", ".parquet": "to_parquet"}
    ending = ".csv" if output == PIPE else Path(output).suffix.lower()
    if ending not in writers:
        raise click.ClickException(f"{output}: its name must end in {', '.join(writers)}")
    sample = simulate(
        _survey(survey), _truth(truth), n=n, seed=seed, safe=safe, random=random, refuse=refuse
    )
    if output != PIPE:
        getattr(sample, writers[ending])(output)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "reports.csv"
        sample.to_csv(path)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)


# estimate


@main.command()
@survey_argument
@reports_argument
@click.option("--question", "questions", multiple=True, metavar="ID", help="Only this; repeatable.")
@level_option
@interval_option
@click.option(
    "--target",
    type=click.Choice(["population", "respondents"]),
    default="population",
    show_default=True,
    help="Whom the intervals speak about.",
)
@simultaneous_option
@others_option
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How the estimates are written.",
)
@click.option("-o", "--output", default=PIPE, metavar="FILE", help="Where they go.")
def estimate(
    survey: str,
    reports: str,
    questions: tuple[str, ...],
    level: float,
    interval: str,
    target: str,
    simultaneous: bool,
    others: str,
    form: str,
    output: str,
) -> None:
    """Estimate what the answers were, from a file of reports.

    REPORTS is CSV, JSON lines, Parquet or the collector's database; "-" is a pipe. A table
    shows the noisy share, the unbiased estimate with standard error and interval, and the
    feasible (maximum-likelihood) one.

    \b
    Examples:
        deniable estimate survey.toml reports.csv
        deniable estimate survey.toml reports.parquet --question cheated --level 0.99
        deniable estimate survey.toml reports.csv --format latex -o table.tex
        cat reports.jsonl | deniable estimate survey.toml - --format csv > estimates.csv
    """
    _one_pipe(survey, reports)
    found = _survey(survey)
    chosen = _chosen(found, questions)
    counts = _counts(found, reports, others)
    options = {"target": target, "interval": _interval(interval), "simultaneous": simultaneous}
    results = _estimates(found, chosen, counts, level, options, bool(questions))
    _write(_written(results, form, len(questions) == 1), output)


def _estimates(
    survey: Survey,
    questions: Sequence[Question],
    counts: dict[str, dict[int, int]],
    level: float,
    options: dict[str, Any],
    asked_for: bool,
) -> list[Result]:
    """Every question's result. One that nobody was shown is left out, aloud."""
    from analysis import estimate

    results = []
    for question in questions:
        try:
            results.append(
                estimate(
                    question,
                    counts[question.id],
                    level,
                    fingerprint=survey.fingerprint,
                    **options,
                )
            )
        except ValueError as problem:
            message = str(problem)
            if "there are no responses" not in message or asked_for:
                start = "" if question.id in message else f"question {question.id}: "
                raise click.ClickException(f"{start}{message}") from None
            click.echo(f"left out: {message}", err=True)
    if not results:
        raise click.ClickException("there is nothing to estimate")
    return results


def _written(results: Sequence[Result], form: str, single: bool) -> str:
    if form == "csv":
        return _csv([record for result in results for record in result.records()])
    if form == "json":
        documents = [json.loads(result.to_json()) for result in results]
        found = documents[0] if single else documents
        return json.dumps(found, ensure_ascii=False, indent=2) + "\n"
    if form == "markdown":
        headed = (f"### {r.question.id}: {say(r.question.ask, 'en')}" for r in results)
        return "\n".join(f"{h}\n\n{r.to_markdown()}" for h, r in zip(headed, results, strict=True))
    if form == "latex":
        return "\n".join(result.to_latex() for result in results)
    return "\n".join(f"{result}\n" for result in results)


def _csv(records: Sequence[dict[str, Any]]) -> str:
    import csv

    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


# plot


@main.command()
@survey_argument
@reports_argument
@click.option("--question", required=True, metavar="ID", help="Which question.")
@level_option
@others_option
@click.option("--top", type=click.IntRange(min=1), default=20, help="Entries of a long list.")
@click.option("-o", "--output", required=True, metavar="FILE", help=".svg, .png or .pdf")
def plot(
    survey: str, reports: str, question: str, level: float, others: str, top: int, output: str
) -> None:
    """Draw a question's estimates with intervals, beside the noisy shares.

    The ending of the file says the format. Numbers show the mean and, where the law tells
    it, the distribution; long lists their largest entries.

    \b
    Examples:
        deniable plot survey.toml reports.csv --question cheated -o cheated.svg
        deniable plot survey.toml - --question place --top 10 -o places.pdf < reports.csv
    """
    from analysis.plots import ENDINGS, plot_estimate

    _one_pipe(survey, reports)
    if Path(output).suffix.lower() not in ENDINGS:
        raise click.ClickException(f"{output}: its name must end in {', '.join(ENDINGS)}")
    found = _survey(survey)
    chosen = _chosen(found, [question])
    results = _estimates(found, chosen, _counts(found, reports, others), level, {}, True)
    plot_estimate(results[0], output, top=top)


# study


@main.command()
@survey_argument
@click.option(
    "-n",
    "sizes",
    type=click.IntRange(min=1),
    multiple=True,
    default=[1000],
    show_default=True,
    help="How many people; repeatable.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="How many surveys of each size.",
)
@seed_option
@truth_option
@click.option("--question", "questions", multiple=True, metavar="ID", help="Only this; repeatable.")
@level_option
@interval_option
@simultaneous_option
@_compliance
@click.option("--format", "form", type=click.Choice(["table", "csv"]), default="table")
@click.option("-o", "--output", default=PIPE, metavar="FILE", help="Where the table goes.")
@click.option("--plot", "picture", metavar="FILE", help="Also draw it: .svg, .png or .pdf")
def study(
    survey: str,
    sizes: tuple[int, ...],
    repetitions: int,
    seed: int | None,
    truth: str | None,
    questions: tuple[str, ...],
    level: float,
    interval: str,
    simultaneous: bool,
    safe: float,
    random: float,
    refuse: float,
    form: str,
    output: str,
    picture: str | None,
) -> None:
    """Repeat a survey on made-up people: bias, error, and how often intervals hold.

    With --safe, --random and --refuse it shows what people who do not do as told cost.

    \b
    Examples:
        deniable study survey.toml -n 200 -n 5000 --repetitions 2000 --seed 1
        deniable study survey.toml --question cheated --truth truth.json --safe 0.1
        deniable study survey.toml -n 100 -n 1000 -n 10000 --plot study.svg --format csv -o s.csv
    """
    from analysis import study
    from analysis.plots import ENDINGS, plot_study

    _one_pipe(survey, truth)
    if picture is not None and Path(picture).suffix.lower() not in ENDINGS:
        raise click.ClickException(f"{picture}: its name must end in {', '.join(ENDINGS)}")
    found = _survey(survey)
    chosen = _chosen(found, questions)
    if not questions:
        # Unprotected ticks are not randomised, so there is nothing to study.
        chosen = [q for q in chosen if q.protected or q.kind != "choices"]
    given = _truth(truth) or {}
    _chosen(found, list(given))
    if not chosen:
        raise click.ClickException("there is nothing to study")
    wanted = {question.id for question in chosen}
    with _bar(repetitions * len(sizes) * len(chosen)) as progress:
        result = study(
            replace(found, questions=tuple(chosen)),
            {name: value for name, value in given.items() if name in wanted},
            n=list(sizes),
            repetitions=repetitions,
            seed=seed,
            level=level,
            interval=_interval(interval),
            simultaneous=simultaneous,
            safe=safe,
            random=random,
            refuse=refuse,
            progress=progress,
        )
    _write(result.to_csv() if form == "csv" else f"{result}\n", output)
    if picture is not None:
        plot_study(result, picture, fingerprint=found.fingerprint)


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr for people; nothing for a file or a pipe."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with click.progressbar(length=total, file=sys.stderr) as bar:
        yield lambda done, total: bar.update(done - bar.pos)


if __name__ == "__main__":
    main()
