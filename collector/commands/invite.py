"""``deniable invite``: single-use links."""

from __future__ import annotations

import os
from pathlib import Path

import click

from respondent.checking import say

from .common import data_option, read_survey, survey_argument


@click.command()
@survey_argument
@click.option("-n", "count", type=click.IntRange(1, 100_000), required=True, help="How many links.")
@click.option(
    "--address",
    metavar="URL",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="Where the collector is reached.",
)
@data_option
@click.option(
    "-o",
    "--output",
    default="invitations.csv",
    show_default=True,
    type=click.Path(path_type=Path),
    help="The links as CSV.",
)
@click.option(
    "--page", type=click.Path(path_type=Path), help="Also a page of QR codes to print: .html"
)
def invite(
    survey: str, count: int, address: str, data: Path, output: Path, page: Path | None
) -> None:
    """Write links that each take one report, and make the survey need one.

    Only a hash of each link is kept, and nothing connects a used link to the report that it
    brought. The files are the only copy of the links: they are never overwritten.

    \b
    Examples:
        deniable invite survey.toml -n 200 --address https://survey.example.org
        deniable invite survey.toml -n 30 -o class.csv --page class.html
    """
    from ..invitations import as_csv, as_page, links, tokens
    from ..store import Store

    found, fresh = read_survey(survey), tokens(count)
    written = links(address, found.id, fresh)
    language = found.languages[0]
    files = {output: as_csv(written)}
    if page is not None:
        files[page] = as_page(say(found.title, language), language, written)
    for path in files:
        if path.exists():
            raise click.ClickException(f"{path}: exists; the links in it would be lost")
    for path, text in files.items():
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(text)
    store = Store(data)
    store.publish(found)
    store.invite(found.id, fresh)
    click.echo(f"{count} links in {output}" + (f", to print: {page}" if page else ""))
