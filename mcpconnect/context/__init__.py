"""What a running call can do."""

from .channel import Channel as Channel
from .channel import DirectChannel as DirectChannel
from .context import Context as Context
from .context import SyncContext as SyncContext
from .context import current as current
from .context import running as running
from .disposal import Disposals as Disposals
from .hub import Hub as Hub
from .levels import Level as Level
from .seal import Sealer as Sealer
from .seal import Secret as Secret
