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

from local.github.git import git, neutral_environment

_VOCABULARY = """
a about account across action after again agree allow almost also always among amount answer apple arrange arrive ask
autumn balance barn basket bee begin belong bench better between birch board boat border borrow bramble bread breeze
bridge bring broad brook bucket build bundle calendar call candle care careful carry cart cedar change charter choose
circle clay clear clover coast collect common compost consent copper corner cost count course cover craft create crop
cross current custom cycle daily day decide deep delay depend describe dig divide door draft draw drift dry early
earth edge effort elder election empty enough even evening every example expect fair fallow family farm feather feed
fence fern field find finish first fish flow fold follow ford forest form frame free fresh frost fruit full garden
gather gate general gentle gift give glass grain grass ground group grow guard guest guide habit half hand harbour
harvest hazel heap hedge help herb hill hold holiday honest honey house idea inside interest iron island keep kitchen
know ladder lake lamp land large late lead leaf learn lend letter level light lime line listen little loan local long
loom low make many map maple market meadow measure meet member memory mend middle mill mint mirror moor morning moss
mountain move narrow near need nest new night north note oak oat offer open orchard order other oven paper part path
patient pattern peat people plain plan plant plough pond pool practice press promise proposal quarter question quiet
rain raise reach ready reed repair report rest return ridge ring rise river road role roof room root round route rule
rye salt same sand season seed share shed shelter shore short side signal slope slow small soil south spade speak
spring stable stand start steady step steward stone store storm stream street strong summer supply swap table tend
test thread tide timber time token tool touch town trade trail tree trust turn twine under until use valley value
village visit voice wait walk wall warm watch water weather weave well west wheat wheel whole willow wind winter wood
wool word work yard year yield young
"""
WORDS = tuple(_VOCABULARY.split())
RARE_WORDS = tuple(
    WORDS[number % len(WORDS)] + WORDS[number * 7 // len(WORDS) % len(WORDS)] for number in range(0, 9_000, 3)
)
"""Compounds: as in any language, few words make up most of the text, and most words are rare."""


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

    def sentence(self) -> str:
        return " ".join(self.words(self._random.randint(7, 18))).capitalize() + "."

    def paragraph(self) -> str:
        return " ".join(self.sentence() for _ in range(self._random.randint(2, 5)))

    def description(self, characters: int = 181) -> str:
        text = self.sentence()
        while len(text) < characters:
            text += " " + self.sentence()
        return text[:characters].rstrip()


SEED = 20260223
PUBLISHED, UNPUBLISHED, OTHERS = 272, 1_884, 130
COMMITS = 60
"""Over which the first tree grows, so that files differ in when they last changed."""
FIRST_COMMIT = 1_735_689_600
DAY_SECONDS = 86_400

BODY_QUANTILES = ((0.0, 900), (0.1, 2_853), (0.5, 5_747), (0.9, 14_749), (0.99, 35_429), (1.0, 46_210))
"""Share of the published documents, and characters of the body that so many stay below."""
LINKS_PER_DOCUMENT = 12
TAGS = tuple(f"{first}-{second}" for first, second in zip(WORDS[20:134], WORDS[200:314], strict=True))
TAGS_OF_DOCUMENTS = (0,) * 37 + (1,) * 59 + (3,) * 143 + (4,) * 33
COMMON_TAG, COMMONLY_TAGGED = "stewardship", 90

INDEX_FOLDERS = (
    *("", "data/", "docs/", "docs/mill/", "data/links/", "data/concepts/", "data/resources/", "data/stories/"),
    *(f"data/{name}/" for name in ("gatherings", "groups", "people", "places", "projects", "questions")),
    *(f"data/resources/{name}/" for name in ("patterns", "practices", "primitives", "protocols", "playbooks")),
    *(f"data/stories/{name}/" for name in ("articles", "studies", "guides")),
    *("docs/orchard/", "docs/orchard/guides/", "docs/orchard/tools/", "docs/tideline/"),
)
PUBLISHED_FOLDERS = (
    ("data/links/", "link", 114),
    ("data/concepts/", "concept", 77),
    ("docs/orchard/guides/", "guide", 11),
    ("docs/orchard/", "pattern", 18),
    ("docs/tideline/", "article", 11),
    ("data/resources/patterns/", "pattern", 12),
    ("data/stories/articles/", "study", 3),
)
UNPUBLISHED_FOLDERS = (
    ("docs/orchard/minutes/", 620),
    ("docs/tideline/working papers/", 500),
    ("docs/mill/", 420),
    ("archive/", 176),
    ("tools/", 140),
    ("data/people/", 20),
    ("tmp/", 7),
    ("drafts/", 1),
)
FORMER_FOLDERS = (
    ("data/links/", "links/"),
    ("data/concepts/", "tags/"),
    ("data/resources/", "artifacts/"),
    ("data/stories/", "artifacts/stories/"),
    ("docs/", "notes/"),
    ("archive/", "tmp/old/"),
)


@dataclass(frozen=True, slots=True)
class File:
    """A file of the newest tree; `text` names documents where they are now."""

    path: str
    text: bytes
    published: bool = False

    @property
    def former_path(self) -> str:
        """Where it was before the push that moved it."""
        return next(
            (old + self.path[len(new) :] for new, old in FORMER_FOLDERS if self.path.startswith(new)), self.path
        )

    @property
    def former_text(self) -> bytes:
        """With the links as they were before; only published documents had theirs mended."""
        if not self.published:
            return self.text
        text = self.text
        for new, old in FORMER_FOLDERS:
            text = text.replace(f"]({new}".encode(), f"]({old}".encode())
        return text


def files(every: int = 1) -> list[File]:
    """The newest tree; only every so many-th file of each kind when `every` is above one."""
    published = _published_paths()[::every]
    unpublished = _unpublished_paths()[::every]
    return [
        *_documents(published, unpublished),
        *_private(unpublished),
        *_others(range(0, OTHERS, every)),
    ]


def write(git_dir: Path, every: int = 1) -> tuple[str, str]:
    """Writes the repository; returns the commit before the large push, and that push, which is the branch `main`."""
    git("init", "--quiet", "--bare", "--initial-branch=main", str(git_dir), environment=neutral_environment())
    stream = b"".join(_history(files(every)))
    subprocess.run(
        ["git", f"--git-dir={git_dir}", "fast-import", "--quiet"], input=stream, check=True, env=neutral_environment()
    )
    found = git(f"--git-dir={git_dir}", "rev-parse", "main^", "main", environment=neutral_environment())
    before, after = found.decode().split()
    return before, after


def _published_paths() -> list[tuple[str, str]]:
    """(path, type) of every published document, in an order without a system."""
    prose = Prose(SEED)
    named = [(f"{folder}index.md", "index") for folder in INDEX_FOLDERS]
    for folder, kind, count in PUBLISHED_FOLDERS:
        named += [(f"{folder}{_slug(prose, number)}.md", kind) for number in range(count)]
    random.Random(SEED).shuffle(named)
    return named


def _unpublished_paths() -> list[str]:
    prose = Prose(SEED + 1)
    named = []
    for folder, count in UNPUBLISHED_FOLDERS:
        for number in range(count):
            # One in seven as people name files: spaces, capitals, signs, letters beyond ASCII.
            odd = f"{prose.title()} – Entwürfe ({number}) + #1 " if number % 7 == 3 else _slug(prose, number)
            named.append(f"{folder}{odd}.md")
    random.Random(SEED + 1).shuffle(named)
    return named


def _slug(prose: Prose, number: int) -> str:
    return "-".join([*prose.words(3), str(number)])


def _documents(named: Sequence[tuple[str, str]], unpublished: Sequence[str]) -> Iterator[File]:
    """Published documents with the measures of the real ones."""
    prose, chance = Prose(SEED + 2), random.Random(SEED + 2)
    targets = [path for path, _ in named if " " not in path]
    private = [path for path in unpublished if " " not in path]
    sizes = _shuffled([_body_size((index + 0.5) / len(named)) for index in range(len(named))])
    tags = _tags(len(named))
    for index, (path, kind) in enumerate(named):
        links = [chance.choice(targets) for _ in range(LINKS_PER_DOCUMENT)]
        links += [chance.choice(private)] if index % 3 == 0 and private else []
        links += [f"data/links/missing-{index}.md"] if index % 2 else []
        body = _body(prose, sizes[index], links)
        head = _frontmatter(prose, index, kind, tags[index])
        text = f"---\n{head}publish: true\n---\n{body}"
        yield File(path, (text.replace("\n", "\r\n") if index % 5 in (1, 3) else text).encode(), published=True)


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
    """Headings, rules and paragraphs, the links spread among them."""
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


def _body_size(share: float) -> int:
    position = bisect_right([point for point, _ in BODY_QUANTILES], share)
    (low, small), (high, large) = BODY_QUANTILES[position - 1], BODY_QUANTILES[position]
    return round(exp(log(small) + (share - low) / (high - low) * (log(large) - log(small))))


def _tags(documents: int) -> list[list[str]]:
    """Tags of each document: 620 in all, 114 distinct and a common one, when there are 272 documents."""
    chance = random.Random(SEED + 3)
    counts = _shuffled([TAGS_OF_DOCUMENTS[index * len(TAGS_OF_DOCUMENTS) // documents] for index in range(documents)])
    tagged = [index for index, count in enumerate(counts) if count]
    common = set(tagged[: COMMONLY_TAGGED * documents // PUBLISHED or 1])
    chosen = []
    for index, count in enumerate(counts):
        others = chance.sample(TAGS, count)
        chosen.append([COMMON_TAG, *others[1:]] if index in common else others)
    return chosen


def _private(named: Sequence[str]) -> Iterator[File]:
    """Files that are not published, each for one of the reasons there are, in the shares there are."""
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


def _others(numbers: Sequence[int]) -> Iterator[File]:
    for number in numbers:
        ending = "png" if number < 115 else "pdf" if number < 127 else "webp"
        chance = random.Random(SEED + 100 + number)
        yield File(f"attachments/picture-{number}.{ending}", chance.randbytes(chance.randint(4_000, 60_000)))


def _shuffled(values: list[int]) -> list[int]:
    random.Random(SEED + 5).shuffle(values)
    return values


def _history(tree: Sequence[File]) -> Iterator[bytes]:
    """What `git fast-import` reads: the former tree grows commit by commit, then one commit moves it."""
    for number in range(COMMITS):
        yield _commit(number, "Add")
        for file in tree[number::COMMITS]:
            yield _modify(file.former_path, file.former_text)
    yield _commit(COMMITS, "Move everything")
    for file in tree:
        if file.former_path != file.path:
            yield f"R {_quoted(file.former_path)} {_quoted(file.path)}\n".encode()
        if file.former_text != file.text:
            yield _modify(file.path, file.text)


def _commit(number: int, message: str) -> bytes:
    when = FIRST_COMMIT + number * DAY_SECONDS
    head = f"commit refs/heads/main\ncommitter Editor <editor@example.org> {when} +0000\n"
    return head.encode() + _data(message.encode())


def _modify(path: str, text: bytes) -> bytes:
    return f"M 100644 inline {_quoted(path)}\n".encode() + _data(text)


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
