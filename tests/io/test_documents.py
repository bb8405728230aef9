import pytest

from rankgauge.errors import UnreadableError
from rankgauge.io.documents import decode_text


def test_utf8_is_decoded_with_and_without_byte_order_mark():
    assert decode_text("é".encode(), "f") == "é"
    assert decode_text(b"\xef\xbb\xbf" + "é".encode(), "f") == "é"


def test_other_encodings_are_refused_with_offset_byte_and_line():
    with pytest.raises(UnreadableError) as caught:
        decode_text(b"ab\nc\xe9d", "f.yaml")
    (problem,) = caught.value.problems
    assert problem.line == 2
    assert "byte 4 (0xe9)" in problem.message
    assert "UTF-8" in problem.message


def test_the_offset_of_a_wrong_byte_counts_the_byte_order_mark():
    with pytest.raises(UnreadableError, match=r"byte 6 \(0xff\)"):
        decode_text(b"\xef\xbb\xbfabc\xff", "f.yaml")  # three bytes of mark, three letters
