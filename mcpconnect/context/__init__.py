"""What a running call can do."""

from .context import Context as Context
from .context import Level as Level
from .context import SyncContext as SyncContext
from .context import current as current
from .context import running as running
from .disposal import Disposals as Disposals
from .hub import Hub as Hub
