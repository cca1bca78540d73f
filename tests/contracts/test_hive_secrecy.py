"""No raw text anywhere: what was sent is nowhere but in the memory of the processes that strip it.

Values of every kind are planted in every field, every failure happens at every point, and then everything that was
written is searched: tables, objects, index, logs, metrics and answers.
"""

import io
import json
import logging
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from moto import mock_aws

from bench.pii.cases import made
from commonplace.hive.model import Draft, ItemId
from commonplace.kernel import telemetry
from commonplace.kernel.errors import CommonplaceError, Unavailable
from commonplace.redaction.client import LambdaRedactor
from commonplace.redaction.function import RedactFunction
from commonplace.redaction.model import Policy, Span
from commonplace.redaction.pipeline import Pipeline
from commonplace.redaction.ports import Detector, Survived
from commonplace.redaction.rampart import Rampart
from commonplace.search.embedded.published import PublishedEngine
from commonplace_local.cloud import moto_patches
from tests.canaries import Canaries
from tests.contracts.test_hive_isolation import asked, author
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.metrics import NAMESPACE
from tests.fakes.store import Crash, FakeObjectStore
from tests.hive_world import NAMES, Names, World

PERSON = ("acme", "one")

PERSONAL = {
    "email": "ngozi.adichie@tallbridge-works.se",
    "phone": "+234 803 123 4567",
    "phone us": "+1 415 555 2671",
    "iban": "DE89 3704 0044 0532 0130 00",
    "card": made("visa", "canary"),
    "amex": made("amex", "canary"),
    "ipv4": "81.23.144.17",
    "ipv6": "2a02:26f7:c9c8:4000:950c:6d2e:77ab:1903",
}
"""Looked for in prose and in fields; in code they stay."""
KEYS = (
    *("anthropic", "aws", "databricks", "digitalocean", "github", "github-fine", "gitlab", "google", "grafana", "groq"),
    *(
        "huggingface",
        "jwt",
        "linear",
        "newrelic",
        "notion",
        "npm",
        "openai",
        "postman",
        "pypi",
        "replicate",
        "sendgrid",
    ),
    *("shopify", "slack", "slack-hook", "discord-hook", "stripe", "stripe-webhook", "supabase", "telegram", "vault"),
)
"""Looked for in code as well."""
SECRETS = {label: made(label, "canary") for label in KEYS}
PEM = made("pem", "canary")
ROUTES = (
    "Specific routes come before parameterized routes, or the first that matches wins and the page is lost for good."
)


def in_prose(value: str) -> dict[str, Any]:
    return {"content": f"{ROUTES} Ask for {value}, who knows why. Then put the routes in order and deploy once more."}


PLACES: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "prose": in_prose,
    "list": lambda value: {"content": f"# Routes\n\n- {ROUTES}\n- from {value}\n- then deploy the whole thing again"},
    "table": lambda value: {
        "content": f"{ROUTES}\n\n| what | who |\n|---|---|\n| routes | {value} |\n| order | first |"
    },
    "end": lambda value: {"content": f"{ROUTES} {ROUTES} Cc {value}"},
    "tag": lambda value: {"content": ROUTES, "tags": ("routing", value[:64])},
    "framework": lambda value: {"content": ROUTES, "framework": value[:100]},
    "language": lambda value: {"content": ROUTES, "language": value[:100]},
    "version": lambda value: {"content": ROUTES, "version": value[:100]},
    "run": lambda value: {"content": ROUTES, "run_id": value[:200]},
    "twice": lambda value: {**in_prose(value), "tags": (value[:64],), "run_id": value[:200]},
}
IN_CODE: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "fence": lambda value: {"content": f"{ROUTES}\n\n```sh\ncurl -H 'Authorization: Bearer {value}' x.test\n```\n"},
    "assigned": lambda value: {"content": f"{ROUTES}\n\n```ini\n[deploy]\ntoken = {value}\nretries = 3\n```\n"},
    "inline": lambda value: {"content": f"{ROUTES} Set `TOKEN={value}` before you deploy, and the routes are found."},
    "indented": lambda value: {"content": f"{ROUTES}\n\n    export TOKEN={value}\n    make deploy\n"},
    "quoted": lambda value: {"content": f'{ROUTES}\n\n```json\n{{"token": "{value}", "order": [1, 2, 3]}}\n```\n'},
}
PIECES: Mapping[str, tuple[str, str]] = {
    "card": (PERSONAL["card"][:9], PERSONAL["card"][10:]),
    "phone": (PERSONAL["phone"][:8], PERSONAL["phone"][9:]),
    "key": (SECRETS["github"][:20], SECRETS["github"][20:]),
    "iban": (PERSONAL["iban"][:12], PERSONAL["iban"][13:]),
}
APART: Mapping[str, Callable[[str, str], dict[str, Any]]] = {
    "two tags": lambda one, two: {"content": ROUTES, "tags": (one, two)},
    "framework and language": lambda one, two: {"content": ROUTES, "framework": one, "language": two},
    "content and tag": lambda one, two: {"content": f"{ROUTES} It ends with {one}", "tags": (two,)},
}


