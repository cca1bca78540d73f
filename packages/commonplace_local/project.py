"""Where the parts of this program are that are no Python modules, and where it writes.

In a checkout functions and samples lie beside the packages, and what is written stays below the checkout. The build
puts them into a wheel as data, and an installed program writes to the user's own folders.
"""

from pathlib import Path

import platformdirs

DISTRIBUTION = "commonplace-kb"
"""The name in the package index; another project there is called `commonplace`."""

_DATA = Path(__file__).with_name("project")

CHECKOUT = None if _DATA.is_dir() else Path(__file__).resolve().parents[2]
"""The top folder of the checkout that runs; None for an installed program."""

PROJECT = CHECKOUT or _DATA
"""`functions/`, `layers/` and `samples/` lie in it."""

TEMPLATE = Path(__file__).with_name("template.json")
"""The committed CloudFormation template that the laptop cloud is built from (`make snapshot`)."""

STATE = CHECKOUT / ".data" if CHECKOUT else platformdirs.user_data_path("commonplace", appauthor=False)
"""What running servers announce, and stores that outlive them."""

MODELS = (CHECKOUT / ".tools" if CHECKOUT else platformdirs.user_cache_path("commonplace", appauthor=False)) / "models"
"""Models that were fetched once."""
