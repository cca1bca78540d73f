"""Ids and attachment names: unique, URL-safe, and a function of the set of paths."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.paths import MAX_ID_BYTES, assign_ids, assign_names
from commonplace.repository.slugs import slug

SEGMENT = st.text(alphabet=st.sampled_from("aAbB-_ .&éß🌱ø" + "\N{NO-BREAK SPACE}"), min_size=1, max_size=6).filter(
    lambda name: name not in (".", "..")
)
PATH = st.lists(SEGMENT, min_size=1, max_size=3).map("/".join)
TREE = st.dictionaries(PATH.map(lambda path: f"{path}.md"), st.sampled_from(["tag", "link"]), max_size=30)
ANY_TREE = st.dictionaries(
    st.text(alphabet=st.characters(exclude_characters="\0"), min_size=1, max_size=300),
    st.just("file"),
    max_size=10,
)


@given(TREE | ANY_TREE, st.randoms())
def test_ids_are_unique_safe_bounded_and_independent_of_order(tree: dict[str, str], random: object) -> None:
    ids = assign_ids(tree)
    assert ids.keys() == tree.keys()
    assert len({(tree[path], name) for path, name in ids.items()}) == len(tree)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in ids.values())
    assert all(len(name.encode()) <= MAX_ID_BYTES for name in ids.values())
    shuffled = list(tree)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert assign_ids({path: tree[path] for path in shuffled}) == ids


@given(TREE)
def test_documents_of_other_types_have_no_say_in_an_id(tree: dict[str, str]) -> None:
    tags = {path: content_type for path, content_type in tree.items() if content_type == "tag"}
    ids = assign_ids(tree)
    assert assign_ids(tags) == {path: ids[path] for path in tags}


@given(st.sets(PATH.map(lambda path: f"{path}.PnG") | PATH, max_size=30))
def test_attachment_names_are_unique_and_the_ends_of_their_paths(paths: set[str]) -> None:
    names = assign_names(paths)
    assert len(set(names.values())) == len(paths)
    for path, name in names.items():
        assert path == name or f"/{unicodedata.normalize('NFC', path)}".endswith(f"/{name}")


def test_a_lone_name_is_the_slug_of_its_stem() -> None:
    assert assign_ids({"data/concepts/Mutual Aid.md": "tag"}) == {"data/concepts/Mutual Aid.md": "mutual-aid"}


def test_only_names_that_are_shared_are_qualified() -> None:
    tree = dict.fromkeys(["a/x.md", "b/x.md", "c/y.md"], "file")
    assert assign_ids(tree) == {"a/x.md": "a-x", "b/x.md": "b-x", "c/y.md": "y"}


def test_a_qualified_id_stays_when_more_files_of_the_name_appear() -> None:
    two = assign_ids(dict.fromkeys(["a/x.md", "b/x.md"], "file"))
    three = assign_ids(dict.fromkeys(["a/x.md", "b/x.md", "c/a/x.md"], "file"))
    assert two.items() <= three.items()


def test_a_qualified_name_that_meets_a_plain_one_gets_a_hash() -> None:
    ids = assign_ids(dict.fromkeys(["a/x.md", "b/x.md", "a-x.md"], "file"))
    assert ids["a-x.md"] == "a-x"
    assert re.fullmatch(r"a-x-[0-9a-f]{10}", ids["a/x.md"])
    assert ids["b/x.md"] == "b-x"


def test_a_name_that_imitates_a_hash_does_not_take_its_place() -> None:
    paths = ["notes/A.md", "notes/a.md"]
    hashed = assign_ids(dict.fromkeys(paths, "file"))["notes/a.md"]
    ids = assign_ids(dict.fromkeys([*paths, f"{hashed}.md"], "file"))
    assert len(set(ids.values())) == 3


def test_letters_lose_their_accents_and_apostrophes_leave_no_gap() -> None:
    assert slug("Größe & Café – Łódź’s øre") == "grosse-cafe-lodzs-ore"
    assert slug("ＦＵＬＬ　ｗｉｄｔｈ ½") == "full-width-1-2"
    assert slug("🌱 – ⬜️ …") == ""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Über uns", "uber-uns"),
        ("Œuvre d’Ǽgir", "oeuvre-daegir"),
        ("北京 guide", "beijing-guide"),
        ("План № 2", "plan-no-2"),
        ("большой прилив", "bolshoy-priliv"),
        ("Παλίρροια", "palirroia"),
        ("ガイド", "gaido"),
        ("한국어 안내", "hangugeo-annae"),
        ("हिन्दी", "hindi"),
        ("مد و جزر", "md-w-jzr"),
        ("גאות", "gvt"),
        ("🌱 план", "plan"),
        ("Pьer – Ⅳ", "per-iv"),
        ("٢٠٢٤", "2024"),
    ],
)
def test_letters_of_another_script_are_transliterated(name: str, expected: str) -> None:
    assert slug(name) == slug(unicodedata.normalize("NFD", name)) == expected
    assert assign_ids({f"notes/{name}.md": "file"}) == {f"notes/{name}.md": expected}


def test_a_name_without_a_letter_has_the_hash_of_its_path() -> None:
    ids = assign_ids(dict.fromkeys(["notes/🌱.md", "notes/….md", "notes/---.md"], "file"))
    assert all(re.fullmatch(r"untitled-[0-9a-f]{10}", name) for name in ids.values())


def test_an_attachment_keeps_its_name() -> None:
    names = [
        "Map of the Bay (1).PNG",
        "Ebbe & Flut – Übersicht.pdf",
        "Cafe\u0301.png",
        "no suffix",
        ".well-known",
        "a+b%20#?.txt",
    ]
    found = assign_names(f"attachments/{name}" for name in names)
    assert list(found.values()) == [unicodedata.normalize("NFC", name) for name in names]


def test_attachments_of_one_name_have_folders_before_it() -> None:
    paths = ["a/map.png", "x/a/map.png", "b/map.png", "b/Map.png", "b/map.pdf", "map.png"]
    assert assign_names(paths) == {
        "a/map.png": "a/map.png",
        "x/a/map.png": "x/a/map.png",
        "b/map.png": "b/map.png",
        "b/Map.png": "Map.png",
        "b/map.pdf": "map.pdf",
        "map.png": "map.png",
    }


def test_two_spellings_of_one_name_stay_two_attachments() -> None:
    composed, apart = "a/Caf\u00e9.png", "a/Cafe\u0301.png"
    assert assign_names([composed, apart]) == {composed: composed, apart: apart}


def test_names_that_are_no_utf8_get_ids_too() -> None:
    ids = assign_ids(dict.fromkeys(["notes/caf\udce9.md", "notes/caf\udce8.md"], "file"))
    assert len(set(ids.values())) == 2
