"""The gRPC servicers, authentication, error mapping and interceptors."""
