"""The bridge between a panel of lamps and buttons and the turn service."""
