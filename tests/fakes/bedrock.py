"""Bedrock on this machine: an HTTP server that checks every request against botocore's own model of the service.

Operation, members, types, lengths, patterns and enumerations come from the service models that boto3 is built from; the
bodies of InvokeModel, which those leave open, from the tables below (Bedrock user guide, request parameters).
"""

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import botocore.session
from botocore.model import OperationModel, Shape
from botocore.validate import ParamValidator

from tests.fakes.model_server import Answering, Script, serving

REGION = "us-west-2"
RERANKERS = ("cohere.rerank-v3-5:0", "amazon.rerank-v1:0")
COHERE_DIMENSIONS = (256, 512, 1024, 1536)
TITAN_DIMENSIONS = (256, 512, 1024)


class Refused(Exception):
    """The real service would answer ValidationException."""


@dataclass(slots=True)
class Request:
    operation: str
    model: str
    body: dict[str, Any]


@dataclass(slots=True)
class FakeBedrock(Script):
    """What was asked, and what is to be answered."""

    requests: list[Request] = field(default_factory=list)
    page_size: int = 1_000
    """Results of a rerank in one answer, the rest by nextToken."""


@contextmanager
def running() -> Iterator[FakeBedrock]:
    """A server on a free port of this machine, until the end of the block."""
    state = FakeBedrock()
    with serving(state, _Handler):
        yield state


class _Handler(Answering):
    script: FakeBedrock
    always: Mapping[str, str] = {"x-amzn-RequestId": "00000000-0000-4000-8000-000000000000"}

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            answer = _answered(self.script, self.path, dict(self.headers), raw)
        except Refused as refusal:
            self.script.complaints.append(str(refusal))
            self.send_json(400, {"message": str(refusal)}, _kind("ValidationException"))
            return
        failure = self.script.next_failure()
        if failure is None:
            self.send_json(200, self.script.answer if self.script.answer is not None else answer)
        else:
            self.send_failure(failure, answer, {"message": "a sentence of the service"}, _kind(failure.code))


def _kind(code: str) -> Mapping[str, str]:
    return {"x-amzn-ErrorType": f"{code}:http://internal.amazon.com/"}


_MODELS: dict[tuple[str, str], OperationModel] = {}


def operation(service: str, name: str) -> OperationModel:
    """botocore's model of one operation."""
    if (service, name) not in _MODELS:
        _MODELS[service, name] = botocore.session.get_session().get_service_model(service).operation_model(name)
    return _MODELS[service, name]


def _answered(state: FakeBedrock, path: str, headers: Mapping[str, str], raw: bytes) -> dict[str, Any]:
    authorization = next((value for name, value in headers.items() if name.lower() == "authorization"), "")
    if f"/{REGION}/bedrock/aws4_request" not in authorization:
        raise Refused(f"the request is not signed for bedrock in {REGION}")
    if path == "/rerank":
        return _rerank(state, json.loads(raw))
    found = re.fullmatch(r"/model/([^/]+)/invoke", path)
    if not found:
        raise Refused(f"no operation has the path {path}")
    model = unquote(found[1])
    named = {name.lower(): value for name, value in headers.items()}
    parameters = {"modelId": model, "body": raw, "contentType": named["content-type"], "accept": named["accept"]}
    check(operation("bedrock-runtime", "InvokeModel"), parameters)
    body = json.loads(raw)
    with state.lock:
        state.requests.append(Request("InvokeModel", model, body))
    if model == "amazon.titan-embed-text-v2:0":
        return _titan(body)
    if re.fullmatch(r"((us|eu)\.)?cohere\.embed-v4:0", model):
        return _cohere(body)
    raise Refused("The provided model identifier is invalid.")


def check(model: OperationModel, parameters: Any) -> None:
    """Raises Refused for what the service model does not allow."""
    assert model.input_shape is not None
    report = ParamValidator().validate(parameters, model.input_shape)
    problems = [report.generate_report()] if report.has_errors() else []
    problems += list(_beyond(parameters, model.input_shape, "$"))
    if problems:
        raise Refused("; ".join(problems))


def _beyond(value: Any, shape: Any, where: str) -> Iterator[str]:
    """What botocore leaves to the service: greatest lengths and numbers, patterns, enumerations."""
    if getattr(shape, "is_document_type", False) or value is None:
        return
    if shape.type_name == "structure":
        for name in value.keys() & shape.members.keys():
            yield from _beyond(value[name], shape.members[name], f"{where}.{name}")
    elif shape.type_name == "list":
        for index, item in enumerate(value):
            yield from _beyond(item, shape.member, f"{where}[{index}]")
    yield from _bounds(value, shape, where)


def _bounds(value: Any, shape: Shape, where: str) -> Iterator[str]:
    facts = shape.metadata
    size = value if isinstance(value, int | float) else len(value)
    if "max" in facts and size > facts["max"]:
        yield f"{where} is above {facts['max']}"
    if "min" in facts and size < facts["min"]:
        yield f"{where} is below {facts['min']}"
    if "enum" in facts and value not in facts["enum"]:
        yield f"{where} is none of {facts['enum']}"
    if "pattern" in facts and isinstance(value, str) and not re.fullmatch(facts["pattern"], value):
        yield f"{where} does not match {facts['pattern']}"


