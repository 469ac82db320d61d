"""Messages and services of the first protocol version, generated from the .proto files."""
