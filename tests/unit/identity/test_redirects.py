"""Which redirect URIs may be registered, and which one a request may name (ids D and U of the negative tests)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.identity.redirects import (
    is_loopback_redirect,
    judge,
    redirect_allowed,
    redirect_host,
    redirect_matches,
)

ALLOWED = [
    "https://app.example/cb",
    "https://app.example",
    "https://app.example/",
    "https://app.example?x=1",
    "https://app.example:8443/cb?x=1&y=%20",
    "HTTPS://App.Example/CB",
    "https://xn--bcher-kva.example/cb",
    "https://[2606:4700:4700::1111]/cb",
    "http://127.0.0.1/cb",
    "http://127.0.0.1:1/",
    "http://127.0.0.1:65535",
    "http://localhost:33418/",
    "http://LOCALHOST/cb",
    "http://[::1]:8080/cb?x=1",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "vscode://vscode.github-authentication/did-authenticate",
    "com.example.app:/oauth2redirect",
    "com.example.app://callback",
    "https://app.example/" + "x" * (2_000 - len("https://app.example/")),
]


def test_redirect_of_the_web_of_loopback_or_of_an_application_is_allowed() -> None:
    for uri in ALLOWED:
        assert judge(uri) == "allowed"
        assert redirect_matches([uri], uri)


@pytest.mark.parametrize(
    "uri",
    ["http://app.example/cb", "http://10.0.0.1/cb", "http://127.0.0.2/cb", "http://0.0.0.0/cb", "http://127.1/cb"],
)
def test_d1_u4_http_redirect_to_another_machine_is_refused(uri: str) -> None:
    assert judge(uri) == "refused"


@pytest.mark.parametrize("host", ["127.0.0.1.evil.example", "localhost.evil.example", "evil.example#@127.0.0.1"])
def test_u4_host_that_only_begins_like_loopback_is_refused(host: str) -> None:
    assert judge(f"http://{host}/cb") == "refused"


DANGEROUS = ["javascript", "data", "vbscript", "file", "blob", "about", "filesystem", "view-source", "ws", "ftp"]


def test_d2_scheme_that_runs_code_or_reads_files_is_refused_in_any_spelling() -> None:
    for shape in [
        "{0}:alert(1)",
        "{0}://app.example/cb",
        " {0}:x",
        "\t{0}:x",
        "{0}\n:x",
        "{0}\x00:x",
        "{0}://%0aalert(1)",
    ]:
        for scheme in DANGEROUS:
            mixed = "".join(letter.upper() if at % 2 else letter for at, letter in enumerate(scheme))

            assert judge(shape.format(scheme)) == "refused"
            assert judge(shape.format(mixed)) == "refused"


@pytest.mark.parametrize(
    "uri",
    [
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "https://app.example/c b",
        "https://app.example/cb\n",
        "https://app.example/cb\x7f",
        "https://app.example\\@evil.example/",
        "https:\\\\evil.example/",
        "https://bücher.example/cb",
        "https://app.example/\u202ecb",
        "https://app.example/\ud800",
        "cursor://anysphere\\evil.example/cb",
        "https://app.example/cb\\x",
    ],
)
def test_d2_controls_spaces_backslashes_and_letters_beyond_ascii_are_refused(uri: str) -> None:
    assert judge(uri) == "refused"


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "/cb",
        "cb",
        "//app.example/cb",
        "?x=1",
        ":",
        "https:",
        "https:/app.example/cb",
        "https:///cb",
        "https://",
        "https://?x=1",
        "https://app.example/cb#x",
        "https://app.example/cb#",
        "https://user@app.example/cb",
        "https://user:secret@app.example/cb",
        "https://app.example:0/cb",
        "https://app.example:65536/cb",
        "https://app.example:x/cb",
        "https://[::1/cb",
        "https://[::g]/cb",
        "https://[]/cb",
        "https://app.example%2f@evil.example/",
        "http://[::1/cb",
        "http://user@127.0.0.1/cb",
        "http://127.0.0.1:99999/cb",
        "http://localhost./cb",
        "http://[::ffff:127.0.0.1]/cb",
        "http://[0:0:0:0:0:0:0:1]/cb",
        "cursor://user@anysphere/cb",
        "com.example.app:",
        "https://app.example/" + "x" * (2_001 - len("https://app.example/")),
    ],
)
def test_d3_u4_what_is_no_plain_absolute_uri_is_refused(uri: str) -> None:
    assert judge(uri) == "refused"


OF_SYSTEMS = (
    *("x-apple.systempreferences", "x-apple-helpbasic", "x-apple.photos", "X-Apple.Systempreferences"),
    *("com.apple.systempreferences", "com.apple.tv", "org.gnome.settings", "com.android.settings"),
    *("com.microsoft.edge", "microsoft.windows.camera", "microsoft.windows.photos.crop", "windows.feedback"),
    *("ms-settings", "ms-word", "ms-excel", "ms-msdt", "ms-appinstaller", "search-ms", "ms-officecmd", "shell"),
    *("intent", "market", "android-app", "shortcuts", "steam", "facetime", "facetime-audio", "itms-apps", "prefs"),
    *("app-settings", "tel", "sms", "mailto", "applescript", "help", "microsoft-edge", "moz-extension", "jar"),
    *("z39.50", "z39.50r", "iris.beep", "soap.beeps", "xmlrpc.beep", "chrome.settings", "apple.news", "prefs.root"),
)
"""Real schemes of Apple, Microsoft, Android, browsers and IANA's list, those with a dot among them."""


