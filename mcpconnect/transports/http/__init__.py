"""Streamable HTTP, for clients of both eras on one URL."""

from .app import HttpApp as HttpApp
from .serve import asgi_app as asgi_app
from .serve import run_http as run_http
from .serve import serve_http as serve_http
from .settings import HttpSettings as HttpSettings
