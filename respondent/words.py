"""Built-in words and sentences, in one copy for both languages of the code.

``web/words.js`` is JSON behind ``export default``, so that browsers import it and
Python reads it.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "de", "fr", "es", "ar")


@cache
def _all() -> dict[str, dict[str, str]]:
    source = (files(__package__) / "web" / "words.js").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(source.removeprefix("export default"))
    return found


def word(language: str, name: str, **values: object) -> str:
    """A word or sentence, its ``{places}`` filled; English where there is no other."""
    text = _all().get(language, _all()["en"])[name]
    # In one pass: what a value says is never taken for a place.
    return re.sub(r"\{(\w+)\}", lambda place: str(values[place[1]]), text)
