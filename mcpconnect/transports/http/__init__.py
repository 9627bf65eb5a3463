"""Streamable HTTP, for clients of both eras on one URL."""

from .application import Application as Application
from .serve import asgi_app as asgi_app
from .serve import run_http as run_http
from .serve import serve_http as serve_http
from .settings import HttpSettings as HttpSettings
