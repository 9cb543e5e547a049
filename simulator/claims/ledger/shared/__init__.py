"""What checks of several sources share: adversaries, exact values, laws of whole views."""
