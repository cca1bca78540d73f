"""The bundle of WaaP, sign-in by e-mail and social accounts, for operators who have a licence."""

from infra.requirements import ROOT

BUNDLE = ROOT / "layers/core/commonplace/identity/oauth/pages/assets/waap.js"
COMMAND = "python -m infra.waap --i-have-a-licence"
