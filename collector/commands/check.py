"""``deniable check``: is a survey sound, what does it protect, how exact will it be?"""

from __future__ import annotations

from decimal import Decimal
from math import ceil
from typing import Any

import click

from respondent import InvalidSurvey, Survey
from respondent.checking import say

from .common import level_option, read_survey, survey_argument, text_table

SIZES = (100, 1_000, 10_000)


@click.command()
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
        found = read_survey(survey)
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
    text = text_table(rows, 3)
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
    return text_table(rows)
