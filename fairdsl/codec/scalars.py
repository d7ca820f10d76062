"""Forms of single values: texts, numbers, truth values, members of enumerations, places in source files."""

from __future__ import annotations

import re
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

from fairdsl.codec.form import Form, JsonObject, Schemas
from fairdsl.codec.mistakes import Place
from fairdsl.codec.numbers import RATIO, json_number, ratio, read_ratio

#: Decimals beyond 10**300 (or below 10**-300) are refused: no float is near them, and they are slow to compute with.
_LARGEST_EXPONENT = 300
_EXACT = re.compile(r"-?[0-9]+(\.[0-9]{1,4000}|/[0-9]+)?")
_RATIO_SCHEMA = {"type": "string", "pattern": f"^{RATIO.pattern}$"}


class NullForm(Form):
    """``None``."""

    kinds = frozenset({"null"})

    def takes(self, value: Any) -> bool:
        return value is None

    def encode(self, value: Any) -> Any:
        return None

    def decode(self, plain: Any, place: Place) -> Any:
        if plain is not None:
            raise place.misfit("is not null")

    def schema(self, schemas: Schemas) -> JsonObject:
        return {"type": "null"}


class BooleanForm(Form):
    """``True`` and ``False``."""

    kinds = frozenset({"boolean"})

    def takes(self, value: Any) -> bool:
        return isinstance(value, bool)

    def encode(self, value: Any) -> Any:
        return bool(value)

    def decode(self, plain: Any, place: Place) -> bool:
        if not isinstance(plain, bool):
            raise place.misfit("is not true or false")
        return plain

    def schema(self, schemas: Schemas) -> JsonObject:
        return {"type": "boolean"}


