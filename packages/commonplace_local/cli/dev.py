"""Serve a knowledge base on this machine."""

import hashlib
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from commonplace.kernel.errors import CommonplaceError
from commonplace_local.dev.source import CatalogueFolder, Source, clone, plain_folder
from commonplace_local.dev.source import catalogue as catalogue_folder
from commonplace_local.errors import INTERRUPTED, CommandError
from commonplace_local.extras import is_installed, require
from commonplace_local.knowledge_folder import SAMPLE
from commonplace_local.project import PROJECT, STATE
from commonplace_local.terminal import commands, printable
from commonplace_local.wheel_models import RAMPART

if TYPE_CHECKING:
    from commonplace_local.dev.laptop import Laptop
    from commonplace_local.dev.screen import Screen

SAMPLE_NAME = "local/knowledge-base"
SAMPLE_SITE = {
    "SITE_NAME": "Low Water",
    "SITE_DESCRIPTION": "How a few dozen volunteers count what lives in tide pools, and how to join them.",
    "GOVERNANCE_SCHEME": "swarmrise",
}
SAMPLE_CATALOGUE = PROJECT / "samples" / "reference"
SAMPLE_HIVE = PROJECT / "samples" / "hive" / "contributions.jsonl"
SAMPLE_ORGANISATION = PROJECT / "samples" / "governance" / "low-water.yaml"
SAMPLE_CATALOGUE_NAME = "tidebook"
SAMPLE_CATALOGUE_REPOSITORY = "local/reference"
DEFAULT_PORT = 8787
TIER_VARIABLE = "MCP_ASSUMED_TIER"

app = commands()


