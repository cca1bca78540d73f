"""A made-up repository with the measures of a real one, and text without meaning in the shape of prose.

About 2,150 Markdown files, 272 of them published, in the sizes, with the tags, links and odd cases that a knowledge
base of an organisation was found to have; its history ends in a push that moves about 2,000 files.
"""

import random
import subprocess
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp, log
from pathlib import Path
from typing import Any

import yaml

from commonplace_local.github.git import git, neutral_environment

MADE_OF: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
WORDS: tuple[str, ...] = tuple(MADE_OF["words"].split())
RARE_WORDS = tuple(
    WORDS[number % len(WORDS)] + WORDS[number * 7 // len(WORDS) % len(WORDS)] for number in range(0, 9_000, 3)
)
"""Compounds: as in any language, few words make up most of the text, and most words are rare."""

SEED = 20260223
PUBLISHED, OTHERS = 272, 130
COMMITS = 60
"""Over which the first tree grows, so that files differ in when they last changed."""
FIRST_COMMIT = 1_735_689_600
DAY_SECONDS = 86_400
LINKS_PER_DOCUMENT = 12
TAGS = tuple(f"{first}-{second}" for first, second in zip(WORDS[20:134], WORDS[200:314], strict=True))
TAGS_OF_DOCUMENTS = (0,) * 37 + (1,) * 59 + (3,) * 143 + (4,) * 33
COMMON_TAG, COMMONLY_TAGGED = "stewardship", 90


class Prose:
    """A deterministic source of text; two of the same seed say the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._order = [*self._random.sample(WORDS, len(WORDS)), *self._random.sample(RARE_WORDS, len(RARE_WORDS))]
        self._weights = list(accumulate(1 / (rank + 8) for rank in range(len(self._order))))

    def words(self, count: int) -> list[str]:
        return self._random.choices(self._order, cum_weights=self._weights, k=count)

    def title(self, count: int = 4) -> str:
        return " ".join(self.words(count)).capitalize()

    def slug(self, number: int) -> str:
        return "-".join([*self.words(3), str(number)])

    def sentence(self) -> str:
        return " ".join(self.words(self._random.randint(7, 18))).capitalize() + "."

    def paragraph(self) -> str:
        return " ".join(self.sentence() for _ in range(self._random.randint(2, 5)))

    def description(self, characters: int = 181) -> str:
        text = self.sentence()
        while len(text) < characters:
            text += " " + self.sentence()
        return text[:characters].rstrip()


@dataclass(frozen=True, slots=True)
class File:
    """A file of the newest tree; `text` names documents where they are now."""

    path: str
    text: bytes
    published: bool = False

    @property
    def former_path(self) -> str:
        """Where it was before the push that moved it."""
        moved = (old + self.path[len(new) :] for new, old in MADE_OF["former"] if self.path.startswith(new))
        return next(moved, self.path)

    @property
    def former_text(self) -> bytes:
        """Its text with the links as they were before; only published documents had theirs mended."""
        text = self.text
        for new, old in MADE_OF["former"] if self.published else ():
            text = text.replace(f"]({new}".encode(), f"]({old}".encode())
        return text


def files(every: int = 1) -> list[File]:
    """Return the newest tree; only every so many-th file of each kind when `every` is above one."""
    prose = Prose(SEED)
    published = [(f"{folder}index.md", "index") for folder in MADE_OF["index_folders"]]
    for folder, kind, count in MADE_OF["published"]:
        published += [(f"{folder}{prose.slug(number)}.md", kind) for number in range(count)]
    prose = Prose(SEED + 1)
    unpublished = []
    for folder, count in MADE_OF["unpublished"]:
        for number in range(count):
            # One in seven as people name files: spaces, capitals, signs, letters beyond ASCII.
            odd = f"{prose.title()} – Entwürfe ({number}) + #1 " if number % 7 == 3 else prose.slug(number)
            unpublished.append(f"{folder}{odd}.md")
    random.Random(SEED).shuffle(published)
    random.Random(SEED + 1).shuffle(unpublished)
    tree = [*_documents(published[::every], unpublished[::every]), *_private(unpublished[::every])]
    for number in range(0, OTHERS, every):
        ending = "png" if number < 115 else "pdf" if number < 127 else "webp"
        chance = random.Random(SEED + 100 + number)
        content = chance.randbytes(chance.randint(4_000, 60_000))
        tree.append(File(f"attachments/picture-{number}.{ending}", content))
    return tree


def _documents(named: Sequence[tuple[str, str]], unpublished: Sequence[str]) -> Iterator[File]:
    """Yield published documents with the measures of the real ones."""
    prose, chance, quantiles = Prose(SEED + 2), random.Random(SEED + 2), MADE_OF["body_quantiles"]
    targets = [path for path, _ in named if " " not in path]
    private = [path for path in unpublished if " " not in path]
    sizes: list[int] = []
    for share in ((index + 0.5) / len(named) for index in range(len(named))):
        # Between the quantiles on a logarithmic scale.
        position = bisect_right([point for point, _ in quantiles], share)
        (low, small), (high, large) = quantiles[position - 1], quantiles[position]
        sizes.append(round(exp(log(small) + (share - low) / (high - low) * (log(large) - log(small)))))
    sizes = _shuffled(sizes)
    tags = _tags(len(named))
    for index, (path, kind) in enumerate(named):
        links = [chance.choice(targets) for _ in range(LINKS_PER_DOCUMENT)]
        links += [chance.choice(private)] if index % 3 == 0 and private else []
        links += [f"data/links/missing-{index}.md"] if index % 2 else []
        body = _body(prose, sizes[index], links)
        text = f"---\n{_frontmatter(prose, index, kind, tags[index])}publish: true\n---\n{body}"
        yield File(path, (text.replace("\n", "\r\n") if index % 5 in (1, 3) else text).encode(), published=True)


def _shuffled(values: list[int]) -> list[int]:
    random.Random(SEED + 5).shuffle(values)
    return values


def _tags(documents: int) -> list[list[str]]:
    """Return the tags of each document: 620 in all, 114 distinct and a common one, when there are 272 documents."""
    chance = random.Random(SEED + 3)
    counts = _shuffled([TAGS_OF_DOCUMENTS[index * len(TAGS_OF_DOCUMENTS) // documents] for index in range(documents)])
    tagged = [index for index, count in enumerate(counts) if count]
    common = set(tagged[: COMMONLY_TAGGED * documents // PUBLISHED or 1])
    chosen = []
    for index, count in enumerate(counts):
        others = chance.sample(TAGS, count)
        chosen.append([COMMON_TAG, *others[1:]] if index in common else others)
    return chosen


def _frontmatter(prose: Prose, index: int, kind: str, tags: Sequence[str]) -> str:
    lines = [f"title: {prose.title()} {index}", f"type: {kind}"]
    if index % 10 != 9:
        lines.append(f"description: {prose.description()}")
    if tags or index % 3 == 0:
        lines.append(f"tags: [{', '.join(tags)}]" if tags else "tags:")
    if kind == "link":
        lines.append(f"url: https://example.org/{index}")
    if kind == "concept":
        lines.append(f'aliases: ["#{prose.title(2)} {index}"]')
    if index % 6 == 0:
        lines.append(f"group: {('orchard', 'tideline', 'mill')[index % 18 // 6]}")
    if index % 68 == 5:
        lines.append("date: 2025-11-03")
    if index % 18 == 7:
        lines.append(f'banner: "![[attachments/picture-{index % OTHERS}.png]]"')
    return "".join(f"{line}\n" for line in lines)


def _body(prose: Prose, characters: int, links: Sequence[str]) -> str:
    """Return headings, rules and paragraphs, the links spread among them."""
    waiting = [f"[{prose.title(2)}]({target})" for target in links] + [f"[source](https://example.org/{characters})"]
    spacing = max(1, characters // (len(waiting) + 1))
    parts: list[str] = []
    length = 0
    while length < characters:
        text = f"## {prose.title(3)}" if len(parts) % 5 == 0 else "---" if len(parts) % 17 == 16 else prose.paragraph()
        while waiting and length >= spacing * (len(links) + 1 - len(waiting)):
            text += f"\n\nSee {waiting.pop()}."
        parts.append(text)
        length += len(text) + 2
    return "\n\n".join(["", *parts, ""])


def _private(named: Sequence[str]) -> Iterator[File]:
    """Yield files that are not published, each for one of the reasons there are, in the shares there are."""
    prose = Prose(SEED + 4)
    for index, path in enumerate(named):
        body = "".join(f"{prose.paragraph()}\n\n" for _ in range(1 + index * 7 % 23))
        title = prose.title()
        match index % 100:
            case place if place < 56:
                head = f"---\ntitle: {title}\npublish: false\n---\n"
            case place if place < 85:
                head = f"---\ntitle: {title}\ntype: note\n---\n"
            case 85:
                head = f"---\ntitle: {title}: and {title}\n---\n"  # malformed: a second colon
            case place if place < 90:
                head, body = "", ""
            case _:
                head = ""
        yield File(path, (head + body).encode())


def write(git_dir: Path, every: int = 1) -> tuple[str, str]:
    """Write the repository; return the commit before the large push, and that push, which is the branch `main`.

    The former tree grows commit by commit, then one commit moves it.
    """
    tree = files(every)
    stream: list[bytes] = []
    for number in range(COMMITS + 1):
        when = FIRST_COMMIT + number * DAY_SECONDS
        stream.append(f"commit refs/heads/main\ncommitter Editor <editor@example.org> {when} +0000\n".encode())
        stream.append(_data(b"Add" if number < COMMITS else b"Move everything"))
        if number < COMMITS:
            for file in tree[number::COMMITS]:
                stream += [f"M 100644 inline {_quoted(file.former_path)}\n".encode(), _data(file.former_text)]
    for file in tree:
        if file.former_path != file.path:
            stream.append(f"R {_quoted(file.former_path)} {_quoted(file.path)}\n".encode())
        if file.former_text != file.text:
            stream += [f"M 100644 inline {_quoted(file.path)}\n".encode(), _data(file.text)]
    environment, here = neutral_environment(), f"--git-dir={git_dir}"
    git("init", "--quiet", "--bare", "--initial-branch=main", str(git_dir), environment=environment)
    subprocess.run(["git", here, "fast-import", "--quiet"], input=b"".join(stream), check=True, env=environment)
    before, after = git(here, "rev-parse", "main^", "main", environment=environment).decode().split()
    return before, after


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
