"""``deniable plan``: how many people, which odds, how exact?"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from respondent import Question

from ..downloads import records_csv
from .common import (
    PIPE,
    chosen_questions,
    level_option,
    progress_bar,
    read_survey,
    seed_option,
    text_table,
    write,
)

if TYPE_CHECKING:
    from analysis import Advice, Kind, QuestionPlan, SimulatedPower
    from analysis.goals import Goal

#: For the questions of a survey, where nothing else is said.
USUAL_N = 1000
USUAL = {"margin": 0.05, "power": 0.8, "share": 0.5}
#: Points of a curve.
POINTS = 60
#: Options that describe a single question, by the names that click gives their values.
OF_ONE_QUESTION = (
    "kind", "options", "range", "step", "epsilon", "coin",
    "null", "groups", "mean", "odds_ratio", "exposed",
)  # fmt: skip

#: Columns of every plan of one question, and of a simulated one.
ODDS = ("law", "ε", "odds ×")
SIMULATED = ("n", "power", "se", "repetitions", "failed")

CHANCE = click.FloatRange(0, 1)
INSIDE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command()
@click.argument("survey", metavar="[SURVEY]", required=False)
@click.option("--kind", metavar="KIND", help="yes-no, choice, choices, scale, number or list.")
@click.option("--options", type=int, help="How many options it has.")
@click.option("--range", type=(float, float), metavar="LOW HIGH", help="Of a number or scale.")
@click.option("--step", type=float, help="Of a number; 1 if left out.")
@click.option("--epsilon", type=float, multiple=True, help="Protection; repeatable.")
@click.option("--coin", multiple=True, metavar="CHANCE", help='Or that of the truth: "1/2".')
@click.option("-n", "n", type=click.IntRange(min=1), multiple=True, help="People; repeatable.")
@click.option("--margin", type=float, help="Margin of error: 0.05 is 5 points; means in units.")
@click.option("--power", type=INSIDE, help="Chance that a test finds what is there.")
@click.option("--share", type=CHANCE, help="Share of people who give the answer. [default: 0.5]")
@click.option("--null", type=float, help="Test whether the share, or mean, differs from this.")
@click.option("--groups", type=(CHANCE, CHANCE), metavar="A B", help="Shares in two groups.")
@click.option("--mean", type=float, help="Expected mean of a number or scale.")
@click.option("--sd", type=float, help="Spread of the answers. [default: all values alike]")
@click.option("--odds-ratio", type=float, help="Of a predictor in a logistic regression.")
@click.option("--exposed", type=INSIDE, help="Share with a yes-no predictor; else it is normal.")
@click.option("--alpha", type=INSIDE, default=0.05, show_default=True, help="Level of the test.")
@click.option("--one-sided", is_flag=True, help="Test towards what is expected only.")
@level_option
@click.option("--question", "questions", multiple=True, metavar="ID", help="Of SURVEY; repeatable.")
@click.option("--repetitions", type=click.IntRange(min=1), help="Simulations for --odds-ratio.")
@seed_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="How the plan is written.",
)
@click.option("-o", "--output", default=PIPE, metavar="FILE", help="Where it goes.")
@click.option("--plot", "picture", metavar="FILE", help="Also draw it: .svg, .png or .pdf")
def plan(survey: str | None, output: str, form: str, picture: str | None, **given: Any) -> None:
    """Plan a survey: how many people, which odds, how exact?

    Give two of odds, people and goal, and get the third. Odds are --epsilon or --coin, people
    are -n. The goal is a --margin of error, or --power: to tell a share from --null, two
    --groups from each other, a --mean from --null, or an --odds-ratio from 1 (simulated).
    Without odds, the most protective ones that will do are named, in words.

    With a SURVEY, each question's margin at n, the difference between two halves of n that
    is found with a power of 0.8, and the n for a margin of 5 points (numbers: 5 % of the range).

    \b
    Examples:
        deniable plan survey.toml -n 500
        deniable plan --kind yes-no --epsilon 1 --margin 0.05
        deniable plan --kind yes-no --epsilon 0.5 --epsilon 1 --epsilon 2 -n 1000 --plot m.svg
        deniable plan --kind yes-no -n 1000 --margin 0.05        which coin?
        deniable plan --kind choice --options 10 --epsilon 2 --margin 0.03 --share 0.1
        deniable plan --kind yes-no --coin 1/2 --share 0.1 --null 0 --power 0.8
        deniable plan --kind yes-no --coin 1/2 --groups 0.1 0.2 -n 1000
        deniable plan --kind number --range 0 10000 --step 100 -n 500 --margin 400
        deniable plan --kind yes-no --epsilon 2 --share 0.3 --odds-ratio 2 -n 800 --seed 1
    """
    from analysis.plots import ENDINGS

    if picture is not None and Path(picture).suffix.lower() not in ENDINGS:
        raise click.ClickException(f"{picture}: its name must end in {', '.join(ENDINGS)}")
    if survey is not None:
        _plan_survey(survey, given, form, output, picture)
    elif given["kind"] is None:
        raise click.ClickException("give a survey file, or --kind")
    elif given["odds_ratio"] is not None:
        _plan_regression(given, form, output, picture)
    else:
        _plan_question(given, form, output, picture)


# A single question


def _plan_question(given: dict[str, Any], form: str, output: str, picture: str | None) -> None:
    from analysis import advise

    kind, goal = _kind(given), _goal(given)
    _refuse(given, ("exposed", "repetitions", "seed"), "goes with --odds-ratio")
    _refuse(given, ("questions",), "goes with a survey file")
    odds, sizes = _odds(given), given["n"]
    if [bool(odds), bool(sizes), goal.wanted is not None].count(True) != 2:
        raise click.ClickException(f"give two of --epsilon (or --coin), -n and --{goal.name}")
    if odds:
        asked = [kind.question(**each) for each in odds]
        records = [
            _solved(kind, question, goal, n) for question in asked for n in (sizes or [None])
        ]
        text = _question_table(records, kind, goal)
    else:
        found = [advise(kind, n, goal) for n in sizes]
        asked = [advice.question for advice in found]
        records = [_advised(advice) for advice in found]
        text = "\n\n".join(map(str, found))
    write(_written(records, text, form), output)
    if picture is not None:
        _draw_question(kind, asked, goal, [record["n"] for record in records], picture)


def _kind(given: dict[str, Any]) -> Kind:
    from analysis import Kind

    return Kind(given["kind"], given["options"], given["range"], given["step"])


def _odds(given: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"epsilon": e} for e in given["epsilon"]] + [{"coin": c} for c in given["coin"]]


def _goal(given: dict[str, Any]) -> Goal:
    """What is asked for, and a word on every option that does not belong to it."""
    from analysis.goals import GroupTest, Margin, MeanTest, ShareTest

    power, share, null = given["power"], given["share"], given["null"]
    test = {
        "alpha": given["alpha"],
        "alternative": "one-sided" if given["one_sided"] else "two-sided",
    }
    if given["groups"] is not None:
        _refuse(given, ("share", "null", "mean", "sd", "margin"), "does not go with --groups")
        return GroupTest(given["groups"], power, **test)
    if given["mean"] is not None:
        _refuse(given, ("share", "margin"), "does not go with --mean")
        if null is None:
            raise click.ClickException("--mean is tested against --null: give both")
        return MeanTest(given["mean"], null, power, given["sd"], **test)
    if power is not None or null is not None:
        _refuse(given, ("margin", "sd"), "does not go with a test of a share")
        if share is None:
            raise click.ClickException(
                "a test needs what is expected: --share, --groups, --mean or --odds-ratio"
            )
        return ShareTest(share, power, null or 0.0, **test)
    _refuse(given, ("one_sided",), "goes with a test: --power or --null")
    if given["kind"] == "number":
        _refuse(given, ("share",), "is not for numbers; see --mean")
    else:
        _refuse(given, ("sd",), "is for means")
    usual = USUAL["share"] if share is None else share
    return Margin(given["margin"], given["level"], usual, given["sd"])


def _odds_record(question: Question) -> dict[str, Any]:
    return {
        "kind": question.kind,
        "law": question.law.name,
        "epsilon": question.epsilon,
        "factor": float(question.law.ratio),
    }


def _solved(kind: Kind, question: Question, goal: Goal, n: int | None) -> dict[str, Any]:
    """The people needed for what is wanted, or what n people reach; beside it, asked directly."""
    direct = kind.question(protect=False)
    size = goal.n(question) if n is None else n
    found = _odds_record(question) | {"n": size, goal.name: goal.reached(question, size)}
    if n is not None:
        return found | {f"{goal.name}_direct": goal.reached(direct, n)}
    plain = goal.n(direct)
    return found | {"n_direct": plain, "times": size / plain}


def _advised(advice: Advice) -> dict[str, Any]:
    return _odds_record(advice.question) | {
        "n": advice.n,
        advice.goal.name: advice.reached,
        "n_needed": advice.needed,
        "n_direct": advice.direct,
        "times": advice.cost,
        "coin": advice.coin,
        "file": "; ".join(advice.lines),
    }


def _odds_cells(record: dict[str, Any]) -> list[str]:
    return [record["law"], f"{record['epsilon']:.3f}", f"{record['factor']:.4g}"]


def _question_table(records: list[dict[str, Any]], kind: Kind, goal: Goal) -> str:
    people = "n in each group" if goal.each else "n"
    solved = "times" in records[0]
    rows = [[*ODDS, people, goal.name, "asked directly", *(["times"] if solved else [])]]
    for record in records:
        row = [f"{record['n']:,}", goal.text(record[goal.name], kind.kind)]
        if solved:
            row += [f"n = {record['n_direct']:,}", f"{record['times']:.2f}"]
        else:
            row.append(goal.text(record[f"{goal.name}_direct"], kind.kind))
        rows.append(_odds_cells(record) + row)
    return f"{kind}: {goal.said(kind.kind)}\n{text_table(rows)}"


def _draw_question(
    kind: Kind, asked: Sequence[Question], goal: Goal, sizes: Sequence[int], picture: str
) -> None:
    from analysis.plots import plot_plan

    scale = goal.scale(kind.kind)
    lines = {f"ε = {question.epsilon:.3g}": question for question in asked}
    lines["asked directly"] = kind.question(protect=False)
    unit = "own units" if scale == 1 else "%" if goal.name == "power" else "points"
    plot_plan(
        {
            name: [(n, scale * goal.reached(question, n)) for n in _grid(sizes)]
            for name, question in lines.items()
        },
        picture,
        title=f"{kind}: {goal.said(kind.kind)}",
        label=f"{goal.name} ({unit})",
        wanted=None if goal.wanted is None else scale * goal.wanted,
        power=goal.name == "power",
        note="n in each group" if goal.each else "",
    )


def _grid(sizes: Sequence[int]) -> list[int]:
    """Whole numbers, evenly spaced in their logarithms, between powers of ten around these."""
    low = 10 ** math.floor(math.log10(max(10, min(sizes) / 3)))
    high = 10 ** math.ceil(math.log10(3 * max(sizes)))
    steps = (low * (high / low) ** (place / (POINTS - 1)) for place in range(POINTS))
    return sorted({round(step) for step in steps})


# A regression coefficient


def _plan_regression(given: dict[str, Any], form: str, output: str, picture: str | None) -> None:
    refused = ("margin", "null", "groups", "mean", "sd", "one_sided", "questions")
    _refuse(given, refused, "does not go with --odds-ratio")
    if picture is not None:
        raise click.ClickException("--plot does not go with --odds-ratio: its power is simulated")
    kind, odds, sizes = _kind(given), _odds(given), given["n"]
    if given["share"] is None or not odds or bool(sizes) == (given["power"] is not None):
        raise click.ClickException(
            "--odds-ratio needs --share, --epsilon (or --coin), and one of -n and --power"
        )
    records = []
    for question in (kind.question(**each) for each in odds):
        for n in sizes or [None]:
            found = _simulated(question, n, given)
            simulated = {key: getattr(found, key) for key in SIMULATED}
            records.append(_odds_record(question) | simulated)
    rows = [[*ODDS, *SIMULATED]]
    for record in records:
        row = [f"{record['n']:,}", f"{100 * record['power']:.1f} %", f"{100 * record['se']:.1f} %"]
        rows.append(
            [*_odds_cells(record), *row, f"{record['repetitions']:,}", f"{record['failed']:,}"]
        )
    title = (
        f"{kind}: power to find an odds ratio of {given['odds_ratio']:g}, a share of "
        f"{100 * given['share']:g} % in all, alpha = {given['alpha']:g}, two-sided"
    )
    write(_written(records, f"{title}\n{text_table(rows)}", form), output)


def _simulated(question: Question, n: int | None, given: dict[str, Any]) -> SimulatedPower:
    from analysis import logistic_power, logistic_sample_size
    from analysis.simulated_power import ROUNDS

    repetitions = given["repetitions"] or (5000 if n is None else 1000)
    effect = question, given["share"], given["odds_ratio"]
    settings = {key: given[key] for key in ("exposed", "alpha", "seed")}
    with progress_bar(repetitions * (ROUNDS + 1 if n is None else 1)) as progress:
        settings |= {"repetitions": repetitions, "progress": progress}
        if n is None:
            return logistic_sample_size(*effect, given["power"], **settings)
        return logistic_power(*effect, n, **settings)


# A survey


def _plan_survey(
    name: str, given: dict[str, Any], form: str, output: str, picture: str | None
) -> None:
    from analysis import plan_survey

    refused = (*OF_ONE_QUESTION, "sd", "one_sided", "repetitions", "seed")
    _refuse(given, refused, "is for a single question, not for a survey file")
    chosen = chosen_questions(read_survey(name), given["questions"])
    settings = {key: given[key] for key in ("level", "alpha")} | {
        key: usual if given[key] is None else given[key] for key, usual in USUAL.items()
    }
    plans = [plan for n in given["n"] or [USUAL_N] for plan in plan_survey(chosen, n, **settings)]
    text = (
        f"{_survey_table(plans, settings)}\n"
        f"margin: at {100 * settings['level']:g} %, of a share of {100 * settings['share']:g} % "
        f"or of a mean (its n: for {100 * settings['margin']:g} % of the range)\n"
        "difference: between two halves of n, found with a power of "
        f"{100 * settings['power']:g} % at alpha = {settings['alpha']:g}"
    )
    write(_written([_survey_record(plan) for plan in plans], text, form), output)
    if picture is not None:
        _draw_survey(plans, settings, picture)


def _survey_record(plan: QuestionPlan) -> dict[str, Any]:
    question = plan.question
    return {
        "question": question.id,
        "of": plan.of,
        "law": question.law.name,
        "epsilon": question.epsilon if question.protected else None,
        "n": plan.n,
        "margin": plan.margin,
        "difference": plan.difference,
        "n_for_margin": plan.n_for_margin,
    }


def _survey_table(plans: Sequence[QuestionPlan], settings: dict[str, Any]) -> str:
    points = f"n for ± {100 * settings['margin']:g} points"
    rows = [["question", "law", "ε", "n", "margin", "difference", points]]
    for plan in plans:
        question = plan.question

        def shown(value: float | None, mean: bool = plan.of == "mean") -> str:
            if value is None:
                return "–"
            return f"{value:,.4g}" if mean else f"{100 * value:.1f} points"

        epsilon = f"{question.epsilon:.3f}" if question.protected else "plain"
        row = [plan.name, question.law.name, epsilon, f"{plan.n:,}", f"± {shown(plan.margin)}"]
        rows.append([*row, shown(plan.difference), f"{plan.n_for_margin:,}"])
    return text_table(rows, 2)


def _draw_survey(plans: Sequence[QuestionPlan], settings: dict[str, Any], picture: str) -> None:
    from analysis.plots import plot_plan

    grid = _grid([plan.n for plan in plans])
    # Margins fall with the root of n.
    curves = {
        plan.name: [(n, 100 * plan.margin / plan.width * math.sqrt(plan.n / n)) for n in grid]
        for plan in plans
    }
    plot_plan(
        curves,
        picture,
        title="Margins of error to expect",
        label="margin (points; means: % of the range)",
        note=f"level {100 * settings['level']:g} %; of a share of {100 * settings['share']:g} %",
    )


# What all have in common


def _refuse(given: dict[str, Any], names: Sequence[str], reason: str) -> None:
    """Options that mean nothing here are an error, not ignored."""
    for name in names:
        # A zero is something given.
        if not (given[name] is None or given[name] is False or given[name] == ()):
            option = "--question" if name == "questions" else f"--{name.replace('_', '-')}"
            raise click.ClickException(f"{option} {reason}")


def _written(records: list[dict[str, Any]], text: str, form: str) -> str:
    if form == "csv":
        return records_csv(records)
    if form == "json":
        return json.dumps(records, ensure_ascii=False, indent=2) + "\n"
    return text + "\n"
