from .audit import audit, audit_answers
from .compositions import audit_composition, audit_views
from .result import AuditResult

__all__ = ["AuditResult", "audit", "audit_answers", "audit_composition", "audit_views"]
