"""The chat on Lambda: settings, the tools of the knowledge base and of partners, and the agent over them.

`web.stream_runtime` runs it, so that answers are sent as they come.
"""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os

from commonplace.capabilities import CAPABILITIES, served_toolsets
from commonplace.chat.composition import application
from commonplace.chat.settings import ChatSettings
from commonplace.identity.settings import SessionSettings
from commonplace.kernel import aws
from commonplace.kernel.capability import built
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.telemetry import instrument
from commonplace.web.gateway import StreamingGateway
from commonplace.web.mcp.declaration import ToolsetContext
from commonplace.web.mcp.settings import McpSettings
from commonplace.web.origin import origin_values

OWN = ChatSettings.from_environ(os.environ)
SETTINGS = McpSettings.from_environ(os.environ)
IDENTITY = SessionSettings.from_environ(os.environ)
OBJECTS = S3ObjectStore(aws.s3(read_timeout_seconds=5), SETTINGS.content_bucket)
CONTEXT = ToolsetContext(os.environ, SETTINGS, OBJECTS)
SEARCHED = [one for one in CAPABILITIES if one.scopes and one.scopes.toolset in ("knowledge", "commons")]
CONTEXT.toolsets.extend(built(SEARCHED, "toolset", CONTEXT))
APP = application(OWN, SETTINGS, IDENTITY, CONTEXT.toolsets, served_toolsets(os.environ))
handler = instrument(StreamingGateway(APP, origin=origin_values(os.environ)), os.environ)
