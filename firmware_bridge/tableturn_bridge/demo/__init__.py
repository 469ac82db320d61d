"""A whole game without people: the real service, bots that stage, a panel that confirms."""
