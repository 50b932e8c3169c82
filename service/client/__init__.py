"""The Python client: httpx and the shapes of the wire, nothing else of ours."""

from service.client.client import Muniment
from service.client.connection import Problem
from service.client.executions import LogPage

__all__ = ["LogPage", "Muniment", "Problem"]
