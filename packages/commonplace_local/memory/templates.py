"""The parser of templates: each file is one entry, tagged by its folder and its kind's roles (seed 001, "Parser")."""

import re
from pathlib import PurePosixPath

from commonplace.memory.entry_files import Parsed, Read, Seed, Unread, tag, tags
from commonplace.memory.model import MAX_CONTENT_BYTES, Role
from commonplace_local.memory.markdown import Heading, blocks, normalised

FOLDERS_UP = 2
"""Of the folders above a file that no folder for templates holds: further up they say nothing about it."""

_HOLDER = re.compile(r"[_.]?templates?")
_EMPTY = frozenset({"docs", "doc", "plans", "src", "samples", "examples", "uat", "stories", "."})
_STORY = re.compile(r"[A-Za-z][A-Za-z0-9]*-\d+")
_WORD = re.compile(r"[A-Za-z0-9]+")

_KINDS: tuple[tuple[str, tuple[Role, ...], tuple[str, ...]], ...] = (
    (r"adr|architecture|decision|rfc", ("dev", "pm"), ("architecture",)),
    (r"story|epic|prd|requirement|acceptance|feature|pitch|roadmap", ("pm",), ()),
    (r"test|tests|testing|plan-of-tests", ("dev", "qa"), ("testing",)),
    (r"qa|verification|verify|gate|uat|bug|defect", ("qa",), ("verification",)),
    (r"proof", ("dev",), ("documentation",)),
    (r"runbook|operations|deploy|deployment|incident|postmortem|migration", ("dev",), ()),
    (r"review|checklist", ("dev", "qa"), ("review",)),
)
"""Words of a name -> roles, and tags that the name alone does not give. The first that fits counts."""

DEFAULT_ROLES: tuple[Role, ...] = ("dev", "qa")
"""Seed 001, "Files to Seed"."""


def parse(text: str, source_file: str, roles: tuple[Role, ...] = ()) -> Parsed:
    """One template: the whole text. `roles` win over those of its kind."""
    content = normalised(text).strip("\n")
    if not content.strip():
        return Parsed((), unread=(Unread(1, "the file is empty"),))
    if (size := len(content.encode())) > MAX_CONTENT_BYTES:
        told = f"the file has {size:,} bytes, more than the {MAX_CONTENT_BYTES:,} of an entry. Split it"
        return Parsed((), unread=(Unread(1, told),))
    words = _words(source_file)
    # By the words of the name first, those of the folders above it after.
    kinds = ((known, more) for word in reversed(words) for at, known, more in _KINDS if re.fullmatch(at, word))
    known, more = next(kinds, (DEFAULT_ROLES, ()))
    title = next(
        (block.text for block in blocks(content) if isinstance(block, Heading)), PurePosixPath(source_file).stem
    )
    seed = Seed(
        content=content,
        entry_type="template",
        roles=roles or known,
        tags=tags((*words, *more, "template")),
        source_file=source_file,
        metadata={"title": title},
    )
    return Parsed((seed,), read=(Read(1, "template", title),))


def _words(path: str) -> tuple[str, ...]:
    """`operations`, `runbook` of `templates/operations/RUNBOOK.md`; `proof` of `_templates/PROOF-TEMPLATE.md`."""
    *folders, name = PurePosixPath(path.replace("\\", "/")).parts
    holders = [place for place, folder in enumerate(folders) if _HOLDER.fullmatch(folder.casefold())]
    kept = folders[holders[-1] + 1 :] if holders else folders[-FOLDERS_UP:]
    telling = [one for one in kept if one.casefold() not in _EMPTY and one != ".." and not _STORY.fullmatch(one)]
    stem = name.partition(".")[0] or name
    parts = [word for word in _WORD.findall(stem) if word.casefold() not in ("template", "tmpl")]
    return tuple(dict.fromkeys(tag(one) for one in (*telling, *parts) if tag(one)))
