"""`Tool`: the class that people subclass.

Rule: it is thin. A subclass needs no `super().__init__()`, and a plain class may be registered just as well.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..context import Context, running


class Tool:
    """A class whose decorated methods a server offers.

    `class AuthTool(Tool, prefix="auth")` puts `auth_` before the names of its tools.
    """

    __mcp_prefix__: ClassVar[str | None] = None

    def __init_subclass__(cls, *, prefix: str | None = None, **options: Any) -> None:
        """Remember the prefix for the names of this class and its subclasses."""
        super().__init_subclass__(**options)
        if prefix is not None:
            cls.__mcp_prefix__ = prefix

    @property
    def ctx(self) -> Context:
        """The running call.

        Raises:
            RuntimeError: no call runs.
        """
        return running(f"{type(self).__name__}.ctx")
