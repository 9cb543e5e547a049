from .audit import (
    audit as audit,
    audit_answers as audit_answers,
)
from .compositions import (
    audit_composition as audit_composition,
    audit_views as audit_views,
)
from .one_run import (
    OneRunAudit as OneRunAudit,
    audit_one_run as audit_one_run,
)
from .result import AuditResult as AuditResult

__all__ = [
    "AuditResult",
    "OneRunAudit",
    "audit",
    "audit_answers",
    "audit_composition",
    "audit_one_run",
    "audit_views",
]
