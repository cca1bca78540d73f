"""Made-up data of every class that rules recognise, and things that only look like some."""

import random
import string
from collections.abc import Callable

from commonplace.redaction.model import Kind

HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
MIXED = string.ascii_letters + string.digits

PERSONAL: dict[str, tuple[Kind, str]] = {
    "email": ("EMAIL", "jane.roe+ci@mail.example.org"),
    "email, other script": ("EMAIL", "jürgen@bücher.example"),
    "email, spelt": ("EMAIL", "jane.roe [at] example [dot] org"),
    "phone, international": ("PHONE", "+49 30 901820"),
    "phone, US": ("PHONE", "(415) 555-2671"),
    "phone, GB": ("PHONE", "020 7946 0018"),
    "phone, FR": ("PHONE", "06 12 34 56 78"),
    "phone, DE": ("PHONE", "030 901820-55"),
    "phone, JP": ("PHONE", "090-1234-5678"),
    "phone, BR": ("PHONE", "(11) 91234-5678"),
    "phone, IN": ("PHONE", "98765 43210"),
    "phone, CN": ("PHONE", "138 1234 5678"),
    "phone, AU": ("PHONE", "0412 345 678"),
    "phone, IT": ("PHONE", "347 123 4567"),
    "phone, CH": ("PHONE", "+41 44 668 18 00"),
    "phone, NL": ("PHONE", "06-12345678"),
    "phone, KE": ("PHONE", "+254712345678"),
    "card": ("CREDIT_CARD", "4111 1111 1111 1111"),
    "card, in one": ("CREDIT_CARD", "5555555555554444"),
    "card, 15 digits": ("CREDIT_CARD", "3782-822463-10005"),
    "iban": ("REDACTED", "DE89 3704 0044 0532 0130 00"),
    "iban, in one": ("REDACTED", "GB82WEST12345698765432"),
    "ip": ("IP_ADDRESS", "81.2.69.142"),
    "ip, private": ("IP_ADDRESS", "10.12.0.9"),
    "ip, 6": ("IP_ADDRESS", "2a02:8108:85a3::8a2e:370:7334"),
    "mac": ("REDACTED", "00:1b:44:11:3a:b7"),
    "ssn": ("REDACTED", "536-90-4399"),
    "cpf": ("REDACTED", "529.982.247-25"),
    "dni": ("REDACTED", "12345678Z"),
    "codice fiscale": ("REDACTED", "RSSMRA85T10A562S"),
    "nino": ("REDACTED", "AB 12 34 56 C"),
    "personnummer": ("REDACTED", "811228-9874"),
    "aadhaar": ("REDACTED", "2341 2341 2346"),
    "host": ("REDACTED", "db-7.prod.internal"),
    "host, corp": ("REDACTED", "jira.corp.example.com"),
    "handle": ("USERNAME", "@jane-roe"),
    "street": ("LOCATION", "221B Baker Street"),
    "street, DE": ("LOCATION", "Hauptstraße 5, 10115 Berlin"),
    "street, FR": ("LOCATION", "12 rue de la Paix, 75002 Paris"),
    "street, ES": ("LOCATION", "Calle de Alcalá 45, 28014 Madrid"),
    "box": ("LOCATION", "P.O. Box 4711"),
    "place": ("LOCATION", "Springfield, IL 62704"),
    "name": ("NAME", "Dr. Ada Marchetti"),
}
"""Class -> its placeholder and one of it, which nothing around it has to introduce."""

INTRODUCED: dict[str, tuple[Kind, str, str]] = {
    "passport": ("REDACTED", "passport number ", "X12345678"),
    "account": ("REDACTED", "account number: ", "123456789012"),
    "birth": ("REDACTED", "date of birth: ", "1984-03-12"),
    "user": ("USERNAME", "username: ", "jroe42"),
    "home": ("USERNAME", "it lies in /home/", "janeroe"),
    "home, Windows": ("USERNAME", "it lies in C:\\Users\\", "janeroe"),
    "name": ("NAME", "My name is ", "Ada Marchetti"),
    "trailer": ("NAME", "Co-authored-by: ", "Ada Marchetti"),
    "phone in one": ("PHONE", "call me on ", "5551234567"),
    "ssn in one": ("REDACTED", "SSN ", "536904399"),
}
"""Class -> its placeholder, what introduces it, and one of it."""

