"""The generator of the tables in `configuration.md`, from the declarations of the settings: `make docs`."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from commonplace.kernel.configuration import Declaration, Settings, declaration
from infra.configuration import Configuration
from infra.declarations import READS, ROOMS, camel_case
from infra.requirements import ROOT

PAGE = ROOT / "docs/operate/configuration.md"
KEYS_HEAD, VARIABLES_HEAD = "| key and variable | default | meaning |", "| variable | default | meaning |"


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
    """Return the rows by context key, with its variable: those that the classes declare, and those of the stack."""
    found = _first([*classes, Configuration], lambda declared: declared.key)
    return {
        key: _row("<br>".join(f"`{each}`" for each in (key, declared.variable) if each), _default(declared), sentence)
        for key, (declared, sentence) in found.items()
    }


def variable_rows(classes: Iterable[type[Settings]]) -> dict[str, str]:
    """Return the rows by variable of those that no context key sets."""
    return {
        variable: _row(f"`{variable}`", "" if declared.required else _default(declared), sentence)
        for variable, (declared, sentence) in _first(classes, lambda declared: declared.variable).items()
        if not declared.key
    }


def _first(
    classes: Iterable[type[Settings]], named: Callable[[Declaration], str | None]
) -> dict[str, tuple[Declaration, str]]:
    """Return the first declaration by name, with the first sentence that any class has for it."""
    found: dict[str, tuple[Declaration, str]] = {}
    for settings in classes:
        for field, declared, sentence in documented(settings):
            if name := named(declared) or (camel_case(field) if settings is Configuration else None):
                first, known = found.get(name, (declared, ""))
                found[name] = (first, known or sentence)
    return found


def _default(declared: Declaration) -> str:
    if declared.shown or declared.default is None:
        return declared.shown or "none"
    text = str(declared.default)
    return f"`{text.lower() if isinstance(declared.default, bool) else text}`"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def written(page: str) -> str:
    """The page with its tables as the declarations have them."""
    read = [settings for classes in READS.values() for settings in classes]
    for head, rows in ((KEYS_HEAD, key_rows(ROOMS)), (VARIABLES_HEAD, variable_rows(read))):
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
