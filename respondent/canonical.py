"""JSON with one spelling: what is hashed, sealed and sent.

RFC 8785 for the values we use: objects with ASCII keys, arrays, strings, whole numbers.
"""

from __future__ import annotations

import json
from typing import Any


def canonical(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8")


def read_json(data: bytes) -> Any:
    """What the bytes say, numbers as JavaScript reads them; ``ValueError`` if not JSON."""
    try:
        return json.loads(data.decode("utf-8"), parse_float=_number, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON in UTF-8") from None


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


def _refuse(text: str) -> None:
    raise ValueError
