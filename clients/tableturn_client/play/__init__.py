"""Playing at a table in a terminal: `tableturn play TABLE`."""
