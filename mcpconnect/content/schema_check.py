"""A user's own JSON Schema: compiled once, asked for every value. Needs the extra `schema` (jsonschema-rs).

Rule: a schema stands for itself. What it refers to must be inside it; nothing is ever fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import DefinitionError


class SchemaCheck:
    """Checks JSON values against one schema, of draft 2020-12 unless its `$schema` names another.

    Raises DefinitionError if jsonschema-rs is not installed or the schema does not compile.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        try:
            import jsonschema_rs
        except ImportError:
            raise DefinitionError(
                "a JSON Schema of your own needs jsonschema-rs: pip install 'mcpconnect[schema]'"
            ) from None
        if not isinstance(schema, Mapping):
            raise DefinitionError(f"a JSON Schema is a mapping, not {type(schema).__name__}")
        self.schema: dict[str, Any] = dict(schema)
        try:
            self._validator = jsonschema_rs.validator_for(self.schema, retriever=_refuse)
        except (ValueError, TypeError) as error:  # ValidationError, ReferencingError and the like are ValueErrors
            raise DefinitionError(f"the JSON Schema does not compile: {str(error).splitlines()[0]}") from None

    def problems(self, value: Any) -> list[tuple[str, str]]:
        """Return the path (`$.items[3].price`) and the reason of everything that is wrong with a JSON value."""
        if self._validator.is_valid(value):
            return []
        return [(_path(error.instance_path), error.message) for error in self._validator.iter_errors(value)]


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside of the schema, and nothing is fetched")


def _path(steps: Any) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
