import json
from pathlib import Path

from commonplace_local.project import TEMPLATE as SNAPSHOT
from infra.requirements import ROOT
from infra.snapshot import CONTEXT, normalised
from tests.infra.templates import Template, synthesize


def test_the_committed_template_is_what_the_code_says(committed: Template) -> None:
    assert SNAPSHOT.read_text() == normalised(committed.body), "run `make snapshot` and read what has changed"


def test_two_syntheses_are_equal_to_the_byte(committed: Template, tmp_path: Path) -> None:
    assert normalised(synthesize(tmp_path, **CONTEXT).body) == normalised(committed.body)


def test_the_snapshot_knows_neither_this_machine_nor_this_build() -> None:
    text = SNAPSHOT.read_text()
    assert str(ROOT) not in text
    assert "aws:cdk:path" not in text
    assert "aws:asset:path" not in text


def test_a_change_of_code_alone_leaves_the_snapshot_as_it_is(template: Template) -> None:
    rebuilt = json.loads(json.dumps(template.body).replace(_bundle(template, "webhook"), "0" * 64))
    assert rebuilt != template.body
    assert normalised(rebuilt) == normalised(template.body)


def _bundle(template: Template, name: str) -> str:
    return str(template.function(name)["Code"]["S3Key"]).removesuffix(".zip")
