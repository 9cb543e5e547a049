from .auditing import AuditResult, audit, audit_answers, audit_composition, audit_views
from .testing import PrivacyViolation, assert_accountant, assert_composition, assert_private

__all__ = [
    "AuditResult",
    "PrivacyViolation",
    "assert_accountant",
    "assert_composition",
    "assert_private",
    "audit",
    "audit_answers",
    "audit_composition",
    "audit_views",
]
