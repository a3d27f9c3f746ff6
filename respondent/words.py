"""Built-in words and sentences, in one copy for both languages of the code.

``web/words.js`` is JSON behind ``export default``, so that browsers import it and
Python reads it.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

LANGUAGES = ("en", "de", "fr", "es", "ar")


class Words:
    """The words of one such file; called, it gives one of them."""

    def __init__(self, path: Traversable) -> None:
        self.path = path

    @cached_property
    def all(self) -> dict[str, dict[str, str]]:
        source = self.path.read_text(encoding="utf-8")
        found: dict[str, dict[str, str]] = json.loads(source.removeprefix("export default"))
        return found

    def __call__(self, language: str, name: str, /, **values: object) -> str:
        """A word or sentence, its ``{places}`` filled; English where there is no other."""
        text = self.all.get(language, self.all["en"])[name]
        # In one pass: what a value says is never taken for a place.
        return re.sub(r"\{(\w+)\}", lambda place: str(values[place[1]]), text)


word = Words(files(__package__) / "web" / "words.js")
