"""The authority at a table: commands go in, changes come out. Pure: no I/O, no clock."""
