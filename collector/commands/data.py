"""``deniable backup``, ``restore`` and ``integrity``: the file that reports are kept in."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import click

from ..store import Store

existing = click.Path(exists=True, dir_okay=False, path_type=Path)
new = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("data", metavar="FILE", type=existing)
@click.argument("target", metavar="BACKUP", type=new)
def backup(data: Path, target: Path) -> None:
    """Copy the reports while the collector runs.

    The copy is whole, checked, and in the order of the random keys, so it does not show
    which reports came last.

    \b
    Examples:
        deniable backup reports.db backup-monday.db
    """
    if target.exists():
        raise click.ClickException(f"{target}: exists already")
    os.close(os.open(target, os.O_CREAT | os.O_EXCL, 0o600))
    Store(data).back_up(target)
    _check(target)
    click.echo(f"{target}: ok")


@click.command()
@click.argument("source", metavar="BACKUP", type=existing)
@click.argument("data", metavar="FILE", type=new)
@click.option("--replace", is_flag=True, help="Put it in the place of FILE, kept as FILE.before.")
def restore(source: Path, data: Path, replace: bool) -> None:
    """Bring reports back from a backup. Stop the collector first.

    \b
    Examples:
        deniable restore backup-monday.db reports.db
        deniable restore backup-monday.db reports.db --replace
    """
    _check(source)
    if data.exists() and not replace:
        raise click.ClickException(f"{data}: exists; say --replace to put the backup in its place")
    if data.with_name(data.name + "-wal").exists():
        raise click.ClickException(
            f"{data}: is in use, or was not closed; stop the collector, "
            f"then run deniable integrity {data}"
        )
    if data.exists():
        data.replace(data.with_name(data.name + ".before"))
    fresh = data.with_name(data.name + ".restoring")
    shutil.copyfile(source, fresh)
    with fresh.open("rb") as file:
        os.fsync(file.fileno())
    fresh.replace(data)
    click.echo(f"{data}: restored")


@click.command()
@click.argument("data", metavar="FILE", type=existing)
def integrity(data: Path) -> None:
    """Check the file: no damage, every response in range, counts that agree with reports.

    \b
    Examples:
        deniable integrity reports.db
    """
    _check(data)
    click.echo(f"{data}: ok")


def _check(path: Path) -> None:
    try:
        problems = Store(path).problems()
    except sqlite3.Error as problem:
        problems = [str(problem)]
    if problems:
        raise click.ClickException(f"{path}: " + "; ".join(problems))
