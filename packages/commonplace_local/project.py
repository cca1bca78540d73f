"""Where the parts of this program are that are no modules of Python: functions, samples, the template."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
"""The checkout: `functions/`, `layers/` and `samples/` lie in it."""

TEMPLATE = Path(__file__).with_name("template.json")
"""The committed CloudFormation template that the laptop cloud is built from (`make snapshot`)."""
