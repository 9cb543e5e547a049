"""The standard mechanisms audited: what our draws prove, beside the truth and published bounds."""
