"""``deniable demo``."""

from __future__ import annotations

import click


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="A free one unless given.")
def demo(port: int) -> None:
    """Run a whole survey on this machine.

    Serves the example surveys on loopback, lets 2,000 simulated respondents send their
    reports over HTTP, prints what the noisy responses say, and serves on until Ctrl-C.

    \b
        deniable demo
        deniable demo --port 8000
    """
    from ..demo import run

    run(port)
