"""The games: pure, without I/O and without a clock."""
