"""`commonplace smoke` against stand-ins of a deployment: one that keeps every promise, and many that break one."""

import datetime
import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from typer.testing import CliRunner

from commonplace_local.cli import smoke as command
from commonplace_local.cli.smoke.checks import CHECKS, RENAMED
from commonplace_local.cli.smoke.site import Finding, Site, run, table
from commonplace_local.errors import CommandError
from tests.fakes.deployment import HTML, WELL_KNOWN, Change, Reply, StandIn

SERVER = f"{WELL_KNOWN}/oauth-authorization-server"
RESOURCE = f"{WELL_KNOWN}/oauth-protected-resource"


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with StandIn() as stand_in:
        yield stand_in


def smoked(base: str, origin: str | None = None, **options: Any) -> dict[str, Finding]:
    return {each.name: each for each in run(Site(base, origin, 5, **options), CHECKS)}


def failed(findings: dict[str, Finding]) -> set[str]:
    return {name for name, each in findings.items() if each.outcome == "failed"}


def test_a_deployment_that_keeps_its_promises_passes(stand_in: StandIn) -> None:
    findings = smoked(stand_in.url)
    assert failed(findings) == set()
    assert {name for name, each in findings.items() if each.outcome == "skipped"} == {"tls", "origin"}


def test_a_deployment_for_members_that_answers_strangers_fails(stand_in: StandIn) -> None:
    stand_in.replies["/"] = Reply(303, {"location": "/account?next=%2F"}, "")
    findings = smoked(stand_in.url)
    assert findings["site"].outcome == "ok"
    assert failed(findings) >= {"llms.txt", "search", "mcp", "tools", "challenge"}
    assert "siteTier" in findings["llms.txt"].hint


def test_a_health_of_the_status_alone_is_sound(stand_in: StandIn) -> None:
    stand_in.replies["/health"].body = {"status": "ok"}
    finding = smoked(stand_in.url)["health"]
    assert (finding.outcome, "None" in finding.detail) == ("ok", False)


def put(path: str, **changes: Any) -> Change:
    """Other parts of one reply. Headers are added to those that are there; None takes one away."""

    def change(replies: dict[str, Reply]) -> None:
        reply = replies[path]
        headers = changes.pop("headers", {})
        merged = {**reply.headers, **headers}
        reply.headers = {name: value for name, value in merged.items() if value is not None}
        for name, value in changes.items():
            setattr(reply, name, value)

    return change


def edit(path: str, **values: Any) -> Change:
    """Other members of one reply's document, at every address that shows the same one."""

    def change(replies: dict[str, Reply]) -> None:
        document = replies[path].body
        for reply in replies.values():
            if reply.body is document:
                reply.body = {**document, **values}

    return change


def without(name: str) -> Change:
    return put("/mcp tools/call", headers={name: None})