@dataclass(frozen=True)
class Planted:
    """A draft with something in it that must not stay."""

    name: str
    told: Mapping[str, Any]
    values: tuple[str, ...] = ()
    pieces: tuple[str, str] | None = None


def planted() -> list[Planted]:
    found = [
        Planted(f"{label} in {place}", put(value), (value,))
        for label, value in {**PERSONAL, **SECRETS, **{name: name for name in NAMES}}.items()
        for place, put in PLACES.items()
        if place not in ("tag", "framework", "language", "version", "twice") or len(value) <= 64
    ]
    found += [
        Planted(f"{label} in {place}", put(value), (value,))
        for label, value in SECRETS.items()
        for place, put in IN_CODE.items()
    ]
    found.append(Planted("pem in code", {"content": f"{ROUTES}\n\n```\n{PEM}\n```\n"}, tuple(PEM.splitlines()[1:-1])))
    found += [
        Planted(f"{label} in {place}", put(*pieces), pieces=pieces)
        for label, pieces in PIECES.items()
        for place, put in APART.items()
    ]
    return found


PLANTED = planted()
REFUSED = (
    {"content": f"{PERSONAL['email']} {PERSONAL['phone us']} {NAMES[0]} it"},
    {"content": f"{PERSONAL['email']} " * 900},
    {"content": SECRETS["github"], "category": PERSONAL["email"]},
    {"content": in_prose(PERSONAL["email"])["content"], "category": PERSONAL["email"]},
    {"content": in_prose(SECRETS["aws"])["content"], "confidence": PERSONAL["card"]},
    {"content": in_prose(SECRETS["aws"])["content"], "tags": [SECRETS["slack"]] * 30},
    {"content": in_prose(SECRETS["aws"])["content"], "tags": [SECRETS["jwt"]]},
    {"content": in_prose(SECRETS["aws"])["content"], "tags": {SECRETS["vault"]: PERSONAL["iban"]}},
    {"content": in_prose(SECRETS["aws"])["content"], "run_id": SECRETS["jwt"] * 9},
    {"content": in_prose(SECRETS["aws"])["content"], "owner": SECRETS["stripe"]},
    {"content": [SECRETS["aws"], PERSONAL["email"]]},
    {"content": f"{in_prose(SECRETS['aws'])['content']} \ud800"},
    {"content": f"{in_prose(PERSONAL['email'])['content']} \x00"},
)
"""What cannot be taken."""


class InProcessLambda:
    """A client of AWS Lambda whose function runs here. `printed` is what its runtime would log of a failure."""

    def __init__(self, function: RedactFunction) -> None:
        self._function = function
        self.fault = ""
        self.printed: list[str] = []

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:
        match self.fault:
            case "refused":
                error: Any = {"Error": {"Code": "TooManyRequestsException", "Message": Payload.decode()}}
                raise ClientError(error, "Invoke")
            case "slow":
                raise ReadTimeoutError(endpoint_url=f"https://lambda.test/{FunctionName}")
            case "broken":
                return {"FunctionError": "Unhandled", "Payload": io.BytesIO(Payload)}
            case "garbage":
                return {"Payload": io.BytesIO(b"<html>" + Payload)}
            case "partial":
                return {"Payload": io.BytesIO(json.dumps({"fields": {}, "counts": {}, "shares": {}}).encode())}
        try:
            answer = self._function(json.loads(Payload), None)
        except Exception as error:
            self.printed.append("".join(traceback.format_exception(error)))
            told = {"errorMessage": str(error), "errorType": type(error).__name__}
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(told).encode())}
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


