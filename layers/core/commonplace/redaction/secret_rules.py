"""Keys, tokens and passwords: by the form that their provider gives them, or by the name that they are assigned to.

They are looked for everywhere, in code as well. A value that only shows where a secret would stand is none.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final

from commonplace.redaction.model import Span
from commonplace.redaction.vocabulary import words

_B64 = r"[A-Za-z0-9+/_=-]"

PROVIDERS: Final[dict[str, str]] = {
    "aws_key_id": r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA|APKA)[A-Z0-9]{16}",
    "aws_bedrock": r"(?:ABSK[A-Za-z0-9+/]{80,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{20,})",
    "github": r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}|ghs_[A-Za-z0-9._-]{30,}",
    "gitlab": r"(?:glpat|gloas|gldt|glrt|glcbt|glptt|glft|glimt|glagent|glsoat|glffct)-[\w.-]{18,}|GR1348941[\w-]{20}",
    "bitbucket": r"(?:ATBB|ATCTT3|ATATT3)[A-Za-z0-9_=-]{20,}",
    "slack": r"xox[abeoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}",
    "slack_webhook": r"https://hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}",
    "discord_webhook": r"https://(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,20}/[\w-]{30,}",
    "teams_webhook": r"https://[\w-]+\.webhook\.office\.com/webhookb2/[\w@/-]{40,}",
    "stripe": r"(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,255}|whsec_[A-Za-z0-9+/=]{24,}",
    "google": r"AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{24,}|1//0[\w-]{35,}"
    r"|\d{8,14}-[a-z0-9]{32}\.apps\.googleusercontent\.com",
    "openai": r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"
    r"|sk-[A-Za-z0-9]{32,}|sess-[A-Za-z0-9]{40}",
    "anthropic": r"sk-ant-(?:api|admin|oat|sid)?\d{0,2}-?[\w-]{20,}",
    "openrouter": r"sk-or-(?:v\d-)?[\w-]{20,}",
    "huggingface": r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "replicate": r"r8_[A-Za-z0-9]{30,}",
    "groq": r"gsk_[A-Za-z0-9]{30,}",
    "xai": r"xai-[A-Za-z0-9]{40,}",
    "perplexity": r"pplx-[A-Za-z0-9]{32,}",
    "langsmith": r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
    "pinecone": r"pcsk_[A-Za-z0-9_]{40,}",
    "tavily": r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}",
    "npm": r"npm_[A-Za-z0-9]{30,}",
    "pypi": r"pypi-(?:AgE|[A-Za-z0-9]{3})[\w-]{30,}",
    "rubygems": r"rubygems_[a-f0-9]{40,}",
    "crates": r"cio[A-Za-z0-9]{32}",
    "docker": r"dckr_(?:pat|oat)_[\w-]{20,}",
    "sendgrid": r"SG\.[\w-]{16,32}\.[\w-]{16,64}",
    "mailgun": r"key-[a-f0-9]{32}|[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}",
    "mailchimp": r"[a-f0-9]{32}-us\d{1,2}",
    "brevo": r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
    "resend": r"re_[A-Za-z0-9]{8,10}_[A-Za-z0-9]{20,}",
    "twilio": r"(?:SK|AC)[a-f0-9]{32}",
    "telegram": r"\d{8,10}:(?:AA[\w-]{32,34}|[\w-]{35})",
    "discord": r"(?:[MNO][A-Za-z\d_-]{23,27}|[A-Za-z\d_-]{24,28})\.[\w-]{6}\.[\w-]{27,40}|mfa\.[\w-]{80,}",
    "digitalocean": r"do[opr]_v1_[a-f0-9]{40,}",
    "shopify": r"shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{32}",
    "square": r"sq0(?:atp|csp|idp)-[\w-]{22,43}|EAAA[A-Za-z0-9+=_-]{60}",
    "paypal": r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    "databricks": r"dapi[a-f0-9]{32}(?:-\d)?",
    "linear": r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}",
    "notion": r"(?:secret_[A-Za-z0-9]{40,}|ntn_[A-Za-z0-9]{40,})",
    "airtable": r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
    "figma": r"fig[du]_[\w-]{36,}",
    "postman": r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
    "newrelic": r"NR(?:AK|JS|II|RA)-[A-Za-z0-9-]{19,40}",
    "grafana": r"gl(?:c|sa)_[A-Za-z0-9+/_=]{30,}|eyJrIjoi[A-Za-z0-9+/=]{40,}",
    "sentry": r"sntr[yu]s?_[A-Za-z0-9+/=_-]{40,}",
    "vault": r"hv[sbr]\.[\w-]{20,}|s\.[A-Za-z0-9]{24}(?=[\s\"'`]|$)",
    "terraform": r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}",
    "doppler": r"dp\.(?:pt|st|ct|scim|audit|sa)\.[\w.-]{40,}",
    "pulumi": r"pul-[a-f0-9]{40}",
    "planetscale": r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}",
    "supabase": r"sbp_[a-f0-9]{40}|sb_(?:secret|publishable)_[\w-]{20,}",
    "vercel": r"vc[piakr]_[A-Za-z0-9]{24,}",
    "netlify": r"nfp_[A-Za-z0-9]{36,}",
    "fly": r"fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/=]{60,}",
    "heroku": r"HRKU-[\w-]{36,}",
    "cloudflare": r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}|cf(?:ut|at|k)_[\w-]{30,}",
    "azure": r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}|[A-Za-z0-9+/]{76}(?:AAA|ASt|AzS)[A-Za-z0-9+/]{5,8}==?",
    "age": r"AGE-SECRET-KEY-1[0-9A-Z]{50,}",
    "okta": r"SSWS 00[\w-]{40}",
    "artifactory": r"AKC[a-zA-Z0-9]{10,}|cmVmdGtu[A-Za-z0-9]{50,}",
    "algolia_like": r"(?:phc|phx)_[A-Za-z0-9]{40,}",
    "commonplace": r"cp[kt]_[A-Za-z0-9]{24,}",
    "jwt": rf"eyJ[\w-]{{8,}}\.(?:eyJ|e30)?[\w-]{{4,}}\.[\w-]{{8,}}"
    rf"|eyJ[\w-]{{8,}}\.\.{_B64}{{8,}}\.{_B64}{{8,}}\.{_B64}{{8,}}",
    "node_provider": r"(?<=/v2/|/v3/)[A-Za-z0-9_-]{28,64}",
    "node_provider_host": r"(?<=\.quiknode\.pro/)[a-f0-9]{32,}",
    "wif": r"(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51})|xprv[1-9A-HJ-NP-Za-km-z]{100,112}",
    "nostr": r"nsec1[02-9ac-hj-np-z]{50,}",
}
"""Provider -> the form of its keys. Letters and digits may stand neither before nor after them."""

_PROVIDERS = re.compile(
    "|".join(
        f"(?P<{name}>{'' if form.startswith('(?<=') else '(?<![A-Za-z0-9_/+-])'}(?:{form}))"
        for name, form in PROVIDERS.items()
    )
)
_PEM = re.compile(
    r"-----BEGIN (?P<name>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----(?:(?!-----BEGIN )[\s\S]){0,16000}?(?:-----END"
    r" (?P=name)-----|\Z|(?=\n[ \t]*\n[^\n:]{0,60}[ ]))"
)
_CREDENTIALS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,20})://(?P<value>(?P<user>[^\s:@/?#\"'<>`]{0,128}):(?P<password>"
    r"[^\s@/\"'<>`]{1,256}|[^\s@\"'<>`]{1,256}(?=@[\w.-]{3,}[:/])))@"
)
_PRIVATE_HOST = re.compile(r"(?:[\w-]{1,63}\.){1,8}(?:internal|corp|local|lan|intranet|private|localdomain)(?![\w.-])")
_TOKEN_AS_USER = re.compile(r"https?://(?P<value>[A-Za-z0-9_-]{20,})@")
_IN_QUERY = re.compile(
    r"(?i:[?&#;](?:access_?token|refresh_?token|id_?token|token|api_?key|apikey|key|secret|client_secret|password"
    r"|passwd|pwd|sig|signature|x-amz-signature"
    r"|x-amz-credential|x-amz-security-token|x-goog-signature|auth|code|session|jwt|hash"
    r"|invite))=(?P<value>[^\s&#\"'<>`)\]\ufffc]{6,2000})"
)
_NAMES = (
    r"pass(?:word|wd|phrase|code|wort)?|pwd|psw|secret|token|api[_.-]?key|apikey|access[_.-]?key|secret[_.-]?key"
    r"|private[_.-]?key|signing[_.-]?key"
    r"|encryption[_.-]?key|master[_.-]?key|auth[_.-]?key|license[_.-]?key|account[_.-]?key|shared[_.-]?key"
    r"|storage[_.-]?key|client[_.-]?secret|credentials?|webhook[_.-]?secret"
    r"|auth(?:orization)?[_.-]?token|bearer|connection[_.-]?string|conn[_.-]?str|dsn|salt|seed|mnemonic|otp|mfa|pin"
    r"|passphrase|cookie|session[_.-]?(?:id|key|token)?|app[_.-]?secret"
    r"|contraseña|kennwort|mot de passe|senha|пароль|密码|パスワード"
)
_ASSIGNED = re.compile(
    rf"(?P<name>(?<![A-Za-z0-9])(?:[\w.-]{{0,60}}[_.-])?(?i:{_NAMES})(?:[_.-]?(?:id|key|value|prod|dev|live|test"
    rf"|\d{{1,2}}))?|\b[a-z]{{1,20}}(?:Password|Secret|Token|ApiKey|AccessKey|SecretKey|PrivateKey"
    rf"|Passphrase))(?![A-Za-z0-9])"
    r"(?P<by>[\"'`*_]{0,4}\]?[ \t]{0,4}(?::=|=>|:|=|\bis\b(?:[ \t]now)?|\bwas\b|\bist\b|\bes\b"
    r"|：)[ \t]{0,4}(?:(?i:Bearer|Basic|Token)[ \t]+)?[*_]{0,2})"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n\ufffc]{3,512})(?P=quote)|(?P<bare>[^\s\"'`,;<>()\[\]{}|\ufffc]{4,512}))"
)
_HEADER = re.compile(
    r"(?i:\b(?:proxy-)?authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"'`]?(?:bearer|basic|token|apikey|key|digest"
    r"|aws4-hmac-sha256)[ \t]+|\bbearer[ \t]+|\bx-(?:api-key|auth-token|access-token|amz-security-token"
    r"|functions-key)[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"'`]?"
    r"|(?<![\w-])(?:(?:-u|--user)[ =][\"']?[\w.@-]{1,64}:|(?:-p|--password|--token|--api-key|--secret)[ =][\"']?))"
    r"(?P<value>[^\s\"'`,;<>(){}|\ufffc]{6,4000})"
)
_COMMAND = re.compile(
    r"\bmysql\b[^\n]{0,80}?\s-p(?P<value>[^\s\"'`\ufffc-][^\s\"'`\ufffc]{3,64})"
    r"|\bsshpass\s+-p\s*[\"']?(?P<also>[^\s\"'`\ufffc]{4,64})|\bPGPASSWORD=[\"']?(?P<third>[^\s\"'`\ufffc]{4,64})"
)
_SIGNED = re.compile(r"\bjwt\.(?:en|de)code\([^\n]{0,200}?,\s{0,9}[\"'](?P<value>[^\s\"'\ufffc]{6,512})[\"']")
_PASSWORD_AND = re.compile(
    r"(?i:\b(?:log ?in|sign ?in|credentials?|creds|user(?:name)?)\b)[^\n]{0,40}?(?:(?<=\s)"
    r"|(?<=[:=\"'`(]))(?P<user>[\w.@+-]{2,64})[ ]?/[ ]?(?P<value>(?=[^\s/]*[\d!@#$%^&*])[^\s/\"'`,;\ufffc]{6,64})"
)
_HEX_KEY = re.compile(r"(?<!\w)(?:0x)?[0-9a-fA-F]{64}(?!\w)")
_ABOUT_KEYS = re.compile(
    r"(?:\b(?:private|priv|secret|signing|deployer|wallet|signer|owner|master|encryption|account)[ _-]?keys?\b"
    r"|_(?:KEY|PK)\b|\bpk\b|\bprivkey\b|--private-key|\bkey=|\bseed\b)[^\n]{0,40}$",
    re.IGNORECASE,
)
_ABOUT_PHRASES = re.compile(
    r"(?:mnemonic|seed|recovery|backup|secret|wallet|phrase|words|bip-?39|metamask|ledger)", re.IGNORECASE
)
_PHRASE = re.compile(r"(?<![\w'-])(?:[a-z]{3,8}[ ,\t\n]{1,3}(?:\d{1,2}[.)][ ]?)?){11,23}[a-z]{3,8}(?![\w'-])")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_ABOUT_AWS = re.compile(r"(?:aws|secret|akia|asia|access.?key|s3|iam)", re.IGNORECASE)
_AZURE_STORAGE = re.compile(
    r"(?:AccountKey|SharedAccessKey|SharedAccessSignature|sig)=(?P<value>[A-Za-z0-9+/%_-]{20,}={0,2})"
)

_STANDS_FOR_ONE = re.compile(
    r"[<\[{(%$].*|.*(?:\$\{|\{\{|<[a-z_ -]+>|%\(|\.\.\.|…).*|[xX*•#.\-_?0]{3,}.*|(?:.*[_-])?x{4,}.*"
    r"|(?:(?:my|your|the|some|any|an?|new|our)[_ -]?.*(?:key|token|secret|password|pass|value|here|id|pwd|string"
    r"|credentials?|jwt|bearer|passphrase))|(?:your|insert|replace|enter|put)[_ -].*|.*(?:[_-]here|_?placeholder"
    r"|redacted|changeme|change[_-]me|change[_-]this|replace[_-]?me|to[_-]?be[_-]?set|fill[_-]?in|dummy|fake|sample"
    r"|notreal|not[_-]a[_-]real|not[_-]real).*"
    r"|(?:process\.env|os\.environ|os\.getenv|env|import\.meta|secrets?|settings|config|self|this|var|vars|local"
    r"|data|module|ctx|context|request|req|res|response|event|params|props|args|options|kwargs|user|session|headers"
    r"|cookies|crypto|std|System|Deno|github|steps|inputs|needs|Secret|SecretStr|String|Buffer|await|new|ssm|vault"
    r"|op|file|arn)[.:\[(].*"
    r"|\w+\(.*|!(?:Ref|Sub|GetAtt|secret|vault).*|(?:ref|vault|op|ssm|arn|env|file|secret|secretsmanager|awssm"
    r"|gcpsm|sops|enc):.*|ENC\[.*|\{.*"
    r"|(?:none|null|nil|true|false|undefined|empty|string|str|str ?\| ?none|bytes|int|integer|number|any|optional"
    r"|required|boolean|bool|default|example|test|testing|secret|token|password|passwd|key|apikey|api_key|bearer"
    r"|basic|admin|root|user|hidden|masked|redacted|unknown|missing|invalid|expired|valid|set|unset|not|there|here"
    r"|this|that|these|those|the|value|foo|bar|baz|foobar|hunter\d?\*+|disabled|enabled|yes|no|ok|auto|manual"
    r"|base64|hex|sha256|hs256|rs256|es256|required,?|optional,?|length|rotation|based|only|never|always|stored"
    r"|used|needed|generated|automatically|short-lived|csrf|jwt|oauth2?|header|authentication|authorization|auth"
    r"|credentials?|public|private|see|from|your|with|when|too|now|still|also|and|for|in|of|at|by|to|it|is|an?|sent"
    r"|passed|returned|kept|encrypted|hashed|rotated|revoked|readable|leaked|wrong|correct|empty|cached|limit"
    r"|limits|count|usage|budget|window|type|name|field|session|cookie|same-?site|lax|strict|httponly"
    r"|secure)[.,;:!?)]*",
    re.IGNORECASE,
)
_STRONG_NAME = re.compile(r"pass|pwd|psw|contrase|kennwort|senha|mot de|пароль|密码|パスワード", re.IGNORECASE)
_WEAK_NAME = re.compile(
    r"^(?:.*[._-])?(?:seed|salt|pin|otp|mfa|cookie|session(?:[_.-]?id)?|token|secret|bearer|credentials?|pass|dsn)$",
    re.IGNORECASE,
)


LIKELY_MNEMONIC = "likely_mnemonic"
"""The label of as many words as a seed phrase has, where nothing says that they are one."""


def find_secrets(text: str) -> Iterator[Span]:
    """Every key, token and password, in no order; they may overlap."""
    for found in _PROVIDERS.finditer(text):
        name = found.lastgroup or ""
        if not _repeats(found[0]) and (name not in _LOOSE or _is_random(found[0])):
            yield _secret(found.start(), found.end(), name)
    for found in _PEM.finditer(text):
        yield _secret(found.start(), found.end(), "pem")
    yield from _in_addresses(text)
    yield from _assigned(text)
    yield from _chain_keys(text)
    for found in _AWS_SECRET.finditer(text):
        if (
            _ABOUT_AWS.search(text, max(0, found.start() - 120), found.start())
            and _is_random(found[0])
            and not re.fullmatch(r"[0-9a-f]{40}", found[0])
        ):
            yield _secret(found.start(), found.end(), "aws_secret")
    for found in _AZURE_STORAGE.finditer(text):
        if not stands_for_one(found["value"]):
            yield _secret(*found.span("value"), "azure_storage")


_LOOSE = frozenset(
    {
        "discord",
        "mailgun",
        "mailchimp",
        "node_provider",
        "vault",
        "azure",
        "telegram",
        "crates",
        "notion",
        "artifactory",
        "algolia_like",
        "resend",
        "twilio",
    }
)
"""Providers whose keys have a form that words in snake case or paths may have as well."""


def _secret(start: int, end: int, label: str) -> Span:
    return Span(start, end, "API_KEY", "secret", label=label)


def _in_addresses(text: str) -> Iterator[Span]:
    if "://" in text:
        for found in _CREDENTIALS.finditer(text):
            if (found["password"] != found["user"] and not stands_for_one(found["password"])) or _is_random(
                found["user"]
            ):
                # A host of an own network says too much beside them, and is no link that anybody could follow.
                host = _PRIVATE_HOST.match(text, found.end())
                yield _secret(found.start("value"), host.end() if host else found.end("value"), "credentials")
        for found in _TOKEN_AS_USER.finditer(text):
            if _is_random(found["value"]):
                yield _secret(*found.span("value"), "credentials")
    for found in _IN_QUERY.finditer(text):
        if not stands_for_one(found["value"]) and (_is_random(found["value"]) or _STRONG_NAME.search(found[0][:12])):
            yield _secret(*found.span("value"), "query")


def _assigned(text: str) -> Iterator[Span]:
    for found in _ASSIGNED.finditer(text):
        group = "quoted" if found["quoted"] else "bare"
        value, name, by = found[group], found["name"], found["by"]
        trimmed = value if group == "quoted" else value.rstrip(".!?:*_")
        if trimmed and not stands_for_one(trimmed) and _is_worth_hiding(name, by, trimmed, quoted=group == "quoted"):
            yield _secret(found.start(group), found.start(group) + len(trimmed), "assigned")
    for found in _HEADER.finditer(text):
        value = found["value"].rstrip(".!?")
        if not stands_for_one(value) and (
            _is_random(value) or (found[0].startswith("-") and any(map(str.isdigit, value)) and len(value) > 7)
        ):
            yield _secret(found.start("value"), found.start("value") + len(value), "header")
    for form in (_COMMAND, _PASSWORD_AND, _SIGNED):
        for found in form.finditer(text):
            group = next(one for one in ("value", "also", "third") if one in form.groupindex and found[one])
            if not stands_for_one(found[group]):
                yield _secret(*found.span(group), "assigned")


def _is_worth_hiding(name: str, by: str, value: str, *, quoted: bool) -> bool:
    """Whether what is assigned to such a name can be a secret, and is no word, type or reference."""
    said = by.strip(" \t\"'`*_").split(" ")[0] in ("is", "was", "ist", "es")
    if _STRONG_NAME.search(name):
        mixed = (
            any(map(str.isdigit, value))
            or re.search(r"[!@#$%^&*+=~]", value)
            or (re.search(r"[a-z][A-Z]", value) and _entropy(value) > 3)
        )
        if said or (by.strip().startswith(":") and not quoted):
            return bool(mixed) and len(value) >= 5 and not re.fullmatch(r"\d{1,3}(?:\.\d+)?\w{0,2}", value)
        return (
            len(value) >= 4
            and " " not in value
            and (bool(mixed) or (quoted and len(value) >= 8 and not re.fullmatch(r"[a-z_]+|[A-Z][a-z]+", value)))
        )
    if re.fullmatch(r"(?i:.*(?:pin|otp|mfa))", name):
        return bool(re.fullmatch(r"\d{4,8}", value))
    if " " in value and not re.search(r"mnemonic|seed|phrase", name, re.IGNORECASE):
        return False
    return (
        _is_random(value)
        if not _WEAK_NAME.match(name) or len(value) >= 12
        else bool(re.search(r"\d", value))
        and len(value) >= 8
        and _entropy(value) > 2.5
        and not re.fullmatch(r"[\d.,_]+\w{0,3}", value)
    )


def _chain_keys(text: str) -> Iterator[Span]:
    for found in _HEX_KEY.finditer(text):
        if _ABOUT_KEYS.search(text, max(0, found.start() - 60), found.start()) and not _repeats(found[0]):
            yield _secret(found.start(), found.end(), "private_key")
    for found in _PHRASE.finditer(text):
        words = re.findall(r"[a-z]{3,8}", found[0])
        told = _ABOUT_PHRASES.search(text, max(0, found.start() - 80), found.start())
        if (told or len(words) in (12, 15, 18, 21, 24)) and _is_mnemonic(words):
            yield _secret(found.start(), found.end(), "mnemonic" if told else LIKELY_MNEMONIC)


def _is_mnemonic(words: list[str]) -> bool:
    """Words of BIP-39 have no small words of English among them, and those of a sentence do."""
    return (
        not any(word in _SMALL_WORDS for word in words)
        and len(set(words)) > len(words) // 2
        and words[0] != "abandon" * 2
    )


_SMALL_WORDS = words(
    "the and for are but not you all any can had her was one our out has him his how its may who"
    " did yes she let use been were they this have from"
    " will your what when than then them these some would make like into could more very after most also which"
    " their there about because through where"
    " those being doing does each other only same such too with that over under does dont just here both must shall"
    " should might upon per via"
)


def stands_for_one(value: str) -> bool:
    """Whether a value shows where a secret goes and is none: `<YOUR_KEY>`, `${TOKEN}`, `xxxx`, `changeme`."""
    return (
        _STANDS_FOR_ONE.fullmatch(value) is not None
        or _repeats(value)
        or ("example" in value.casefold() and not re.search(r"\d{3}", value))
    )


def _repeats(value: str) -> bool:
    body = re.sub(r"^[A-Za-z]{1,10}[-_]|[^A-Za-z0-9]", "", value)[-24:]
    return len(set(body.casefold())) < 4 or (
        "xxxx" in value.casefold() and value.casefold().count("x") > len(value) // 3
    )


def _is_random(value: str) -> bool:
    """Whether no word would look like this: letters and digits mixed, or a high entropy for its length."""
    if len(value) < 8 or re.fullmatch(r"\d[\d.,:_-]*\w{0,3}", value):
        return False
    if re.fullmatch(
        r"(?:[A-Za-z]+|\d{1,4})(?:[-_./: ](?:[A-Za-z]+|\d{1,4}|[a-z]{1,8}\d{1,2}))*", value
    ) and not re.search(r"[a-z][A-Z][a-z]*[A-Z]\w*[A-Z]", value):
        return False
    digits = sum(map(str.isdigit, value))
    if len(value) < 16:
        return digits >= 1 and digits < len(value) and _entropy(value) > 2.7
    return _entropy(value) > 3.0 and (digits >= 2 or len(re.findall(r"[a-z][A-Z]", value)) > 2)


@cache
def _log2(count: int) -> float:
    return math.log2(count)


def _entropy(value: str) -> float:
    """Bits a character, by how often each stands in the value."""
    length = len(value)
    return sum(count / length * (_log2(length) - _log2(count)) for count in Counter(value).values())
