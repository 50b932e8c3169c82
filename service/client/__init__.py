"""The Python client: httpx and the shapes of the wire, nothing else of ours."""

from service.client.client import Muniment, Problem

__all__ = ["Muniment", "Problem"]
