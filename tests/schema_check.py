"""Check messages against the official JSON Schema of their revision.

The schemas lie in the folder named by `MCP_SCHEMAS` (default `../shared/schemas` beside the repository), one folder for
each revision; where they are absent, the tests that need them are skipped and say so. One message is exempt: before
2025-11-25 an error whose id could not be read says `"id": null`, as JSON-RPC wants and the schemas do not foresee.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = Path(os.environ.get("MCP_SCHEMAS", ROOT.parent / "shared" / "schemas"))
REQUEST_VERSION = "io.modelcontextprotocol/protocolVersion"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
NEWEST = "2026-07-28"
NEWEST_HANDSHAKE = "2025-11-25"


def check(version: str, definition: str, value: Any) -> None:
    """Raise `ValueError` if the value does not fit the definition of that revision's schema."""
    try:
        _validator(version, definition).validate(value)
    except jsonschema_rs.ValidationError as error:
        raise ValueError(f"{version} {definition}: {error.message} in {json.dumps(value)[:2000]}") from None


def check_result(version: str, method: str, result: Any) -> None:
    """Check the result of a request, and that schemas listed in it are schemas."""
    asks = result.get("resultType") == "input_required"
    check(version, "InputRequiredResult" if asks else _by_method(version)[method].replace("Request", "Result"), result)
    for question in result.get("inputRequests", {}).values():
        check(version, _by_method(version)[question["method"]], question)
    for tool in result.get("tools", ()):
        for schema in (tool["inputSchema"], tool.get("outputSchema", {})):
            jsonschema_rs.meta.validate(schema)
            jsonschema_rs.validator_for(schema)  # its references resolve


def check_traffic(traffic: Iterable[tuple[str, bytes]]) -> int:
    """Check every message that the server wrote, and return how many there were.

    `traffic` holds `("client" | "server", bytes of one message)` in order.
    """
    negotiated, checked, asked = NEWEST_HANDSHAKE, 0, {}
    for sender, data in traffic:
        for message in _messages(data):
            if sender == "client":
                if "method" in message and isinstance(message.get("id"), (str, int)):
                    asked[message["id"]] = message
                continue
            request = asked.get(message.get("id"), {})
            if request.get("method") == "initialize" and "result" in message:
                negotiated = message["result"]["protocolVersion"]
            check_message(_version(request or message, negotiated), message, request.get("method"))
            checked += 1
    return checked


def check_message(version: str, message: Mapping[str, Any], method: str | None = None) -> None:
    """Check one message of a server; `method` is that of the request it answers."""
    if "error" in message and message.get("id", ...) is None and version < "2025-11-25":
        return
    check(version, "JSONRPCMessage", message)
    if "result" in message:
        assert method is not None, f"answers nothing that was asked: {message}"
        check_result(version, method, message["result"])
    elif "method" in message:
        check(version, _by_method(version)[message["method"]], message)
    elif "error" in message and (definition := _by_code(version).get(message["error"]["code"])):
        check(version, definition, message)


def _messages(data: bytes) -> list[dict[str, Any]]:
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return []
    return [item for item in (content if isinstance(content, list) else [content]) if isinstance(item, dict)]


def _version(message: Mapping[str, Any], negotiated: str) -> str:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    per_request = isinstance(meta, dict) and (REQUEST_VERSION in meta or SUBSCRIPTION in meta)
    return NEWEST if per_request else negotiated


@cache
def _schema(version: str) -> dict[str, Any]:
    path = SCHEMAS / version / "schema.json"
    if not path.exists():
        pytest.skip(f"the official schemas are not at {SCHEMAS} (set MCP_SCHEMAS)")
    schema: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return schema


def _definitions(version: str) -> dict[str, Any]:
    schema = _schema(version)
    definitions: dict[str, Any] = schema.get("$defs") or schema["definitions"]
    return definitions


@cache
def _validator(version: str, definition: str) -> Any:
    schema = _schema(version)
    keyword = "$defs" if "$defs" in schema else "definitions"
    if definition not in schema[keyword]:
        definition = {"JSONRPCMessage": definition}.get(definition, "EmptyResult")
    root = {
        "$schema": schema["$schema"],
        keyword: schema[keyword],
        "allOf": [{"$ref": f"#/{keyword}/{definition}"}],
    }
    return jsonschema_rs.validator_for(root, validate_formats=True)


@cache
def _by_method(version: str) -> dict[str, str]:
    methods = {}
    for name, definition in _definitions(version).items():
        method = definition.get("properties", {}).get("method", {}).get("const")
        if method and name.endswith(("Request", "Notification")) and not name.startswith(("Client", "Server")):
            methods[method] = name
    return methods


@cache
def _by_code(version: str) -> dict[int, str]:
    codes = {}
    for name, definition in _definitions(version).items():
        for part in definition.get("properties", {}).get("error", {}).get("allOf", ()):
            code = part.get("properties", {}).get("code", {}).get("const")
            if code is not None:
                codes[code] = name
    return codes
