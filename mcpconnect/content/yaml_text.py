"""JSON values as YAML: block style, no aliases, one line for each scalar.

Rule: `yaml.safe_load(write_yaml(value)) == value` for every JSON value (lone
surrogates become U+FFFD). PyYAML (extra `yaml`) is imported at first use.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..errors import DefinitionError

_NO_FOLDING = 2**31 - 1


def write_yaml(value: Any) -> str:
    """Return a JSON value as compact YAML without a line break at its end.

    Raises DefinitionError where PyYAML is not installed.
    """
    import yaml

    dumper = yaml_dumper()
    text = yaml.dump(
        value, Dumper=dumper, default_flow_style=False, sort_keys=False, allow_unicode=True, width=_NO_FOLDING
    )
    return text.removesuffix("\n")


@cache
def yaml_dumper() -> type[Any]:
    """Return the dumper class. Raises DefinitionError where PyYAML is not installed."""
    try:
        import yaml
    except ImportError:
        raise DefinitionError("YAML_TEXT needs PyYAML: pip install 'mcpconnect[yaml]'") from None

    class CompactDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc] # which base, is known at run time
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
            return True

    def represent_text(dumper: Any, text: str) -> Any:
        try:
            text.encode()
        except UnicodeEncodeError:  # a lone surrogate, which the C emitter cannot write
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        # Over several lines plain and single-quoted texts double their line breaks, which models misread.
        style = '"' if "\n" in text else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    CompactDumper.add_representer(str, represent_text)
    return CompactDumper