def _titan(body: dict[str, Any]) -> dict[str, Any]:
    _only(body, {"inputText": str, "dimensions": int, "normalize": bool, "embeddingTypes": list}, {"inputText"})
    text, dimension = body["inputText"], body.get("dimensions", 1024)
    if dimension not in TITAN_DIMENSIONS:
        raise Refused(f"dimensions is none of {TITAN_DIMENSIONS}")
    if not 1 <= len(text) <= 50_000:
        raise Refused("inputText has no text, or more than 50000 characters")
    if tokens(text) > 8_192:
        raise Refused("400 Bad Request: Too many input tokens.")
    vector = embedding(text, dimension)
    return {"embedding": vector, "embeddingsByType": {"float": vector}, "inputTextTokenCount": tokens(text)}


def _cohere(body: dict[str, Any]) -> dict[str, Any]:
    kinds = {"texts": list, "input_type": str, "embedding_types": list, "output_dimension": int, "truncate": str}
    _only(body, kinds | {"max_tokens": int}, {"texts", "input_type"})
    if not 1 <= len(body["texts"]) <= 96 or not all(isinstance(text, str) and text for text in body["texts"]):
        raise Refused("texts are 1 to 96 texts")
    if body["input_type"] not in ("search_document", "search_query", "classification", "clustering"):
        raise Refused("input_type is unknown")
    if body.get("truncate", "NONE") not in ("NONE", "LEFT", "RIGHT"):
        raise Refused("truncate is none of NONE, LEFT, RIGHT")
    dimension = body.get("output_dimension", 1536)
    if dimension not in COHERE_DIMENSIONS:
        raise Refused(f"output_dimension is none of {COHERE_DIMENSIONS}")
    if sum(map(tokens, body["texts"])) > 128_000:
        raise Refused("total tokens are above 128000")
    vectors = [embedding(text, dimension) for text in body["texts"]]
    if "embedding_types" not in body:
        return {"id": "x", "texts": body["texts"], "response_type": "embeddings_floats", "embeddings": vectors}
    return {"id": "x", "texts": body["texts"], "response_type": "embeddings_by_type", "embeddings": {"float": vectors}}


def _rerank(state: FakeBedrock, body: dict[str, Any]) -> dict[str, Any]:
    check(operation("bedrock-agent-runtime", "Rerank"), body)
    configuration = body["rerankingConfiguration"]["bedrockRerankingConfiguration"]
    arn = configuration["modelConfiguration"]["modelArn"]
    with state.lock:
        state.requests.append(Request("Rerank", arn, body))
    if arn not in [f"arn:aws:bedrock:{REGION}::foundation-model/{model}" for model in RERANKERS]:
        raise Refused("The provided model identifier is invalid.")
    query = body["queries"][0]["textQuery"]["text"]
    texts = [source["inlineDocumentSource"]["textDocument"]["text"] for source in body["sources"]]
    scored = sorted(((overlap(query, text), -index) for index, text in enumerate(texts)), reverse=True)
    wanted = scored[: configuration.get("numberOfResults", len(texts))]
    start = int(body.get("nextToken", "0"))
    page = wanted[start : start + state.page_size]
    answer: dict[str, Any] = {"results": [{"index": -index, "relevanceScore": score} for score, index in page]}
    if start + state.page_size < len(wanted):
        answer["nextToken"] = str(start + state.page_size)
    return answer


def _only(body: Mapping[str, Any], known: Mapping[str, type], required: set[str]) -> None:
    """As the service: `#: extraneous key [x] is not permitted`, `#: required key [x] not found`."""
    if extra := body.keys() - known.keys():
        raise Refused(f"Malformed input request: extraneous keys {sorted(extra)}")
    if missing := required - body.keys():
        raise Refused(f"Malformed input request: required keys {sorted(missing)}")
    for name, value in body.items():
        if not isinstance(value, known[name]):
            raise Refused(f"Malformed input request: {name} is of another type")


def tokens(text: str) -> int:
    """Words and every other character: about what a real tokenizer makes of a text."""
    return len(re.findall(r"[A-Za-z]{1,4}|[^A-Za-z\s]", text))


def embedding(text: str, dimension: int) -> list[float]:
    """The sum of one random direction per word, of length one: texts that share words are near."""
    words = Counter(re.findall(r"\w+", text.lower()) or [text])
    total = [0.0] * dimension
    for word, times in words.items():
        total = [value + times * part for value, part in zip(total, _direction(word, dimension), strict=True)]
    norm = sum(value * value for value in total) ** 0.5
    return [value / norm for value in total]


@lru_cache(maxsize=10_000)
def _direction(word: str, dimension: int) -> list[float]:
    source = random.Random(hashlib.sha256(word.encode()).digest())
    return [source.gauss(0, 1) for _ in range(dimension)]


def overlap(query: str, text: str) -> float:
    """The share of the query's words that the text has."""
    words = set(re.findall(r"\w+", query.lower()))
    return len(words & set(re.findall(r"\w+", text.lower()))) / max(1, len(words))
