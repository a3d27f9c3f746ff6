"""The words of the pages, in one copy for templates and scripts."""

from __future__ import annotations

from importlib.resources import files

from respondent.words import LANGUAGES, Words

word = Words(files(__package__) / "static" / "words.js")


def interface_language(language: str) -> str:
    """The language of the page around a survey's texts; English where there is no other."""
    base = language.partition("-")[0]
    return base if base in LANGUAGES else "en"
