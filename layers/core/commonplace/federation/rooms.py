"""Partners and their tools in the table of records."""

from commonplace.federation.model import Partner, PartnerTool
from commonplace.kernel.records import Room

PARTNERS = Room("partners", Partner)
TOOLS = Room("partnertools", PartnerTool)