class IntegerForm(Form):
    """Whole numbers; Python writes and reads those of at most 4300 digits."""

    kinds = frozenset({"integer"})

    def takes(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def encode(self, value: Any) -> Any:
        return int(value)

    def decode(self, plain: Any, place: Place) -> int:
        if not isinstance(plain, int) or isinstance(plain, bool):
            raise place.misfit("is not a whole number")
        return plain

    def schema(self, schemas: Schemas) -> JsonObject:
        return {"type": "integer"}


def _finite(plain: Any, place: Place) -> int | float | Decimal:
    """A JSON number, if a float can hold it."""
    if isinstance(plain, bool) or not isinstance(plain, int | float | Decimal):
        raise place.misfit("is not a number")
    if isinstance(plain, float) and not isfinite(plain):
        raise place.misfit("is beyond the numbers that are read")
    if isinstance(plain, Decimal) and plain and abs(plain.adjusted()) > _LARGEST_EXPONENT:
        raise place.misfit("is beyond the numbers that are read")
    return plain


class FloatForm(Form):
    """Finite floats."""

    kinds = frozenset({"integer", "number"})

    def takes(self, value: Any) -> bool:
        return isinstance(value, float)

    def encode(self, value: Any) -> Any:
        if not isfinite(value):
            raise ValueError(f"{value} is not a number of JSON")
        return float(value)

    def decode(self, plain: Any, place: Place) -> float:
        try:
            return float(_finite(plain, place))
        except OverflowError as error:
            raise place.misfit("is beyond the numbers that are read") from error

    def schema(self, schemas: Schemas) -> JsonObject:
        return {"type": "number"}


class FractionForm(Form):
    """Exact numbers: a JSON number where that is the very number, else ``"p/q"``.

    ``whole``: in a union with integers, where a whole number is written with a point.
    """

    kinds = frozenset({"integer", "number", "string"})

    def __init__(self, *, whole: bool = True) -> None:
        """``whole``: whole numbers are written without a point."""
        self._whole = whole

    def takes(self, value: Any) -> bool:
        return isinstance(value, Fraction)

    def encode(self, value: Any) -> Any:
        written = json_number(value)
        return float(written) if isinstance(written, int) and not self._whole else written

    def decode(self, plain: Any, place: Place) -> Fraction:
        if isinstance(plain, str):
            return ratio_of(plain, place)
        return Fraction(_finite(plain, place))

    def schema(self, schemas: Schemas) -> JsonObject:
        return {"anyOf": [{"type": "number"}, _RATIO_SCHEMA]}


def ratio_of(plain: Any, place: Place) -> Fraction:
    """A number that is written as ``p/q``."""
    if not isinstance(plain, str) or not RATIO.fullmatch(plain):
        raise place.misfit("is not a fraction `p/q`")
    try:
        return read_ratio(plain)
    except ValueError as error:
        raise place.misfit("has too many digits") from error


class ExactForm(Form):
    """Exact numbers that are never written as floats: text, ``3/10``, ``0.3`` or ``3``, or a whole number."""

    kinds = frozenset({"integer", "string"})

    def takes(self, value: Any) -> bool:
        return isinstance(value, Fraction)

    def encode(self, value: Any) -> Any:
        return ratio(value).removesuffix("/1")

    def decode(self, plain: Any, place: Place) -> Fraction:
        if isinstance(plain, int) and not isinstance(plain, bool):
            return Fraction(plain)
        if not isinstance(plain, str) or not _EXACT.fullmatch(plain):
            raise place.misfit('is not an exact number: a whole one, or text as "3/10"')
        try:
            return read_ratio(plain)
        except ZeroDivisionError as error:
            raise place.misfit("has the denominator 0") from error
        except ValueError as error:
            raise place.misfit("has too many digits") from error

    def schema(self, schemas: Schemas) -> JsonObject:
        return {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": f"^{_EXACT.pattern}$"}]}


class TextForm(Form):
    """Text. ``beside_numbers``: in a union with exact numbers, where text that looks like ``p/q`` is an object."""

    kinds = frozenset({"string"})

    def takes(self, value: Any) -> bool:
        return isinstance(value, str)

    def encode(self, value: Any) -> Any:
        return str(value)

    def decode(self, plain: Any, place: Place) -> str:
        if not isinstance(plain, str):
            raise place.misfit("is not text")
        try:
            plain.encode()
        except UnicodeEncodeError as error:
            raise place.misfit("has half a surrogate pair, which is not a character") from error
        return plain

    def schema(self, schemas: Schemas) -> JsonObject:
        return {"type": "string"}


class PathForm(TextForm):
    """Paths of files, as text."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, Path)

    def decode(self, plain: Any, place: Place) -> Any:
        return Path(super().decode(plain, place))


class ChoiceForm(Form):
    """Members of an enumeration by their values, or texts of a ``Literal``."""

    kinds = frozenset({"string"})

    def __init__(self, members: dict[Any, Any]) -> None:
        """``members`` by what is written for them."""
        self._members = members
        self._written = {member: written for written, member in members.items()}
        if not all(isinstance(written, str) for written in members):
            self.kinds = frozenset({"integer"})

    @classmethod
    def of(cls, kind: type[Enum]) -> ChoiceForm:
        """The form of an enumeration."""
        return cls({member.value: member for member in kind})

    def takes(self, value: Any) -> bool:
        return type(value) is type(next(iter(self._written))) and value in self._written

    def encode(self, value: Any) -> Any:
        return self._written[value]

    def decode(self, plain: Any, place: Place) -> Any:
        # True is 1, and a list has no hash.
        if isinstance(plain, str | int) and not isinstance(plain, bool) and plain in self._members:
            return self._members[plain]
        raise place.misfit(f"is not one of {', '.join(str(written) for written in self._members)}")

    def schema(self, schemas: Schemas) -> JsonObject:
        return {"enum": list(self._members)}


class PlainForm(Form):
    """Plain JSON, whatever it is (``Any``)."""

    kinds = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})

    def takes(self, value: Any) -> bool:
        return True

    def encode(self, value: Any) -> Any:
        return value

    def decode(self, plain: Any, place: Place) -> Any:
        match plain:
            case dict():
                return {key: self.decode(value, place.at(key)) for key, value in plain.items()}
            case list():
                return [self.decode(value, place.at(number)) for number, value in enumerate(plain)]
            case float() | Decimal():
                return _finite(plain, place)
            case str():
                return TextForm().decode(plain, place)
        return plain

    def schema(self, schemas: Schemas) -> JsonObject:
        return {}
