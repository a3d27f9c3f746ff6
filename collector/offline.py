"""The form in one file: survey, modules and stylesheet inlined, for use from disk.

The file's policy allows exactly its own script and style, by their hashes, and connections
to the collector only. Our modules keep to a few forms of import and export, which are
all that is understood here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from urllib.parse import urlsplit

from respondent import Survey

STATIC = files(__package__) / "static"
WEB = files("respondent") / "web"

IMPORT = re.compile(r'^import (.+?) from "([^"]+)";$', re.MULTILINE | re.DOTALL)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
DEFAULT = re.compile(r"^export default ", re.MULTILINE)


@dataclass(frozen=True)
class OneFile:
    """What the page has inlined."""

    policy: str
    style: str
    script: str
    #: The published survey as a JSON string, so that its bytes come out unchanged.
    published: str


def one_file(survey: Survey, reports: str) -> OneFile:
    """The parts of a page that sends its reports to the address ``reports``."""
    style, script = stylesheet(), bundle()
    collector = urlsplit(reports)
    policy = [
        "default-src 'none'",
        f"script-src {_hash(script)}",
        f"style-src {_hash(style)}",
        f"connect-src {collector.scheme}://{collector.netloc}",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    published = json.dumps(survey.publish().decode()).replace("<", "\\u003c")
    return OneFile("; ".join(policy), style, script, published)


@cache
def stylesheet() -> str:
    return _inlined((STATIC / "page.css").read_text(encoding="utf-8"))


@cache
def bundle() -> str:
    """The form's modules as one: each a function called once, after those it imports."""
    done: dict[str, str] = {}
    _add(STATIC / "form.js", done)
    return _inlined("\n".join(done.values()))


def _add(path: Traversable, done: dict[str, str]) -> str:
    """The name of the variable that holds what the module exports."""
    key = str(path)
    if key in done:
        return f"module{list(done).index(key)}"

    def used(found: re.Match[str]) -> str:
        names, where = found.groups()
        folder = WEB if where.startswith("../respondent/") or path == WEB / path.name else STATIC
        names = names.replace(" as ", ": ") if names.startswith("{") else f"{{ default: {names} }}"
        return f"const {names} = {_add(folder / where.rpartition('/')[2], done)};"

    source = IMPORT.sub(used, path.read_text(encoding="utf-8"))
    exports = EXPORT.findall(source)
    source = EXPORT.sub("", source)
    if DEFAULT.search(source):
        source = DEFAULT.sub("const exported = ", source)
        exports = ["default: exported"]
    name = f"module{len(done)}"
    done[key] = f"const {name} = (() => {{\n{source}\nreturn {{ {', '.join(exports)} }};\n}})();"
    return name


def _inlined(text: str) -> str:
    """The text, which must not end the element it is put into."""
    if re.search(r"</(script|style)|<!--", text, re.IGNORECASE):
        raise ValueError("this text cannot be put into a page")
    return text


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
