from .audit import (
    audit as audit,
    audit_answers as audit_answers,
)
from .compositions import (
    audit_composition as audit_composition,
    audit_views as audit_views,
)
from .result import AuditResult as AuditResult

__all__ = ["AuditResult", "audit", "audit_answers", "audit_composition", "audit_views"]
