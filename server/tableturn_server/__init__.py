"""The Tableturn service: rules, tables, store and the gRPC front."""
