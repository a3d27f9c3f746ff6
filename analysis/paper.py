"""For the paper: a methods paragraph, a codebook, and a script that recomputes every number.

All of it is made from the survey and its results; no number is typed in here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from math import ceil

from respondent import Question, Survey
from respondent.checking import Text, say
from respondent.laws import (
    Distance,
    KAry,
    Law,
    NumberLaw,
    OneOf,
    Plain,
    Projective,
    Subset,
    SupportLaw,
    Table,
    TwoPoint,
    Wave,
    members,
)

from .result import Result
from .shares import Shares

REFERENCES = {
    "Warner 1965": "Warner, S. L. (1965). Randomized response: a survey technique for eliminating "
    "evasive answer bias. Journal of the American Statistical Association 60, 63–69.",
    "Dwork et al. 2006": "Dwork, C., McSherry, F., Nissim, K., Smith, A. (2006). Calibrating noise "
    "to sensitivity in private data analysis. Theory of Cryptography Conference, 265–284.",
    "Boruch 1971": "Boruch, R. F. (1971). Assuring confidentiality of responses in social "
    "research: a note on strategies. The American Sociologist 6, 308–311.",
    "Greenberg et al. 1969": "Greenberg, B. G., Abul-Ela, A.-L. A., Simmons, W. R., Horvitz, D. G. "
    "(1969). The unrelated question randomized response model: theoretical framework. Journal of "
    "the American Statistical Association 64, 520–539.",
    "Yu et al. 2008": "Yu, J.-W., Tian, G.-L., Tang, M.-L. (2008). Two new models for survey "
    "sampling with sensitive characteristic: design and analysis. Metrika 67, 251–263.",
    "Wang et al. 2017": "Wang, T., Blocki, J., Li, N., Jha, S. (2017). Locally differentially "
    "private protocols for frequency estimation. USENIX Security Symposium, 729–745.",
    "van den Hout & van der Heijden 2002": "van den Hout, A., van der Heijden, P. G. M. (2002). "
    "Randomized response, statistical disclosure control and misclassification: a review. "
    "International Statistical Review 70, 269–288.",
    "McSherry & Talwar 2007": "McSherry, F., Talwar, K. (2007). Mechanism design via differential "
    "privacy. IEEE Symposium on Foundations of Computer Science, 94–103.",
    "Ye & Barg 2017": "Ye, M., Barg, A. (2017). Optimal schemes for discrete distribution "
    "estimation under local differential privacy. IEEE International Symposium on Information "
    "Theory, 759–763.",
    "Feldman et al. 2022": "Feldman, V., Nelson, J., Nguyen, H. L., Talwar, K. (2022). Private "
    "frequency estimation via projective geometry. International Conference on Machine Learning.",
    "Duchi et al. 2018": "Duchi, J. C., Jordan, M. I., Wainwright, M. J. (2018). Minimax optimal "
    "procedures for locally private estimation. Journal of the American Statistical Association "
    "113, 182–201.",
    "Li et al. 2020": "Li, Z., Wang, T., Lopuhaä-Zwakenberg, M., Li, N., Škorić, B. (2020). "
    "Estimating numerical distributions under local differential privacy. ACM SIGMOD "
    "International Conference on Management of Data, 621–635.",
    "Ghosh et al. 2012": "Ghosh, A., Roughgarden, T., Sundararajan, M. (2012). Universally "
    "utility-maximizing privacy mechanisms. SIAM Journal on Computing 41, 1673–1693.",
    "Wilson 1927": "Wilson, E. B. (1927). Probable inference, the law of succession, and "
    "statistical inference. Journal of the American Statistical Association 22, 209–212.",
    "Clopper & Pearson 1934": "Clopper, C. J., Pearson, E. S. (1934). The use of confidence or "
    "fiducial limits illustrated in the case of the binomial. Biometrika 26, 404–413.",
    "Dempster et al. 1977": "Dempster, A. P., Laird, N. M., Rubin, D. B. (1977). Maximum "
    "likelihood from incomplete data via the EM algorithm. Journal of the Royal Statistical "
    "Society B 39, 1–38.",
    "Goodman 1965": "Goodman, L. A. (1965). On simultaneous confidence intervals for multinomial "
    "proportions. Technometrics 7, 247–254.",
}  # fmt: skip

#: Named designs and whose they are.
DESIGNS = {
    "warner": ("Warner's design", "Warner 1965"),
    "forced": ("the forced-response design", "Boruch 1971"),
    "unrelated": ("the unrelated-question design", "Greenberg et al. 1969"),
    "crosswise": ("the crosswise design", "Yu et al. 2008"),
}

LIMITS = (
    "The estimates assume that respondents answered their own device honestly and that the "
    "device randomised as published; they do not correct for people who gave a safe answer "
    "regardless. Intervals for the population assume that respondents are a random sample of "
    "it; they do not cover non-response, coverage or measurement error. ε bounds what one "
    "report can tell about one person's answers, whatever else is known; a person who sends "
    "several reports is protected less. Questions sent as they are carry no such protection."
)

#: Tables of weights with more rows or columns than this are described instead.
MOST_SHOWN = 12
#: Larger weights are left to the codebook.
MOST_WEIGHT = 10_000
#: Sets are listed one by one up to this many.
MOST_SETS = 60


def software() -> str:
    """Name and version of this software."""
    try:
        return f"Deniable {version('deniable')}"
    except PackageNotFoundError:
        return "Deniable (run from source, no version installed)"


# The methods paragraph


def methods_paragraph(survey: Survey, results: Iterable[Result] | Mapping[str, Result]) -> str:
    """How the numbers came to be, in Markdown, ready to be edited into a methods section."""
    found = list(results.values() if isinstance(results, Mapping) else results)
    if not found:
        raise ValueError("results: there must be at least one")
    for result in found:
        _check_belongs(survey, result)
    cited = ["Warner 1965", "Dwork et al. 2006"]
    protected = [result.question for result in found if result.question.protected]
    sentences = [
        f"Answers to the survey “{say(survey.title, 'en')}” ({survey.id}) were randomised on each "
        "respondent's own device before anything was sent (randomised response, Warner 1965), by "
        "exact draws with the whole-number odds given below, so that only noisy responses were "
        "collected.",
        f"All {len([q for q in survey if q.protected])} protected questions together satisfy "
        f"local differential privacy (Dwork et al. 2006) with ε = {_up(survey.epsilon_bound)}"
        + (f" and δ = {survey.delta:.2g}" if survey.delta else "")
        + " for each respondent, the sum over questions.",
    ]
    for result in found:
        sentences.append(_question_sentence(result, cited))
    if any(isinstance(question.law, SupportLaw) for question in protected):
        _cite(cited, "Wang et al. 2017")
        sentences.append(
            "For responses that support an answer with chance p if it is the true one and q if "
            "not, its share was estimated by (λ̂ − q)/(p − q), λ̂ being the share of supporting "
            "responses (Wang et al. 2017); estimates are unbiased and were not clipped."
        )
    sentences += _interval_sentences(found, cited)
    numbers = {result.n for result in found}
    skipped = " (fewer for questions not shown to all)" if len(numbers) > 1 else ""
    sentences.append(
        f"There were {max(result.n + result.not_asked for result in found):,} reports{skipped}. "
        f"Computations used {software()}; the survey's fingerprint (SHA-256 of the published "
        f"document with all weights) is {survey.fingerprint}."
    )
    sentences.append(LIMITS)
    references = "\n".join(f"- {REFERENCES[name]}" for name in sorted(cited, key=str.casefold))
    return f"{' '.join(sentences)}\n\nReferences\n\n{references}\n"


def _check_belongs(survey: Survey, result: Result) -> None:
    if result.question not in survey.questions:
        raise ValueError(f"results: {result.question.id} is not a question of this survey")
    if result.fingerprint not in (None, survey.fingerprint):
        raise ValueError(f"results: {result.question.id} was estimated for another survey")


def _cite(cited: list[str], name: str) -> str:
    if name not in cited:
        cited.append(name)
    return name


def _question_sentence(result: Result, cited: list[str]) -> str:
    question = result.question
    start = f"Question “{question.id}” ({question.kind}, n = {result.n:,})"
    if not question.protected:
        return f"{start} was sent as it is."
    delta = f", δ = {question.delta:.2g}" if question.delta else ""
    design = ""
    if question.design in DESIGNS:
        name, whose = DESIGNS[question.design]
        design = f" used {name} ({_cite(cited, whose)}):"
    what = "; ".join(_law_phrases(question, cited))
    return f"{start}{design or ':'} {what} (ε = {_up(question.epsilon_bound)}{delta})."


def _law_phrases(question: Question, cited: list[str]) -> Iterator[str]:
    law = question.law
    if isinstance(law, KAry):
        yield f"odds of {law.truth} for the true answer to {law.other} for each other answer"
        yield f"p = {law.p}, q = {law.q}"
    elif isinstance(law, OneOf):
        yield (
            f"one of the {law.options} options, drawn uniformly, was reported with odds of "
            f"{law.truth} to {law.other} for the truth about it"
        )
        yield f"p = {law.p}, q = {law.q}"
    elif isinstance(law, Table):
        _cite(cited, "van den Hout & van der Heijden 2002")
        if max(map(max, law.rows)) < MOST_WEIGHT and law.answers <= MOST_SHOWN:
            rows = "; ".join(
                f"{_text(option)} {' : '.join(map(str, row))}"
                for option, row in zip(question.options, law.rows, strict=True)
            )
            yield f"responses were drawn with the weights {rows}"
        elif _falls_with_distance(law):
            whose = _cite(cited, "McSherry & Talwar 2007")
            yield (
                f"scores were drawn with the exponential mechanism ({whose}), whose weights, given "
                "in the codebook, fall with the distance from the true score"
            )
        else:
            yield "responses were drawn with the weights given in the codebook"
        yield (
            "shares were estimated by inverting this channel P, π̂ = P⁻¹λ̂ with covariance "
            "P⁻¹(diag λ − λλᵀ)P⁻ᵀ/(n − 1) (van den Hout & van der Heijden 2002)"
        )
    elif isinstance(law, Subset):
        yield (
            f"a set of {law.size} of the {law.answers} answers was sent, with weight {law.inside} "
            f"if the true one is in it to {law.outside} if not ({_cite(cited, 'Ye & Barg 2017')})"
        )
        yield f"p = {law.p}, q = {law.q}"
    elif isinstance(law, Projective):
        yield (
            f"a point of the projective space of dimension {law.dimension - 1} over the field of "
            f"{law.prime} elements was sent, with weight {law.inside} if orthogonal to the "
            f"answer's to {law.outside} if not ({_cite(cited, 'Feldman et al. 2022')})"
        )
        yield f"p = {law.p}, q = {law.q}"
    else:
        yield from _number_phrases(question, law, cited)


def _number_phrases(question: Question, law: Law, cited: list[str]) -> Iterator[str]:
    if isinstance(law, TwoPoint):
        yield (
            f"“low” or “high” was sent, with weights that run linearly from {law.truth} : "
            f"{law.other} at {question.value(0)} to {law.other} : {law.truth} at "
            f"{question.value(law.steps)} ({_cite(cited, 'Duchi et al. 2018')})"
        )
        yield (
            f"the mean was estimated on the range's scale by (λ̂ − q)/(p − q) with "
            f"p = {Fraction(law.truth, law.truth + law.other)}, "
            f"q = {Fraction(law.other, law.truth + law.other)} and λ̂ the share of “high”"
        )
    elif isinstance(law, Wave):
        _cite(cited, "Dempster et al. 1977")
        yield (
            f"a cell was sent, with weight {law.near} up to {law.half_width} steps from the answer "
            f"to {law.far} elsewhere ({_cite(cited, 'Li et al. 2020')})"
        )
        yield (
            "the mean was estimated by unbiased scores and the distribution by EM with smoothing, "
            "its band from a bootstrap of the counts"
        )
    else:
        assert isinstance(law, Distance)
        kind = "Gaussian noise"
        if not law.bound:
            whose = _cite(cited, "Ghosh et al. 2012")
            kind = f"two-sided geometric (Laplace) noise ({whose})"
        yield f"{kind} was added, in steps of {question.step}, clamped to the cells sent"
        yield "the mean was estimated by unbiased scores"


def _falls_with_distance(law: Table) -> bool:
    first = law.rows[0]
    return law.answers == law.responses and all(
        weight == first[abs(x - y)] and first[0] == max(first)
        for x, row in enumerate(law.rows)
        for y, weight in enumerate(row)
    )


def _interval_sentences(results: Sequence[Result], cited: list[str]) -> Iterator[str]:
    groups: dict[tuple[str, float, str], list[str]] = {}
    for result in results:
        key = (result.method, result.level, result.target)
        groups.setdefault(key, []).append(f"“{result.question.id}”")
    for (method, level, target), names in groups.items():
        whom = "the population" if target == "population" else "these respondents"
        yield (
            f"Intervals for {', '.join(names)} are at level {100 * level:g} %, for {whom}: "
            f"{method}" + ("." if "mapped" in method else ", mapped through the estimator.")
        )
        if "Wilson" in method:
            _cite(cited, "Wilson 1927")
        if "Clopper" in method:
            _cite(cited, "Clopper & Pearson 1934")
        if "all at once" in method:
            _cite(cited, "Goodman 1965")
    if any(isinstance(r, Shares) and r.question.protected for r in results):
        _cite(cited, "Dempster et al. 1977")
        yield (
            "Feasible estimates are the maximum-likelihood shares on the simplex "
            "(Dempster et al. 1977)."
        )


def _up(epsilon: Fraction) -> str:
    """ε to four decimals, rounded up: never less than it is."""
    return f"{Decimal(ceil(epsilon * 10_000)) / 10_000:f}".rstrip("0").rstrip(".")


# The codebook


def codebook(survey: Survey) -> str:
    """Every question with its kind, options, law, weights, ε and what responses mean."""
    protected = [question for question in survey if question.protected]
    parts = [
        f"# Codebook of {_text(survey.title)}",
        f"- Survey: `{survey.id}`\n- Fingerprint: `{survey.fingerprint}`\n"
        f"- Questions: {len(survey.questions)}, of which {len(protected)} protected\n"
        f"- ε of all responses of one person: {_up(survey.epsilon_bound)}"
        + (f"\n- δ: {survey.delta:.3g}" if survey.delta else "")
        + f"\n- Made by: {software()}",
        "P(response | answer) = weight / total of the answer's row. Responses are whole "
        "numbers; a table of reports has one column for each question, named by its id.",
    ]
    parts += [_entry(number, question) for number, question in enumerate(survey, 1)]
    return "\n\n".join(parts) + "\n"


def _entry(number: int, question: Question) -> str:
    law = question.law
    facts = [f"- Kind: {question.kind}", f"- Law: {law.name}{_parameters(law)}"]
    if question.design:
        facts.append(f"- Design: {question.design}")
    if question.protected:
        facts.append(f"- ε: {_up(question.epsilon_bound)}")
        facts.append(f"- Largest ratio of two answers' chances: {_ratio(law)}")
        if question.delta:
            facts.append(f"- δ: {question.delta:.3g}")
        if isinstance(law, SupportLaw):
            facts.append(f"- p = {law.p}, q = {law.q}")
    else:
        facts.append("- ε: none, sent as it is")
    if question.kind == "number":
        last = law.answers - 1 - (1 if question.skip else 0)
        unit = f" {_text(question.unit)}" if question.unit else ""
        facts.append(
            f"- Answers: {question.value(0)} to {question.value(last)} in steps of "
            f"{question.step}{unit}"
        )
    for condition in question.show_if:
        among = ", ".join(map(str, condition.among))
        facts.append(f"- Shown if the response to `{condition.question}` is one of: {among}")
    parts = [f"## {number}. `{question.id}`", _text(question.ask), "\n".join(facts)]
    if question.options:
        parts.append(_options(question))
    parts.append(f"Responses, {law.responses + (1 if question.show_if else 0):,}:")
    parts.append("\n".join(f"- {line}" for line in _meanings(question)))
    weights = _weights(question)
    return "\n\n".join([*parts, *([weights] if weights else [])])


def _ratio(law: Law) -> str:
    ratio = Fraction(law.ratio)
    return f"{ratio}" if ratio.denominator < 10**6 else f"about {float(ratio):.6g}"


def _parameters(law: Law) -> str:
    found = [
        (name.replace("_", "-"), value)
        for name, value in vars(law).items()
        if isinstance(value, int) and not name.startswith("_") and name != "answers"
    ]
    return f" ({', '.join(f'{name} {value}' for name, value in found)})" if found else ""


def _text(text: Text | None) -> str:
    """As Markdown: on one line, with no sign that a table would read as its own."""
    words = " ".join(say(text, "en").split()) if text else ""
    return words.replace("\\", "\\\\").replace("|", "\\|")


def _options(question: Question) -> str:
    rows = [f"| {place} | {_text(option)} |" for place, option in enumerate(question.options)]
    return "\n".join(["| answer | option |", "| ---: | --- |", *rows])


def _meanings(question: Question) -> Iterator[str]:
    """What each response number says."""
    yield from _law_meanings(question)
    if question.not_asked is not None:
        yield f"{question.not_asked}: the question was not shown"


def _law_meanings(question: Question) -> Iterator[str]:
    law = question.law
    named = question.labels or question.options
    if question.kind == "choices" and isinstance(law, Plain):
        yield "a bit mask: option i is ticked if bit i (worth 2^i) is set"
    elif isinstance(law, OneOf):
        for place, option in enumerate(question.options):
            yield f"{2 * place}: “{_text(option)}” was drawn and reported as not ticked"
            yield f"{2 * place + 1}: “{_text(option)}” was drawn and reported as ticked"
    elif isinstance(law, Subset):
        yield "a set of answers, numbered colexicographically: C(c₁,1) + C(c₂,2) + …, c₁ < c₂ < …"
        for response in range(law.responses if law.responses <= MOST_SETS else 0):
            found = sorted(members(response, law.size))
            yield f"{response}: {', '.join(_text(question.options[place]) for place in found)}"
    elif isinstance(law, Projective):
        yield (
            f"a point over the field of {law.prime} elements, numbered by its vector of "
            f"{law.dimension} coordinates with first non-zero coordinate 1, in ascending order; "
            "it supports the answers whose points are orthogonal to it"
        )
    elif isinstance(law, TwoPoint):
        yield "0: low"
        yield "1: high"
    elif isinstance(law, Wave | Distance):
        beyond = law.half_width if isinstance(law, Wave) else law.margin
        ends = f"{question.value(-beyond)} to {question.value(law.steps + beyond)}"
        yield f"r: the cell {question.value(-beyond)} + r × {question.step}, from {ends}"
        if isinstance(law, Distance):
            yield f"0 and {law.responses - 1} also stand for everything beyond them"
    elif question.kind == "number":
        yield f"r: the number {question.value(0)} + r × {question.step}"
        if question.skip:
            yield f"{law.responses - 1}: skipped"
    else:
        for place, label in enumerate(named):
            yield f"{place}: {_text(label)}"


def _weights(question: Question) -> str:
    law = question.law
    if isinstance(law, Plain):
        return ""
    if isinstance(law, Distance):
        shown = ", ".join(map(str, law.weights[:MOST_SHOWN]))
        more = f" and so on to distance {len(law.weights) - 1}" if len(law.weights) > 12 else ""
        return f"Weights by distance from the answer: {shown}{more}; total {law.total(0)}."
    small = law.answers <= MOST_SHOWN and law.responses <= MOST_SHOWN
    if isinstance(law, NumberLaw | OneOf) or not (small or isinstance(law, Table)):
        return _sentence(law)
    responses = range(law.responses)
    rows = [
        [_text(option), *(str(law.weight(x, r)) for r in responses), str(law.total(x))]
        for x, option in enumerate(question.options)
    ]
    header = ["weight of response", *map(str, responses), "total"]
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _sentence(law: Law) -> str:
    total = law.total(0)
    if isinstance(law, KAry):
        return f"Weights: {law.truth} for the answer, {law.other} for each other; total {total}."
    if isinstance(law, OneOf):
        return (
            f"Weights: {law.truth} for the truth about the drawn option, {law.other} for its "
            f"opposite, alike for all {law.options} options; total {total}."
        )
    if isinstance(law, Subset):
        return (
            f"Weights: {law.inside} for a set that holds the answer, {law.outside} for any other, "
            f"of sets of {law.size}."
        )
    if isinstance(law, Projective):
        return (
            f"Weights: {law.inside} for a point orthogonal to the answer's, {law.outside} for any "
            f"other; total {total}."
        )
    if isinstance(law, TwoPoint):
        return (
            f"Weights of “high” at step i of {law.steps}: {law.other} × ({law.steps} − i) + "
            f"{law.truth} × i; of “low”: {law.truth} × ({law.steps} − i) + {law.other} × i; "
            f"total {total}."
        )
    assert isinstance(law, Wave)
    return (
        f"Weights: {law.near} for cells up to {law.half_width} steps from the answer, {law.far} "
        f"for the others; total {total}."
    )


# The script


def recompute_script(survey: Survey, level: float = 0.95) -> str:
    """A Python script that recomputes every estimate from a downloaded file of reports."""
    return SCRIPT.format(
        title=" ".join(say(survey.title, "en").split()).replace("\\", "").replace('"', "'"),
        software=software(),
        survey=repr(survey.publish().decode("utf-8")),
        fingerprint=survey.fingerprint,
        level=level,
    )


SCRIPT = '''"""Recomputes every estimate of the survey: {title}

    pip install "deniable[analysis]"
    python recompute.py reports.csv [estimates.csv]

The reports may be CSV, JSON lines, Parquet or the collector's database. Tables are
printed; estimates.csv, if named, gets all digits. Written by {software}.
"""

import csv
import sys

from analysis import counts, estimate
from respondent import Survey

LEVEL = {level!r}
FINGERPRINT = "{fingerprint}"
SURVEY = {survey}

if len(sys.argv) not in (2, 3):
    sys.exit("usage: python recompute.py reports.csv [estimates.csv]")
survey = Survey.from_published(SURVEY.encode())
assert survey.fingerprint == FINGERPRINT, "the survey was changed"
found = counts(survey, sys.argv[1])
records = []
for question in survey:
    try:
        result = estimate(
            question, found[question.id], level=LEVEL, fingerprint=survey.fingerprint
        )
    except ValueError as problem:
        print(problem)
        continue
    print(result)
    print()
    records += result.records()
if len(sys.argv) == 3 and records:
    with open(sys.argv[2], "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), lineterminator="\\n")
        writer.writeheader()
        writer.writerows(records)
'''
