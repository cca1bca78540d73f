"""The bundle that signs people in by e-mail and social accounts, where an operator has a licence for it."""

from infra.requirements import ROOT

BUNDLE = ROOT / "layers/core/commonplace/identity/oauth/pages/assets/waap.js"
COMMAND = "python -m infra.waap --i-have-a-licence"
