"""Invitations: single-use links as a table and as a page of QR codes. Only hashes are kept."""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Sequence
from html import escape

import segno

PAGE = """<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 11pt/1.4 system-ui, sans-serif; margin: 1cm; }}
ul {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(6cm, 1fr)); gap: 4mm;
  list-style: none; padding: 0; }}
li {{ border: 1px dashed #888; padding: 4mm; break-inside: avoid; text-align: center; }}
svg {{ width: 4cm; height: 4cm; }}
code {{ font-size: 8pt; overflow-wrap: anywhere; display: block; }}
</style>
<h1>{title}</h1>
<ul>
{cards}
</ul>
"""

CARD = "<li><p>{title}</p>{picture}<code>{link}</code></li>"


def tokens(count: int) -> list[str]:
    """Fresh tokens of 128 random bits."""
    return [secrets.token_urlsafe(16) for _ in range(count)]


def links(address: str, survey_id: str, found: Sequence[str]) -> list[str]:
    """One link for each token, which stands after # so that no server ever logs it."""
    return [f"{address.rstrip('/')}/s/{survey_id}#{token}" for token in found]


def as_csv(found: Sequence[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["number", "link"])
    writer.writerows(enumerate(found, 1))
    return out.getvalue()


def as_page(title: str, language: str, found: Sequence[str]) -> str:
    """A page to print and cut: one card with a QR code for each link."""
    title = escape(title)
    cards = "\n".join(
        CARD.format(
            title=title,
            picture=segno.make_qr(link).svg_inline(omitsize=True, border=2),
            link=escape(link),
        )
        for link in found
    )
    return PAGE.format(title=title, language=escape(language), cards=cards)
