"""The version of the package; the newest entry of the changelog names the same."""

__version__ = "0.1.0"
