"""Proofs that somebody else can check: what ``check --proof`` writes and ``fairdsl-verify`` reads (docs/proofs.md)."""

from fairdsl.proving.run import Proved, with_proofs
from fairdsl.proving.spec import prove_spec

__all__ = ["Proved", "prove_spec", "with_proofs"]
