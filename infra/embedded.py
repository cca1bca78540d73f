"""The embedded index: one file in the store's bucket, which the functions carry in their own memory."""

from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.store import Store

INDEX_PREFIX = "index/"


class EmbeddedIndex:
    """Costs nothing while nobody searches, and is as large as a function's disk allows."""

    def __init__(self, configuration: Configuration, store: Store) -> None:
        self._bucket = store.bucket
        self.environment = {
            "SEARCH_ENGINE": configuration.engine,
            "INDEX_LOCATION": f"s3://{store.bucket.bucket_name}/{INDEX_PREFIX}documents.sqlite",
        }

    def admit_reader(self, function: PythonFunction) -> None:
        function.allow_objects(self._bucket, ["s3:GetObject"], [INDEX_PREFIX])
        function.allow_listing(self._bucket, [INDEX_PREFIX])

    def admit_writer(self, function: PythonFunction) -> None:
        function.allow_objects(self._bucket, ["s3:GetObject", "s3:PutObject"], [INDEX_PREFIX])
        function.allow_listing(self._bucket, [INDEX_PREFIX])
