"""What an ONNX file says about the file that it was made from.

``fairdsl prune`` writes into a file's metadata which network it was cut out of, so that nobody takes a verdict on
the one for a verdict on the other later.
"""

from __future__ import annotations

from fairdsl.source.reading import content_of

__all__ = ["PRUNED_FOR", "PRUNED_FROM", "REMOVED_UNITS", "pruned_from"]

#: Keys of the metadata: the SHA-256 of the network that was cut, and what was removed from it, in words.
PRUNED_FROM, REMOVED_UNITS = "fairdsl.pruned_from_sha256", "fairdsl.removed_units"
#: Of a network that was cut for a part of the domain: which part, in words.
PRUNED_FOR = "fairdsl.pruned_for"


def pruned_from(path: str) -> tuple[str, str] | None:
    """The digest of the original of a pruned network, and the units that it lacks in words; None for any other file.

    Where the units are missing for the sake of a part of the domain, the words say which.
    """
    content = content_of(path)
    if PRUNED_FROM.encode() not in content:  # most files need not be parsed for this
        return None
    import onnx

    said = {entry.key: entry.value for entry in onnx.ModelProto.FromString(content).metadata_props}
    if PRUNED_FROM not in said:
        return None
    part = f", for {said[PRUNED_FOR]}" if PRUNED_FOR in said else ""
    return said[PRUNED_FROM], said.get(REMOVED_UNITS, "not said") + part
