"""What games share: cubes, merchants, islands, harbour, frontier, bonus."""
