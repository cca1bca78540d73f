"""The pages agree with each other and with the files they name."""

import re
import tomllib

from tests.unit.docs.pages import ROOT, blocks, dead_links, first_cells, label, pages, room_readmes, rows, section


def test_every_link_leads_somewhere() -> None:
    for page in [*pages(), *room_readmes()]:
        assert dead_links(page) == []


def test_every_code_block_says_its_language() -> None:
    for page in pages():
        unnamed = [block.line for block in blocks(page) if not block.language and "──" not in block.text]
        assert unnamed == [] or page.parent.name == "runbooks"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or not page.is_file():
            continue
        reached.add(page)
        targets = re.findall(r"\]\(([^)#\s]+\.md)[^)]*\)", page.read_text(encoding="utf-8"))
        waiting += [(page.parent / target).resolve() for target in targets if "://" not in target]
    assert [label(page) for page in pages() if page not in reached] == []


def test_every_dependency_has_its_line_and_every_line_its_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = [item for item in project["project"]["optional-dependencies"].items() if item[0] != "all"]
    groups = [*project["dependency-groups"].values(), *(packages for _, packages in extras)]
    required = [*project["project"]["dependencies"], *(item for group in groups for item in group)]
    names = {re.split(r"[^A-Za-z0-9._-]", requirement)[0] for requirement in required}
    assert set(first_cells(ROOT / "docs" / "inside" / "dependencies.md")) == names


def test_the_page_says_which_function_carries_a_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    table = rows(section(ROOT / "docs" / "inside" / "dependencies.md", "What the functions carry"))
    documented = {row[0].strip("`"): set(row[2].split(", ")) for row in table}
    for function in ("sync", "index", "rest", "mcp", "auth", "rotate"):
        carried = {package for package, functions in documented.items() if function in functions}
        assert carried == set(project["dependency-groups"][function])


def test_architecture_names_files_and_folders_that_exist() -> None:
    named = re.findall(
        r"^\| .*`((?:layers|functions|infra|packages|samples|tests|bench|docs)(?:/[^`]*)?)`",
        (ROOT / "docs" / "inside" / "architecture.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []
