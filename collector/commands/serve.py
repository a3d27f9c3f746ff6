"""``deniable serve``."""

from __future__ import annotations

from pathlib import Path

import click

from .common import data_option


@click.command()
@click.argument(
    "surveys", metavar="SURVEY…", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@data_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option("--address", metavar="URL", help="How people reach it, if through a proxy.")
def serve(surveys: tuple[Path, ...], data: Path, host: str, port: int, address: str | None) -> None:
    """Serve surveys: the form for respondents, results for researchers.

    Prints the respondents' address, and the researcher's with a key that logs in once.
    Reports go to a SQLite file, noisy responses only. To put it on the internet, with
    TLS, see docs/deploy.md.

    \b
    Examples:
        deniable serve survey.toml
        deniable serve one.toml two.toml --data reports.db --port 8080
        deniable serve survey.toml --address https://survey.example.org
    """
    from ..serve import run

    run(surveys, data, host, port, address)