class Watched:
    """A detector that fails when told to."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self.failing: Exception | None = None

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        if self.failing:
            raise self.failing
        return self._detector.detect(texts)


class Faulty:
    """A client whose request number `at` from now on fails: before it is done, or when it is done already."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.at: int | None = None
        self.error: BaseException = Crash()
        self.done = False

    def fail(self, at: int | None, error: BaseException, *, done: bool) -> None:
        self.at, self.error, self.done = at, error, done

    def get_paginator(self, name: str) -> Any:
        return self._client.get_paginator(name)

    def __getattr__(self, name: str) -> Any:
        ask = getattr(self._client, name)

        def call(**arguments: Any) -> Any:
            now, self.at = self.at == 0, None if self.at is None else self.at - 1
            if now and not self.done:
                raise self.error
            answer = ask(**arguments)
            if now:
                raise self.error
            return answer

        return call


class Everything(logging.Handler):
    """Every log line of every library, with all that is attached to it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        told = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        self.lines.append(f"{record.getMessage()} {vars(record)} {told}")


@contextmanager
def overheard() -> Iterator[tuple[Everything, io.StringIO]]:
    """Logs at DEBUG, and what is printed: a function's metrics."""
    root, heard, out = logging.getLogger(), Everything(), io.StringIO()
    levels = {logger: logger.level for logger in (root, logging.getLogger("botocore"), logging.getLogger("mcp"))}
    root.addHandler(heard)
    for logger in levels:
        logger.setLevel(logging.DEBUG)
    telemetry._namespaces[:] = [NAMESPACE]
    try:
        with redirect_stdout(out):
            yield heard, out
    finally:
        telemetry._namespaces[:] = []
        root.removeHandler(heard)
        for logger, level in levels.items():
            logger.setLevel(level)


@dataclass
class Deployment:
    """A world that strips by the function, and everything that it writes."""

    world: World
    client: Faulty
    function: InProcessLambda
    detector: Any
    objects: FakeObjectStore
    folder: Path
    heard: Everything
    out: io.StringIO
    answers: list[str] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)

    def found(self, canaries: Canaries) -> dict[str, set[str]]:
        """By place: what was planted and is there now, of all that was not looked at before."""
        places = {
            "logs": "\n".join(self.heard.lines).encode("utf-8", "backslashreplace"),
            "runtime": "\n".join(self.function.printed).encode("utf-8", "backslashreplace"),
            "metrics": self.out.getvalue().encode(),
            "answers": "\n".join(self.answers).encode(),
        }
        for lines in (self.heard.lines, self.function.printed, self.answers):
            lines.clear()
        self.out.seek(0)
        self.out.truncate()
        for key, one in self.objects.objects.items():
            places[key] = b"" if one.body in self.seen else one.body
            self.seen.add(one.body)
        for table in (self.world.records, self.world.activity, self.world.cache):
            items = self.client._client.scan(TableName=table, ConsistentRead=True)["Items"]
            new = [leaf for leaf in leaves(items) if leaf not in self.seen]
            places[table] = b"\n".join(new)
            self.seen.update(new)
        return {place: told for place, data in places.items() if (told := canaries.in_bytes(data))}


def leaves(value: Any) -> Iterator[bytes]:
    """Every text, number and binary of an item, however deep, and every name."""
    match value:
        case dict():
            for name, one in value.items():
                yield name.encode()
                yield from leaves(one)
        case list() | tuple() | set():
            for one in value:
                yield from leaves(one)
        case bytes():
            yield value
        case _:
            yield str(value).encode("utf-8", "backslashreplace")


@contextmanager
def deployment(dynamodb: Any, folder: Path, detector: Detector) -> Iterator[Deployment]:
    moto_patches.patch_tables()
    with mock_aws(), overheard() as (heard, out):
        client, objects, model = Faulty(dynamodb), FakeObjectStore(), FakeEmbeddings()
        function = InProcessLambda(RedactFunction(Pipeline(detector)))
        engine = PublishedEngine(objects, "index/contributions.sqlite", model, folder=folder, refresh_seconds=0)
        world = World(client, engine, model, LambdaRedactor(function, "redact"))
        yield Deployment(world, client, function, detector, objects, folder, heard, out)
        engine.close()


