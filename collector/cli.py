"""The ``deniable`` command. Each command is a file in ``commands``.

Commands read and write files or pipes (``-``). What is wrong is said in one line on
stderr, with exit code 1; a wrong call exits with 2.
"""

from __future__ import annotations

from typing import Any

import click

from respondent import InvalidSurvey

from .commands.check import check
from .commands.data import backup, integrity, restore
from .commands.demo import demo
from .commands.estimate import estimate
from .commands.invite import invite
from .commands.keys import keys
from .commands.plan import plan
from .commands.plot import plot
from .commands.serve import serve
from .commands.simulate import simulate
from .commands.study import study


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
        deniable plan survey.toml -n 500                how many people, which odds?
        deniable simulate survey.toml -n 1000 -o r.csv  try it out on made-up people
        deniable estimate survey.toml r.csv             from reports to estimates
        deniable plot survey.toml r.csv --question q -o q.svg
        deniable study survey.toml -n 200 -n 5000       do the intervals hold?
        deniable serve survey.toml                      collect real reports
        deniable invite survey.toml -n 200              one link for each person
        deniable backup reports.db copy.db              also: restore, integrity
        deniable keys add anna --data reports.db        who can see a collector's results

    Each command explains itself with --help. "-" reads from or writes to a pipe.
    """


ANALYSIS = (check, plan, simulate, estimate, plot, study)
COLLECTING = (demo, serve, invite, backup, restore, integrity, keys)

for command in (*ANALYSIS, *COLLECTING):
    main.add_command(command)

if __name__ == "__main__":
    main()
