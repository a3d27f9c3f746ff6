"""Strict reading of data from outside that notes every problem, not just the first."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from difflib import get_close_matches
from typing import Any

Text = str | Mapping[str, str]

LONGEST_TEXT = 5_000
IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,5}[1-9])?")

#: Stands for a part of a researcher's file whose own problem has been noted already.
UNKNOWN = object()


class Checker:
    """Checks values and remembers what was wrong with them.

    ``where`` names a place in the data as a person would: "question 2 (drug), law".
    Each method returns whether, or what, it found in order.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []

    def fail(self, where: str, rule: str) -> None:
        self.problems.append(f"{where}: {rule}")

    def fields(
        self,
        value: object,
        where: str,
        required: Collection[str],
        optional: Collection[str] = (),
        hints: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The known fields of an object. With ``hints``, unknown ones get advice."""
        if not isinstance(value, dict):
            self.fail(where or "the survey", "must be an object with named fields")
            return {}
        known = [*required, *optional]
        for key in value:
            if key not in known:
                self.fail(within(where, str(key)), unknown_key(str(key), known, hints))
        for key in required:
            if key not in value:
                self.fail(within(where, key), "is missing")
        return {key: value[key] for key in known if key in value}

    def whole(self, value: object, where: str, low: int, high: int) -> bool:
        good = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        if not good:
            self.fail(where, f"must be a whole number from {low} to {high}")
        return good

    def identifier(self, value: object, where: str) -> bool:
        good = isinstance(value, str) and bool(IDENTIFIER.fullmatch(value))
        if not good:
            self.fail(
                where, "must be 1 to 64 of a-z, 0-9 and hyphens, beginning with a letter or digit"
            )
        return good

    def languages(self, value: object) -> list[str]:
        good = (
            isinstance(value, list)
            and 0 < len(value) <= 50
            and all(isinstance(code, str) and LANGUAGE.fullmatch(code) for code in value)
            and len(set(value)) == len(value)
        )
        if not good:
            self.fail("languages", 'must be a list of different language codes such as "en"')
        return value if good and isinstance(value, list) else ["en"]

    def text(self, value: object, where: str, languages: list[str], each: bool = True) -> bool:
        """One text, or one for each language; ``each`` refuses one for several languages."""
        if isinstance(value, str):
            if each and len(languages) > 1:
                self.fail(where, f"must have a text for each of {', '.join(languages)}")
                return False
            return self._string(value, where)
        if not isinstance(value, Mapping) or sorted(value) != sorted(languages):
            languages_wanted = f"an object with a text for each of {', '.join(languages)}"
            self.fail(where, f"must be a text or {languages_wanted}")
            return False
        return all([self._string(value[code], f"{where}, {code}") for code in languages])

    def _string(self, value: object, where: str) -> bool:
        if not isinstance(value, str) or not value.strip(" \n"):
            self.fail(where, "must be a text that is not empty")
        elif len(value) > LONGEST_TEXT:
            self.fail(where, f"must be at most {LONGEST_TEXT} characters long")
        elif not set(map(ord, value)).isdisjoint(FORBIDDEN):
            self.fail(where, "must not contain control characters")
        else:
            return True
        return False

    def day(self, value: object, where: str) -> bool:
        good = isinstance(value, str) and bool(DAY.fullmatch(value))
        if good:
            try:
                date.fromisoformat(str(value))
            except ValueError:
                good = False
        if not good:
            self.fail(where, "must be a date such as 2026-12-31")
        return good


#: Control characters other than a line break, and lone surrogates, which UTF-8 cannot hold.
FORBIDDEN = frozenset({*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)} - {0x0A})


def say(text: Text | None, language: str) -> str:
    """A text in one language; where it lacks that, English, else the first by code."""
    if text is None or isinstance(text, str):
        return text or ""
    return text.get(language) or text.get("en") or text[min(text)]


def within(where: str, key: str) -> str:
    return f"{where}, {key}" if where else key


def unknown_key(key: str, known: Collection[str], hints: Mapping[str, str] | None) -> str:
    if hints and key in hints:
        return hints[key]
    return "is not a known field" + (likely(key, known) if hints is not None else "")


def likely(word: str, known: Collection[str]) -> str:
    """What a misspelt word was probably meant to be, as the end of a sentence."""
    match = get_close_matches(word.lower().replace("_", "-"), known, n=1, cutoff=0.6)
    return f'; did you mean "{match[0]}"?' if match else f"; known: {', '.join(known)}"
