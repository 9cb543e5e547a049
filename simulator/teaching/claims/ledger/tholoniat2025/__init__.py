"""Claims of Tholoniat and others on the budgets of the W3C Attribution API."""
