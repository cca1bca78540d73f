"""The steps of a sync run on Lambda: `run` for those of the whole run, `store` for its files."""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel import aws
from commonplace.kernel.capability import built, load
from commonplace.kernel.parallel import Threads
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.telemetry import instrument
from commonplace.repository.settings import SyncSettings
from commonplace.repository.sync_function import SyncFunction

WORKERS = 16
"""Calls to the store side by side; GitHub asks for fewer than a hundred, ten of these functions run at once."""

SETTINGS = SyncSettings.from_environ(os.environ)
SYNC = SyncFunction(
    os.environ,
    SETTINGS,
    {
        source.name: (source, load(capability.steps))
        for capability in CAPABILITIES
        if capability.steps
        for found in built([capability], "sources", os.environ)
        for source in found
    },
    objects=S3ObjectStore(aws.s3(connections=WORKERS + 4), SETTINGS.content_bucket),
    dynamodb=aws.dynamodb(),
    secrets=aws.secretsmanager(),
    parallel=Threads(WORKERS),
)
run = instrument(SYNC.run, os.environ)
store = instrument(SYNC.store, os.environ)