def recognised(detector: Detector, among: Sequence[Planted] = PLANTED) -> list[Planted]:
    """Those of which the redaction leaves nothing, or which it refuses: what it misses is what docs tell of."""
    pipeline = Pipeline(detector)
    found = []
    for one in among:
        draft = {"category": "general", **one.told}
        fields = {name: text for name, text in draft.items() if isinstance(text, str) and name != "category"}
        fields |= {f"tags.{place}": tag for place, tag in enumerate(draft.get("tags", ()))}
        with suppress(Survived):
            redacted = pipeline.redact(fields, Policy())
            told = "\n".join(redacted.fields.values())
            if one.pieces and all(piece in told for piece in one.pieces):
                continue
            if any(value in told for value in one.values):
                continue
        found.append(one)
    return found


FAULTS = ("", "", "", "refused", "slow", "broken", "garbage", "partial", "detector")
ERRORS = (Crash(), EndpointConnectionError(endpoint_url="https://dynamodb.test"))


class Secrecy(RuleBasedStateMachine):
    make: Any = None
    """Of the test that runs the machine: a deployment with empty tables."""
    drafts: list[Planted]
    """What is contributed: the redaction recognises it."""

    @initialize()
    def begin(self) -> None:
        self.context = self.make()
        self.here: Deployment = self.context.__enter__()
        self.canaries = Canaries()
        self.pieces: list[tuple[str, str]] = []
        for one in self.drafts:
            self.plant(one.told, one.values)
            self.pieces += [one.pieces] if one.pieces else []
        for told in REFUSED:
            self.plant(told)
        self.canaries.values |= set(PERSONAL.values()) | set(SECRETS.values())

    def plant(self, told: Mapping[str, Any], values: tuple[str, ...] = ()) -> None:
        self.canaries.values |= set(values)
        texts = [text for text in told.values() if isinstance(text, str) and text != ROUTES]
        self.canaries.texts |= {text for text in texts if text.isprintable() or "\n" in text}

    def teardown(self) -> None:
        if hasattr(self, "context"):
            try:
                assert self.here.found(self.canaries) | self.canaries.in_folder(self.here.folder) == {}
            finally:
                self.context.__exit__(None, None, None)

    @rule(
        number=st.integers(0, len(PLANTED)),
        fault=st.sampled_from(FAULTS),
        at=st.none() | st.integers(0, 6),
        done=st.booleans(),
        again=st.booleans(),
    )
    def contribute(self, number: int, fault: str, at: int | None, done: bool, again: bool) -> None:
        """And once more, as who was given no answer does."""
        one = self.drafts[number % len(self.drafts)]
        self.arm(fault, at, ERRORS[1], done=done)
        self.ask("add_knowledge", category="general", **one.told)
        self.disarm()
        if again:
            self.ask("add_knowledge", category="general", **one.told)

    @rule(told=st.sampled_from(REFUSED), fault=st.sampled_from(FAULTS))
    def contribute_what_cannot_be_taken(self, told: Mapping[str, Any], fault: str) -> None:
        self.arm(fault, None, ERRORS[1], done=False)
        self.ask("add_knowledge", **{"category": "general", **told})
        self.disarm()

    @rule(number=st.integers(0, len(PLANTED)), at=st.integers(0, 8), done=st.booleans())
    def crash_in_the_middle(self, number: int, at: int, done: bool) -> None:
        one = self.drafts[number % len(self.drafts)]
        draft = Draft(**{"category": "general", **one.told})
        assert ROUTES not in repr(draft)
        self.arm("", at, ERRORS[0], done=done)
        with suppress(Crash, CommonplaceError):
            self.here.world.hive().contribute(author(PERSON), draft)
        self.disarm()

    @rule(place=st.integers(0, 20), public=st.booleans(), at=st.none() | st.integers(0, 4), done=st.booleans())
    def approve(self, place: int, public: bool, at: int | None, done: bool) -> None:
        self.decide(
            place, at, lambda id: self.here.world.reviews().approve(author(PERSON), id, public=public), done=done
        )

    @rule(place=st.integers(0, 20), at=st.none() | st.integers(0, 4), done=st.booleans())
    def reject(self, place: int, at: int | None, done: bool) -> None:
        self.decide(place, at, lambda id: self.here.world.reviews().reject(author(PERSON), id, "No."), done=done)

    @rule(place=st.integers(0, 20))
    def show(self, place: int) -> None:
        self.decide(place, None, lambda id: self.here.world.reviews().show(author(PERSON), id), done=False)

    @rule(place=st.integers(0, 20))
    def delete(self, place: int) -> None:
        self.decide(place, None, lambda id: self.ask("delete_knowledge", id=id), done=False)

    @rule(failing=st.booleans())
    def the_index_follows(self, failing: bool) -> None:
        self.here.world.model.failing = failing
        self.here.world.settle()
        self.here.world.model.failing = False

    @rule(fetched=st.booleans())
    def ask_for_it(self, fetched: bool) -> None:
        for one in (self.ask("search_knowledge", query="specific routes").get("structuredContent") or {}).get(
            "results", ()
        ):
            if fetched:
                self.ask("search_knowledge", id=one["id"])
        self.ask("list_knowledge")

    @invariant()
    def no_raw_text_is_anywhere(self) -> None:
        if not hasattr(self, "here"):
            return
        assert self.here.found(self.canaries) == {}
        items = self.here.client._client.scan(TableName=self.here.world.records, ConsistentRead=True)["Items"]
        for item in items:
            told = b"\n".join(leaves(item)).decode()
            assert not [pieces for pieces in self.pieces if all(piece in told for piece in pieces)]

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = asked(self.here.world, PERSON, tool, **arguments)
        self.here.answers.append(json.dumps(result, ensure_ascii=False))
        return result

    def decide(self, place: int, at: int | None, decide: Callable[[ItemId], Any], *, done: bool) -> None:
        waiting = list(self.here.world.store.pending(PERSON[0]))
        if waiting:
            self.arm("", at, ERRORS[place % 2], done=done)
            with suppress(Crash, CommonplaceError):
                decide(waiting[place % len(waiting)].id)
            self.disarm()

    def arm(self, fault: str, at: int | None, error: BaseException, *, done: bool) -> None:
        self.here.function.fault = fault
        self.here.detector.failing = Unavailable("The model does not answer.") if fault == "detector" else None
        self.here.client.fail(at, error, done=done)

    def disarm(self) -> None:
        self.arm("", None, ERRORS[0], done=False)


