"""``deniable plot``: a picture of the estimates."""

from __future__ import annotations

from pathlib import Path

import click

from .common import (
    chosen_questions,
    level_option,
    one_pipe,
    others_option,
    read_counts,
    read_survey,
    reports_argument,
    survey_argument,
)
from .estimate import estimates


@click.command()
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

    one_pipe(survey, reports)
    if Path(output).suffix.lower() not in ENDINGS:
        raise click.ClickException(f"{output}: its name must end in {', '.join(ENDINGS)}")
    found = read_survey(survey)
    chosen = chosen_questions(found, [question])
    results = estimates(found, chosen, read_counts(found, reports, others), level, {}, True)
    plot_estimate(results[0], output, top=top)
