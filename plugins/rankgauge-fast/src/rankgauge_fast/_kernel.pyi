from typing import Any

INTERFACE: int

def read_lines(*arguments: Any) -> tuple[int, int, int] | None: ...  # noqa: ANN401  # buffers
def index_texts(*arguments: Any) -> bool: ...  # noqa: ANN401  # buffers
def find_texts(*arguments: Any) -> None: ...  # noqa: ANN401  # buffers
def join_judged(*arguments: Any) -> int | None: ...  # noqa: ANN401  # buffers
def read_words(*arguments: Any) -> int: ...  # noqa: ANN401  # buffers
def prepare_texts(*arguments: Any) -> list[bytes | None]: ...  # noqa: ANN401  # texts, a buffer and a mapping
def cover_texts(*arguments: Any) -> bytes: ...  # noqa: ANN401  # texts and buffers
def score_few(*arguments: Any) -> tuple[Any, ...] | None: ...  # noqa: ANN401  # dictionaries and buffers
