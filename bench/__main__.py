"""Every benchmark: `python -m bench`, or only the named ones: `python -m bench rest imports`."""

import subprocess
import sys

SPEED = {
    "imports": "import time of the handlers, beside bare imports of their frameworks",
    "rest": "latency and throughput of REST, beside a bare route that returns the same bytes",
    "mcp": "CPU and import of MCP, beside the bare SDK; tokens of every tool's default answer, calls a second",
    "guard": "CPU of a call with a token beside one without, the guard's parts, import of the token endpoint",
    "sync": "first sync, no-change sync, one-file push, large push: files per second, GitHub calls, embedding calls",
    "search": "a search by REST and by MCP beside the bare queries of the index, at 272, 2,720 and 30,000 documents",
    "hive": "a search of contributions beside one of documents, at 300 and 3,000 contributions",
    "hive_queue": "a queue of 5,000 contributions: a page, one shown, approved, rejected; contributing meanwhile",
    "memory": "the memory's tools beside a bare message, and seconds until what is added is found",
    "opensearch": "a search on OpenSearch beside bare requests; needs a node: python -m bench.speed opensearch --url",
}
QUALITY = {
    "freshness": "seconds from a push until its text is served and found",
    "retrieval": "how well a search finds, on our own judged set",
    "memory_month": "a made-up month of a team: the memory's four metrics beside what the team counted itself",
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
