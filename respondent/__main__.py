"""Take part in a survey from a terminal: ``python -m respondent URL``."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .checking import say
from .client import LIMIT, Client, ClientError, NotSent, default_home
from .errors import InvalidAnswer, InvalidData
from .survey import Question, Survey

EPILOG = """\
Your answers never leave this device. It flips the coins, seals the noisy report in
DIR, and sends that; running the command again sends the same bytes, not a new draw.
Questions are asked on a second screen, which disappears with your answers afterwards.

examples:
  python -m respondent https://survey.example.org/s/campus-2026
  python -m respondent --limit 3 https://survey.example.org/s/campus-2026
  python -m respondent --ledger
"""


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    client = Client(options.home, options.limit, options.budget)
    try:
        if options.ledger:
            return show_ledger(client)
        return take_part(client, options.url, options.fingerprint, options.language)
    except (ClientError, InvalidData) as problem:
        print(problem, file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        print("\nStopped. Nothing was sent.", file=sys.stderr)
        return 1


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m respondent",
        description="Take part in a Deniable survey from a terminal.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("url", nargs="?", help="the survey's address")
    parser.add_argument("--language", metavar="CODE", help="one of the survey's languages")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="refuse surveys above this ε (%(default)s)"
    )
    parser.add_argument("--budget", type=float, help="refuse to go above this ε in all surveys")
    parser.add_argument("--fingerprint", metavar="HEX", help="refuse any other survey than this")
    parser.add_argument("--ledger", action="store_true", help="show the ε spent so far and stop")
    parser.add_argument(
        "--home", type=Path, metavar="DIR", default=default_home(), help="where reports are sealed"
    )
    options = parser.parse_args(arguments)
    if not options.url and not options.ledger:
        parser.error("give the survey's address, or --ledger")
    return options


def show_ledger(client: Client) -> int:
    for entry in client.ledger():
        state = "sent" if entry.sent else "sealed, not sent"
        print(f"{entry.epsilon:8.4f}  {entry.id}  {entry.fingerprint[:16]}  {state}")
    print(f"{client.spent():8.4f}  in all")
    return 0


def take_part(client: Client, url: str, fingerprint: str | None, language: str | None) -> int:
    survey = client.fetch(url, fingerprint)
    language = language or survey.languages[0]
    if language not in survey.languages:
        raise InvalidAnswer(f"the survey has no language {language}: {', '.join(survey.languages)}")
    if client.sealed(survey) is None:
        print(introduction(survey, language))
        if input("\nTake part? [y/N] ").strip().lower() not in ("y", "yes"):
            print("Nothing was sent.")
            return 1
        with second_screen():
            answers = ask_all(survey, language)
            if input("\nSend now? [y/N] ").strip().lower() not in ("y", "yes"):
                raise KeyboardInterrupt
        client.seal(survey, answers)
        del answers
    else:
        print("Your report for this survey is sealed already; sending the same bytes again.")
    try:
        report = client.send(url, survey)
    except NotSent as problem:
        print(problem, file=sys.stderr)
        return 2
    print(f"Sent. These {len(report)} bytes are all that was sent:\n{report.decode()}")
    return 0


def introduction(survey: Survey, language: str) -> str:
    """Title, odds and fingerprint: what a person should know before answering."""
    lines = [say(survey.title, language)]
    lines += [say(text, language) for text in (survey.by, survey.intro, survey.consent) if text]
    for number, question in enumerate(survey, 1):
        lines += ["", f"{number}. {say(question.ask, language)}"]
        lines.append(textwrap.fill(question.explain(language), 88, initial_indent="   ",
                                   subsequent_indent="   "))  # fmt: skip
    lines += ["", textwrap.fill(survey.explain(language), 88)]
    return "\n".join([*lines, f"Fingerprint of this survey: {survey.fingerprint}"])


@contextmanager
def second_screen() -> Iterator[None]:
    """The terminal's alternate screen: what is typed there is not in the scroll-back."""
    terminal = sys.stdout.isatty()
    if terminal:
        print("\x1b[?1049h\x1b[H", end="", flush=True)
    try:
        yield
    finally:
        if terminal:
            print("\x1b[2J\x1b[?1049l", end="", flush=True)


def ask_all(survey: Survey, language: str) -> dict[str, object]:
    answers: dict[str, object] = {}
    plain: dict[str, int] = {}
    for question in survey:
        if not survey.shown(question, plain):
            plain[question.id] = question.law.responses
            continue
        answer = ask(question, language)
        answers[question.id] = answer
        if not question.protected:
            plain[question.id] = question.encode(answer)
    return answers


def ask(question: Question, language: str) -> object:
    """One question, asked until the answer fits it."""
    if question.page:
        print(f"\n== {say(question.page, language)} ==")
    print(f"\n{say(question.ask, language)}")
    if question.help:
        print(say(question.help, language))
    if not question.protected:
        print(question.explain(language))
    short = len(question.options) <= 30
    if short:
        for number, option in enumerate(question.options, 1):
            print(f"  {number}  {say(option, language)}")
    while True:
        answer = understood(question, input(f"{prompt(question, short)}: ").strip(), language)
        try:
            question.encode(answer)
            return answer
        except InvalidAnswer as problem:
            print(str(problem).partition(": ")[2].capitalize() + ".")
            if not short and isinstance(answer, str) and answer:
                print("\n".join(f"  {option}" for option in search(question, answer, language)))


def prompt(question: Question, short: bool) -> str:
    if question.kind == "number":
        steps = question.law.answers - 1 - question.skip
        unit = f" {say(question.unit, 'en')}" if question.unit else ""
        empty = ", or nothing to skip" if question.skip else ""
        return f"From {question.value(0)} to {question.value(steps)}{unit}{empty}"
    if question.kind == "choices":
        return "Numbers with spaces between, or nothing for none"
    return "Number" if short else "Type the entry, or part of it to search"


def understood(question: Question, typed: str, language: str) -> object:
    """What was typed as ``Question.encode`` takes it: option numbers become options."""
    if question.kind == "number":
        return None if not typed and question.skip else typed

    def option(text: str) -> str:
        if text.isdecimal() and 1 <= int(text) <= len(question.options) <= 30:
            return question.option(int(text) - 1, language)
        return text

    return [option(text) for text in typed.split()] if question.kind == "choices" else option(typed)


def search(question: Question, typed: str, language: str) -> list[str]:
    options = (say(option, language) for option in question.options)
    return [option for option in options if typed.lower() in option.lower()][:10]


if __name__ == "__main__":
    sys.exit(main())
