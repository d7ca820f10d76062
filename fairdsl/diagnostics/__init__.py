"""What fairdsl says to its users: findings as data, their codes, and two renderers."""

from fairdsl.diagnostics.codes import CODES, DISK_FAILED
from fairdsl.diagnostics.model import Diagnostic, DiagnosticError, Edit, Label, Reporter, Severity
from fairdsl.diagnostics.suggest import nearest

__all__ = [
    "CODES",
    "DISK_FAILED",
    "Diagnostic",
    "DiagnosticError",
    "Edit",
    "Label",
    "Reporter",
    "Severity",
    "nearest",
]
