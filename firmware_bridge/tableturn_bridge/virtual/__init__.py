"""A panel without a board: a model of its firmware, on a port that programs open like any other."""
