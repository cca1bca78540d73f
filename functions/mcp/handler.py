"""The MCP server on Lambda: settings, toolsets, and the application over them.

Importing this loads the SDK and what declares the tools, nothing that a call may not need: clients of AWS, the index,
models and GitHub are loaded by the first call that needs them.
"""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os

from commonplace.capabilities import CAPABILITIES, served_toolsets
from commonplace.identity.settings import GuardSettings
from commonplace.kernel.capability import built
from commonplace.kernel.telemetry import instrument
from commonplace.web.gateway import Gateway
from commonplace.web.mcp.app import application, objects
from commonplace.web.mcp.declaration import ToolsetContext
from commonplace.web.mcp.settings import McpSettings
from commonplace.web.origin import origin_values

SETTINGS = McpSettings.from_environ(os.environ)
IDENTITY = GuardSettings.where_signed_in(os.environ)
OBJECTS = objects(SETTINGS)
CONTEXT = ToolsetContext(os.environ, SETTINGS, OBJECTS)
TOOLSETS = CONTEXT.toolsets
TOOLSETS.extend(built(CAPABILITIES, "toolset", CONTEXT))
MEMBERSHIPS = next(built(CAPABILITIES, "memberships", os.environ), None)
APP = application(SETTINGS, IDENTITY, TOOLSETS, served_toolsets(os.environ), MEMBERSHIPS)
handler = instrument(Gateway(APP, origin=origin_values(os.environ)), os.environ)