@app.command()
def dev(
    path: Annotated[
        str | None, typer.Argument(help="A folder, owner/name on GitHub, or a Git URL; default: the sample.")
    ] = None,
    *,
    branch: Annotated[str | None, typer.Option(help="A clone's branch; default: the one checked out.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help=f"Port to serve on, 0 for any; default: {DEFAULT_PORT}.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Sync, print the report and exit; 1 if incomplete.")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder for store, index and state.")] = None,
    engine: Annotated[Literal["embedded", "opensearch"], typer.Option(help="Search engine.")] = "embedded",
    opensearch_url: Annotated[
        str | None, typer.Option(metavar="URL", help="A running node, for --engine opensearch.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--everything", help="Also show files that say nothing about publishing.")
    ] = False,
    tier: Annotated[
        Literal["public", "member", "vibecoder"] | None,
        typer.Option(help="Tier of agents without a token; default: none."),
    ] = None,
    rpc: Annotated[
        list[str] | None,
        typer.Option(help="RPC endpoint of Optimism, or mainnet=URL for names; repeatable."),
    ] = None,
    chain: Annotated[
        Literal["public"] | None, typer.Option(help="Use the public RPC endpoints of Optimism and mainnet.")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(help="ADDRESS=TIER: a wallet that needs no hat; repeatable.")
    ] = None,
    catalogue: Annotated[
        list[str] | None,
        typer.Option(help="[NAME=]PATH: a folder with a catalogue of a product reference; repeatable."),
    ] = None,
    chat: Annotated[
        str, typer.Option(metavar="MODEL", help="Model of the chat, openai:MODEL; default: passages.")
    ] = "none",
    chat_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Its base URL, if not OpenAI's; key: OPENAI_API_KEY.")
    ] = None,
    partner: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=URL", help="An MCP server to search too; repeatable."),
    ] = None,
    faithful: Annotated[
        bool, typer.Option("--faithful", help="Give each function processes of its own, as on AWS; takes 1.3 GB.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List skipped files; show the logs.")] = False,
) -> None:
    """Serve a knowledge base on this machine, and update it with every saved file."""
    if opensearch_url and engine != "opensearch":
        raise CommandError("--opensearch-url goes with --engine opensearch.", "Add it, or omit the address.")
    if engine == "opensearch":
        require("opensearch", "--engine opensearch")
    if rpc or chain or allow:
        require("wallets", "A wallet (--rpc, --chain, --allow)")
    source = source_of(path, branch)
    if data and source.git_dir is None and data.resolve().is_relative_to(source.folder):
        raise CommandError("The data folder lies inside the folder that is served.", "Name one elsewhere with --data.")
    catalogues = catalogues_of(source, catalogue or (), sample=path is None)
    named = partners_named(partner or ())
    from commonplace_local.dev.laptop import Laptop
    from commonplace_local.dev.screen import Screen
    from commonplace_local.dev.session import data_folder, ended_by_signals, search_engine, serve
    from commonplace_local.dev.settings import (
        answers,
        chat_environment,
        fetch_detector,
        model_environment,
        name_environment,
        site_environment,
    )

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    screen = Screen()
    shown = {"SHOW_EVERYTHING": "true"} if everything else {}
    named_so = SAMPLE_SITE if path is None else name_environment(source, everything=everything)
    site = shown | named_so | site_environment(os.environ)
    told = site | model_environment(os.environ) | chat_environment(chat, chat_url, os.environ)
    if chat_url and not answers(chat_url):
        screen.say(f"Warning: nothing responds at {printable(chat_url)} yet; until then the chat has no model.")
    if data is None and told.get("EMBEDDING_PROVIDER", "").startswith("onnx:"):
        name = hashlib.sha256(f"{source.folder} {source.branch}".encode()).hexdigest()[:12]
        data = STATE / f"dev-{name}"
        screen.say(f"A slow model embeds each text once: store, index and vectors stay in {data}")
    if not once:
        fetch_detector()
    try:
        with ended_by_signals(), data_folder(data) as folder:
            free = 0 if once else DEFAULT_PORT
            with search_engine(engine, opensearch_url, folder if data else None) as chosen:
                given = free if port is None else port
                environment = {**told, **chosen.environment, **({TIER_VARIABLE: tier} if tier else {})}
                environment |= {"FEDERATION": "on"} if named else {}
                laptop = Laptop(
                    source,
                    folder,
                    port=given,
                    environment=environment,
                    on_log=(lambda function, line: screen.say(f"{function}: {line}")) if verbose else None,
                    rpc=rpc or (),
                    public_chain=chain == "public",
                    allow=allow or (),
                    catalogues=catalogues,
                    faithful=faithful,
                )
                beside = partial(after, sample=path is None, partners=named, data=data)
                whole = serve(laptop, screen, once=once, verbose=verbose, engine=chosen, beside=beside)
    except KeyboardInterrupt:
        screen.say("Stopped.")
        raise typer.Exit(INTERRUPTED if once else 0) from None
    if not whole:
        raise typer.Exit(1)


def source_of(path: str | None, branch: str | None) -> Source:
    """Return what is served: a folder before a repository of the same name. Raises CommandError."""
    if path is not None:
        from commonplace_local.dev.remote import address, fetched

        url = None if Path(path).expanduser().exists() else address(path)
        return fetched(url, branch) if url else clone(Path(path), branch)
    if branch is not None:
        raise CommandError("The sample has no branches.", "Name a clone: commonplace dev PATH --branch NAME")
    return plain_folder(SAMPLE, SAMPLE_NAME)


def partners_named(given: Sequence[str]) -> dict[str, str]:
    """Return the addresses of partners by name. Raises CommandError for what can never be one."""
    if not given:
        return {}
    from commonplace.federation.model import NAME
    from commonplace.federation.operations import NAME as RULE
    from commonplace.kernel.fetch import fetchable

    found: dict[str, str] = {}
    for one in given:
        name, _, url = one.partition("=")
        shown = f"--partner {printable(one)}"
        if not name or not url:
            raise CommandError(f"{shown} does not name a server.", "Give NAME=URL: reef=https://mcp.example.org/mcp")
        if not NAME.fullmatch(name):
            raise CommandError(f"{shown}: {printable(name)} cannot be the name of a partner.", f"Use {RULE}")
        if not fetchable(url, loopback=True):
            raise CommandError(
                f"{shown}: this cannot be the address of a partner.",
                "Give https and a public host, or http and 127.0.0.1, each with a path: https://mcp.example.org/mcp",
            )
        if name in found:
            raise CommandError(f"--partner names {name} twice.", "Give each partner a name of its own.")
        found[name] = url
    return found


