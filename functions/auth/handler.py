"""The authorization server on Lambda: settings, and the application over them."""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os

from commonplace.capabilities import CAPABILITIES, served_toolsets
from commonplace.identity.oauth.server.app import create_app
from commonplace.identity.oauth.server.composition import OAuthServices
from commonplace.identity.settings import AuthSettings
from commonplace.kernel.capability import built
from commonplace.kernel.telemetry import instrument
from commonplace.web.gateway import Gateway
from commonplace.web.origin import origin_values

MEMBERSHIPS = next(built(CAPABILITIES, "memberships", os.environ), None)
SETTINGS = AuthSettings.from_environ(os.environ)
SERVICES = OAuthServices(SETTINGS, served_toolsets(os.environ), memberships=MEMBERSHIPS)
handler = instrument(Gateway(create_app(SERVICES), origin=origin_values(os.environ)), os.environ)
