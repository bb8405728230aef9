"""The certificates of TLS, read once: every HTTP client reads them, it takes 25 ms, and no test here needs them."""

import functools
import ssl
from collections.abc import Iterator
from unittest import mock

import pytest

__all__ = ["read_once"]


@pytest.fixture(autouse=True, scope="session")
def read_once() -> Iterator[None]:
    """Give all clients the same certificates."""
    with mock.patch.object(ssl, "create_default_context", functools.cache(ssl.create_default_context)):
        yield
