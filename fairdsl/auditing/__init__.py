"""An audit of predictions alone: two arrays and who is protected, no spec and no model."""

from fairdsl.auditing.audit import audit_arrays, audit_table
from fairdsl.auditing.audited import Audited

__all__ = ["Audited", "audit_arrays", "audit_table"]