def test_d2_scheme_of_an_operating_system_or_a_protocol_is_never_redirected_to() -> None:
    for shape in ["{0}:x", "{0}://callback", "{0}:/oauth2redirect"]:
        for scheme in OF_SYSTEMS:
            for uri in (shape.format(scheme), shape.format(scheme.upper())):
                assert judge(uri) != "allowed"
                assert not redirect_matches([uri], uri)


@pytest.mark.parametrize("scheme", ["x-apple.systempreferences", "ms-settings", "microsoft.windows.camera", "intent"])
def test_d2_a_client_that_asks_for_a_scheme_of_a_system_is_refused_altogether(scheme: str) -> None:
    assert judge(f"{scheme}:x") == "refused"


@pytest.mark.parametrize(
    "scheme", ["com.openai.chat", "ai.perplexity.app", "dev.example.editor", "io.github.user", "co.uk-shop.app", "de.x"]
)
def test_a_reversed_domain_name_of_an_application_is_allowed(scheme: str) -> None:
    assert judge(f"{scheme}://callback") == "allowed"


@pytest.mark.parametrize("uri", ["myapp://cb", "com-example://cb", "slack:/x", "urn:ietf:wg:oauth:2.0:oob"])
def test_d4_scheme_of_an_unknown_application_is_odd_and_never_redirected_to(uri: str) -> None:
    assert judge(uri) == "odd"
    assert not redirect_allowed(uri)
    assert not redirect_matches([uri], uri)


REGISTERED = "http://127.0.0.1:33418/callback?x=1"


@pytest.mark.parametrize("port", ["", ":1", ":33418", ":65535"])
def test_u3_loopback_redirect_may_use_any_port(port: str) -> None:
    assert redirect_matches([REGISTERED], f"http://127.0.0.1{port}/callback?x=1")


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:1/callback",
        "http://127.0.0.1:1/callback?x=2",
        "http://127.0.0.1:1/callback?x=1&y=2",
        "http://127.0.0.1:1/callback/?x=1",
        "http://127.0.0.1:1/Callback?x=1",
        "http://127.0.0.1:1/other?x=1",
        "http://127.0.0.1:1/callback/../callback?x=1",
        "http://127.0.0.1:1?x=1",
        "https://127.0.0.1:1/callback?x=1",
        "http://localhost:1/callback?x=1",
        "http://[::1]:1/callback?x=1",
        "http://127.0.0.2:1/callback?x=1",
        "http://127.0.0.1:0/callback?x=1",
    ],
)
def test_u3_loopback_redirect_may_differ_in_nothing_but_the_port(uri: str) -> None:
    assert not redirect_matches([REGISTERED], uri)


@pytest.mark.parametrize(
    "uri",
    [
        "https://app.example:8443/cb",
        "https://app.example:443/cb",
        "https://app.example/cb/",
        "https://app.example/cb?",
        "https://app.example/CB",
        "https://APP.example/cb",
        "HTTPS://app.example/cb",
        "https://app.example/cb?x=1",
        "https://app.example/%63b",
        "https://app.example./cb",
        "https://evil.example/cb",
        "http://app.example/cb",
    ],
)
def test_u4_other_redirects_are_compared_letter_by_letter(uri: str) -> None:
    assert not redirect_matches(["https://app.example/cb"], uri)


LOOPBACK_HOSTS = [
    *("localhost", "LOCALHOST", "localhost.", "app.localhost", "a.b.Localhost", "app.localhost."),
    *("127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0"),
    *("[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:2]"),
]


@pytest.mark.parametrize("host", LOOPBACK_HOSTS)
@pytest.mark.parametrize("scheme", ["http", "https", "HTTPS"])
@pytest.mark.parametrize("port", ["", ":8443"])
def test_what_leads_to_this_computer_is_loopback_however_it_is_written(host: str, scheme: str, port: str) -> None:
    assert is_loopback_redirect(f"{scheme}://{host}{port}/cb")
    assert is_loopback_redirect(f"{scheme}://{host}{port}")


