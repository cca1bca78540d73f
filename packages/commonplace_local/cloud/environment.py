"""Environment variables of this process and of its workers: nothing of the developer's AWS account is in reach."""

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

ACCOUNT = "123456789012"
REGION = "us-east-1"
UNCHECKED_SECRET = "x"  # noqa: S105  a client must have one

# What a worker may inherit: where programs and certificates are, the language, the way out. Tokens are not among it.
INHERITED = frozenset(
    {
        "PATH", "HOME", "USER", "LANG", "LANGUAGE", "TZ", "SHELL", "VIRTUAL_ENV",
        "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
        "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
    }
)  # fmt: skip


def access_key() -> str:
    """A new one of 128 random bits. moto knows it as nobody's, and so takes everything for its default account."""
    return f"LAPTOP{secrets.token_hex(16).upper()}"


def aws_variables(port: int, key: str) -> dict[str, str]:
    """The credentials of this run, no configuration files, one endpoint for all services."""
    direct = ",".join(filter(None, ["127.0.0.1,localhost", os.environ.get("NO_PROXY") or os.environ.get("no_proxy")]))
    return {
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": UNCHECKED_SECRET,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "MOTO_S3_DEFAULT_KEY_BUFFER_SIZE": "262144",  # larger objects lie in temporary files
        "NO_PROXY": direct,
        "no_proxy": direct,
    }


def worker_variables(port: int, key: str) -> dict[str, str]:
    """What every worker starts from."""
    kept = {name: value for name, value in os.environ.items() if name in INHERITED or name.startswith("LC_")}
    # A function has one vCPU. Threads that numpy starts for each core would wait for one another, busily.
    return kept | {"OPENBLAS_NUM_THREADS": "1"} | aws_variables(port, key)


@contextmanager
def replaced(variables: Mapping[str, str]) -> Iterator[None]:
    """Replace every `AWS_*` and `MOTO_*` variable of this process by `variables`, and put them back at the end."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(("AWS_", "MOTO_")):
            del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in set(variables) | {name for name in before if name.startswith(("AWS_", "MOTO_"))}:
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]
