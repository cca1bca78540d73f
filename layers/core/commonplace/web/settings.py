"""Settings of functions that answer requests."""

from commonplace.kernel.configuration import SECRET_ARN, Settings, matching, setting, setting_of
from commonplace.kernel.settings import ContentStore, Limited, SiteName
from commonplace.repository.settings import KnowledgeBase
from commonplace.search.settings import RankingSettings


class ReaderSettings(RankingSettings, Limited, ContentStore, KnowledgeBase, SiteName):
    """What every function that answers readers is told: which knowledge base, where it is, how it is searched."""

    stage: str = setting_of(Limited, "stage")


class OriginSettings(Settings):
    """Of every function that answers requests."""

    secret_arn: str | None = setting(SECRET_ARN, "ORIGIN_SECRET_ARN", default=None)
    """The secret by which requests from the front door are known, see [deploy](deploy.md#behind-cloudfront); empty
    means that everybody may call the API directly."""


class OriginRotationSettings(Settings):
    """Of the function that changes that secret."""

    secret_arn: str = setting(SECRET_ARN, "ORIGIN_SECRET_ARN")
    distribution_id: str = setting(
        matching(r"[A-Z0-9]{10,20}", "the id of a CloudFront distribution, such as E1A2B3C4D5E6F7"), "DISTRIBUTION_ID"
    )
    """The CloudFront distribution whose header is changed when the origin secret rotates."""
