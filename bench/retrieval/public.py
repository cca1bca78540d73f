"""Public judged sets, downloaded when they are asked for: none of their text is kept here."""

import hashlib
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DOWNLOADS = Path(__file__).parents[2] / ".data" / "retrieval"
TIMEOUT_SECONDS = 60
MAX_BYTES = 50_000_000


class Unreachable(Exception):
    """The set cannot be had now; the text says why."""


@dataclass(frozen=True, slots=True)
class PublicSet:
    """Where a set's files are, their sha256, and how its topics are numbered."""

    base: str
    files: Mapping[str, str]
    about: str
    renumber: bool = False


SETS = {
    "cranfield": PublicSet(
        base="https://raw.githubusercontent.com/oussbenk/cranfield-trec-dataset/1208e6edfb6cb2527b2c44398d3d8fefd3249144/",
        files={
            "cran.all.1400.xml": "369eb64e59d855b62463832f1338f471cede578571ee7fb33e3592a2a138ff47",
            "cran.qry.xml": "b609a59e980857ba59d098f33433822a5c200bcf6836a320babf2b1a5e7545eb",
            "cranqrel.trec.txt": "98a13b4913d61a02690725aee7ac4f6a1979c13fc9088ad9b4a81be58b1a6f11",
        },
        about="1,400 abstracts on aerodynamics, 225 questions, every pair judged (1967)",
        renumber=True,  # its qrels count the questions in the order of the file, the file numbers them otherwise
    )
}


def fetch(name: str, folder: Path = DOWNLOADS) -> Path:
    """The folder with the set's files, downloaded where they are not there yet. Raises Unreachable, and ValueError."""
    if name not in SETS:
        raise ValueError(f"there is no public set {name}; there are {', '.join(SETS)}")
    wanted, target = SETS[name], folder / name
    target.mkdir(parents=True, exist_ok=True)
    for file, digest in wanted.files.items():
        if not _is(target / file, digest):
            (target / file).write_bytes(_download(wanted.base + file, digest))
    return target


def _is(file: Path, digest: str) -> bool:
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == digest


def _download(url: str, digest: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            content: bytes = answer.read(MAX_BYTES)
    except OSError as error:
        raise Unreachable(f"{url} cannot be had: {error}") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise Unreachable(f"{url} is not what it was: its sha256 differs")
    return content