@pytest.mark.parametrize(
    "host",
    [
        *("app.example", "localhost.example", "notlocalhost", "127.0.0.1.example", "128.0.0.1", "10.0.0.1"),
        *("[2606:4700::1111]", "[::2]", "[::ffff:8.8.8.8]"),
    ],
)
def test_another_machine_is_no_loopback(host: str) -> None:
    assert not is_loopback_redirect(f"https://{host}/cb")


@pytest.mark.parametrize("uri", ["cursor://localhost/cb", "com.example.app://127.0.0.1/cb", "https://[::1/cb", "x", ""])
def test_what_is_no_address_of_the_web_is_no_loopback(uri: str) -> None:
    assert not is_loopback_redirect(uri)


@pytest.mark.parametrize(
    "host", ["127.1", "2130706433", "0x7f.0.0.1", "0x7f000001", "0177.0.0.1", "127.0.0.256", "a.1"]
)
def test_u4_a_number_that_browsers_would_read_as_an_address_of_their_own_is_refused(host: str) -> None:
    assert judge(f"https://{host}/cb") == "refused"


@pytest.mark.parametrize("name", ["code", "state", "iss", "error", "error_description", "error_uri", "response"])
@pytest.mark.parametrize(
    "shape", ["?{0}=x", "?{0}", "?a=1&{0}=", "?a=1;{0}=x", "?{1}=x", "?a&&{1}", "?{0}=x&{0}=y", "?%20=&{1}=%00"]
)
@pytest.mark.parametrize("place", ["https://app.example/cb", "http://127.0.0.1:1/cb", "com.example.app:/cb"])
def test_a_query_that_could_be_taken_for_our_answer_is_refused(name: str, shape: str, place: str) -> None:
    encoded = "".join(f"%{ord(letter):02x}" for letter in name)
    uri = place + shape.format(name, encoded)

    assert judge(uri) == "refused"
    assert not redirect_matches([uri], uri)


@pytest.mark.parametrize(
    "query", ["?kept=1", "?Code=x", "?x=code", "?codes=1&my_state=2", "?a=state%3Dx", "?", "?%63odes"]
)
def test_other_queries_are_the_clients_own(query: str) -> None:
    assert judge(f"https://app.example/cb{query}") == "allowed"


def test_https_redirect_to_loopback_has_a_port_that_counts() -> None:
    assert not redirect_matches(["https://127.0.0.1:1/cb"], "https://127.0.0.1:2/cb")


def test_what_was_registered_before_it_was_dangerous_is_not_redirected_to() -> None:
    assert not redirect_matches(["javascript:alert(1)"], "javascript:alert(1)")


@pytest.mark.parametrize(
    ("uri", "host", "loopback"),
    [
        ("https://claude.ai/api/mcp/auth_callback", "claude.ai", False),
        ("http://localhost:1234/cb", "localhost", True),
        ("http://[::1]:1234/cb", "::1", True),
        ("cursor://anysphere.cursor-mcp/oauth", "cursor://", False),
        ("com.example.app:/cb", "com.example.app://", False),
    ],
)
def test_person_is_shown_where_a_code_goes(uri: str, host: str, loopback: bool) -> None:
    assert (redirect_host(uri), is_loopback_redirect(uri)) == (host, loopback)


PIECES = st.sampled_from(
    [
        *("https://", "http://", "HTTP://", "javascript:", "cursor://", "com.example:/", "//", "", "data:"),
        *("127.0.0.1", "localhost", "[::1]", "app.example", "evil.example", "127.0.0.1.evil.example", "user@"),
        *(":1", ":80", ":65536", ":", "/", "/cb", "/cb/", "/../cb", "?x=1", "?", "#", "\\", " ", "%2e", "\n", "é", "@"),
    ]
)
URIS = st.one_of(st.lists(PIECES, max_size=6).map("".join), st.text(max_size=40))


@settings(deadline=None)
@given(URIS, URIS)
def test_two_uris_match_only_if_they_are_the_same_or_differ_in_a_loopback_port(registered: str, uri: str) -> None:
    if redirect_matches([registered], uri):
        assert redirect_allowed(uri)
        assert uri == registered or (is_loopback_redirect(uri) and is_loopback_redirect(registered))
        assert redirect_matches([uri], registered)


@settings(deadline=None)
@given(URIS)
def test_any_text_is_judged_and_what_is_allowed_is_safe_to_send_in_a_header(uri: str) -> None:
    if judge(uri) == "allowed":
        assert uri.isascii() and uri.isprintable() and not set(uri) & {" ", "\\", "#"}
        assert redirect_matches([uri], uri)
        assert redirect_host(uri)


@settings(deadline=None)
@given(st.integers(1, 65_535), st.integers(1, 65_535), st.sampled_from(["localhost", "127.0.0.1", "[::1]"]))
def test_any_two_ports_of_a_loopback_host_match(one: int, other: int, host: str) -> None:
    assert redirect_matches([f"http://{host}:{one}/cb"], f"http://{host}:{other}/cb")
