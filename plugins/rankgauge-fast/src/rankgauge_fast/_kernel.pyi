from typing import Any

INTERFACE: int

def read_lines(*arguments: Any) -> tuple[int, int, int] | None: ...  # noqa: ANN401  # buffers
def index_texts(*arguments: Any) -> bool: ...  # noqa: ANN401  # buffers
def find_texts(*arguments: Any) -> None: ...  # noqa: ANN401  # buffers
def join_judged(*arguments: Any) -> int | None: ...  # noqa: ANN401  # buffers
def read_words(*arguments: Any) -> tuple[int, int]: ...  # noqa: ANN401  # buffers
def prepare_texts(*arguments: Any) -> list[bytes | None]: ...  # noqa: ANN401  # texts, a buffer and a mapping
def mark_sharing(*arguments: Any) -> None: ...  # noqa: ANN401  # texts and buffers
def align_pairs(*arguments: Any) -> tuple[bytes, bytes]: ...  # noqa: ANN401  # buffers
def score_few(*arguments: Any) -> tuple[Any, ...] | None: ...  # noqa: ANN401  # dictionaries and buffers
