"""Model folders that tests build themselves: small graphs with real signal, and tokenizers over a small vocabulary."""

import hashlib
import json
import random
from pathlib import Path
from typing import Any, Literal

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = "the of tide pool pools sea beach day otter kelp council vote treasury budget harbour left by is what"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
LETTERS = [
    *"abcdefghijklmnopqrstuvwxyz0123456789",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789"),
]
VOCABULARY = {token: number for number, token in enumerate([*SPECIAL, *WORDS.split(), *LETTERS])}
DIMENSION = 48


def tokenizer(*, special: bool = True) -> Tokenizer:
    """WordPiece over the vocabulary; every word of Latin letters has tokens, anything else is unknown."""
    made = Tokenizer(models.WordPiece(VOCABULARY, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special:
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", VOCABULARY["[CLS]"]), ("[SEP]", VOCABULARY["[SEP]"])],
        )
    return made


def weights() -> "numpy.ndarray[Any, Any]":
    """One random direction per token: texts that share words are near. Special tokens say little."""
    rows = []
    for token in VOCABULARY:
        source = random.Random(hashlib.sha256(token.encode()).digest())
        scale = 0.05 if token in SPECIAL else 1.0
        rows.append([scale * source.gauss(0, 1) for _ in range(DIMENSION)])
    return numpy.array(rows, dtype=numpy.float32)


Output = Literal["last_hidden_state", "sentence_embedding", "token_embeddings", "hidden"]


def encoder(
    folder: Path, *, output: Output = "last_hidden_state", kind: int = TensorProto.INT64, type_ids: bool = False
) -> Path:
    """A folder whose graph looks tokens up in `weights()`; `sentence_embedding` pools them itself."""
    nodes = [helper.make_node("Gather", ["weights", "input_ids"], ["hidden" if _pools(output) else output])]
    if _pools(output):
        nodes += [
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
            helper.make_node("Mul", ["hidden", "wide"], ["kept"]),
            helper.make_node("ReduceSum", ["kept", "middle"], [output], keepdims=0),
        ]
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if type_ids else [])]
    shape = ["batch", DIMENSION] if _pools(output) else ["batch", "sequence", DIMENSION]
    constants = [numpy_helper.from_array(weights(), "weights"), _axis("last", 2), _axis("middle", 1)]
    return _written(folder, nodes, [_ids(name, kind) for name in names], output, shape, constants)


def cross_encoder(folder: Path, *, labels: int = 1) -> Path:
    """A folder whose graph scores the share of the query's words that the passage has: -4 for none, 4 for all."""
    axes = [_axis("one", 1), _axis("two", 2)]
    first_word = numpy_helper.from_array(numpy.array(len(SPECIAL), dtype=numpy.int64), "first_word")
    numbers = [numpy_helper.from_array(numpy.array(value, dtype=numpy.float32), name) for name, value in _SCALE.items()]
    nodes = [
        helper.make_node("GreaterOrEqual", ["input_ids", "first_word"], ["word"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.BOOL),
        helper.make_node("Not", ["second"], ["first"]),
        helper.make_node("And", ["word", "first"], ["asked"]),
        helper.make_node("And", ["word", "second"], ["told"]),
        helper.make_node("Unsqueeze", ["input_ids", "two"], ["down"]),
        helper.make_node("Unsqueeze", ["input_ids", "one"], ["across"]),
        helper.make_node("Equal", ["down", "across"], ["same"]),
        helper.make_node("Unsqueeze", ["told", "one"], ["told_across"]),
        helper.make_node("And", ["same", "told_across"], ["met"]),
        helper.make_node("Cast", ["met"], ["meetings"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["meetings"], ["found"], axes=[2], keepdims=0),
        helper.make_node("Cast", ["asked"], ["wanted"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["found", "wanted"], ["hits"]),
        helper.make_node("ReduceSum", ["hits", "one"], ["hit"], keepdims=1),
        helper.make_node("ReduceSum", ["wanted", "one"], ["whole"], keepdims=1),
        helper.make_node("Max", ["whole", "unit"], ["divisor"]),
        helper.make_node("Div", ["hit", "divisor"], ["share"]),
        helper.make_node("Mul", ["share", "span"], ["stretched"]),
        helper.make_node("Sub", ["stretched", "half"], ["margin" if labels > 1 else "logits"]),
    ]
    if labels > 1:
        nodes += [
            helper.make_node("Mul", ["margin", "against"], ["no"]),
            helper.make_node("Mul", ["margin", "for"], ["yes"]),
            helper.make_node("Concat", ["no", *["yes"] * (labels - 1)], ["logits"], axis=1),
        ]
    inputs = [_ids(name, TensorProto.INT64) for name in ("input_ids", "attention_mask", "token_type_ids")]
    return _written(folder, nodes, inputs, "logits", ["batch", labels], [*axes, first_word, *numbers])


def options(folder: Path, **values: object) -> Path:
    (folder / "commonplace.json").write_text(json.dumps(values), encoding="utf-8")
    return folder


_SCALE = {"unit": 1.0, "span": 8.0, "half": 4.0, "against": -0.25, "for": 0.75}


def _pools(output: Output) -> bool:
    return output == "sentence_embedding"


def _axis(name: str, axis: int) -> Any:
    return numpy_helper.from_array(numpy.array([axis], dtype=numpy.int64), name)


def _ids(name: str, kind: int) -> Any:
    return helper.make_tensor_value_info(name, kind, ["batch", "sequence"])


def _written(folder: Path, nodes: list[Any], inputs: list[Any], output: str, shape: list[Any], data: list[Any]) -> Path:
    answer = helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "small", inputs, [answer], initializer=data)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / "model.onnx"))
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder
