"""Every method of `tableturn.v1`, read off the descriptors: also one that is added later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tableturn.v1 import catalog_pb2, company_pb2, panel_pb2, table_pb2
from tests.e2e.calls import TIMEOUT, Connection, bearer

MODULES: tuple[Any, ...] = (table_pb2, company_pb2, panel_pb2, catalog_pb2)


@dataclass(frozen=True)
class Method:
    """A method, and what it is asked and answers."""

    service: str
    name: str
    request: Any
    response: Any
    streams: bool

    @property
    def path(self) -> str:
        return f"/{self.service}/{self.name}"

    @property
    def fields(self) -> set[str]:
        """The names of the fields of its request."""
        return set(self.request.DESCRIPTOR.fields_by_name)

    def filled(self, values: dict[str, Any]) -> Any:
        """Its request, with those of the values for which it has a field."""
        return self.request(**{k: v for k, v in values.items() if k in self.fields})

    def call(
        self,
        connection: Connection,
        request: Any,
        token: str = "",
        metadata: tuple[tuple[str, str], ...] = (),
    ) -> Any:
        """The answer to a request, or the first one where it has many."""
        kinds = {
            "request_serializer": self.request.SerializeToString,
            "response_deserializer": self.response.FromString,
        }
        channel: Any = connection.channel
        kind = channel.unary_stream if self.streams else channel.unary_unary
        answer = kind(self.path, **kinds)(
            request, metadata=metadata or bearer(token), timeout=TIMEOUT
        )
        if not self.streams:
            return answer
        try:
            return next(answer)
        finally:
            answer.cancel()


def _all() -> Iterator[Method]:
    for module in MODULES:
        for service in module.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                yield Method(
                    service.full_name,
                    method.name,
                    getattr(module, method.input_type.name),
                    getattr(module, method.output_type.name),
                    method.server_streaming,
                )


METHODS = {method.name: method for method in _all()}
"""By name; no two services have a method of the same name."""
