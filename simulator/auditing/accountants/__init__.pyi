from .for_dp_accounting import CertifiedDpAccountant as CertifiedDpAccountant
from .for_opacus import CertifiedOpacusAccountant as CertifiedOpacusAccountant

__all__ = ["CertifiedDpAccountant", "CertifiedOpacusAccountant"]
