"""Tableturn's wire format and notation, shared by service and clients."""
