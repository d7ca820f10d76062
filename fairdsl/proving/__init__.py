"""Proofs that somebody else can check: what ``check --proof`` writes and ``fairdsl-verify`` reads (docs/proofs.md)."""

from fairdsl.proving.run import Proved
from fairdsl.proving.spec import prove_spec
from fairdsl.proving.taken_over import with_proofs

__all__ = ["Proved", "prove_spec", "with_proofs"]
