"""When two names are one, as far as a catalogue may not have both."""

import re

_BETWEEN = re.compile(r"[\s_-]+")
_PARAMETER = re.compile(r"\{[^{}/]*\}")


def command_form(name: str) -> str:
    """Equal for names that differ in case, or in white space, hyphens and underscores between words."""
    return _BETWEEN.sub(" ", name.casefold()).strip()


def endpoint_form(path_template: str) -> str:
    """Equal for paths that differ in the names of their parameters or in a slash at the end."""
    return _PARAMETER.sub("{}", path_template.rstrip("/").casefold()) or "/"
