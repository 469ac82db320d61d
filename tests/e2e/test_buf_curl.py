"""A client that isn't ours and isn't Python: `buf curl`, whose gRPC is written in Go."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from google.rpc.error_details_pb2 import ErrorInfo  # type: ignore[import-untyped]

from tableturn_server.rules.catalog import GAMES
from tests.e2e.calls import digest, new_id, new_token
from tests.e2e.processes import ROOT, Service, environment

pytestmark = pytest.mark.e2e

BUF = Path(sys.executable).parent / "buf"
SERVICE = "tableturn.v1.TableService"
SHIFT = 3
"""buf ends with the gRPC status, shifted by three bits."""


@dataclass
class Curl:
    """Calls with JSON, over gRPC."""

    service: Service
    home: Path
    reflection: bool = False

    def run(self, method: str, token: str = "", **fields: Any) -> subprocess.CompletedProcess[str]:
        command = [str(BUF), "curl", "--protocol", "grpc", "--http2-prior-knowledge"]
        if not self.reflection:
            command += ["--schema", str(ROOT / "protos")]
        if token:
            command += ["--header", f"authorization: Bearer {token}"]
        path = method if "/" in method else f"{SERVICE}/{method}"
        command += ["--data", json.dumps(fields), f"http://{self.service.address}/{path}"]
        return subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            env=environment(BUF_CACHE_DIR=str(self.home), HOME=str(self.home)),
        )

    def __call__(self, method: str, token: str = "", **fields: Any) -> Any:
        ran = self.run(method, token, **fields)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def refused(self, method: str, token: str = "", **fields: Any) -> tuple[int, Any]:
        """The gRPC status, and the ErrorInfo that came with it."""
        ran = self.run(method, token, **fields)
        assert ran.returncode
        told = json.loads(ran.stderr)
        (detail,) = told["details"]
        assert detail["type"] == "google.rpc.ErrorInfo"
        value = base64.b64decode(detail["value"] + "==")
        return ran.returncode >> SHIFT, ErrorInfo.FromString(value)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_a_game_is_played_with_buf_curl(service: Service, tmp_path: Path) -> None:
    curl = Curl(service, tmp_path)
    host, ann, bob = (new_token() for _ in range(3))
    made = curl(
        "CreateTable",
        request_id=new_id(),
        game="free-table",
        seats=2,
        options={"points": "on", "first_seat": "1"},
        host_token_sha256=b64(digest(host)),
        start_when_full=True,
    )
    table_id = made["table"]["tableId"]
    for seat, (name, token) in enumerate((("Ann", ann), ("Bob", bob)), 1):
        taken = curl(
            "TakeSeat",
            table_id=table_id,
            request_id=new_id(),
            name=name,
            token_sha256=b64(digest(token)),
        )
        assert taken["seat"] == seat
    asked = curl("ListActions", ann, table_id=table_id)
    assert asked["prompt"]["kind"] == "PROMPT_KIND_TURN"
    assert {choice["kind"] for choice in asked["choices"]} >= {"score_points", "finish_game"}
    request = {
        "table_id": table_id,
        "request_id": new_id(),
        "expected_revision": asked["revision"],
        "actions": [{"scorePoints": {"seat": 2, "points": 5}}],
    }
    acted = curl("Act", ann, **request)
    assert curl("Act", ann, **request) == {**acted, "replayed": True}
    confirmed = curl(
        "Confirm",
        ann,
        table_id=table_id,
        request_id=new_id(),
        expected_revision=acted["revision"],
    )
    view = curl("GetTable", bob, table_id=table_id)["table"]
    assert view["revision"] == confirmed["revision"]
    assert view["viewer"] == 2
    assert [player["points"] for player in view["gameView"]["players"]] == [0, 5]
    log = curl("ListLog", table_id=table_id)["entries"]
    assert [entry["texts"] for entry in log if "texts" in entry] == [["score 5 for seat 2"]]
    assert [int(entry["revision"]) for entry in log] == list(range(1, len(log) + 1))

    # A refusal is readable in another language too: the status, the reason, the revision.
    code, info = curl.refused(
        "Confirm", ann, table_id=table_id, request_id=new_id(), expected_revision=1
    )
    assert code == 10
    assert (info.domain, info.reason) == ("tableturn", "STALE_REVISION")
    assert info.metadata["revision"] == view["revision"]


def test_the_service_describes_itself(service: Service, tmp_path: Path) -> None:
    """Without our protos: by reflection. And it says that it is well."""
    curl = Curl(service, tmp_path, reflection=True)
    games = curl("tableturn.v1.CatalogService/ListGames")["games"]
    assert [game["name"] for game in games] == sorted(GAMES)
    assert curl("grpc.health.v1.Health/Check", service=SERVICE) == {"status": "SERVING"}
    code, info = curl.refused("GetTable", table_id="no-such-table")
    assert (code, info.reason) == (5, "UNKNOWN_TABLE")
