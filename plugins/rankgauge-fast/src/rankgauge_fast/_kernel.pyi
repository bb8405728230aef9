from typing import Any

def read_lines(*arguments: Any) -> tuple[int, int, int] | None: ...  # noqa: ANN401  # buffers
def join_judged(*arguments: Any) -> int | None: ...  # noqa: ANN401  # buffers
