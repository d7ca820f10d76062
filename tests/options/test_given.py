"""What counts as set: what is named, also where it is the default."""

from __future__ import annotations

from fairdsl.backends.ssat.options import PbEncoding, SsatOptions
from fairdsl.options import Run, options_of


def test_a_default_that_is_written_is_set() -> None:
    (section,) = options_of(Run(), {"ssat": {"pb_encoding": "diagram"}}, {"ssat": SsatOptions}).sections
    assert isinstance(section, SsatOptions)
    assert section.pb_encoding is PbEncoding.DIAGRAM
    assert section.given == ("ssat.pb_encoding",)
    assert section == SsatOptions()
    assert SsatOptions().given == ()
