"""The keys that sign tokens: made by the first deployment, and changed every thirty days."""

from constructs import Construct

from infra.functions import Platform, PythonFunction
from infra.guarding import PUBLIC_KEYS
from infra.identity_state import WRITE, IdentityState
from infra.secrets import rotate

DAYS = 30


class Signing(PythonFunction):
    """Rotates the key ring. It alone writes public keys."""

    def __init__(self, scope: Construct, construct_id: str, platform: Platform, *, identity: IdentityState) -> None:
        super().__init__(
            scope,
            construct_id,
            platform,
            name="rotate",
            description="Rotates the keys that sign access tokens",
            source="functions/rotate",
            memory_mb=512,
            timeout_seconds=30,
            environment={
                "IDENTITY_TABLE": identity.table.table_name,
                "SIGNING_SECRET_ARN": identity.signing.secret_arn,
            },
            error_threshold=1,
        )
        identity.let_rotate(self, identity.signing)
        identity.let_use_table(self, WRITE)
        self.allow_items(identity.table, ["GetItem", "PutItem"], PUBLIC_KEYS)
        rotate(self, identity.signing, DAYS)  # at once: a deployment without a key could give no token
