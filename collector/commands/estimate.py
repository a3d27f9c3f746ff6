"""``deniable estimate``: from reports to estimates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from respondent import Question, Survey
from respondent.checking import say

from ..downloads import records_csv
from .common import (
    PIPE,
    chosen_questions,
    interval_option,
    level_option,
    named_interval,
    one_pipe,
    others_option,
    read_counts,
    read_survey,
    reports_argument,
    simultaneous_option,
    survey_argument,
    write,
)

if TYPE_CHECKING:
    from analysis.result import Result

FORMATS = ("table", "csv", "json", "markdown", "latex")


@click.command()
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
    one_pipe(survey, reports)
    found = read_survey(survey)
    chosen = chosen_questions(found, questions)
    counts = read_counts(found, reports, others)
    options = {"target": target, "interval": named_interval(interval), "simultaneous": simultaneous}
    results = estimates(found, chosen, counts, level, options, bool(questions))
    write(_written(results, form, len(questions) == 1), output)


def estimates(
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
        return records_csv([record for result in results for record in result.records()])
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
