"""How each program is told to talk to the scripted model and to nobody else: files in its home and project, variables.

Each function writes what that program reads at its start and returns the variables that it needs. Nothing here is of
Assent: what connects a program to it is written by the test that tries it, as a person would.
"""

import json
from pathlib import Path

__all__ = ["PATIENCE", "claude_code_settings", "codex_settings", "gemini_settings", "opencode_settings"]

PATIENCE = 120.0
"""Seconds that anything may take: at its first start in an empty home a program computes for many of them."""


def claude_code_settings(url: str) -> dict[str, str]:
    """Point Claude Code at the model."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def codex_settings(url: str, home: Path, project: Path, more: str = "") -> dict[str, str]:
    """Point Codex at the model; it asks before it writes anything. `more` goes at the end of its file."""
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(
        'model = "double"\nmodel_provider = "double"\napproval_policy = "on-request"\n'
        'sandbox_mode = "read-only"\n'
        f'[projects."{project}"]\ntrust_level = "trusted"\n'
        f'[model_providers.double]\nname = "double"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        "requires_openai_auth = false\nrequest_max_retries = 0\nstream_max_retries = 0\n"
        f"supports_websockets = false\n{more}"
    )
    return {}


def gemini_settings(url: str, home: Path, project: Path) -> dict[str, str]:
    """Point Gemini CLI at the model; the folder is one that a person has trusted, as it asks at its first start."""
    folder = home / ".gemini"
    folder.mkdir(exist_ok=True)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "tools": {"useRipgrep": False},  # it is not everywhere, and its absence is told on standard error
    }
    (folder / "settings.json").write_text(json.dumps(settings))
    (folder / "trustedFolders.json").write_text(json.dumps({str(project): "TRUST_FOLDER"}))
    return {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_MODEL": "gemini-2.5-pro",
        "COLORTERM": "truecolor",
    }


def opencode_settings(url: str, project: Path) -> dict[str, str]:
    """Point opencode at the model; it asks before it runs a command."""
    models = {"double": {"name": "double", "tool_call": True, "limit": {"context": 100000, "output": 1000}}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "double",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": models,
    }
    settings = {
        "model": "double/double",
        "small_model": "double/double",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"bash": "ask"},
        "provider": {"double": provider},
    }
    (project / "opencode.json").write_text(json.dumps(settings))
    return {
        "OPENCODE_ENABLE_QUESTION_TOOL": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
    }
