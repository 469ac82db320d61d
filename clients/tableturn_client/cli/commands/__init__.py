"""The commands, one module for each part of an evening."""
