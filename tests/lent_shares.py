"""A spec of two shares that are refined, of everybody and under a distribution: some seventy tests added up."""

from __future__ import annotations

__all__ = ["SPEC"]

_STUMPS = [("age", 29, 1), ("income", 29, 1), ("debt", 9, 1)]
_SCORE = " ".join(
    f"+ {(5 * place + 3 * which) % 9 + 1} * ({column} {'>=' if place % 2 else '<'} {step * (place + 1)})"
    for which, (column, many, step) in enumerate(_STUMPS)
    for place in range(many)
)
SPEC = f"""fair 1
domain Person {{
  sex : category {{ women, men }}
  age : integer 0 .. 29
  income : integer 0 .. 29
  debt : integer 0 .. 9
}}
model grant : Person -> {{ deny, give }}
  score = 2 * (sex = men) {_SCORE}
  give when score >= 165
distribution people over Person
  sex : table {{ women : 0.6, men : 0.4 }}
  debt : uniform(0, 9)
  age : uniform(0, 19) given sex = women
  age : uniform(0, 29) given sex = men
  income : uniform(0, 29)
property of_everybody {{
  compare a, b : Person
  differ in sex
  measure fair_share
}}
property of_people {{
  compare a, b : Person
  differ in sex
  under people
  measure fair_share
}}
"""
