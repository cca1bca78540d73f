"""The generator of the tables in `configuration.md`, from the declarations of the settings: `make docs`."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from itertools import pairwise

from commonplace.kernel.configuration import Declaration, Settings, declaration
from infra.configuration import Configuration
from infra.declarations import READS, ROOMS, camel_case
from infra.requirements import ROOT

PAGE = ROOT / "docs/operate/configuration.md"
KEYS_HEAD, VARIABLES_HEAD = "| key | default | meaning |", "| variable | read by | default | meaning |"


def documented(settings: type[Settings]) -> Iterator[tuple[str, Declaration, str]]:
    """Field, declaration and docstring of each setting of the class, inherited ones included."""
    sentences: dict[str, str] = {}
    for each in reversed(settings.__mro__):
        if issubclass(each, Settings):
            (source,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
            assert isinstance(source, ast.ClassDef)  # noqa: S101 - the source of a class
            for one, below in pairwise(source.body):
                match one, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        sentences[name] = " ".join(text.split())
    for name, field in settings.model_fields.items():
        yield name, declaration(field), sentences.get(name, "")


def key_rows(classes: Iterable[type[Settings]]) -> dict[str, str]:
    """Return the rows by context key: those of the stack itself, and those that the classes declare."""
    rows: dict[str, str] = {}
    every: list[type[Settings]] = [*classes, Configuration]
    for settings in every:
        for name, declared, sentence in documented(settings):
            key = declared.key or (camel_case(name) if settings is Configuration else None)
            if key:
                rows.setdefault(key, _row(f"`{key}`", _default(declared), sentence))
    return rows


def variable_rows(readers: dict[str, tuple[type[Settings], ...]]) -> dict[str, str]:
    """Return the rows by variable. What an operator chooses is described with its key."""
    found: dict[str, tuple[Declaration, str, list[str]]] = {}
    for function, classes in readers.items():
        for settings in classes:
            for _, declared, sentence in documented(settings):
                if declared.variable:
                    said, known, by = found.get(declared.variable, (declared, sentence, []))
                    by += [function] if function.partition(" ")[0] not in by else []
                    found[declared.variable] = (said, known or sentence, by)
    return {
        variable: _row(
            f"`{variable}`",
            "all" if len(by) == len(readers) else ", ".join(by),
            "" if said.key or said.required else _default(said),
            f"`{said.key}` above" if said.key else sentence,
        )
        for variable, (said, sentence, by) in found.items()
    }


def _default(declared: Declaration) -> str:
    if declared.shown or declared.default is None:
        return declared.shown or "none"
    text = str(declared.default)
    return f"`{text.lower() if isinstance(declared.default, bool) else text}`"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def written(page: str) -> str:
    """The page with its tables as the declarations have them."""
    for head, rows in ((KEYS_HEAD, key_rows(ROOMS)), (VARIABLES_HEAD, variable_rows(dict(READS)))):
        table = "\n".join([head, "|---" * (head.count("|") - 1) + "|", *rows.values()])
        old = re.search(rf"^{re.escape(head)}\n(?:\|.*\n)*", page, flags=re.M)
        page = page.replace(old[0], f"{table}\n") if old else page
    return page


def main() -> int:
    """Rewrites the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
