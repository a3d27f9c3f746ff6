"""``deniable simulate``: made-up people, real odds."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from .common import (
    PIPE,
    compliance_options,
    one_pipe,
    read_survey,
    read_truth,
    seed_option,
    survey_argument,
    truth_option,
)


@click.command()
@survey_argument
@click.option("-n", "n", type=click.IntRange(min=1), required=True, help="How many people.")
@seed_option
@truth_option
@compliance_options
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

    one_pipe(survey, truth)
    writers = {".csv": "to_csv", ".jsonl": "to_json_lines", ".parquet": "to_parquet"}
    ending = ".csv" if output == PIPE else Path(output).suffix.lower()
    if ending not in writers:
        raise click.ClickException(f"{output}: its name must end in {', '.join(writers)}")
    sample = simulate(
        read_survey(survey),
        read_truth(truth),
        n=n,
        seed=seed,
        safe=safe,
        random=random,
        refuse=refuse,
    )
    if output != PIPE:
        getattr(sample, writers[ending])(output)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "reports.csv"
        sample.to_csv(path)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
