"""The index function on Lambda: updates indexes on events of bucket and table, on schedules, and for operators."""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os
from functools import partial

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel import aws
from commonplace.kernel.capability import built
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.telemetry import instrument
from commonplace.search import providers
from commonplace.search.collections import IndexContext, IndexFunction
from commonplace.search.settings import IndexSettings
from commonplace.search.store import DynamoChanges, DynamoNote

SETTINGS = IndexSettings.from_environ(os.environ)
ACTIVITY = (aws.dynamodb(attempts=2), SETTINGS.activity_table) if SETTINGS.activity_table else None
CONTEXT = IndexContext(
    environ=os.environ,
    settings=SETTINGS,
    dynamodb=partial(aws.dynamodb, read_timeout_seconds=5),
    objects=S3ObjectStore(aws.s3(), SETTINGS.content_bucket),
    models=providers.indexed_models(SETTINGS),
    note=lambda collection: DynamoNote(*ACTIVITY, collection) if ACTIVITY else None,
    changes=DynamoChanges(*ACTIVITY) if ACTIVITY else None,
)
INDEX = IndexFunction(list(built(CAPABILITIES, "collection", CONTEXT)))
handler = instrument(INDEX, os.environ)
