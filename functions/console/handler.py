"""The console on Lambda: settings, pages of the capabilities for who is signed in, and the application over them.

Importing this loads nothing that decrypts, renders a page or calls the network: the first request that needs it does.
"""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os

from commonplace.capabilities import CAPABILITIES
from commonplace.identity.settings import SessionSettings
from commonplace.kernel import aws
from commonplace.kernel.capability import built
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.telemetry import instrument
from commonplace.web.gateway import Gateway
from commonplace.web.origin import origin_values
from commonplace.web.pages.console import ASSETS, application
from commonplace.web.pages.frame import PageContext, frame_of
from commonplace.web.settings import SiteSettings

SETTINGS = SiteSettings.from_environ(os.environ)
IDENTITY = SessionSettings.from_environ(os.environ)
FRAME = frame_of(SETTINGS, CAPABILITIES, SETTINGS.base_url, ASSETS)
OBJECTS = S3ObjectStore(aws.s3(read_timeout_seconds=5), SETTINGS.content_bucket)
PAGES = list(built(CAPABILITIES, "console", PageContext(os.environ, SETTINGS, FRAME, OBJECTS)))
APP = application(SETTINGS, IDENTITY, PAGES, FRAME)
handler = instrument(Gateway(APP, origin=origin_values(os.environ)), os.environ)
