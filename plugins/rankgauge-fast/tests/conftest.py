"""What all tests of the kernel need."""

from __future__ import annotations

import pytest

from rankgauge import kernel as loading


@pytest.fixture(scope="module")
def without():
    """Numpy's road."""

    def road(function, *arguments, **how):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loading, "_loaded", lambda: None)
            return function(*arguments, **how)

    return road
