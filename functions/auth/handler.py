"""The authorization server on Lambda: settings, and the application over them."""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os

from commonplace.capabilities import served_toolsets
from commonplace.identity.oauth.server.app import create_app
from commonplace.identity.oauth.server.composition import OAuthServices
from commonplace.identity.settings import AuthSettings
from commonplace.kernel.telemetry import instrument
from commonplace.web.gateway import Gateway
from commonplace.web.origin import origin_values

SERVICES = OAuthServices(AuthSettings.from_environ(os.environ), served_toolsets(os.environ))
handler = instrument(Gateway(create_app(SERVICES), origin=origin_values(os.environ)), os.environ)
