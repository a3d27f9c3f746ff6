"""``deniable keys``: who can see a collector's results."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .common import text_table

if TYPE_CHECKING:
    from ..store import Store


def data_option(exists: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--data",
        type=click.Path(exists=exists, dir_okay=False, path_type=Path),
        required=True,
        metavar="FILE",
        help="The collector's SQLite file.",
    )


@contextmanager
def _store(data: Path) -> Iterator[Store]:
    from ..store import Store

    try:
        yield Store(data)
    except sqlite3.Error as problem:
        raise click.ClickException(f"{data.name}: is not a collector's file: {problem}") from None


@click.group()
def keys() -> None:
    """Keys with which researchers log in and use the API.

    \b
    Examples:
        deniable keys add anna --data reports.db
        deniable keys list --data reports.db
        deniable keys revoke anna --data reports.db
    """


@keys.command()
@click.argument("name")
@click.option("--once", is_flag=True, help="For one log-in only; not for the API.")
@data_option(exists=False)
def add(name: str, once: bool, data: Path) -> None:
    """Make a key and print it, once: only its hash is kept.

    \b
    Example:
        deniable keys add anna --data reports.db
    """
    from ..keys import issue

    with _store(data) as store:
        key = issue(store, name, once)
    click.echo(key)
    click.echo("Keep it: it cannot be shown again.", err=True)


@keys.command("list")
@data_option(exists=True)
def list_keys(data: Path) -> None:
    """Names of the keys that there are.

    \b
    Example:
        deniable keys list --data reports.db
    """
    with _store(data) as store:
        found = store.keys()
    rows = [
        (key.name, "one log-in" if key.once else "always", "yes" if key.used else "no")
        for key in found
    ]
    click.echo(text_table([("name", "opens", "used"), *rows], 3))


@keys.command()
@click.argument("name")
@data_option(exists=True)
def revoke(name: str, data: Path) -> None:
    """Let a key open nothing any more, and log out whoever uses it.

    \b
    Example:
        deniable keys revoke anna --data reports.db
    """
    with _store(data) as store:
        if not store.revoke_key(name):
            raise click.ClickException(f"there is no key named {name}")
