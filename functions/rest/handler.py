"""The REST API on Lambda: settings, endpoints, and the application over them.

What verifies tokens is loaded with the first token, and what a capability's endpoints need with the first request.
"""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os

from commonplace.capabilities import CAPABILITIES, served_toolsets
from commonplace.identity.settings import SessionSettings
from commonplace.kernel import aws
from commonplace.kernel.capability import built
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.telemetry import instrument
from commonplace.web.gateway import Gateway
from commonplace.web.origin import origin_values
from commonplace.web.pages.frame import frame_of
from commonplace.web.rest.app import application, site
from commonplace.web.rest.declaration import RestContext
from commonplace.web.settings import RestSettings

SETTINGS = RestSettings.from_environ(os.environ)
IDENTITY = SessionSettings.where_signed_in(os.environ)
OBJECTS = S3ObjectStore(aws.s3(read_timeout_seconds=5), SETTINGS.content_bucket)
FRAME = frame_of(SETTINGS, CAPABILITIES, SETTINGS.base_url)
CONTEXT = RestContext(os.environ, SETTINGS, site(SETTINGS), OBJECTS, FRAME)
APP = application(
    SETTINGS,
    IDENTITY,
    list(built(CAPABILITIES, "routes", CONTEXT)),
    served_toolsets(os.environ),
)
handler = instrument(Gateway(APP, origin=origin_values(os.environ)), os.environ)
