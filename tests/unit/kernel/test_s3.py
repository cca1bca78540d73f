from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError
from moto.s3.models import s3_backends
from mypy_boto3_s3 import S3Client

from commonplace.kernel.objects import NotStorable, ObjectStore, PreconditionFailed
from commonplace.kernel.s3 import ObjectsNotDeleted, S3ObjectStore
from tests.aws_fixture import BUCKET
from tests.fakes.one_at_a_time import OneAtATime

STRANGE_KEYS = [
    "raw/a b+c.md",
    "raw/ünïcødé/日本.md",
    "raw/100%/q?x=1&y#z.md",
    "raw/'quotes\"<&>.md",
    "raw/trailing /dot./~.md",
    "raw/tab\there.md",
    "raw/things...md",
]


@pytest.fixture
def objects(s3: S3Client) -> ObjectStore:
    return S3ObjectStore(s3, BUCKET)


@pytest.mark.parametrize("key", STRANGE_KEYS)
def test_any_path_is_a_key(objects: ObjectStore, key: str) -> None:
    objects.put(key, b"text")

    found = objects.get(key)
    assert found is not None
    assert found.body == b"text"
    assert [listed.key for listed in objects.list("raw/")] == [key]

    objects.delete([key])
    assert objects.get(key) is None


def test_an_object_is_written_with_its_media_type(objects: ObjectStore, s3: S3Client) -> None:
    objects.put("attachments/logo.png", b"\x89PNG", media_type="image/png")

    assert s3.head_object(Bucket=BUCKET, Key="attachments/logo.png")["ContentType"] == "image/png"


def test_a_missing_bucket_is_not_an_absent_object(s3: S3Client) -> None:
    with pytest.raises(ClientError, match="NoSuchBucket"):
        S3ObjectStore(s3, "elsewhere").get("content/concept/a.json")


def test_of_racing_creators_one_wins(s3: S3Client) -> None:
    objects = S3ObjectStore(OneAtATime(s3), BUCKET)  # type: ignore[arg-type]

    def create(number: int) -> bool:
        try:
            objects.put("operations/lock", str(number).encode(), if_absent=True)
        except PreconditionFailed:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(create, range(16))) == 1


def test_more_keys_than_one_call_takes_are_listed_in_order_and_deleted(objects: ObjectStore) -> None:
    keys = [f"content/concept/{number:04}.json" for number in range(1003)]
    bucket = s3_backends["123456789012"]["aws"]  # a thousand requests would show nothing more
    for key in reversed(keys):
        bucket.put_object(BUCKET, key, b"{}")

    assert [listed.key for listed in objects.list("content/")] == keys

    objects.delete(iter([*keys, "content/never/was.json"]))
    assert list(objects.list("content/")) == []


def test_a_refused_deletion_is_an_error_that_names_no_key(s3: S3Client, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = {"Errors": [{"Key": "raw/private.md", "Code": "AccessDenied"}]}
    monkeypatch.setattr(s3, "delete_objects", lambda **_: refusal)

    with pytest.raises(ObjectsNotDeleted, match="1 objects were not deleted: AccessDenied") as caught:
        S3ObjectStore(s3, BUCKET).delete(["raw/private.md"])

    assert "private" not in str(caught.value)


def test_a_conflicting_write_counts_as_a_lost_race(s3: S3Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def conflict(**_: object) -> None:
        raise ClientError({"Error": {"Code": "ConditionalRequestConflict", "Message": ""}}, "PutObject")

    monkeypatch.setattr(s3, "put_object", conflict)

    with pytest.raises(PreconditionFailed):
        S3ObjectStore(s3, BUCKET).put("metadata/manifest.json", b"{}", if_match="abc")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("KeyTooLongError", NotStorable),
        ("InvalidURI", NotStorable),
        ("EntityTooLarge", NotStorable),
        ("404", NotStorable),
        ("SlowDown", ClientError),
        ("NoSuchBucket", ClientError),
        ("AccessDenied", ClientError),
        ("ExpiredToken", ClientError),
    ],
)
def test_what_is_refused_for_good_is_told_from_a_store_that_does_not_answer(
    s3: S3Client, monkeypatch: pytest.MonkeyPatch, code: str, error: type[Exception]
) -> None:
    def refuse(**_: object) -> None:
        raise ClientError({"Error": {"Code": code, "Message": ""}}, "PutObject")

    monkeypatch.setattr(s3, "put_object", refuse)

    with pytest.raises(error):
        S3ObjectStore(s3, BUCKET).put("raw/a.md", b"text")
