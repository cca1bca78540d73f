"""Settings of the branches that are followed, and of the access to GitHub."""

from commonplace.kernel.configuration import SECRET_ARN, URL, Settings, arn, matching, setting
from commonplace.kernel.settings import Activity, ContentStore, Deployment

GITHUB_API = "https://api.github.com"
REPOSITORY = r"[A-Za-z0-9-]{1,39}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}"
BRANCH = r"(?![/.-])(?!.*(?:\.\.|//|@\{|/\.))[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![/.])"


class KnowledgeBase(Settings):
    repository: str = setting(
        matching(REPOSITORY, "owner/name, as in a GitHub address"),
        "GITHUB_REPOSITORY",
        key="repository",
        deployed="example/knowledge-base",
    )
    """`owner/name` on GitHub."""
    branch: str = setting(
        matching(BRANCH, "the name of a branch, without refs/heads/"), "GITHUB_BRANCH", key="branch", deployed="main"
    )
    """The branch that is served."""


class GitHubApi(Settings):
    github_api_url: str = setting(
        URL,
        "GITHUB_API_URL",
        key="githubApiUrl",
        default=GITHUB_API,
        context=matching(r"https://[^\s/]+(/[^\s]*[^\s/])?", "an https URL without a slash at its end"),
    )
    """Another API address, for GitHub Enterprise Server."""


class WebhookSettings(Deployment, Activity, KnowledgeBase):
    machine_arn: str = setting(arn("states"), "SYNC_MACHINE_ARN")
    """The state machine that a push starts."""
    github_secret_arn: str = setting(SECRET_ARN, "GITHUB_SECRET_ARN")
    """The secret with the webhook's key and GitHub's [credentials](deploy.md#the-secret)."""


class SyncSettings(Deployment, Activity, ContentStore, KnowledgeBase, GitHubApi):
    github_secret_arn: str = setting(SECRET_ARN, "GITHUB_SECRET_ARN")
