"""Tests of Tableturn; the folders mirror those of the source."""
