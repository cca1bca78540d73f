"""Comments are taken out of a text as Obsidian and CommonMark see them, and lines keep their numbers."""

from hypothesis import given
from hypothesis import strategies as st

from commonplace.repository.comments import visible

HIDDEN = {
    "inline": "A %%SECRET%% kept.",
    "inline, over the lines of a paragraph": "A kept %%SECRET\nSECRET\nSECRET%% word.",
    "block": "kept\n\n%%\nSECRET\n%%\n\nkept",
    "block, over paragraphs": "kept\n\n%% SECRET\n\nSECRET [x](SECRET.md)\n\n# SECRET %%\n\nkept",
    "block that is never closed": "kept\n\n%% SECRET\n\nSECRET",
    "block in a quote": "> kept\n> %% SECRET\n> SECRET\n> %%\n> kept",
    "block in a quote that is never closed": "> kept\n> %% SECRET\n> SECRET\n\nkept",
    "in an item": "- kept %%SECRET%%\n- %%SECRET%% kept\n\n    %%SECRET%% kept\n",
    "over paragraphs, begun within a line": "kept %%SECRET\n\nSECRET%% kept",
    "in a heading": "# kept %%SECRET%%\n",
    "in a table": "| kept %%SECRET%% |\n|---|\n| %% SECRET %% |\n",
    "with code in it": "kept\n\n%%\n```\nSECRET\n```\n%%\n",
    "after a lone mark": "100%% kept\n\n%%\nSECRET\n%%\nkept",
    "after code on one line": "```kept``` %%SECRET%%",
    "after a tick that is none": "a lone ` tick\n\n%%SECRET%% ` kept",
    "after a tick in another item": "- a lone ` tick kept\n- %%SECRET%% another ` tick",
    "after code in a quote that the quote ends": "> ```\n> kept\n\n%%SECRET%%",
    "after a sum of money": "$5 kept %%SECRET%% $6",
    "with line ends of Windows": "kept\r\n\r\n%%\r\nSECRET\r\n%%\r\nkept",
    "with line ends of old": "kept\r\r%%\rSECRET\r%%\rkept",
    "HTML": "A <!-- SECRET --> kept",
    "HTML, over paragraphs": "kept\n\n<!--\nSECRET\n\nSECRET\n-->\n\nkept",
    "HTML that is never closed": "kept\n\n<!-- SECRET\n\nSECRET",
    "a note over lines": 'kept\n\n[//]: # (SECRET\nSECRET)\n[//]: # "SECRET \\" SECRET\nSECRET"\n\nkept',
    "a definition that is a note": 'kept\n\n[//]: # (SECRET)\n[comment]: <> (SECRET)\n[_note]: # "SECRET"\n\nkept',
}
SHOWN = {
    "code": "`%%kept%%` and ``a ` %%kept%%``",
    "fences": "```\n%%kept%%\n```\n\n~~~ x\n%%\nkept\n%%\n~~~\n",
    "a fence in an item": "- ```\n  %%kept%%\n  ```\n",
    "a fence that is never closed": "```\n%%kept%%\n\n%%kept%%",
    "indented code": "Text.\n\n    %%kept%%\n\n    <!-- kept -->\n",
    "formulas": "$a %%kept%% b$ and\n\n$$\n%%kept%%\n\n<!-- kept -->\n$$\n",
    "a lone mark": "100%% kept\n\nkept",
    "a mark that is escaped": "\\%%kept\\%%",
    "HTML in code": "`<!-- kept -->`",
    "a definition with an address": "[kept]\n\n[kept]: https://example.org (kept)\n",
}


def test_what_a_comment_hides_is_gone_and_the_rest_stays() -> None:
    for text in HIDDEN.values():
        shown = visible(text)
        assert "SECRET" not in shown and "%%\n" not in shown and "-->" not in shown
        assert shown.count("kept") == text.count("kept")
        assert [end for end in shown if end in "\r\n"] == [end for end in text if end in "\r\n"]


def test_what_is_no_comment_stays_letter_by_letter() -> None:
    for text in SHOWN.values():
        assert visible(text) == text


def test_a_parser_gets_comments_of_html_as_they_are() -> None:
    assert visible("<div>\n<!-- %% -->\n    x %%y%%\n</div>", html=False) == "<div>\n<!-- %% -->\n    x \n</div>"


@given(st.lists(st.sampled_from([*"ab%`$\\<>-! \n|#", "%%", "<!--", "-->", "```", "$$", "\n\n", "    ", "> ", "- "])))
def test_lines_keep_their_numbers_in_any_text(parts: list[str]) -> None:
    text = "".join(parts)
    assert visible(text).count("\n") == text.count("\n")
    assert visible(visible(text, html=False)).count("\n") == text.count("\n")
