import pytest

from commonplace.reference.endpoints import shape
from commonplace.reference.lookup import Lookup
from commonplace.reference.model import EVERYWHERE, Asked, Example, Method, Parameter, Within
from tests.unit.reference.products import command, endpoint, lookup, product, shaped

API = lookup(
    endpoint("GET", "/api/v1/users", aliases=["listUsers"]),
    endpoint("POST", "/api/v1/users"),
    endpoint("GET", "/api/v1/users/{id}"),
    endpoint("DELETE", "/api/v1/users/{id}"),
    endpoint("GET", "/api/v1/users/me"),
    endpoint("GET", "/api/v1/users/{userId}/groups"),
    endpoint("GET", "/api/v1/reports/{name}.csv"),
    endpoint("GET", "/api/v1/repos/{owner}/{repo}"),
    endpoint("GET", "/api/v1/files/{path+}"),
    endpoint("GET", "/api/v1/pools/{pool}"),
    endpoint(None, "/health"),
    endpoint("GET", "/api/v1/people", deprecated=True, replaced_by="api-get-api-v1-users"),
    servers=["https://api.example.com/api/v1", "https://example.com/backend"],
)


def _at(path: str, method: Method | None = None, found: Lookup = API) -> list[tuple[str, str]]:
    return [(hit.entry.called, hit.matched_by) for hit in found.endpoint(path, method).hits]


@pytest.mark.parametrize(
    ("path", "called", "matched_by"),
    [
        ("/api/v1/users/{id}", "GET /api/v1/users/{id}", "name"),
        ("/api/v1/users/{user_id}", "GET /api/v1/users/{id}", "spelling"),
        ("/api/v1/users/:id", "GET /api/v1/users/{id}", "spelling"),
        ("/api/v1/users/<id>", "GET /api/v1/users/{id}", "spelling"),
        ("/API/V1/Users/{id}", "GET /api/v1/users/{id}", "spelling"),
        ("/api/v1/users/42", "GET /api/v1/users/{id}", "arguments"),
        ("/api/v1/users/42/", "GET /api/v1/users/{id}", "arguments"),
        ("//api/v1/users//42?expand=groups#top", "GET /api/v1/users/{id}", "arguments"),
        ("/api/v1/users/john@example.com", "GET /api/v1/users/{id}", "arguments"),
        ("/api/v1/users/john%40example.com", "GET /api/v1/users/{id}", "arguments"),
        ("https://api.example.com/api/v1/users/42", "GET /api/v1/users/{id}", "arguments"),
        ("`/api/v1/users/42`", "GET /api/v1/users/{id}", "arguments"),
        ("/users/42", "GET /api/v1/users/{id}", "arguments"),
        ("/backend/api/v1/users/42", "GET /api/v1/users/{id}", "arguments"),
        ("/api/v1/users/me", "GET /api/v1/users/me", "name"),
        ("/api/v1/users/john/groups", "GET /api/v1/users/{userId}/groups", "arguments"),
        ("/api/v1/reports/march.csv", "GET /api/v1/reports/{name}.csv", "arguments"),
        ("/api/v1/repos/octocat/hello-world", "GET /api/v1/repos/{owner}/{repo}", "arguments"),
        ("/api/v1/files/a/b/c.txt", "GET /api/v1/files/{path+}", "arguments"),
        ("/health", "/health", "name"),
    ],
)
def test_a_path_is_found_by_its_template_or_by_what_it_stands_for(path: str, called: str, matched_by: str) -> None:
    assert _at(path, "GET") == [(called, matched_by)]
    assert shaped(API, f"GET {path.strip('`')}") == [called]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/users/export",
        "/api/v1/users/bulk-import",
        "/api/v1/pools/inspect",
        "/api/v1/users/{id}history",
        "/api/v1/users/{id",
        "/api/v1/users/42/teams",
        "/api/v1/user",
        "/api/v2/users",
        "/v1/users",
        "/api/v1/reports/march.pdf",
        "/api/v1",
        "/",
        "",
        "?",
        "https://",
        "/" + "a/" * 200,
    ],
)
def test_a_path_that_does_not_exist_has_no_endpoint(path: str) -> None:
    assert _at(path) == []


def test_without_a_method_every_endpoint_of_the_path_answers() -> None:
    assert [called for called, _ in _at("/api/v1/users/42")] == ["DELETE /api/v1/users/{id}", "GET /api/v1/users/{id}"]


def test_a_method_that_the_path_does_not_have_finds_nothing_but_says_which_it_has() -> None:
    answer = API.endpoint("/api/v1/users", "DELETE")

    assert (answer.hits, answer.methods) == ((), ("GET", "POST"))
    assert set(answer.suggestions[:2]) == {"GET /api/v1/users", "POST /api/v1/users"}
    assert shaped(API, "DELETE /api/v1/users") == []


def test_the_method_may_come_with_the_path() -> None:
    assert _at("post /api/v1/users") == [("POST /api/v1/users", "name")]
    assert _at("GET api/v1/users") == [("GET /api/v1/users", "name")]
    assert _at("POST /api/v1/users", "GET") == [("GET /api/v1/users", "name")]
    assert _at("FETCH /api/v1/users") == []


def test_a_curl_command_asks_for_its_endpoint() -> None:
    line = "curl -X DELETE 'https://api.example.com/api/v1/users/42' -H 'Authorization: Bearer <token>'"

    assert shaped(API, line) == ["DELETE /api/v1/users/{id}"]
    assert shaped(API, "curl https://api.example.com/api/v1/users -d @user.json") == ["POST /api/v1/users"]


