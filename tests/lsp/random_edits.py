"""Two specs, one of which uses the other, and edits of them as fingers and cats make them."""

from __future__ import annotations

import random

BASE = """\
## Wer 💶 leiht.
domain Applicant {
  sex : category { female, male, "non-binary" }
  savings : integer 0 .. 80
  older : boolean
}
protected sex
condition rich = savings >= 60
"""
SPEC = """\
audit "Ein 🂡 Paar"
use "base.fair"
let limit = 80%
model approve : Applicant -> { reject, grant }
  score = savings - 30 + 5 * (sex = male)
  grant when score > 0
  favourable grant
distribution all over Applicant
  uniform
property alike "💶" {
  compare a, b : Applicant
  differ in sex
  among rich or not older
  require same decision
}
property shares {
  across sex
  under all
  require impact_ratio >= limit
  measure parity_gap
}
"""
PIECES = [
    *("property", "domain", "when", "in", "and", "sex", "savings", "{", "}", "(", ")", ":", ",", ".", "..", "=", ">="),
    *(
        '"',
        "#",
        "##",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "0",
        "1e5",
        "80%",
        "é",
        "💶",
        "\u2028",
        "\x0c",
        "use",
        "metric m =",
    ),
    *('use "base.fair"', 'use "none.fair"', "measure fair_share", "for each s in sex", "apply preset", "\ufeff", "ß"),
]


def edited(text: str, dice: random.Random) -> str:
    """The text after one edit, as fingers and cats make them."""
    start = dice.randint(0, len(text))
    end = min(len(text), start + dice.choice((0, 0, 1, 1, 4, 30)))
    match dice.randrange(4):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:start] + dice.choice(PIECES) + text[start:]
        case 2:
            return text[:start] + dice.choice(PIECES) + text[end:]
    lines = text.split("\n")
    return "\n".join([*lines[: (at := dice.randrange(len(lines)))], dice.choice(lines), *lines[at:]])
