"""What comments say of a command: a summary, and the tags of JSDoc."""

from dataclasses import dataclass

from generators.commands import sentence

_DIRECTIVES = ("eslint", "ts-", "@ts-", "prettier", "istanbul", "todo", "fixme", "xxx", "hack", "#region", "region")


@dataclass(frozen=True, slots=True)
class Note:
    summary: str = ""
    text: str = ""
    usage: str | None = None
    examples: tuple[str, ...] = ()
    output: str | None = None
    deprecated: bool = False
    replaced_by: str | None = None
    """As it is written: `use helios users export`."""

    def __bool__(self) -> bool:
        return bool(self.text or self.usage or self.deprecated)


def note(comments: str) -> Note:
    """Of the comments' own text, signs included."""
    lines = [_line(one) for one in comments.splitlines()]
    text: list[str] = []
    tags: list[tuple[str, list[str]]] = []
    for one in lines:
        if one.startswith("@"):
            name, _, rest = one[1:].partition(" ")
            tags.append((name.casefold(), [rest]))
        elif tags:
            tags[-1][1].append(one)
        else:
            text.append(one)
    return _note("\n".join(_kept(text)).strip(), [(name, "\n".join(said).strip()) for name, said in tags])


def _note(text: str, tags: list[tuple[str, str]]) -> Note:
    told = dict(reversed(tags))
    summary = told.get("summary") or told.get("description") or text.partition("\n\n")[0]
    return Note(
        summary=sentence(summary),
        text=text or summary,
        usage=told.get("usage") or told.get("syntax"),
        examples=tuple(said for name, said in tags if name == "example" and said),
        output=told.get("output"),
        deprecated="deprecated" in told,
        replaced_by=told.get("deprecated") or None,
    )


def _line(line: str) -> str:
    line = line.strip()
    for opening in ("/**", "/*", "///", "//"):
        line = line.removeprefix(opening)
    return line.removesuffix("*/").strip().removeprefix("*").strip()


def _kept(lines: list[str]) -> list[str]:
    """Without what is said to tools, and without lines that are drawn."""
    return [one for one in lines if not one or (not one.casefold().startswith(_DIRECTIVES) and not _drawn(one))]


def _drawn(line: str) -> bool:
    return line[:3] in {"---", "===", "***", "###", "~~~"} or not any(sign.isalnum() for sign in line)
