"""One codec for all documents: frozen dataclasses to JSON, back, and to a JSON Schema, from their annotations alone.

    object --encode--> text --decode--> an equal object, or the place of what does not fit

How a field is written follows from its type (docs/architecture.md, "One codec"); markers in the annotation say the
rest.
"""

from fairdsl.codec.annotations import FILLED, INLINE, KEYED, Exact, Lower, Upper
from fairdsl.codec.comments import comments_of
from fairdsl.codec.document import AlteredError, Document, Sealed, decode, encode, from_plain, plain, schema
from fairdsl.codec.mistakes import MisfitError, Place
from fairdsl.codec.numbers import Towards
from fairdsl.codec.text import located, placing, source_of, standing_at

__all__ = [
    "FILLED",
    "INLINE",
    "KEYED",
    "AlteredError",
    "Document",
    "Exact",
    "Lower",
    "MisfitError",
    "Place",
    "Sealed",
    "Towards",
    "Upper",
    "comments_of",
    "decode",
    "encode",
    "from_plain",
    "located",
    "placing",
    "plain",
    "schema",
    "source_of",
    "standing_at",
]
