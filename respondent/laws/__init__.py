"""All laws, and ``LAWS`` to find one by the name it is published under."""

from .base import MOST_ANSWERS, MOST_CELLS, MOST_STEPS, MOST_TICKS, Law, NumberLaw, SupportLaw
from .choice import KAry, OneOf, Plain, Table
from .number import Distance, TwoPoint, Wave
from .sets import Projective, Subset, is_prime, members

LAWS: dict[str, type[Law]] = {
    law.name: law
    for law in (Plain, KAry, OneOf, Table, Subset, Projective, TwoPoint, Wave, Distance)
}

__all__ = [
    "LAWS",
    "MOST_ANSWERS",
    "MOST_CELLS",
    "MOST_STEPS",
    "MOST_TICKS",
    "Distance",
    "KAry",
    "Law",
    "NumberLaw",
    "OneOf",
    "Plain",
    "Projective",
    "Subset",
    "SupportLaw",
    "Table",
    "TwoPoint",
    "Wave",
    "is_prime",
    "members",
]