WRONG = {
    "store away": (put("/health", status=503, body={"status": "unavailable"}), {"health"}, "api-5xx"),
    "index away": (put("/health", body={"status": "degraded"}), {"health"}, "api-5xx"),
    "no llms": (put("/llms.txt", status=404), {"llms.txt"}, "sync run"),
    "no site": (put("/", status=500), {"site"}, "site function"),
    "unprotected site": (put("/", headers={"content-security-policy": None}), {"site"}, "removes headers"),
    "empty": (put("/api/v1/entries", body={"entries": []}), {"search"}, "sync run"),
    "nothing found": (put("/api/v1/search", body={"results": []}), {"search"}, "dead-letter"),
    "citation leads nowhere": (put("/d/file/crabs", status=404), {"citation"}, "site function"),
    "search fails": (put("/api/v1/search", status=503), {"search"}, "dead-letter"),
    "no discovery": (put("/mcp server/discover", status=500), {"mcp"}, "mcp-failures"),
    "another host": (put("/mcp server/discover", status=421, body={}), {"mcp"}, "publicUrl"),
    "no handshake": (put("/mcp initialize", body='data: {"error": {"code": -32600}}'), {"mcp"}, "mcp-failures"),
    "no tools": (put("/mcp tools/list", body={"result": {"tools": []}}), {"tools"}, "mcp-failures"),
    "open to all": (put("/mcp tools/call", status=200), {"challenge"}, "identity"),
    "no challenge": (without("www-authenticate"), {"challenge"}, "removes it"),
    "renamed": (
        put("/mcp tools/call", headers={"www-authenticate": None, RENAMED: "Bearer"}),
        {"challenge"},
        "restoreChallenge",
    ),
    "malformed": (put("/mcp tools/call", headers={"www-authenticate": "Bearer scope=a"}), {"challenge"}, "guard"),
    "names an error": (
        put("/mcp tools/call", headers={"www-authenticate": 'Bearer error="invalid_token", scope="a"'}),
        {"challenge"},
        "guard",
    ),
    "leads elsewhere": (
        put(
            "/mcp tools/call",
            headers={"www-authenticate": 'Bearer scope="a", resource_metadata="https://abc.execute-api/x"'},
        ),
        {"challenge"},
        "publicUrl",
    ),
    "takes any token": (put("/mcp bad token", status=200), {"bad token"}, "guard"),
    "bad token renamed": (
        put("/mcp bad token", headers={"www-authenticate": None, RENAMED: "Bearer"}),
        {"bad token"},
        "restoreChallenge",
    ),
    "another resource": (edit(f"{RESOURCE}/mcp", resource="https://abc.execute-api/mcp"), {"resource"}, "publicUrl"),
    "another server": (edit(f"{RESOURCE}/mcp", authorization_servers=["https://x.test"]), {"resource"}, "publicUrl"),
    "two resources": (put(RESOURCE, body={"resource": "x"}), {"resource"}, "auth function"),
    "no metadata": (put(f"{RESOURCE}/mcp", status=404), {"resource"}, "auth function"),
    "closed to browsers": (
        put(f"{RESOURCE}/mcp", headers={"access-control-allow-origin": None}),
        {"resource"},
        "auth function",
    ),
    "another issuer": (edit(SERVER, issuer="https://abc.execute-api"), {"server"}, "publicUrl"),
    "endpoint elsewhere": (edit(SERVER, token_endpoint="https://x.test/token"), {"server"}, "publicUrl"),
    "no registration": (edit(SERVER, registration_endpoint=""), {"server"}, "publicUrl"),
    "plain PKCE": (edit(SERVER, code_challenge_methods_supported=["plain", "S256"]), {"server"}, "auth function"),
    "the root about /mcp": (edit(RESOURCE, resource="http://x.test/mcp"), {"resource"}, "auth function"),
    "no key": (put(f"{WELL_KNOWN}/jwks.json", body={"keys": []}), {"keys"}, "rotate-secret"),
    "private key": (
        put(f"{WELL_KNOWN}/jwks.json", body={"keys": [{"kty": "EC", "kid": "one", "d": "secret"}]}),
        {"keys"},
        "rotate the signing keys",
    ),
    "open redirector": (
        put("/authorize", status=302, headers={"location": "https://attacker.example/callback"}),
        {"authorize"},
        "Take this deployment down",
    ),
    "no page": (put("/authorize", headers={"content-type": "application/json"}), {"authorize"}, "auth function"),
    "echo": (put("/authorize", body="<p>https://Attacker.example is unknown</p>"), {"authorize"}, "auth function"),
    "framed": (put("/authorize", headers={"content-security-policy": "default-src 'none'"}), {"headers"}, "auth"),
    "referrer": (put("/authorize", headers={"referrer-policy": "origin"}), {"headers"}, "override"),
    "sniffed": (put("/health", headers={"x-content-type-options": None}), {"headers"}, "distribution"),
    "takes any code": (put("/token", status=200), {"token"}, "auth function"),
    "kept": (put("/token", headers={"cache-control": "public"}), {"token"}, "auth function"),
}


@pytest.mark.parametrize("case", WRONG)
def test_each_broken_promise_is_found_and_no_other(stand_in: StandIn, case: str) -> None:
    change, names, hint = WRONG[case]
    change(stand_in.replies)
    findings = smoked(stand_in.url)
    assert failed(findings) == names
    (name,) = names
    assert hint in findings[name].hint
    assert "secret" not in findings[name].detail


@pytest.mark.parametrize("body", ["", "<html>", "[]", "7", '{"result": 7}', '{"keys": 7}', '{"entries": [7]}'])
def test_answers_of_any_shape_are_failures_and_no_traceback(stand_in: StandIn, body: str) -> None:
    for reply in stand_in.replies.values():
        reply.status, reply.body, reply.headers = 200, body, {"content-type": HTML}
    findings = smoked(stand_in.url)
    assert {"health", "search", "mcp", "tools", "bad token", "resource", "server", "keys"} <= failed(findings)
    assert findings["challenge"].outcome == "skipped"


def test_pages_of_another_site_are_not_checked(stand_in: StandIn) -> None:
    elsewhere = {"title": "Crabs", "documentUrl": "https://pages.example.org/crabs"}
    stand_in.replies["/api/v1/entries"].body = {"entries": [elsewhere]}
    finding = smoked(stand_in.url)["citation"]
    assert finding.outcome == "skipped"
    assert "https://pages.example.org/crabs" in finding.detail


def test_a_deployment_without_tools_that_write_has_no_challenge_to_check(stand_in: StandIn) -> None:
    tools = [{"name": "search_knowledge", "annotations": {"readOnlyHint": True}}]
    stand_in.replies["/mcp tools/list"].body = {"result": {"tools": tools}}
    assert smoked(stand_in.url)["challenge"].outcome == "skipped"


def test_nobody_there_is_fifteen_failures_and_no_traceback() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{free.getsockname()[1]}"
    findings = smoked(base)
    assert len(failed(findings)) == len(CHECKS) - 3  # no TLS, no list of tools, no origin


def test_an_answer_that_never_ends_is_given_up() -> None:
    """Sends a byte now and then, so that no single wait is too long."""
    over = threading.Event()

    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
            while not over.wait(0.02):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,), daemon=True)
        thread.start()
        site = Site(f"http://127.0.0.1:{listener.getsockname()[1]}", None, 0.3)
        (finding,) = run(site, [check for check in CHECKS if check[0] == "health"])
        over.set()
        thread.join(5)
    assert (finding.outcome, finding.detail) == ("failed", "GET /health does not end")


