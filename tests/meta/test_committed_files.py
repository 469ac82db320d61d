"""What is committed installs anywhere: no addresses of package registries, no machine's paths."""

import re
from pathlib import Path

from tests.meta.tree import ROOT, committed_files

# Taken apart here, so that this file doesn't find itself.
FORBIDDEN = re.compile(
    "|".join(
        (
            "--extra-" + "index-url",
            "--find-" + "links",
            r"\bfile:" + r"///\w",
            r"files\.python" + r"hosted\.org",
            r"/(simple|web/simple)" + r"/[\w-]+/",
            r"(?<![\w.])/(home|Users|work|root)" + r"/\w+/",
        )
    )
)
# It names the switches that keep addresses out.
MAY_NAME_INDEXES = {"deploy/setup/lock"}


def test_no_registry_address_and_no_machine_path_is_committed() -> None:
    found: list[str] = []
    for path in committed_files():
        if path.as_posix() in MAY_NAME_INDEXES:
            continue
        try:
            text = (ROOT / path).read_text()
        except UnicodeDecodeError:
            continue
        found += [
            f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
            for match in FORBIDDEN.finditer(text)
        ]
    assert not found


def test_scripts_can_be_run() -> None:
    scripts = [
        path
        for path in committed_files()
        if path.suffix in {"", ".sh"} and (ROOT / path).read_bytes().startswith(b"#!")
    ]
    assert Path(".ci/run") in scripts
    assert [path for path in scripts if not (ROOT / path).stat().st_mode & 0o100] == []
