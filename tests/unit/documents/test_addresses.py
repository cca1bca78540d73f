"""Where people read documents, by default and by the setting `documentUrl`."""

import pytest

from commonplace.documents.addresses import DocumentAddresses
from commonplace.kernel.environment import SettingsError
from commonplace.web.settings import RestSettings
from tests.fakes.library import garden

NEEDED = {
    "STAGE": "dev",
    "ACTIVITY_TABLE": "activity",
    "CONTENT_BUCKET": "content",
    "GITHUB_REPOSITORY": "example/garden",
    "GITHUB_BRANCH": "main",
    "INDEX_LOCATION": "s3://content/index/documents.sqlite",
}


def test_a_document_is_read_on_the_site_of_its_deployment() -> None:
    addresses = DocumentAddresses(base_url="https://kb.example.org")
    assert addresses.of("tag", "neap-tide") == "https://kb.example.org/d/tag/neap-tide"


def test_address_is_relative_where_the_deployment_does_not_know_its_own() -> None:
    assert DocumentAddresses().of("tag", "neap-tide") == "/d/tag/neap-tide"


def test_template_names_the_page_on_another_site() -> None:
    addresses = DocumentAddresses("https://garden.example.org/{id}?kind={type}", "https://kb.example.org")
    assert addresses.of("tag", "neap-tide") == "https://garden.example.org/neap-tide?kind=tag"


def test_name_and_document_have_one_address() -> None:
    addresses = DocumentAddresses("https://garden.example.org/{type}/{id}")
    for document in garden():
        assert addresses.of(document) == addresses.of(document.content_type, document.id)


def test_id_can_neither_leave_its_place_nor_stand_for_a_placeholder() -> None:
    addresses = DocumentAddresses("https://garden.example.org/{id}/{type}/")
    assert addresses.of("tag", "{type}/../?#é") == "https://garden.example.org/%7Btype%7D%2F..%2F%3F%23%C3%A9/tag/"


@pytest.mark.parametrize(
    "template",
    [
        "https://garden.example.org/{type}/{id}",
        "http://garden.local:8080/{id}.html?type={type}",
        "https://garden.example.org/#/{type}/{id}",
        "https://garden.example.org/{id}/{type}-{id}",
    ],
)
def test_template_is_taken(template: str) -> None:
    assert RestSettings.from_environ({**NEEDED, "DOCUMENT_URL": template}).document_url == template


@pytest.mark.parametrize(
    "template",
    [
        *("garden.example.org/{type}/{id}", "/d/{type}/{id}", "ftp://garden.example.org/{type}/{id}"),
        *("javascript://garden.example.org/%0a{type}{id}", "https://{type}.example.org/{id}"),
        *("https://who@garden.example.org/{type}/{id}", "https://garden.example.org/{id}"),
        *("https://garden.example.org/{type}", "https://garden.example.org/{type}/{slug}"),
        *("https://garden.example.org/{type}/{id}/{slug}", "https://garden.example.org/{type}/{id}}"),
        *("https://garden.example.org/{type}/{ id }", "https://garden.example.org/a b/{type}/{id}"),
        "https://{type}/{id}",
    ],
)
def test_template_that_leads_nowhere_is_refused_with_what_would_be_valid(template: str) -> None:
    with pytest.raises(SettingsError) as caught:
        RestSettings.from_environ({**NEEDED, "DOCUMENT_URL": template})
    assert str(caught.value).startswith("DOCUMENT_URL is malformed. It must be an http:// or https:// URL with {type}")
    assert template not in str(caught.value)


@pytest.mark.parametrize(
    "template", [None, "https://garden.example.org/#/{id}-{type}", "https://a.example/{id}?t={type}"]
)
def test_address_names_the_document_that_is_read_there(template: str | None) -> None:
    addresses = DocumentAddresses(template, "https://kb.example.org")
    for document in garden():
        assert addresses.named(addresses.of(document)) == (document.content_type, document.id)
        assert addresses.named(f"{addresses.of(document)}#seasons") == (document.content_type, document.id)
    for other in ("https://kb.example.org/d/tag", "https://kb.example.org/d/tag/a/b", "https://a.example/x", ""):
        assert addresses.named(other) is None


def test_repeated_placeholder_has_one_value() -> None:
    addresses = DocumentAddresses("https://garden.example.org/{type}/{type}-{id}")
    assert addresses.named("https://garden.example.org/tag/tag-tide") == ("tag", "tide")
    assert addresses.named("https://garden.example.org/tag/file-tide") is None
