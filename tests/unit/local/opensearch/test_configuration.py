"""What a node is told."""

import json
import socket
from pathlib import Path

import pytest
import yaml

from local.errors import CommandError
from local.opensearch.client import last_words, listening
from local.opensearch.folders import PROGRAM
from local.opensearch.java import Java
from local.opensearch.node import NodeRecord, choose_port
from local.opensearch.process import Options, environment, prepare, settings_text

OPTIONS = "-Xms1g\n9-:-Xlog:gc*:file=logs/gc.log\n-XX:HeapDumpPath=data\n-XX:ErrorFile=logs/hs.log\n-Dkept=yes\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / PROGRAM
    (folder / "config").mkdir(parents=True)
    (folder / "config" / "jvm.options").write_text(OPTIONS)
    return folder


def test_the_node_listens_on_this_machine_only_and_makes_no_index_by_itself(tmp_path: Path) -> None:
    told = yaml.safe_load(settings_text(tmp_path, "commonplace-one", 0))
    assert told["network.host"] == "127.0.0.1"
    assert told["action.auto_create_index"] is False
    assert told["path.data"] == str(tmp_path / "data")
    assert (told["cluster.name"], told["http.port"]) == ("commonplace-one", 0)


def test_nothing_is_written_into_the_program_s_folder(program: Path, tmp_path: Path) -> None:
    prepare(tmp_path / "state", program, "commonplace-one", 0)
    assert (tmp_path / "state" / "config" / "jvm.options").read_text() == "-Xms1g\n-Dkept=yes\n"
    assert (program / "config" / "jvm.options").read_text() == OPTIONS


def test_preparing_again_keeps_what_is_stored_and_forgets_where_it_listened(program: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    prepare(state, program, "commonplace-one", 0)
    (state / "data" / "index").write_text("kept")
    (state / "logs" / "http.ports").write_text("127.0.0.1:4711\n")
    prepare(state, program, "commonplace-one", 0)
    assert (state / "data" / "index").read_text() == "kept"
    assert listening(state, 0) is None


def test_the_node_is_told_nothing_of_the_user_s_environment(tmp_path: Path) -> None:
    given = environment(tmp_path, Java(Path("/opt/jdk"), 25), Options(heap="1g"), {"PATH": "/bin", "TOKEN": "secret"})
    assert "TOKEN" not in given
    assert given["PATH"] == "/bin"
    assert given["OPENSEARCH_JAVA_HOME"] == "/opt/jdk"
    assert "-Xmx1g" in given["OPENSEARCH_JAVA_OPTS"]
    assert "TieredStopAtLevel" not in given["OPENSEARCH_JAVA_OPTS"]


def test_a_fast_start_uses_one_compiler(tmp_path: Path) -> None:
    given = environment(tmp_path, Java(Path("/opt/jdk"), 25), Options(fast=True), {})
    assert "-XX:TieredStopAtLevel=1" in given["OPENSEARCH_JAVA_OPTS"]


def test_the_port_that_the_node_chose_is_read(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    assert listening(tmp_path, 0) is None
    (tmp_path / "logs" / "http.ports").write_text("[::1]:4712\n127.0.0.1:4711\n")
    assert listening(tmp_path, 0) == "http://127.0.0.1:4711"
    assert listening(tmp_path, 9200) == "http://127.0.0.1:9200"


def test_a_taken_port_is_refused_and_a_former_one_is_taken_again_if_it_is_free(tmp_path: Path) -> None:
    assert choose_port(0, tmp_path) == 0
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = int(listener.getsockname()[1])
        NodeRecord(1, f"http://127.0.0.1:{taken}", "commonplace-one").write(tmp_path)
        assert choose_port(0, tmp_path) == 0
        with pytest.raises(CommandError, match=f"Port {taken} is in use"):
            choose_port(taken, tmp_path)
    assert choose_port(0, tmp_path) == taken


def test_the_last_words_end_with_where_the_rest_is(tmp_path: Path) -> None:
    (tmp_path / "console.log").write_text("\n".join(f"line {number}" for number in range(100)))
    told = last_words(tmp_path).splitlines()
    assert told[-2:] == ["line 99", f"All of it: {tmp_path / 'console.log'}"]
    assert len(told) < 20
    assert "console.log" in last_words(tmp_path / "nowhere")


def test_settings_are_one_json_value_a_line(tmp_path: Path) -> None:
    for line in settings_text(tmp_path, "commonplace-one", 9200).splitlines():
        json.loads(line.partition(": ")[2])
