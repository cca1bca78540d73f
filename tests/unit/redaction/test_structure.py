from commonplace.redaction.structure import read_structure

TEXT = """a `b` c \\`no\\`

```py
x = 1
```

- l ``d ` e`` [x](http://a.example/c_(d)) <http://z.example>

> ```
> q
> ```

    indented

[r]: /relative
See https://e.example/x, and www.f.example."""


def parts(text: str) -> tuple[list[str], list[str]]:
    """Return code and addresses of a text, which are the same whether its last line ends or not."""
    found = [
        ([one[a:b].rstrip("\n") for a, b in read.code], [one[a:b] for a, b in read.addresses])
        for one in (text.rstrip("\n"), f"{text.rstrip(chr(10))}\n")
        for read in [read_structure(one)]
    ]
    assert found[0] == found[1]
    structure = read_structure(text)
    return [text[a:b] for a, b in structure.code], [text[a:b] for a, b in structure.addresses]


def test_code_and_addresses_are_found_where_they_stand() -> None:
    code, addresses = parts(TEXT)
    assert code == ["`b`", "x = 1\n", "``d ` e``", "> q\n", "    indented\n"]
    assert addresses == [
        "http://a.example/c_(d)",
        "http://z.example",
        "/relative",
        "https://e.example/x",
        "www.f.example",
    ]


def test_text_of_one_line_has_no_block_of_code() -> None:
    assert parts("    jane") == ([], [])
    assert parts("\tjane") == ([], [])


def test_backtick_that_is_not_closed_opens_nothing() -> None:
    assert parts("a ` b\n\nc ` d") == ([], [])
    assert parts("a `` b ` c") == ([], [])


def test_fence_that_closes_at_the_very_end_holds_code() -> None:
    for text in (
        "a\n\n```\nx\n```",
        "~~~\nx\n~~~",
        "- a\n\n  ```\n  x\n  ```",
        "> ```\n> x\n> ```",
        "```\r\nx\r\n````",
    ):
        (code,) = parts(text)[0]
        assert code.strip("> \r\n") == "x"
    assert parts("```\n```") == ([], [])
    assert parts("```\n\n\nx\n\n```")[0] == ["\n\nx\n\n"]


def test_fence_that_is_not_closed_holds_prose() -> None:
    assert parts("a\n\n```\njane") == ([], [])
    assert parts("> ```\n> jane\n\nb") == ([], [])


def test_address_in_code_is_code() -> None:
    code, addresses = parts("`https://a.example/` and\n\n```\nhttps://b.example\n```\n")
    assert code == ["`https://a.example/`", "https://b.example\n"]
    assert addresses == []


def test_line_ends_of_other_systems_keep_the_places() -> None:
    assert parts("a\r\n\r\n```\r\nx\r\n```\r\nb `c`")[0] == ["x\r\n", "`c`"]
    assert parts("a\x0bb\x0c\n\n```\nx\n```\nb `c`")[0] == ["x\n", "`c`"]
