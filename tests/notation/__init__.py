"""Tests of the text form of actions."""