EXAMPLES = settings(
    max_examples=examples(4, soak=200),
    stateful_step_count=20,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def test_most_of_what_is_planted_is_recognised() -> None:
    found = recognised(Names())
    missed = sorted({one.name for one in PLANTED} - {one.name for one in found})
    assert len(missed) <= len(PLANTED) // 50, missed


@pytest.mark.real
def test_no_raw_text_is_anywhere_with_the_model(
    dynamodb_client: Any, tmp_path_factory: pytest.TempPathFactory, rampart_folder: Path
) -> None:
    model = Rampart(rampart_folder)
    in_prose = [one for one in PLANTED if one.values and one.values[0] in NAMES and one.name.endswith("in prose")]
    others = [one for one in PLANTED[:: examples(5, soak=1)] if one not in in_prose]
    found = recognised(model, in_prose + others)
    names = [one for one in found if one in in_prose]
    assert {value for one in names for value in one.values} == set(NAMES)

    class Here(Secrecy):
        drafts = found

    Here.make = staticmethod(lambda: deployment(dynamodb_client, tmp_path_factory.mktemp("index"), Watched(model)))
    run_state_machine_as_test(Here, settings=settings(EXAMPLES, max_examples=examples(1, soak=20)))


def test_no_raw_text_is_anywhere(dynamodb_client: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    class Here(Secrecy):
        drafts = recognised(Names())

    Here.make = staticmethod(lambda: deployment(dynamodb_client, tmp_path_factory.mktemp("index"), Names()))
    run_state_machine_as_test(Here, settings=EXAMPLES)
