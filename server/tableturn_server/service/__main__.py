"""`python -m tableturn_server.service` serves, as `tableturn serve` does."""

from tableturn_server.service.command import serve

serve()