NOT_PERSONAL = (
    "3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "550e8400-e29b-41d4-a716-446655440000",
    "hat 30.3.1.2",
    "the id 30.3.1.2 of a hat",
    "version 1.2.3.4 and v4.18.2.1 and numpy==2.4.0.1",
    "10.0.0.0/8, 127.0.0.1 and 0.0.0.0",
    "::1 and std::vector<int> and a::b and 12:30:45",
    "Discord 123456789012345678 and 1098765432109876543",
    "ISO 27001-2013, ISO/IEC 9899:2018, RFC 7231, CVE-2024-30941, EIP-4361",
    "2024-01-15 10:30:00, 15.01.2024, 2024-01-15T10:30:00Z, 20240115-101112",
    "1,234,567.89 and 1 234 567 890 and 1700000000000 and $1 234 567",
    "ports 8080 9090 3000, HTTP 200 404 500, 500 Internal Server Error",
    "ISBN 978-3-16-148410-0",
    "git@github.com:org/repo.git and pkg@1.2.3-beta.rc and logo@2x.png and react@next",
    "@types/node and @property and @app.get('/x') and @dependabot and @Override",
    "/home/ubuntu/app and /Users/runner/work and ~/x",
    "user: the person who signs in; username is required; login to the server",
    "the project Baker Street and Wall Street; Google Drive, 3 Way handshake",
    "Call Amazon Web Services, then KindredAccess; the IDs and TODOs of Visual Studio Code",
    "Login is Keycloak-hosted; the user's next login re-hashes it; `gh auth switch --user octocat99`",
    "The subnet 100.64.0.0/10 and the documentation range 203.0.113.0/24",
    "Serial 04:d2:9b:77:1e:c3:5a:40",
    "The vector is [0.1234, -0.5678, 0.9101]",
    "Dijkstra, Levenshtein, Jenkins and Prof. Dijkstra",
    "host.docker.internal and .env.local and settings.local and localhost:8080",
    "0x71C7656EC7ab88b098defB751B7401B5f6d8976F and vitalik.eth",
    "password: <YOUR_PASSWORD>, api_key=${API_KEY}, token: string, SECRET_KEY=xxxxxxxx",
    "The token is cached for 300 seconds. The password is required. secret: stored in Vault",
    "const token = process.env.TOKEN; token = await getToken(); password=self.password1",
    "max_tokens=4096, token_count: 1024, primary key: order_id, seed=42, salt: 16 bytes",
    "arn:aws:secretsmanager:us-east-1:123456789012:secret:my-secret",
    "postgres://user:password@localhost/db and https://example.com/v2/users/a-long-path-name-of-a-page/x",
)


NOTATIONS: dict[str, Callable[[str], str]] = {
    "space": str,
    "snake": lambda words: words.replace(" ", "_"),
    "kebab": lambda words: words.replace(" ", "-"),
    "dotted": lambda words: words.replace(" ", "."),
    "camel": lambda words: (joined := words.title().replace(" ", ""))[:1].lower() + joined[1:],
    "pascal": lambda words: words.title().replace(" ", ""),
    "upper": lambda words: words.upper().replace(" ", "_"),
}
"""How a program or a person writes the words of a key."""

SYNTAXES = (
    "<{0}>{1}</{0}>",
    '<add key="{0}" value="{1}"/>',
    '<entry name="{0}">{1}</entry>',
    '{{"{0}": "{1}"}}',
    '{{"name": "{0}", "value": "{1}"}}',
    "{0}='{1}'",
    '{0} = "{1}"',
    'const {0}: string = "{1}";',
    "env:\n- name: {0}\n  value: {1}\n",
    "set('{0}', '{1}')",
    '{0}("{1}")',
    "{0}: {1}\n",
    "run --{0} {1} now",
    "run --{0}={1} now",
    'if ("{1}" == {0}) {{',
    "The {0} for staging is {1}.",
    "The {0} of the box was changed to {1} on Friday.",
    "{1} is the {0} of the box.",
    "| {0} | {1} |",
)
"""Where a value stands beside the name of a secret."""


def secrets(seed: int = 4) -> dict[str, str]:
    """Keys of many providers, made now: no file of ours holds one."""
    chosen = random.Random(seed)

    def some(length: int, of: str = MIXED) -> str:
        return "".join(chosen.choice(of) for _ in range(length))

    return {
        "aws": f"AKIA{some(16, UPPER)}",
        "github": f"ghp_{some(36)}",
        "github, fine": f"github_pat_{some(22)}_{some(59)}",
        "gitlab": f"glpat-{some(20)}",
        "slack": f"xoxb-{some(12, string.digits)}-{some(24)}",
        "slack, hook": f"https://hooks.slack.com/services/T{some(8)}/B{some(8)}/{some(24)}",
        "stripe": f"sk_live_{some(24)}",
        "stripe, hook": f"whsec_{some(32)}",
        "google": f"AIza{some(35)}",
        "openai": f"sk-proj-{some(48)}",
        "anthropic": f"sk-ant-api03-{some(90)}",
        "huggingface": f"hf_{some(34)}",
        "npm": f"npm_{some(36)}",
        "pypi": f"pypi-AgEIcHlwaS5vcmc{some(60)}",
        "sendgrid": f"SG.{some(22)}.{some(43)}",
        "twilio": f"SK{some(32, HEX)}",
        "telegram": f"{some(9, '123456789')}:AA{some(33)}",
        "digitalocean": f"dop_v1_{some(64, HEX)}",
        "shopify": f"shpat_{some(32, HEX)}",
        "databricks": f"dapi{some(32, HEX)}",
        "linear": f"lin_api_{some(40)}",
        "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{some(43)}",
    }


def assigned(seed: int = 4) -> dict[str, tuple[str, str]]:
    """What introduces a secret, and the secret."""
    keys = random.Random(seed)
    made = {length: "".join(keys.choice(MIXED) for _ in range(length)) for length in (10, 20, 32, 40)}
    number = "".join(keys.choice(HEX) for _ in range(64))
    return {
        "password": ("password: ", f"Q7{made[10]}"),
        "env": ("DB_PASSWORD=", "hunter2!"),
        "json": ('{"client_secret": "', made[32]),
        "yaml": ("apiKey: ", made[20]),
        "header": ("Authorization: Bearer ", made[40]),
        "query": ("https://example.org/feed?token=", made[20]),
        "infura": ("https://mainnet.infura.io/v3/", number[:32]),
        "alchemy": ("https://eth-mainnet.g.alchemy.com/v2/", made[32]),
        "private key": ("private key: ", f"0x{number}"),
        "aws secret": ("aws_secret_access_key = ", made[40]),
        "said": ("the password is ", "Tr0ub4dor&3"),
    }
