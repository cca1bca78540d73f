"""What is said about the environment of a process, and of the hosts it names."""

_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


class SettingsError(ValueError):
    """The environment does not say what the function needs."""


def is_loopback(host: str | None) -> bool:
    """Whether the host is this very machine."""
    return host in _LOOPBACK_HOSTS