def after(
    laptop: "Laptop", screen: "Screen", *, sample: bool, partners: Mapping[str, str], data: Path | None = None
) -> None:
    """Do what comes once everything is ready: fill the sample, and add partners. `data` is what commands name."""
    if sample:
        fill_sample(laptop, screen)
    if partners:
        add_partners(laptop, screen, partners, data)
    if sample or partners:
        with suppress(TimeoutError):
            laptop.wait()
        laptop.cloud.end_idle()


def add_partners(laptop: "Laptop", screen: "Screen", partners: Mapping[str, str], data: Path | None = None) -> None:
    """Add partners that are new, and approve what of them only reads: whoever named them here asked for that."""
    from commonplace_local.cli.partners import Here, Whose, named_on_start

    here = Here(laptop.deployment, None)
    for name, url in partners.items():
        try:
            stands = named_on_start(here, name, url, Whose(data=data))
            screen.say(f"Partner {name}, {printable(url)} ({printable(stands)})")
        except (CommandError, CommonplaceError) as error:
            screen.say(f"{name} was not added: {error.message} {error.hint or ''}".rstrip())
    screen.say(f"All sources: {laptop.mcp_url}/commons")


def fill_sample(laptop: "Laptop", screen: "Screen") -> None:
    """Contribute to the hive of the sample, and found its organisation."""
    if is_installed("redaction") and RAMPART.folder.is_dir():
        contribute_sample(laptop, screen)
    found_sample(laptop, screen)


def found_sample(laptop: "Laptop", screen: "Screen") -> None:
    """Found the organisation of the sample, unless there is one of its name."""
    from commonplace_local.cli.governance import found_from

    try:
        found_from(laptop.deployment, SAMPLE_ORGANISATION)
        screen.say(f"The organisation of the sample: {laptop.url}/console/governance (as Ada, Vi or Guest)")
        screen.say(f"Agents read it for one of them: {laptop.url}/mcp/governance")
    except (CommandError, CommonplaceError) as error:
        screen.say(f"The organisation of the sample was not created: {error.message}")


def contribute_sample(laptop: "Laptop", screen: "Screen") -> None:
    """Contribute texts to review by the way of every contribution, unless something was contributed before."""
    from commonplace.client import Client
    from commonplace_local.access import Grant, minted
    from commonplace_local.cli.hive.files import entries_of

    entries = entries_of(SAMPLE_HIVE, "general")
    grant = Grant(agent="tide-desk", scopes=("hive:write", "hive:admin"), path="/api", tier="vibecoder")
    try:
        with (
            minted(laptop.deployment, laptop.outputs()["Organisation"], grant) as token,
            Client(laptop.url, token) as client,
        ):
            if not client.hive.get_hive_stats()["contributed"]:
                for entry in entries:
                    client.hive.add_knowledge(**entry.body)
                screen.say(f"{len(entries)} pending contributions of the sample: commonplace hive review")
    except (CommandError, CommonplaceError) as error:
        screen.say(f"The contributions of the sample were not added: {error.message}")


def catalogues_of(source: Source, given: Sequence[str], *, sample: bool) -> list[CatalogueFolder]:
    """The sample knowledge base has the sample catalogue beside it, unless the operator brings catalogues."""
    if sample and not given:
        return [CatalogueFolder(SAMPLE_CATALOGUE_NAME, plain_folder(SAMPLE_CATALOGUE, SAMPLE_CATALOGUE_REPOSITORY))]
    return [catalogue_folder(text, source) for text in given]
