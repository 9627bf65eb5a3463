"""What a server offers, and how a class comes to offer it."""

from .base import Tool as Tool
from .declare import ToolDeclaration as ToolDeclaration
from .registry import Page as Page
from .registry import Registry as Registry
from .settings import FeatureSettings as FeatureSettings
from .tool import ToolFeature as ToolFeature
