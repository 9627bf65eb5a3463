"""The public names: what `mcpconnect` and its public packages export, and what the reference pages describe."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import mcpconnect

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = "\n".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs/reference").glob("*.md")))

# The table of public names, by kind; later issues add to it in the change that adds the name.
NAMES = {
    "server": "McpServer Context Limits CacheControl Session Handles Inject",
    "around calls": "Operation Next Middleware",
    "asking": "Question Elicit Sample Roots Answer Sampled ModelPreferences ToolUse ToolAnswer Root",
    "class to subclass": "Tool",
    "decorators": "tool prompt resource complete",
    "markers": "Param Mime Complete",
    "content": "TextContent ImageContent AudioContent EmbeddedResource ResourceLink Annotations Icon ContentList ToolResultBuilder",
    "results": "ToolResult TextResource BlobResource PromptMessage PromptResult ResourceResult CompletionResult matching PromptRef TemplateRef",
    "presentation": "ContentType ContentFormatter JSON_TEXT YAML_TEXT PNG_IMAGE ImageContentType Encoder",
    "serialization": "Serializer SerializerConfig Case Visibility Include CustomSerializer",
    "errors": "McpConnectError DefinitionError SerializationError LoadError ToolError ClientError PeerError ProtocolError ParseError InvalidRequest MethodNotFound InvalidParams InternalError ResourceNotFound UnsupportedVersion MissingCapability UrlElicitationRequired",
    "version": "__version__",
}
PUBLIC_PACKAGES = ["mcpconnect", "mcpconnect.serialization", "mcpconnect.testing", "mcpconnect.client"]


def test_the_top_level_exports_exactly_the_table() -> None:
    assert sorted(" ".join(NAMES.values()).split()) == sorted(mcpconnect.__all__)


@pytest.mark.parametrize("package", PUBLIC_PACKAGES)
def test_every_exported_name_is_there_and_documented(package: str) -> None:
    module = importlib.import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        if callable(value) and not name.isupper():
            assert value.__doc__, f"{package}.{name} has no docstring"
        if name != "__version__":
            assert re.search(rf"\b{name}\b", REFERENCE), f"{package}.{name} stands in no reference page"


def test_what_the_top_level_imports_is_what_it_exports() -> None:
    tree = ast.parse(Path(mcpconnect.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported == set(mcpconnect.__all__)
