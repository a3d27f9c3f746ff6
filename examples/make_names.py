"""Writes names.toml: a long list of 10,000 invented place names.

python examples/make_names.py > examples/names.toml
"""

from itertools import islice, product

STARTS = ["Al", "Bra", "Cor", "Dun", "El", "Fen", "Gar", "Hol", "Ing", "Jar", "Kel", "Lan"]
MIDDLES = ["a", "be", "co", "di", "er", "fo", "gan", "hil", "in", "kes", "lo", "mar"]
ENDS = [
    "bach",
    "bury",
    "by",
    "dale",
    "field",
    "ford",
    "ham",
    "ley",
    "mouth",
    "stead",
    "ton",
    "wick",
]

HEAD = """\
# A long list: 10,000 invented place names. Made by make_names.py.
id = "names"
title = "Where were you at school?"

[[question]]
id = "place"
ask = "In which of these places did you go to school?"
kind = "list"
epsilon = 1.0
options = ["""


def names() -> list[str]:
    parts = product(STARTS, MIDDLES, MIDDLES, ENDS)
    return list(islice(dict.fromkeys(map("".join, parts)), 10_000))


if __name__ == "__main__":
    print(HEAD)
    for name in names():
        print(f'  "{name}",')
    print("]")
