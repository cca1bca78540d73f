"""A knowledge base to look at in a browser: the sample, and pages with everything that Markdown can hold."""

import shutil
from pathlib import Path

from tests.hostile_markdown import HOSTILE
from tests.integration.repositories import Clone, document
from tests.unit.docs.pages import ROOT

SAMPLE = ROOT / "samples/knowledge-base"

EVERYTHING = """
# A heading that repeats the title

A paragraph with **strong**, *emphasis*, ~~struck~~, ==marked== and `code`, a [link](data/concepts/tide-pool.md), a wiki
link to [[Zonation]], one with [[tide-pool|a name of its own]], one that leads [[nowhere at all]], a footnote[^1] and an
address: https://example.org/a/very/long/path/that/does/not/break/anywhere/at/all/because/it/has/no/spaces/in/it?at=all.

## Callouts

> [!note] A note
> With a [link](data/concepts/zonation.md).

> [!warning]
> Mind the tide.

> [!tip]- A folded one
> Seen when it is opened.

## Images

![A square frame on the shore](attachments/quadrat-frame.svg)

![[attachments/lantern-cove.png]]

## A table

| method | median difference between teams | minutes for each square | people who are needed | what they bring along |
|---|---:|---:|---|---|
| one person, by eye | 31 % | 3 | 1 | nothing |
| two people, with strings, in silence | 9 % | 7 | 2 | strings, pencils, slates |

## Code

```python
def count(squares: list[str]) -> int:
    "A line that is much longer than a phone is wide, so that it has to scroll by itself, without the page."
    return len(squares)  # a comment
```

```
plain text
```

## Lists

- one
  - two
    1. three
- [ ] to do
- [x] done

### A heading of the third level

> A quotation.

Math stays readable: $E = mc^2$ and

$$
\\sum_{i=1}^{n} x_i
$$

---

[^1]: The note at the foot.
"""


def library(folder: Path) -> Clone:
    """The sample as a repository of its own, a page that has everything, one that links there, and hostile ones."""
    shutil.copytree(SAMPLE, folder)
    user = Clone(folder)
    user.write(
        "data/stories/guides/everything.md",
        document(
            "Everything",
            EVERYTHING,
            type="guide",
            description="Whatever an editor can write.",
            date="2026-02-03",
            group="pool-desk",
            tags="[quadrat, foreshore]",
        ),
    )
    user.write("data/stories/guides/beside.md", document("Beside", "See [everything](everything.md).\n", type="guide"))
    for number, body in enumerate(HOSTILE.values()):
        user.write(f"notes/hostile-{number}.md", document(f"Hostile {number}", body + "\n", type="file"))
    user.commit("Start")
    return user


DRAWN = """
The height of the water follows $h(t) = h_0 + \\sum_{i=1}^{n} A_i \\cos(\\omega_i t + \\varphi_i)$;
a tide table costs $5 to $10.

$$
\\begin{aligned}
f(x) &= \\begin{cases} x^2 & \\text{if } x > 0 \\\\ 0 & \\text{otherwise} \\end{cases} \\\\
\\int_0^\\infty e^{-x^2}\\,dx &= \\frac{\\sqrt{\\pi}}{2}
\\end{aligned}
$$

```mermaid
flowchart LR
  A[Count] -->|twice| B{Agree?}
  B -->|yes| C[(Record)]
  B -->|no| A
```
"""
