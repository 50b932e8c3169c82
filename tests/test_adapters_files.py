"""Files become text: each format, and hostile files of each."""

import io
import time
from contextlib import suppress

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from service.adapters.files import StandardFileReader
from service.evidence.files import file_media_type, file_title
from service.evidence.ports import FileUnreadable

READER = StandardFileReader()


def read(content: bytes, media_type: str) -> str:
    return READER.read_text(content, media_type=media_type, name="file")


def pdf_of(*texts: str, password: str | None = None) -> bytes:
    """Make a PDF with one page for each text."""
    writer = PdfWriter()
    for text in texts:
        page = writer.add_blank_page(300, 300)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 150 Td ({text}) Tj ET".encode())
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        page[NameObject("/Contents")] = writer._add_object(stream)  # noqa: SLF001 - the library's only way
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def test_plain_text_keeps_every_character_and_loses_only_a_byte_order_mark() -> None:
    text = "Plot 18 \r\n\t👩‍👩‍👧 <|endoftext|> שלום"

    assert read(b"\xef\xbb\xbf" + text.encode(), "text/plain") == text
    assert read(text.encode(), "text/markdown") == text


@pytest.mark.parametrize(
    "content", [b"caf\xe9", "x".encode("utf-16"), b"a\x00b", b"\xed\xa0\x80", b"", b" \n "]
)
def test_text_that_cannot_be_stored_is_refused(content: bytes) -> None:
    with pytest.raises(FileUnreadable):
        read(content, "text/plain")


def test_html_gives_its_text_without_scripts_styles_and_comments() -> None:
    page = """<!DOCTYPE html><html><head><title>Plot&nbsp;18</title><style>p{color:red}</style></head>
    <body><!-- hidden > --><h1>Register</h1><p>Consent &amp; conditions</p>
    <SCRIPT>if (a<b) fetch("http://evil.example/")</SCRIPT><a title="x>y" href='#'>link</a> 1 < 2</body>"""

    text = read(page.encode(), "text/html")

    assert text.split("\n") == ["Plot\xa018", "Register", "Consent & conditions", "link 1 < 2"]


@pytest.mark.parametrize(
    "unit", ["<!--", "<a ", '<a href="', "<script>", "</", "<![CDATA[", "<p", "&#", "<script><!--"]
)
def test_html_that_never_closes_anything_takes_linear_time(unit: str) -> None:
    source = (unit * (2_000_000 // len(unit))).encode()
    begun = time.monotonic()

    with suppress(FileUnreadable):
        read(source, "text/html")

    assert time.monotonic() - begun < 10


def test_a_pdf_gives_the_text_of_its_pages() -> None:
    assert read(pdf_of("First page", "Second page"), "application/pdf") == "First page\n\nSecond page"


def test_an_encrypted_pdf_is_refused_with_its_reason() -> None:
    with pytest.raises(FileUnreadable, match="encrypted"):
        read(pdf_of("secret", password="p"), "application/pdf")


@pytest.mark.parametrize(
    "content", [b"", b"%PDF-1.7\n", b"hello", pdf_of("cut")[:300], pdf_of(""), b"%PDF-1.7\n" + b"[" * 100_000]
)
def test_a_broken_or_empty_pdf_is_refused(content: bytes) -> None:
    with pytest.raises(FileUnreadable):
        read(content, "application/pdf")


def test_a_pdf_whose_text_unpacks_without_end_is_refused() -> None:
    writer = PdfWriter()
    page = writer.add_blank_page(300, 300)
    stream = DecodedStreamObject()
    stream.set_data(b"BT (" + b"x" * 200_000_000 + b") Tj ET")
    page[NameObject("/Contents")] = writer._add_object(stream.flate_encode())  # noqa: SLF001 - the library's only way
    written = io.BytesIO()
    writer.write(written)

    assert len(written.getvalue()) < 1_000_000
    with pytest.raises(FileUnreadable):
        read(written.getvalue(), "application/pdf")


def test_json_gets_lines_and_keeps_its_numbers_as_they_were_written() -> None:
    text = read(
        b'[{"price":1.10,"n":12345678901234567890123,"s":"a,{b\\u0041"},{"x":[]}]', "application/json"
    )

    assert '"price": 1.10' in text
    assert "12345678901234567890123" in text
    assert '"a,{b\\u0041"' in text
    assert len(text.splitlines()) > 5


@pytest.mark.parametrize(
    "content",
    [b"{", b'{"a":1,"a":2}', b"[NaN]", b"[1e999]", b"[" * 100_000, b'["\xff"]', b"[" * 40 + b"]" * 40],
)
def test_json_that_is_not_strict_is_refused(content: bytes) -> None:
    with pytest.raises(FileUnreadable):
        read(content, "application/json")


def test_csv_is_kept_row_by_row() -> None:
    assert read(b"plot,state\n18,granted\n", "text/csv") == "plot,state\n18,granted\n"


@pytest.mark.parametrize(
    ("name", "declared", "expected"),
    [
        ("notes.MD", "", "text/markdown"),
        ("notes.md", "text/plain", "text/markdown"),
        ("page", "application/xhtml+xml", "text/html"),
        ("table.csv", "application/octet-stream", "text/csv"),
        ("whatever.bin", "text/plain", "text/plain"),
        ("scan.txt", "application/pdf", "application/pdf"),
    ],
)
def test_the_media_type_is_the_declared_one_or_else_the_name_s(
    name: str, declared: str, expected: str
) -> None:
    assert file_media_type(name, declared) == expected


@pytest.mark.parametrize(
    ("name", "declared"), [("a.exe", ""), ("a", ""), ("a.zip", "application/zip"), ("a.txt", "image/png")]
)
def test_other_formats_are_refused(name: str, declared: str) -> None:
    with pytest.raises(FileUnreadable, match="Markdown"):
        file_media_type(name, declared)


def test_a_title_is_the_file_s_own_name_without_folders_and_what_cannot_be_shown() -> None:
    assert file_title("..\\..\\secret/plots\u202e\x07 18.txt") == "plots 18.txt"
    assert len(file_title("x" * 900)) == 200
