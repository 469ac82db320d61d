"""One module for each game, composed of mechanics."""
