"""From a message to a running method and back."""

from .connection import Connection as Connection
from .connection import Outcome as Outcome
from .job import Job as Job
from .runner import Runner as Runner
