"""What each interface of the hive takes of whoever calls."""

from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.principals import Level, Principal, Tier, scope


def _need(tier: Tier, level: Level) -> Need:
    return Need(tier, scope("hive", level), "contributions")


READER = _need("member", "read")
CONTRIBUTOR = _need("member", "write")
REVIEWER = _need("vibecoder", "admin")


def is_reviewer(principal: Principal) -> bool:
    return judge(principal, REVIEWER) is Verdict.ALLOWED
