"""Names that would be taken for those of well-known clients."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.identity.oauth.lookalikes import KNOWN, imitated, skeleton

ELSEWHERE = "https://app.example/cb"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        *(
            (name, "Claude")
            for name in ("Claude", "CLAUDE", "Claude Code (kb)", "C l a u d e", "Cla-u.de", "Anthropic")
        ),
        *((name, "Claude") for name in ("CIaude", "C1aude", "Cl4ude", "Claudé", "Ｃｌａｕｄｅ", "𝐂𝐥𝐚𝐮𝐝𝐞", "Ⓒⓛⓐⓤⓓⓔ")),
        *(
            (name, "Claude")
            for name in ("Сlаudе", "Clαude", "ᏟᏞᎪude", "ꓚꓡꓮꓴꓓꓰ", "ᴄʟᴀᴜᴅᴇ", "Claude\u200b", "C\u0335laude")
        ),
        *((name, "ChatGPT") for name in ("ChatGPT", "Chat GPT", "СhаtGРТ", "OpenAI", "0penAl", "Open-AI Operator")),
        *((name, "Cursor") for name in ("Cursor", "Сursоr", "CURSOR IDE")),
        *((name, "VS Code") for name in ("VS Code", "VSCode", "Visual Studio Code", "Visuаl Studiо")),
        *((name, "Copilot") for name in ("GitHub Copilot", "Copilot", "Github", "CopiIot")),
        *((name, "Gemini") for name in ("Gemini", "Gernini CLI", "Google")),
        *((name, "Windsurf") for name in ("Windsurf", "VVindsurf")),
    ],
)
@pytest.mark.parametrize("uri", [ELSEWHERE, "http://localhost:1234/cb", "com.example.app:/cb"])
def test_a_name_that_looks_like_a_known_clients_is_noticed(name: str, known: str, uri: str) -> None:
    assert imitated(name, None, uri) == known
    assert imitated(f"The new {name}", "app.example", uri) == known


@pytest.mark.parametrize(
    "name",
    ["", "The suite", "Garden", "MCP Inspector", "Desk app", "mcp-remote", "Клиент", "客户端", "Goose", "-", "1234"],
)
def test_a_name_of_its_own_imitates_nobody(name: str) -> None:
    assert imitated(name, None, ELSEWHERE) is None


@pytest.mark.parametrize(
    ("name", "host", "uri"),
    [
        ("Claude", None, "https://claude.ai/api/mcp/auth_callback"),
        ("Claude", None, "https://claude.com/api/mcp/auth_callback"),
        ("Claude Code", "claude.ai", "http://localhost:1234/callback"),
        ("Claude", "platform.claude.com", ELSEWHERE),
        ("ChatGPT", "chatgpt.com", "https://chatgpt.com/connector_platform_oauth_redirect"),
        ("ChatGPT", "openai.com", ELSEWHERE),
        ("Cursor", None, "cursor://anysphere.cursor-mcp/oauth/callback"),
        ("Cursor", None, "https://www.cursor.com/agents/mcp/oauth/callback"),
        ("Visual Studio Code", "vscode.dev", "http://127.0.0.1:33418/"),
        ("Visual Studio Code", None, "https://vscode.dev/redirect"),
        ("GitHub Copilot in VS Code", "vscode.dev", "http://127.0.0.1:33418/"),
        ("Gemini", None, "https://vertexaisearch.cloud.google.com/oauth-redirect"),
    ],
)
def test_a_known_client_at_its_own_place_imitates_nobody(name: str, host: str | None, uri: str) -> None:
    assert imitated(name, host, uri) is None


@pytest.mark.parametrize(
    "uri",
    [
        "https://claude.ai.evil.example/cb",
        "https://notclaude.ai/cb",
        "https://claude.evil.example/cb",
        "https://evil.example/claude.ai",
        "https://evil.example?claude.ai",
        "http://localhost/claude.ai",
        "https://claude.localhost/cb",
        "claude.ai:/cb",
        "cursor://claude.ai/cb",
        "",
    ],
)
def test_a_place_that_only_reads_like_the_known_clients_is_not_its_own(uri: str) -> None:
    assert imitated("Claude", None, uri) == "Claude"
    assert imitated("Claude", "evil.example", uri) == "Claude"


def test_who_is_one_known_client_is_not_thereby_another() -> None:
    assert imitated("Claude for ChatGPT", None, "https://claude.ai/cb") == "ChatGPT"


@given(st.text(max_size=50), st.sampled_from([word for one in KNOWN for word in one.words]), st.text(max_size=50))
def test_whatever_stands_around_it_a_known_word_is_found(before: str, word: str, after: str) -> None:
    assert imitated(f"{before} {word} {after}", None, ELSEWHERE)


@given(st.text(max_size=60))
def test_a_skeleton_is_its_own_skeleton(text: str) -> None:
    assert skeleton(skeleton(text)) == skeleton(text)
