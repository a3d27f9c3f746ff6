"""Fixtures that several test files use."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from .collector_double import Collector


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
