"""``deniable study``: do the intervals hold?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from .common import (
    PIPE,
    chosen_questions,
    compliance_options,
    interval_option,
    level_option,
    named_interval,
    one_pipe,
    progress_bar,
    read_survey,
    read_truth,
    seed_option,
    simultaneous_option,
    survey_argument,
    truth_option,
    write,
)


@click.command()
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
@compliance_options
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

    one_pipe(survey, truth)
    if picture is not None and Path(picture).suffix.lower() not in ENDINGS:
        raise click.ClickException(f"{picture}: its name must end in {', '.join(ENDINGS)}")
    found = read_survey(survey)
    chosen = chosen_questions(found, questions)
    if not questions:
        # Unprotected ticks are not randomised, so there is nothing to study.
        chosen = [q for q in chosen if q.protected or q.kind != "choices"]
    given = read_truth(truth) or {}
    chosen_questions(found, list(given))
    if not chosen:
        raise click.ClickException("there is nothing to study")
    wanted = {question.id for question in chosen}
    with progress_bar(repetitions * len(sizes) * len(chosen)) as progress:
        result = study(
            replace(found, questions=tuple(chosen)),
            {name: value for name, value in given.items() if name in wanted},
            n=list(sizes),
            repetitions=repetitions,
            seed=seed,
            level=level,
            interval=named_interval(interval),
            simultaneous=simultaneous,
            safe=safe,
            random=random,
            refuse=refuse,
            progress=progress,
        )
    write(result.to_csv() if form == "csv" else f"{result}\n", output)
    if picture is not None:
        plot_study(result, picture, fingerprint=found.fingerprint)
