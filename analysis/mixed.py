"""Logistic regression with a random intercept: respondents in schools, regions, households."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from .channel import Floats, Ints
from .climb import Slopes, Top, climb, search
from .designs import Designs
from .hidden import Choice, Model, blocks, scored, softmax
from .intervals import check_level
from .logistic import Logistic, two_answers
from .multinomial import log_chances
from .regression import ERRORS, finished, inverse

#: Nodes of the quadrature over each group's intercept, and how often they are moved at most.
NODES, ROUNDS = 25, 30
SIGMA = ("groups", "sigma")


@dataclass(frozen=True, eq=False)
class Mixed(Logistic):
    """ln P(answer)/(1 − P(answer)) = x β + σ b, with b standard normal, the same for all of a
    group. Predictions are for a group with b = 0."""

    sigma: float
    groups: int


@dataclass(frozen=True, eq=False)
class Grouped:
    """The likelihood Π_g ∫ Π_{i in g} f(y_i | x_i β + σ b) φ(b) db, the integral by Gauss and
    Hermite's rule around ``centres`` with ``widths``, one of each for every group. σ is the
    coefficient of one more covariate, b, that is hidden and has known shares. Respondents are
    in the order of their groups, ``member``."""

    family: Choice
    covariates: Floats
    member: Ints
    centres: Floats
    widths: Floats

    @property
    def n(self) -> int:
        return len(self.member)

    def slopes(self, place: Floats) -> Slopes:
        nodes, found, posterior, value = self._nodes(place)
        information, complete = np.zeros((2, len(place), len(place)))
        mean = np.zeros((len(self.centres), len(place)))
        for x, each, share in zip(nodes, found, posterior, strict=True):
            own = self._by_group(scored([x], each.gradient))
            mean += own * share[:, None]
            information -= own.T @ (own * share[:, None])
            information += blocks([x], each.information * share[self.member])
            complete += blocks([x], each.complete * share[self.member])
        information += mean.T @ mean
        return Slopes(float(value.sum()), mean.sum(axis=0), information, complete.copy)

    def centred(self, place: Floats) -> Self:
        """The same with nodes where b of each group is, given its responses."""
        _, _, posterior, _ = self._nodes(place)
        b = self._b
        centres = (posterior * b).sum(axis=0)
        spread = np.sqrt((posterior * (b - centres) ** 2).sum(axis=0))
        # A width that falls between two nodes would never be seen again.
        return replace(self, centres=centres, widths=np.maximum(spread, self.widths / 4))

    def start(self) -> Floats:
        return self._start

    @cached_property
    def scale(self) -> Floats:
        return self.slopes(self.start()).complete()

    def other_starts(self, many: int) -> list[Floats]:
        """None: all were tried without groups."""
        return []

    def sample(self, rows: int) -> Self:
        return self

    @cached_property
    def _start(self) -> Floats:
        """The highest top without groups, and groups that differ a little."""
        ones = np.ones(self.n)
        nothing_hidden = np.zeros((1, self.n))
        alone = Model(self.family, (self.covariates,), nothing_hidden, ones[:, None], ones)
        return np.append(search(alone).place, 0.5)

    def _by_group(self, values: Floats) -> Floats:
        """Sums over the members of each group."""
        firsts = np.flatnonzero(np.diff(self.member, prepend=-1))
        return np.asarray(np.add.reduceat(values, firsts, axis=0))

    @property
    def _b(self) -> Floats:
        """Nodes × groups."""
        return self.centres + np.outer(hermegauss(NODES)[0], self.widths)

    def _nodes(self, place: Floats) -> tuple[list[Floats], list[Any], Floats, Floats]:
        """Covariates and slopes at every node, the nodes' posterior, and each group's value."""
        points, weights = hermegauss(NODES)
        b = self._b
        logs = np.log(weights / np.sqrt(2 * np.pi))[:, None] + np.log(self.widths)
        logs = logs + points[:, None] ** 2 / 2 - b**2 / 2
        nodes = [np.column_stack([self.covariates, each[self.member]]) for each in b]
        found = [self.family.slopes((x @ place)[None]) for x in nodes]
        sums = [self._by_group(each.value) for each in found]
        value, posterior = softmax(logs + np.stack(sums))
        return nodes, found, posterior, value


def mixed(
    formula: str,
    data: Any,
    designs: Mapping[str, Designs],
    group: str,
    *,
    arms: Mapping[str, str] | None = None,
    answer: str | None = None,
    level: float = 0.95,
) -> Mixed:
    """Logistic regression of a protected yes-no answer with a random intercept by ``group``.

    The likelihood is integrated by adaptive quadrature, the nodes moved to each group's mean
    and deviation until nothing changes. The other arguments are those of ``logistic``.

    References: van den Hout, van der Heijden & Gilchrist (2007); Naylor & Smith (1982) for
    the quadrature.
    """
    from .formula import read

    frame = read(formula, data, designs, arms, group=group)
    if frame.hidden:
        raise ValueError(
            f"formula: {frame.hidden[0].name} is protected; mixed takes a protected outcome only"
        )
    found = two_answers(frame)
    event = found.designs[0].answer(answer)
    groups, member = np.unique(frame.rows[group].to_numpy(dtype=str), return_inverse=True)
    if len(groups) < 2:
        raise ValueError(f"column {group}: must have more than one group")
    order = np.argsort(member, kind="stable")
    family = Choice(log_chances(found, [1 - event, event])[:, order])
    ends = np.zeros(len(groups)), np.ones(len(groups))
    hill, top = _settled(Grouped(family, frame.matrix.values[0][order], member[order], *ends))
    names = [*(("", term) for term in frame.matrix.columns), SIGMA]
    return Mixed(
        kind=f"Logistic regression, random intercept by {group}",
        frame=frame,
        outcome=f"{frame.outcome} = {found.answers[event]}",
        names=tuple(names),
        parts=("",),
        level=check_level(level),
        answer=found.answers[event],
        sigma=float(top.place[-1]),
        groups=len(groups),
        **vars(finished(hill, top, names, inverse(top), ERRORS["hessian"])),
    )


def _settled(hill: Grouped) -> tuple[Grouped, Top]:
    """The top, with the nodes where they belong."""
    top = climb(hill, hill.start())
    for _ in range(ROUNDS):
        # σ and −σ are the same model.
        place = np.append(top.place[:-1], abs(top.place[-1]))
        hill = hill.centred(place)
        last, top = top, climb(hill, place)
        if np.abs(top.place - last.place).max() < 1e-7:
            break
    return hill, top
