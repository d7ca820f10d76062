"""What an ONNX file says about the file that it was made from.

``fairdsl prune`` writes into a file's metadata which network it was cut out of, so that nobody takes a verdict on
the one for a verdict on the other later.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["PRUNED_FROM", "REMOVED_UNITS", "pruned_from"]

#: Keys of the metadata: the SHA-256 of the network that was cut, and what was removed from it, in words.
PRUNED_FROM, REMOVED_UNITS = "fairdsl.pruned_from_sha256", "fairdsl.removed_units"


def pruned_from(path: str) -> tuple[str, str] | None:
    """The digest of the original of a pruned network and the units that it lacks; None for any other file."""
    content = Path(path).read_bytes()
    if PRUNED_FROM.encode() not in content:  # most files need not be parsed for this
        return None
    import onnx

    said = {entry.key: entry.value for entry in onnx.ModelProto.FromString(content).metadata_props}
    return (said[PRUNED_FROM], said.get(REMOVED_UNITS, "not said")) if PRUNED_FROM in said else None
