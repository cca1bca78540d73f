"""Makes templates: the same for the CDK command line, for `python app.py`, for the snapshot and for tests."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.configuration import from_context
from infra.edge import build_edge
from infra.requirements import ROOT
from infra.stack import CommonplaceStack, build

WITHOUT_BUNDLES: Mapping[str, Any] = {"aws:cdk:bundling-stacks": [], "aws:cdk:disable-asset-staging": True}
"""Context for a template alone: no packages are installed, no zips are made."""


def application(outdir: Path | None, context: Mapping[str, Any] | None = None) -> tuple[cdk.App, CommonplaceStack]:
    """An app that is ready to synthesize, and its first stack.

    Only CDK's command line loads `cdk.json`, so it is loaded here for everybody.

    Raises ConfigurationError when the context is not valid.
    """
    settings = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = cdk.App(outdir=str(outdir) if outdir else None, context={**settings, **(context or {})})
    configuration = from_context(app.node.get_all_context())
    stack = build(app, configuration)
    if configuration.edge:
        build_edge(app, configuration, stack.api)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app, stack