def test_an_operation_is_found_by_its_alias() -> None:
    assert _at("listUsers") == [("GET /api/v1/users", "alias")]
    assert shaped(API, "list_users") == ["GET /api/v1/users"]


def test_what_a_path_begins_is_found_only_without_a_method() -> None:
    assert shaped(API, "/api/v1/repos") == ["GET /api/v1/repos/{owner}/{repo}"]
    assert shaped(API, "GET /api/v1/repos") == []


def test_a_deprecated_endpoint_answers_with_what_replaces_it() -> None:
    hit = API.endpoint("/api/v1/people").hits[0]

    assert (hit.entry.called, hit.instead_of and hit.instead_of.path_template) == (
        "GET /api/v1/users",
        "/api/v1/people",
    )


def test_a_path_that_does_not_exist_has_suggestions_of_its_method_first() -> None:
    assert API.endpoint("/api/v1/user", "POST").suggestions[0] == "POST /api/v1/users"
    assert API.endpoint("/api/v1/users/export", "DELETE").suggestions[0] == "DELETE /api/v1/users/{id}"


def test_conditions_hold_for_paths() -> None:
    assert shaped(API, "/health", type="command") == []
    assert shaped(API, "/health", type="guide") is None
    assert API.suggest("GET /healthh", Asked("", type="command")) == ()


def test_a_command_may_be_spelt_like_a_path() -> None:
    assert shaped(lookup(command("/help")), "/help") == ["/help"]


def test_templates_of_the_same_paths_have_one_shape() -> None:
    assert {shape(path) for path in ("/users/{id}", "/users/:user/", "/users/<int:id>", "users/[id]")} == {"/users/{}"}
    assert shape("/files/{name}.json") == "/files/{}.json"
    assert shape("/files/{path+}") == "/files/{+}"


def _curl(url: str) -> list[Example]:
    return [Example(description="With curl", code=f"curl -X GET '{url}' -d 'https://elsewhere.example'")]


CHAT = product(
    endpoint("GET", "/api/v10/channels/{channel_id}/messages", aliases=["GET /channels/{channel_id}/messages"]),
    endpoint("GET", "/api/v10/users/{id}", examples=_curl("https://chat.example/api/v10/users/<id>")),
    name="chat",
)
CLOUD = product(
    endpoint("GET", "/users/{id}", parameters=[Parameter(name="per_page", place="query")]),
    endpoint("GET", "/health"),
    name="cloud",
    servers=["https://{region}.cloud.example:8443/v2"],
)
HOME = product(endpoint("GET", "/users/{id}"), name="home", version="2")
TOGETHER = Lookup([CHAT, CLOUD, HOME])


def _from(path: str, within: Within = EVERYWHERE) -> list[tuple[str, str]]:
    return [(hit.catalogue.name, hit.entry.called) for hit in TOGETHER.endpoint(path, within=within).hits]


def test_a_path_is_found_as_the_document_writes_it() -> None:
    found = [("chat", "GET /api/v10/channels/{channel_id}/messages")]

    assert _from("/channels/42/messages") == _from("GET channels/42/messages") == found
    assert _from("/api/v10/channels/42/messages") == _from("https://chat.example/channels/42/messages") == found
    assert _from("POST /channels/42/messages") == []


def test_a_path_that_several_products_have_is_answered_by_each() -> None:
    assert _from("/users/42") == [("cloud", "GET /users/{id}"), ("home", "GET /users/{id}")]
    assert _from("/v2/users/42") == [("cloud", "GET /users/{id}")]
    assert _from("/users/42", Within(catalogue="Home")) == [("home", "GET /users/{id}")]
    assert _from("/users/42", Within(version="2")) == [("home", "GET /users/{id}")]
    assert _from("/users/42", Within(catalogue="cloud", version="2")) == []


def test_what_another_product_has_as_it_is_written_hides_nothing_within_one() -> None:
    found = Lookup([product(endpoint("GET", "/v2/users/{id}"), name="other"), CLOUD])

    assert [hit.catalogue.name for hit in found.endpoint("/v2/users/42").hits] == ["other"]
    assert [hit.catalogue.name for hit in found.endpoint("/v2/users/42", within=Within("cloud")).hits] == ["cloud"]


def test_a_url_is_answered_by_the_product_whose_server_it_is() -> None:
    assert _from("https://eu.cloud.example:8443/v2/users/42") == [("cloud", "GET /users/{id}")]
    assert _from("https://chat.example/api/v10/users/42") == [("chat", "GET /api/v10/users/{id}")]
    assert _from("https://chat.example/health") == []
    assert [name for name, _ in _from("http://localhost:3000/users/42")] == ["cloud", "home"]


def test_a_url_of_no_server_is_one_of_a_product_whose_server_nobody_knows() -> None:
    assert _from("https://elsewhere.example/users/42") == [("home", "GET /users/{id}")]
    assert TOGETHER.endpoint("https://elsewhere.example/none").hosts == ()

    answer = Lookup([CHAT, CLOUD]).endpoint("https://elsewhere.example/users/42")

    assert answer.hits == ()
    assert answer.hosts == ("chat.example", "{region}.cloud.example:8443")


def test_query_parameters_that_do_not_exist_are_said() -> None:
    hits = TOGETHER.endpoint("/users/42?per_pag=5&per_page=2&page[size]=1").hits

    assert [(one.name, one.nearest) for one in hits[0].unknown_options] == [
        ("per_pag", ("per_page",)),
        ("page[size]", ()),
    ]
    assert hits[1].unknown_options == ()
