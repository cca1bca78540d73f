import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.content.paths import Exclusions
from commonplace.documents.proposals.proposal import branch_of, content_type_of, file_name, folder_of, proposable
from commonplace.kernel.errors import InvalidInput


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Café Tech & the Future", "café-tech-the-future.md"),
        ("Don't panic – yet!", "dont-panic-yet.md"),
        ("日本語のタイトル", "日本語のタイトル.md"),
        ("हिन्दी शब्द", "हिन्दी-शब्द.md"),
        ("⬜️ SUP 1️⃣ (draft)", "sup-1-draft.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        (".hidden", "hidden.md"),
        ("C:\\boot\\x.md", "c-boot-x-md.md"),
        ("Index", "index-page.md"),
        ("README", "readme-page.md"),
        ("con", "con-page.md"),
        ("a\u202egpj.exe", "a-gpj-exe.md"),
    ],
)
def test_a_file_is_named_after_its_title(title: str, name: str) -> None:
    assert file_name(title) == name


@pytest.mark.parametrize("title", ["...", "🙂🙂", "---", "/", "\u0301"])
def test_a_title_without_letters_still_has_a_name_of_its_own(title: str) -> None:
    assert file_name(title).startswith("untitled-")
    assert file_name(title) != file_name(title + title)


def test_decomposed_and_composed_titles_have_the_same_name() -> None:
    assert file_name("Cafe\u0301") == file_name("Café")


@given(st.text(min_size=1, max_size=200))
def test_every_name_is_safe_and_short(title: str) -> None:
    name = file_name(title)
    assert len(name.encode()) <= 120
    assert name == unicodedata.normalize("NFC", name)
    assert name.endswith(".md")
    assert name.isprintable()
    assert not set(name) & set('/\\:*?"<>| ')
    assert name[0] not in ".-"
    assert name.count(".") == 1
    assert unicodedata.category(name[0])[0] in "LN"
    assert name.casefold() not in {"index.md", "readme.md", "con.md", "nul.md"}


@pytest.mark.parametrize(
    ("content_type", "folder"),
    [
        ("pattern", "data/resources/patterns"),
        ("link", "data/links"),
        ("tag", "data/concepts"),
        ("article", "data/stories/articles"),
        ("person", "data/people"),
        ("file", "docs"),
    ],
)
def test_of_several_folders_the_newest_that_is_read_is_taken(content_type: str, folder: str) -> None:
    assert folder_of(content_type) == folder


def test_the_folder_says_the_type_and_is_read_by_the_sync() -> None:
    for content_type in [*proposable(), "link"]:
        path = f"{folder_of(content_type)}/{file_name('A title')}"
        assert ONTOLOGY.type_of_path(path) == content_type
        assert Exclusions().is_content(path)


def test_a_type_without_a_folder_is_refused_with_those_that_have_one() -> None:
    with pytest.raises(InvalidInput, match="has no folder") as caught:
        folder_of("index")
    assert "pattern" in (caught.value.hint or "")


@pytest.mark.parametrize(("authored", "known"), [("Pattern", "pattern"), ("concept", "tag"), (" note ", "file")])
def test_other_spellings_of_a_type_are_understood(authored: str, known: str) -> None:
    assert content_type_of(authored) == known


@pytest.mark.parametrize(("group", "children"), [("resource", "pattern, practice"), ("story", "study, article, guide")])
def test_a_group_of_types_is_refused_with_its_children(group: str, children: str) -> None:
    with pytest.raises(InvalidInput, match="group of types") as caught:
        content_type_of(group)
    assert children in (caught.value.hint or "")


def test_an_unknown_type_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInput) as caught:
        content_type_of("patern")
    assert "pattern" in (caught.value.hint or "")


def test_a_keyed_branch_shows_nothing_of_the_title() -> None:
    assert branch_of("Secret plan", "0xabc", "k", key="k") == branch_of("Another title", "0xabc", "k", key="k")
    assert "secret" not in branch_of("Secret plan", "0xabc", "k", key="k")


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_different_callers_and_keys_never_share_a_branch(one: str, key: str, other: str, other_key: str) -> None:
    same = (one, key) == (other, other_key)
    assert (branch_of("t", one, key, key=key) == branch_of("t", other, other_key, key=other_key)) is same


@given(st.text(max_size=200))
def test_a_branch_is_a_name_that_git_takes(title: str) -> None:
    branch = branch_of(title, "0xabc", key=None)
    assert branch.startswith("commonplace/draft-")
    assert branch.replace("commonplace/", "").replace("-", "").isalnum()
    assert branch.isascii()
    assert len(branch) < 100
