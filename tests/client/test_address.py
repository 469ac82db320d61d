import pytest

from tableturn_client.address import read_address
from tableturn_client.credentials import key
from tableturn_client.errors import BadAddress


@pytest.mark.parametrize(
    ("text", "target", "secure"),
    [
        ("localhost", "localhost:7430", False),
        ("192.168.0.5:7000", "192.168.0.5:7000", False),
        ("tableturn://192.168.0.5:7430", "192.168.0.5:7430", False),
        ("https://play.example", "play.example:443", True),
        ("https://play.example:8443/", "play.example:8443", True),
        ("http://pi.local:7430", "pi.local:7430", False),
        ("[::1]:7430", "[::1]:7430", False),
        ("::1", "[::1]:7430", False),
        ("unix:/run/tableturn.sock", "unix:/run/tableturn.sock", False),
    ],
)
def test_addresses_as_people_write_them(text: str, target: str, secure: bool) -> None:
    address = read_address(text)
    assert (address.target, address.secure) == (target, secure)
    assert read_address(str(address)) == address


@pytest.mark.parametrize(
    "text",
    ["", " ", "a b", "host:",
     "host:x", "host:0", "host:65536", "host:1:2", "[::1", "[x]:1", "unix:",
     "https://", "a\x1b[1m", "x" * 3 + "/" + "y" * 10_000, "host:" + "1" * 10_000, "dns:///x"],
)  # fmt: skip
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(BadAddress) as raised:
        read_address(text)
    assert len(raised.value.sentence) < 300


def test_all_names_of_this_machine_are_one_server() -> None:
    names = ("localhost", "127.0.0.1", "[::1]:7430", "127.0.0.2:7430")
    assert {key(read_address(name)) for name in names} == {"localhost:7430"}
