from .for_dp_accounting import CertifiedDpAccountant
from .for_opacus import CertifiedOpacusAccountant

__all__ = ["CertifiedDpAccountant", "CertifiedOpacusAccountant"]
