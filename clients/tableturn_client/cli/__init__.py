"""The command line, `tableturn`."""
