"""Every benchmark: `python -m bench`, or only the named ones: `python -m bench rest imports`."""

import subprocess
import sys

from bench.speed.__main__ import SPEED

QUALITY = {
    "retrieval": "how well a search finds, on our own judged set",
    "memory_quality": "how well a team's memory is searched, and the tokens of an answer beside those of its files",
    "pii": "what the redaction finds and wrongly takes, by class: rules, model, both, on two halves of a set",
    "reference": "the product reference: paraphrases, CPU of look-ups, tokens of answers and of prompts",
}


def main(names: list[str]) -> int:
    """Run each in a process of its own, so that one does not warm the other; the worst exit code counts."""
    known = SPEED | QUALITY
    if unknown := [name for name in names if name not in known]:
        print(f"There is no benchmark {', '.join(unknown)}. There are:", file=sys.stderr)
        for name, what in known.items():
            print(f"  {name:14} {what}", file=sys.stderr)
        return 2
    worst = 0
    for name in names or known:
        command = ["bench.speed", name] if name in SPEED else [f"bench.{name}"]
        worst = max(worst, abs(subprocess.run([sys.executable, "-m", *command], check=False).returncode))
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
