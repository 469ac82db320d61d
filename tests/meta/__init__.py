"""Tests of the project itself: generated code, packaging, committed files."""