# ---- the way round the front door


def test_an_api_that_refuses_everybody_is_locked(stand_in: StandIn) -> None:
    with StandIn() as origin:
        origin.replies = dict.fromkeys(
            ("/health", "/llms.txt", "/mcp"), Reply(403, {}, {"error": {"code": "FORBIDDEN"}})
        )
        assert smoked(stand_in.url, origin.url)["origin"].detail == "refused"
        assert origin.asked == ["/health", "/llms.txt", "/mcp"]


@pytest.mark.parametrize("open_path", ["/health", "/llms.txt"])
def test_an_api_that_answers_past_the_front_door_is_not(stand_in: StandIn, open_path: str) -> None:
    with StandIn() as origin:
        origin.replies = {path: Reply(403) for path in ("/health", "/llms.txt", "/mcp")} | {open_path: Reply(200)}
        finding = smoked(stand_in.url, origin.url)["origin"]
    assert finding.outcome == "failed"
    assert "originLock" in finding.hint


# ---- TLS


def certificate(folder: Path, days: int, name: str = "127.0.0.1") -> ssl.SSLContext:
    """A server with a certificate of its own for so many days; `ca.pem` in the folder is whom to trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stand-in")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.IPAddress(ipaddress.ip_address(name))]
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=days, hours=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "ca.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "ca.pem", folder / "key.pem")
    return context


def trusting(folder: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(folder / "ca.pem"))


def test_a_certificate_that_is_trusted_and_lasts_passes(tmp_path: Path) -> None:
    with StandIn(certificate(tmp_path, 90)) as stand_in:
        findings = smoked(stand_in.url, tls=trusting(tmp_path))
    assert failed(findings) == set()
    assert "TLSv1.3" in findings["tls"].detail


def test_a_certificate_that_ends_soon_fails(tmp_path: Path) -> None:
    with StandIn(certificate(tmp_path, 3)) as stand_in:
        findings = smoked(stand_in.url, tls=trusting(tmp_path))
    assert failed(findings) == {"tls"}
    assert "3 days" in findings["tls"].detail


@pytest.mark.parametrize("name", ["127.0.0.1", "127.0.0.2"])
def test_a_certificate_of_nobody_or_for_another_name_fails_everything(tmp_path: Path, name: str) -> None:
    context = certificate(tmp_path, 90, name)
    tls = ssl.create_default_context() if name == "127.0.0.1" else trusting(tmp_path)
    with StandIn(context) as stand_in:
        findings = smoked(stand_in.url, tls=tls)
    assert "certificate" in findings["tls"].detail
    assert {"tls", "health", "resource", "token"} <= failed(findings)


def test_behind_cloudfront_browsers_have_to_be_told_of_https(tmp_path: Path) -> None:
    with StandIn(certificate(tmp_path, 90)) as stand_in:
        stand_in.replies["/health"].headers["x-amz-cf-id"] = "x"
        assert failed(smoked(stand_in.url, tls=trusting(tmp_path))) == {"headers"}
        stand_in.replies["/health"].headers["strict-transport-security"] = "max-age=31536000"
        assert failed(smoked(stand_in.url, tls=trusting(tmp_path))) == set()


# ---- the command


def ask(*words: str) -> Any:
    import typer

    app = typer.Typer()
    app.command()(command.smoke)
    return CliRunner().invoke(app, list(words))


def test_the_command_ends_well_when_all_is_well(stand_in: StandIn) -> None:
    done = ask(stand_in.url)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == "15 ok, 0 failed, 2 skipped"


def test_the_command_ends_with_1_and_a_hint_when_something_fails(stand_in: StandIn) -> None:
    stand_in.replies["/health"].status = 503
    done = ask(f"{stand_in.url}/")
    assert done.exit_code == 1
    assert "FAIL  health" in done.output
    assert "-> See docs/operate/runbooks/api-5xx.md." in done.output


def test_the_command_tells_machines_the_same(stand_in: StandIn) -> None:
    told = json.loads(ask(stand_in.url, "--json").output)
    assert told["url"] == stand_in.url
    assert [each["name"] for each in told["checks"]] == [name for name, _ in CHECKS]


@pytest.mark.parametrize("url", ["http://kb.example.org", "kb.example.org", "https://kb.example.org/mcp", "ftp://x"])
def test_what_is_no_address_of_a_deployment_is_refused(url: str) -> None:
    done = ask(url)
    assert isinstance(done.exception, CommandError)


def test_the_table_says_what_failed_and_what_to_do() -> None:
    lines = table([Finding("tls", "ok", "TLSv1.3"), Finding("origin", "failed", "open", "Lock it.")]).splitlines()
    assert lines == [
        "ok    tls     TLSv1.3",
        "FAIL  origin  open",
        "              -> Lock it.",
        "1 ok, 1 failed, 0 skipped",
    ]
