"""The CDK application: `make synth`, or `python app.py [-c key=value ...]`, or by way of CDK's command line."""

import argparse
import os
import sys

from infra.node import provide_node
from infra.requirements import ROOT


def main(arguments: list[str]) -> int:
    """Synthesizes to the folder that the command line names, else to `cdk.out`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-c", "--context", action="append", default=[], metavar="key=value")
    context = dict(each.split("=", 1) for each in parser.parse_args(arguments).context)
    if not provide_node():
        sys.exit("CDK needs Node.js: run `make setup-all`, which brings one")

    from infra.configuration import ConfigurationError
    from infra.stack import application

    try:
        app, _ = application(None if "CDK_OUTDIR" in os.environ else ROOT / "cdk.out", context)
    except ConfigurationError as error:
        sys.exit(f"cdk.json or -c: {error}")
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
