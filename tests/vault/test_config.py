"""Settings: what a vault may say, what only this user may, and that every fault names its file and line."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from wikimem.errors import Damaged, Invalid, Refused
from wikimem.vault.config import USER_KEYS, VAULT_KEYS, UserConfig, VaultConfig, read_user_config, read_vault_config


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / ".wikimem").mkdir()
    return tmp_path


def write(vault: Path, text: str | bytes) -> Path:
    path = vault / ".wikimem" / "config.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert read_vault_config(tmp_path) == VaultConfig()
    assert read_user_config(tmp_path) == UserConfig()
    assert VaultConfig().exclude == ("/templates/",)


def test_the_keys_of_a_vault_are_read(vault: Path) -> None:
    write(vault, '\ufeffexclude = ["drafts/", "*.tmp.md"]\r\ncontext_budget = 4000\r\n')
    assert read_vault_config(vault) == VaultConfig(exclude=("drafts/", "*.tmp.md"), context_budget=4000)


def test_the_keys_of_a_user_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    (tmp_path / "config.toml").write_text(
        'default_vault = "~/notes"\nmodel = "/opt/model"\n[redact]\nbadge = \'BN-[0-9]{8}\'\n'
    )
    assert read_user_config(tmp_path) == UserConfig(
        default_vault=Path("/home/ada/notes"),
        model=Path("/opt/model"),
        redact={"badge": "BN-[0-9]{8}"},
    )


@pytest.mark.parametrize(
    "line",
    [
        'model = "/tmp/evil"',
        'default_vault = "/tmp/evil"',
        'name = "Somebody Else"',
        'command = "rm -rf /"',
        'hooks = ["x"]',
        'url = "https://example.org"',
        "[llm]\nkey = 'x'",
    ],
)
def test_a_vault_cannot_set_what_could_do_harm(vault: Path, line: str) -> None:
    write(vault, f"context_budget = 500\n\n{line}\n")
    with pytest.raises(Refused, match=r"config\.toml, line 3: a vault may not set"):
        read_vault_config(vault)


def test_an_unknown_key_is_answered_with_the_nearest_one(vault: Path) -> None:
    write(vault, "# settings\ncontext_bugdet = 500\n")
    with pytest.raises(Invalid, match=r"line 2: unknown setting 'context_bugdet'") as caught:
        read_vault_config(vault)
    assert "context_budget" in caught.value.hint
    write(vault, "zzz = 1\n")
    with pytest.raises(Invalid, match="'zzz'") as caught:
        read_vault_config(vault)
    assert "exclude" in caught.value.hint


@pytest.mark.parametrize(
    "line",
    [
        'exclude = "drafts/"',
        "exclude = [1]",
        'exclude = ["a\\nb"]',
        "context_budget = 0",
        "context_budget = true",
        'context_budget = "2000"',
        "context_budget = 1e9",
    ],
)
def test_a_bad_value_in_a_vault_names_its_line_and_shows_a_good_one(vault: Path, line: str) -> None:
    write(vault, f"\n{line}\n")
    with pytest.raises(Invalid, match=r"config\.toml, line 2: ") as caught:
        read_vault_config(vault)
    assert line.split(" ")[0] in caught.value.hint


@pytest.mark.parametrize(
    "line",
    [
        'default_vault = "notes"',
        "model = 3",
        'model = ""',
        'model = "relative/model"',
        'model = "~nobody-here/model"',
        'default_vault = "~nobody-here"',
        'reranker = { path = "~nobody-here/model" }',
        'reranker = { path = "a\\u0000b" }',
        'reranker = { url = "https://h.io/v1", key_file = "~nobody-here/key" }',
        "redact = ['x']",
    ],
)
def test_a_bad_value_of_a_user_names_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "config.toml").write_text(f"{line}\n")
    with pytest.raises(Invalid, match=r"config\.toml, line 1: "):
        read_user_config(tmp_path)


@pytest.mark.parametrize(
    ("line", "shown", "other"), [("path = 'relative'", "path = ", "url"), ("url = 3", "url = ", "path")]
)
def test_a_bad_reranker_is_shown_an_example_of_its_kind(tmp_path: Path, line: str, shown: str, other: str) -> None:
    (tmp_path / "config.toml").write_text(f"[reranker]\n{line}\n")
    with pytest.raises(Invalid) as caught:
        read_user_config(tmp_path)
    assert shown in caught.value.hint
    assert other not in caught.value.hint


BAD_RULES = [
    "bad = '['",
    "all = 'x*'",
    "'Upper case' = 'x'",
    "number = 3",
    "nested = '(?:[a-z]+)+x'",
    "nested = '(?:a|ab|[a-z])*xyz'",
    "long = 'A.*B.*C.*D.*E'",
]


@pytest.mark.parametrize("line", BAD_RULES)
def test_a_bad_rule_of_redaction_names_its_own_line(tmp_path: Path, vault: Path, line: str) -> None:
    text = f"[redact]\ngood-rule = 'BN-[0-9]{{8}}'\n{line}\n"
    (tmp_path / "config.toml").write_text(text)
    write(vault, text)
    for read, folder in ((read_user_config, tmp_path), (read_vault_config, vault)):
        with pytest.raises(Invalid, match=r"config\.toml, line 3: redact: '") as caught:
            read(folder)
        assert "For example" in caught.value.hint


def test_a_vault_adds_rules_of_redaction_but_none_that_takes_single_letters(vault: Path) -> None:
    write(vault, "[redact]\nbadge = 'BN-[0-9]{8}'\n")
    assert read_vault_config(vault).redact == {"badge": "BN-[0-9]{8}"}
    write(vault, "[redact]\nbadge = 'BN-[0-9]{8}'\nall = '[a-z]+'\n")
    with pytest.raises(Invalid, match=r"config\.toml, line 3: redact: 'all'"):
        read_vault_config(vault)


@pytest.mark.parametrize(("data", "line"), [(b'a = 1\nb = "open\n', 2), (b"a = 1\n\nb = '\xff'\n", 3), (b"\x00", 1)])
def test_a_file_that_is_not_toml_is_damaged_and_its_line_named(vault: Path, data: bytes, line: int) -> None:
    path = write(vault, data)
    with pytest.raises(Damaged, match=rf"config\.toml.*line {line}"):
        read_vault_config(vault)
    assert path.read_bytes() == data


def test_a_vault_cannot_point_its_settings_at_another_file(vault: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("token = 'abc'\n")
    (vault / ".wikimem" / "config.toml").symlink_to(secret)
    with pytest.raises(Refused, match="symbolic link") as caught:
        read_vault_config(vault)
    assert "abc" not in str(caught.value)
    other = tmp_path / "other"
    other.mkdir()
    (other / ".wikimem").symlink_to(vault / ".wikimem")
    with pytest.raises(Refused, match="symbolic link"):
        read_vault_config(other)


def test_a_user_may_keep_the_file_among_dotfiles(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text('model = "/opt/model"\n')
    (tmp_path / "config.toml").symlink_to(tmp_path / "dotfiles.toml")
    assert read_user_config(tmp_path).model == Path("/opt/model")


def test_a_fifo_or_a_huge_file_does_not_stop_wikimem(vault: Path) -> None:
    os.mkfifo(vault / ".wikimem" / "config.toml")
    with pytest.raises(Refused, match="not a regular file"):
        read_vault_config(vault)
    (vault / ".wikimem" / "config.toml").unlink()
    write(vault, b"#" * 300_000)
    with pytest.raises(Invalid, match="larger than"):
        read_vault_config(vault)


def test_every_field_has_a_key_whose_example_is_valid(tmp_path: Path) -> None:
    for keys, config in ((VAULT_KEYS, VaultConfig), (USER_KEYS, UserConfig)):
        assert [key.name for key in keys] == list(config.__struct_fields__)
        for key in keys:
            assert key.doc.endswith(".")
            key.read(tomllib.loads(key.example)[key.name])
