"""Connectors and source readers as settings: what is unsafe does not start, and no secret is ever shown."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import ValidationError

from service.entry.cli import main
from service.settings import Settings
from service.settings_outside import (
    ConnectorSettings,
    HeaderFileUnreadable,
    SourceReaderSettings,
    read_headers,
)

ORDERS: Final = {
    "dispatch_url": "https://orders.example/v1/orders",
    "lookup_url": "https://orders.example/v1/orders/{operation_id}",
    "tenants": ["acme"],
}
REGISTER: Final = {
    "uri_prefix": "register://",
    "url": "https://register.example/{path}?key=hunter2",
    "source": "register",
    "tenants": ["acme"],
}


def _fault(model: type[ConnectorSettings] | type[SourceReaderSettings], fields: Mapping[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        model(**fields)
    return str(caught.value)


def test_a_connector_needs_two_addresses_and_the_names_of_its_tenants() -> None:
    made = ConnectorSettings(**ORDERS)

    assert (made.timeout_seconds, made.absent_after_seconds) == (10, 5)
    assert (made.idempotency_key, made.reference_pointer) == ("{operation_id}", "/id")
    for name in ORDERS:
        _fault(ConnectorSettings, {key: value for key, value in ORDERS.items() if key != name})
    _fault(ConnectorSettings, {**ORDERS, "tenants": []})


@pytest.mark.parametrize(
    "address",
    [
        "ftp://orders.example/{operation_id}",
        "file:///etc/passwd?{operation_id}",
        "//orders.example/{operation_id}",
        "orders.example/{operation_id}",
        "https://{operation_id}.example/orders",
        "https://orders.example{operation_id}/",
        "https://orders.example:{operation_id}/",
        "https://{operation_id}@orders.example/",
        "https://user:hunter2@orders.example/{operation_id}",
        "https://orders.example/{operation_id}#{execution_id}",
        "https://orders.example/{operation_id}/{host}",
        "https://orders.example/{operation_id}/{",
        "https://orders.example/{operation_id}/{}",
        "https://orders.example/../{operation_id}",
        "https://orders.example\\@evil.example/{operation_id}",
        "https://orders.example/{operation_id} ",
        "https://orders.example/\r\nX-Admin: 1/{operation_id}",
        "https://orders.example:port/{operation_id}",
        "https://[::1/{operation_id}",
        "https:///{operation_id}",
        "https://orders.example/all",
    ],
)
def test_an_unsafe_address_does_not_start(address: str) -> None:
    fault = _fault(ConnectorSettings, {**ORDERS, "lookup_url": address})

    assert "hunter2" not in fault
    assert "Value error" in fault


def test_an_address_to_dispatch_to_has_no_place_for_anything() -> None:
    for place in ("{operation_id}", "{execution_id}", "{kind}"):
        _fault(ConnectorSettings, {**ORDERS, "dispatch_url": f"https://orders.example/{place}"})


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Key": "two\r\nlines"},
        {"X-Key": ""},
        {"X-Key": "über"},
        {"X Key": "1"},
        {"X-Key:": "1"},
        {"": "1"},
        {"X-Key": "1", "x-key": "2"},
        *({name: "1"} for name in ("Host", "Content-Length", "idempotency-key", "Transfer-Encoding")),
    ],
)
def test_a_header_that_could_say_more_than_one_thing_does_not_start(headers: dict[str, str]) -> None:
    _fault(ConnectorSettings, {**ORDERS, "headers": headers})


def test_a_header_is_given_as_a_value_or_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("Bearer hunter2\n")
    files = {"Authorization": str(tmp_path / "key")}
    made = ConnectorSettings(**ORDERS, headers={"X-Key": "hunter3"}, header_files=files)

    assert read_headers(made, of="connector orders") == {
        "X-Key": "hunter3",
        "Authorization": "Bearer hunter2",
    }
    _fault(ConnectorSettings, {**ORDERS, "headers": {"authorization": "1"}, "header_files": files})


@pytest.mark.parametrize("content", [None, b"", b"two\nlines", b"\xff"])
def test_a_file_that_holds_no_value_is_named_and_not_repeated(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "key").write_bytes(content)
    made = ConnectorSettings(**ORDERS, header_files={"X-Key": str(tmp_path / "key")})

    with pytest.raises(HeaderFileUnreadable, match="X-Key"):
        read_headers(made, of="connector orders")


def test_a_key_and_a_pointer_are_templates_that_can_mean_something() -> None:
    for key in ("", "fixed", "{operation_id} {execution_id}", "{operation_id}{tenant}", "{operation_id}{"):
        _fault(ConnectorSettings, {**ORDERS, "idempotency_key": key})
    _fault(ConnectorSettings, {**ORDERS, "reference_pointer": "id"})
    for seconds in (0, -1, 21):
        _fault(ConnectorSettings, {**ORDERS, "timeout_seconds": seconds})


def test_a_source_reader_reads_whole_addresses_under_a_prefix() -> None:
    made = SourceReaderSettings(**REGISTER)

    assert (made.version_header, made.version_pointer) == ("ETag", None)
    for choice in (
        {"uri_prefix": "register"},
        {"uri_prefix": "register://plots"},
        {"url": "https://register.example/"},
        {"url": "https://{path}/"},
        {"version_header": "a b"},
        {"version_pointer": "version"},
        {"source": "Register"},
    ):
        _fault(SourceReaderSettings, {**REGISTER, **choice})


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(tmp_path / "data"))
    orders = {**ORDERS, "headers": {"Authorization": "Bearer hunter2"}}
    monkeypatch.setenv("MUNIMENT_CONNECTORS", json.dumps({"orders": orders}))
    monkeypatch.setenv("MUNIMENT_SOURCE_READERS", json.dumps({"register": REGISTER}))


@pytest.mark.usefixtures("configured")
def test_the_list_of_settings_shows_addresses_and_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["settings"], ["settings", "--json"]):
        assert main(words) == 0
        output, errors = capsys.readouterr()
        assert "hunter2" not in output + errors + repr(Settings())
    assert "https://orders.example/v1/orders" in output
    assert "https://register.example/{path}?(secret)" in output


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('{"orders": {"hunter2": 1}}', "orders.dispatch_url"),
        ('{"orders": "hunter2"}', "MUNIMENT_CONNECTORS: orders"),
        ('{"Orders!": {}}', "MUNIMENT_CONNECTORS"),
        ('{"orders": hunter2}', "connectors"),
        (json.dumps({"orders": {**ORDERS, "lookup_url": "gopher://hunter2"}}), "https://"),
        (json.dumps({"orders": {**ORDERS, "headers": {"Host": "hunter2"}}}), "orders.headers"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_without_its_value(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setenv("MUNIMENT_CONNECTORS", value)

    assert main(["settings"]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert said in errors
    assert "Bearer" not in errors
    assert "gopher" not in errors


@pytest.mark.usefixtures("configured")
def test_a_service_without_one_of_its_secrets_does_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    orders = {**ORDERS, "header_files": {"Authorization": str(tmp_path / "missing")}}
    monkeypatch.setenv("MUNIMENT_CONNECTORS", json.dumps({"orders": orders}))
    start = "from service.entry.cli import main; import sys; sys.exit(main(['serve', '--port', '0']))"

    # In a process of its own: serving configures logs for good.
    ended = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "connector orders: the file of the header Authorization cannot be read" in ended.stderr
    assert "Traceback" not in ended.stderr
