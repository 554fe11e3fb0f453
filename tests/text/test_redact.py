"""The redaction gate: what it takes out, what it leaves, and the laws that hold for any text.

Every secret here is put together at run time, so that no file of this project holds anything that looks like one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import string
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.errors import Invalid
from wikimem.text.redact import Finding, Redactor, mask_without_key

KEY = bytes(range(32))
GATE = Redactor(KEY)

ALNUM = string.ascii_letters + string.digits
LOWER_HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
URLSAFE = ALNUM + "-_"

_rng = random.Random(20240601)


def chars(size: int, alphabet: str = ALNUM) -> str:
    """Random characters that no rule takes for a placeholder: they begin and end with a letter and hold a digit."""
    middle = "".join(_rng.choice(alphabet) for _ in range(size - 3))
    letters = [char for char in alphabet if char.isalpha()]
    digits = [char for char in alphabet if char.isdigit()] or letters
    return _rng.choice(letters) + _rng.choice(digits) + middle + _rng.choice(letters)


def upper(size: int) -> str:
    return "".join(_rng.choice(string.ascii_uppercase + "234567") for _ in range(size))


def pem(label: str, *, end: bool = True, lines: int = 6, newline: str = "\n", indent: str = "") -> str:
    body = [chars(64, BASE64) for _ in range(lines)] + [chars(20, BASE64) + "=="]
    parts = [f"-----BEGIN {label}-----", *body, *([f"-----END {label}-----"] if end else [])]
    return newline.join(indent + part for part in parts)


PASSWORD = "hunter" + "2secret"
WORD = "sword" + "fish"
TOKEN = chars(32)
HEX = chars(40, LOWER_HEX)
AWS_SECRET = chars(40, BASE64)
UUID = "-".join(chars(size, LOWER_HEX) for size in (8, 4, 4, 4, 12))

FORMATS = {
    "aws-access-key-id": ["AKIA" + upper(16), "ASIA" + upper(16)],
    "github-token": [f"gh{letter}_" + chars(36) for letter in "pousr"] + ["github_pat_" + chars(22) + "_" + chars(59)],
    "gitlab-token": ["glpat-" + chars(20, URLSAFE), "glrt-" + chars(20)],
    "npm-token": ["npm_" + chars(36)],
    "pypi-token": ["pypi-" + "AgEIcHlwaS5vcmc" + chars(70, URLSAFE)],
    "huggingface-token": ["hf_" + chars(34)],
    "openai-key": [
        "sk-" + chars(20) + "T3Blbk" + "FJ" + chars(20),
        "sk-" + "proj-" + chars(74, URLSAFE),
        "sk-" + "svcacct-" + chars(60, URLSAFE),
    ],
    "anthropic-key": ["sk-" + "ant-api03-" + chars(93, URLSAFE) + "AA", "sk-" + "ant-oat01-" + chars(90, URLSAFE)],
    "google-api-key": ["AIza" + chars(35, URLSAFE)],
    "google-oauth-secret": ["GOCSPX-" + chars(28, URLSAFE)],
    "stripe-key": [f"{kind}_{mode}_" + chars(24) for kind in ("sk", "rk") for mode in ("live", "test")],
    "slack-token": ["xoxb-" + "123456789012-" + chars(24), "xoxp-" + chars(40), "xapp-" + "1-A012-345-" + chars(40)],
    "discord-token": [base64.b64encode(b"123456789012345678").decode().rstrip("=") + "." + chars(6) + "." + chars(38)],
    "twilio-key": ["SK" + chars(32, LOWER_HEX)],
    "sendgrid-key": ["SG." + chars(22, URLSAFE) + "." + chars(43, URLSAFE)],
    "digitalocean-token": ["dop_v1_" + chars(64, LOWER_HEX)],
    "shopify-token": ["shpat_" + chars(32, LOWER_HEX), "shpss_" + chars(32, LOWER_HEX)],
    "azure-secret": [chars(3) + "8Q~" + chars(34)],
    "age-key": ["AGE-SECRET-KEY-1" + upper(58)],
    "jwt": [".".join(("eyJ" + chars(30), "eyJ" + chars(60), chars(43, URLSAFE)))],
    "grafana-token": ["glsa_" + chars(32) + "_" + chars(8, LOWER_HEX)],
    "vault-token": ["hvs." + chars(90, URLSAFE)],
    "docker-token": ["dckr_pat_" + chars(27, URLSAFE)],
    "private-key": [
        pem("RSA PRIVATE KEY"),
        pem("OPENSSH PRIVATE KEY"),
        pem("PRIVATE KEY", newline="\r\n"),
        pem("EC PRIVATE KEY", newline="\\n"),
        pem("ENCRYPTED PRIVATE KEY", indent="    ").lstrip(),
        pem("PGP PRIVATE KEY BLOCK"),
    ],
}

# Text with a mark where the secret stands; only the secret may go.
FORMAT_PLACES = (
    "{}",
    "see {} there",
    "`{}`",
    '"{}"',
    "({})",
    "key\n{}\nend",
    "a\\n{}",
    "x={}&y=1",
    "{}。",
    "\u200b{}",
    "**{}**",
)


@pytest.mark.parametrize(("kind", "secret"), [(kind, secret) for kind, all_ in FORMATS.items() for secret in all_])
def test_a_known_format_is_replaced_wherever_it_stands(kind: str, secret: str) -> None:
    for place in FORMAT_PLACES:
        text = place.format(secret)
        masked, findings = GATE.redact(text)
        assert secret not in masked
        assert [finding.kind for finding in findings] == [kind], text
        before, after = place.split("{}")
        assert masked == f"{before}{findings[0].placeholder}{after}"


HOSTED = (
    ("slack-webhook", "https://hooks.slack.com/services/", "T012/B345/" + chars(24)),
    ("discord-webhook", "https://discord.com/api/webhooks/123456789012345678/", chars(68, URLSAFE)),
    ("telegram-token", "123456789:", "AA" + chars(33, URLSAFE)),
    ("azure-key", "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=", chars(86, BASE64) + "=="),
    ("authorization", "Authorization: Bearer ", chars(40)),
    ("authorization", "authorization: Basic ", base64.b64encode(b"shop:" + PASSWORD.encode()).decode()),
    ("authorization", "curl -H 'Authorization: token ", chars(40)),
    ("authorization", '"Authorization": "Bearer ', chars(40)),
    ("authorization", "it sends bearer ", chars(40)),
    ("cookie", "Cookie: session=", chars(20)),
    ("cookie", "Set-Cookie: sid=", chars(20)),
    ("url-signature", "https://shop.blob.core.windows.net/a?sv=2022-11-02&sig=", chars(43) + "%3D"),
    ("password", "curl -u bob:", WORD),
    ("password", "sshpass -p ", PASSWORD),
    ("password", "CREATE USER bob IDENTIFIED BY '", WORD),
    ("aws-secret-key", "AKIA" + upper(16) + ",", AWS_SECRET),
)


@pytest.mark.parametrize(("kind", "before", "secret"), HOSTED)
def test_what_stands_around_a_secret_stays(kind: str, before: str, secret: str) -> None:
    masked, findings = GATE.redact(before + secret)
    assert secret not in masked
    assert (findings[-1].kind, findings[-1].start, findings[-1].end) == (kind, len(before), len(before) + len(secret))


def test_each_cookie_loses_its_value_and_keeps_its_name() -> None:
    one, two = chars(20), chars(12)
    masked = GATE.mask(f"Cookie: sid={one}; cart={two}\nSet-Cookie: sid={one}; Path=/; HttpOnly; SameSite=Lax")
    assert one not in masked
    assert two not in masked
    assert masked.count("sid=[redacted:cookie:") == 2
    assert "cart=[redacted:cookie:" in masked
    assert masked.endswith("; Path=/; HttpOnly; SameSite=Lax")


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("postgres://shop:{}@db:5432/orders", PASSWORD),
        ("postgresql+asyncpg://shop:{}@db.internal/orders", WORD),
        ("redis://:{}@cache:6379/0", PASSWORD),
        ("mongodb+srv://shop:{}@cluster0.abc.mongodb.net/?retryWrites=true", PASSWORD),
        ("https://bob:{}@git.shop.io/o/r.git", "p%40" + PASSWORD),
        ("amqp://shop:{}@mq", "p@" + PASSWORD),
        ("mysql://root:{}@127.0.0.1/x", WORD + "/" + "a9"),
        ("DATABASE_URL=postgres://shop:{}@db/orders", PASSWORD),
        ("https://{}@o1.ingest.sentry.io/2", chars(32, LOWER_HEX)),
    ],
)
def test_a_password_in_a_url_goes_and_user_and_host_stay(url: str, secret: str) -> None:
    masked, (finding,) = GATE.redact(url.format(secret))
    assert masked == url.format(finding.placeholder)
    assert finding.kind == "url-password"


ASSIGNED = [
    # Prose.
    ("the DB password is {}, as agreed", PASSWORD), ("Password: {}", PASSWORD), ("password is '{}'.", WORD),
    ("the password for staging is {}", PASSWORD), ("the password (staging): {}", PASSWORD),
    ("changed the password to {} yesterday", PASSWORD), ("the password was changed to {}", PASSWORD),
    ('use password "{}"', PASSWORD), ("password is {}", "correct-" + "horse-battery-staple"), ("API key: {}", TOKEN),
    ("The API key is {}.", TOKEN), ("**Token:** {}", TOKEN), ("**Password**: {}", PASSWORD), ("token: `{}`", TOKEN),
    ("Remember this: DB password is {}", PASSWORD), ("GPG passphrase: {}", PASSWORD),
    ("my Passwort ist {}", PASSWORD), ("contraseña: {}", PASSWORD),
    ("the token that finally worked was, in fact, {}", chars(20) + "A1b2" + "C3d4"),
    ("Here is the API key:\n\n```\n{}\n```\n", TOKEN), ("| password | {} |", PASSWORD),
    ("비밀번호는 {} 입니다", PASSWORD),
    ("비밀번호: {}", PASSWORD), ("비밀번호는 {}이야", PASSWORD),
    ("비밀번호를 {}로 바꿨다", PASSWORD), ("DB 비밀번호가 {}.", PASSWORD),
    ("API 키는 {} 입니다", TOKEN),
    ("토큰: {}", TOKEN),
    ("パスワードは {} です", PASSWORD), ("パスワードは{}です。", PASSWORD),
    ("パスワード：{}", PASSWORD),
    ("APIキーは「{}」です", TOKEN),
    ("密码是{}。", PASSWORD), ("密码：{}", PASSWORD),
    ("数据库密码改成了{}", PASSWORD), ("密钥: {}", TOKEN),
    # Shell, .env, command line.
    ("DB_PASSWORD={}", WORD), ("export DB_PASSWORD={}", WORD), ("API_KEY={}", TOKEN), ("DB_PASSWORD_PROD={}", WORD),
    ("A=1\nDB_PASSWORD={}\nB=2", "p&ss;w0" + "rd,(x"), ("--password {}", PASSWORD), ("--password={}", WORD),
    ("--token {}", TOKEN), ("ENV TOKEN {}", TOKEN), ("machine db login bob password {}", WORD),
    ("JWT_SECRET={}", "super-secret-" + "signing-string"), ("//npm.shop.io/:_authToken={}", TOKEN),
    ("aws_secret_access_key = {}", AWS_SECRET), ("AWS_SECRET_ACCESS_KEY={}", AWS_SECRET), ("api_key={}", HEX),
    # Configuration and data.
    ("db_password: {}\n", WORD), ("  password: {}  # prod\n", WORD), ("token: {}", UUID), ("x-api-key: {}", TOKEN),
    ('{{"password": "{}"}}', WORD), ('{{"client_secret": "{}"}}', TOKEN), ('{{\\"password\\": \\"{}\\"}}', PASSWORD),
    ('{{"a":"{{\\"api_key\\":\\"{}\\"}}"}}', TOKEN), ('{{"name": "DB_PASSWORD", "value": "{}"}}', WORD),
    ("- name: DB_PASSWORD\n  value: {}\n", WORD), ("<password>{}</password>", WORD),
    ('<add key="DbPassword" value="{}"/>', WORD), ("password: |\n  {}\nother: x", PASSWORD),
    ("token: >-\n    {}\n", TOKEN), ("secret:\n  {}\n", PASSWORD), ('"auth": "{}"', chars(32) + "=="),
    ("api_keys: ['{}', 'b']", TOKEN), ("Server=db;User Id=sa;Password={};Encrypt=true", WORD),
    ("Server=db;Database=x;Uid=sa;Pwd={};", WORD), ("Password={};Server=db", WORD),
    ("host=db user=x password={} dbname=y", WORD), ('password = "{}"', "correct horse" + " battery"),
    # Code.
    ('password="{}"', WORD), ("self.password = '{}'", PASSWORD), ("os.environ['TOKEN'] = '{}'", TOKEN),
    ('config["password"] = "{}"', WORD), ('const apiKey = "{}";', TOKEN), ("let token: string = '{}'", TOKEN),
    ('password: str = "{}"', WORD), ('secret := "{}"', TOKEN), ("'secret' => '{}',", TOKEN),
    ("connect(password='{}', x=1)", WORD),
    # Thin disguises.
    ("password：{}", PASSWORD), ("ｐａｓｓｗｏｒｄ＝{}", PASSWORD), ("pa\u200bssword: {}", PASSWORD),
    ("PASSWORD: {}", PASSWORD), ("\x1b[32mPASSWORD\x1b[0m={}", PASSWORD), ("?token={}&x=1", TOKEN),
    ("https://h.io/cb?access_token={}&x=1", TOKEN), ("https://h.io/?x=1&api_key={}#top", TOKEN),
    ("password%3D{}", PASSWORD), ("password: “{}”", WORD), ("&quot;password&quot;:&quot;{}&quot;", PASSWORD),
    ("password is {}.", PASSWORD), ("(password: {})", PASSWORD),
]  # fmt: skip


@pytest.mark.parametrize(("place", "secret"), ASSIGNED)
def test_the_value_goes_and_the_fact_stays(place: str, secret: str) -> None:
    masked, (finding,) = GATE.redact(place.format(secret))
    assert masked == place.format(finding.placeholder)


def test_equal_secrets_look_equal_and_the_tag_is_the_documented_one() -> None:
    masked, findings = GATE.redact(f"PASSWORD={PASSWORD}\nlater the password was {PASSWORD}\nold password: {PASSWORD}x")
    tag = hmac.new(KEY, b"password" + PASSWORD.encode(), hashlib.sha256).hexdigest()[:8]
    assert [finding.tag == tag for finding in findings] == [True, True, False]
    assert masked.count(f"[redacted:password:{tag}]") == 2
    assert Redactor(b"another key").find(f"PASSWORD={PASSWORD}")[0].tag != tag


def test_a_disguised_secret_has_the_tag_of_the_plain_one() -> None:
    secret = "ghp_" + chars(36)
    hidden = secret[:9] + "\u200b" + secret[9:20] + "\u2060" + secret[20:]
    text = f"a {hidden} b"
    masked, (finding,) = GATE.redact(text)
    assert masked == f"a {finding.placeholder} b"
    assert text[finding.start : finding.end] == hidden
    assert finding.tag == GATE.find(secret)[0].tag


@pytest.mark.parametrize(
    "block",
    [
        "<private>the plan\n\nfor {}</private>",
        "<PRIVATE>{}</Private>",
        '<private reason="mine">{}</private >',
        "<private>one {}\nnever closed\n",
    ],
)
def test_a_private_block_goes_whole(block: str) -> None:
    masked, (finding,) = GATE.redact("before " + block.format("the merger"))
    assert masked == f"before {finding.placeholder}"
    assert finding.kind == "private"


def test_the_tags_in_backticks_are_only_talked_about() -> None:
    text = "Put it between `<private>` and `</private>`, or it is kept."
    assert GATE.redact(text) == (text, ())
    assert GATE.mask("<private>ends at `</private>`, not here</private> b").endswith("] b")


def test_text_between_private_blocks_stays() -> None:
    masked, findings = GATE.redact("a <private>b</private> c <private>d</private> e </private> <privateer>")
    assert [finding.kind for finding in findings] == ["private", "private"]
    assert masked.startswith("a [redacted:private:")
    assert masked.endswith("] e </private> <privateer>")


def test_a_private_block_in_another_ends_with_the_outer_one() -> None:
    masked, findings = GATE.redact("a <private>b <private>c</private> d</private> e")
    assert masked == f"a {findings[0].placeholder} e"
    assert GATE.mask("a <private>b <private>c</private> d").endswith("]")


def test_a_message_without_a_vault_is_masked_too() -> None:
    secret = "ghp_" + chars(36)
    assert secret not in mask_without_key(f"no {secret}")


def test_a_key_without_its_end_goes_as_far_as_it_reaches() -> None:
    key = pem("RSA PRIVATE KEY", end=False)
    masked = GATE.mask(f"Log:\n{key}\n\nThe deploy then stopped, as the notes say.\n")
    assert masked.startswith("Log:\n[redacted:private-key:")
    assert masked.endswith("]\n\nThe deploy then stopped, as the notes say.\n")


def test_a_key_with_marks_between_its_lines_goes_whole() -> None:
    key = pem("RSA PRIVATE KEY").replace("\n", "\n> ")
    masked, (finding,) = GATE.redact(f"> {key}\nafter")
    assert masked == f"> {finding.placeholder}\nafter"


def test_the_name_of_a_key_is_not_a_key() -> None:
    text = 'if "-----BEGIN PRIVATE KEY-----" in text:\n    raise Refused("a key")\nend = "-----END PRIVATE KEY-----"\n'
    assert GATE.redact(text) == (text, ())


def test_a_rule_drawn_after_a_token_does_not_make_it_a_dummy() -> None:
    secret = chars(3) + "8Q~" + chars(34)
    assert secret not in GATE.mask(f"{secret}.------------")


def test_a_known_format_gives_the_kind_where_a_name_stands_before_it() -> None:
    secret = "ghp_" + chars(36)
    assert [finding.kind for finding in GATE.find(f'GITHUB_TOKEN="{secret}"')] == ["github-token"]
    assert GATE.find(f"token: {secret}")[0].tag == GATE.find(f"x {secret}")[0].tag


def test_every_element_of_a_list_of_keys_goes() -> None:
    secrets = [chars(24) for _ in range(3)]
    masked = GATE.mask(f'"api_keys": ["{secrets[0]}", "{secrets[1]}",\n   "{secrets[2]}"], "n": 3')
    assert not any(secret in masked for secret in secrets)
    assert masked.endswith('"], "n": 3')


HASH = chars(40, LOWER_HEX)
HARMLESS = [
    # Identifiers and digests.
    f"fixed in commit {HASH}", f"token counting was fixed in {HASH}", f"the secret sauce {UUID}",
    "id: 01HZX3K4M5" + "N6P7Q8R9S0T1V2W3", "sha256:" + chars(64, LOWER_HEX),
    f'"integrity": "sha512-{chars(86, BASE64)}=="', "h = sha256:" + chars(64, LOWER_HEX),
    f"![x](data:image/png;base64,{chars(400, BASE64)})", "ssh-rsa " + chars(200, BASE64),
    "tokenize-rt==5.2.0 --hash=sha256:" + HASH, '"jsonwebtoken": "^9.0.2"', '"js-tokens": "^4.0.0"',
    "secretstorage==3.3.3", "passlib==1.7.4", "eyJhbGciOiJIUzI1NiJ9...",
    # What documentation shows.
    "password: changeme", "token: <token>", "TOKEN=${TOKEN}", "TOKEN=$TOKEN", "api_key: xxxx", "password: ***",
    "key: xxxxxxxxxxxxxxxx", "api_key = 'your-api-key-here'", "AKIA" + "IOSFODNN7EXAMPLE",
    "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MD" + "ENG/bPxRfiCYEXAMPLEKEY", "ghp_" + "x" * 36,
    "sk-" + "your-api-key-here-1234567890", "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN",
    "postgres://user:password@localhost/db", "postgres://$USER:$PASS@h/db", "password: {{ vault_db_password }}",
    "PASSWORD: ${PW:-postgres}", "password: ${{ secrets.DB_PASSWORD }}", "api_key: env(API_KEY)",
    "token=$(cat /run/secrets/t1)", "password=None", "secret: true", "-----BEGIN PRIVATE KEY----- is the marker",
    "curl -u user:$PASSWORD https://h.io", "password: op://vault/db1/password",
    # Code.
    "password = os.environ['DB_PASSWORD']", "token = process.env.TOKEN", "secret = load_secret()", "token: string",
    "password: str", "def login(user: str, password: str = None)", "login(user=user, password=password)",
    "connect(password=db_password)", "    client_secret=client_secret,\n",
    "    progress_token=progress_token,\n    x=1", "if token == other_token2:", "token = tokens[0]",
    "token = response.json()['token']", "password = input('Password: ')", "token = await getToken1()",
    "password_hash = hash_password(x)", "password: z.string().min(8)", 'password: Annotated[str, Arg("x")]',
    "private_key: Ed25519PrivateKey", "const pass = !received;", "username, password = index_url_user_password",
    'print(f"password={password!r}")', 'token = r"[-!#$%&*+.^_`|~0-9a-zA-Z]+"', "class PasswordField2(Field):",
    "token?: string | null;", "client_secret: string // required", "VALUES (:password1)", "token: '{token}'",
    'EXPIRED_TOKEN = "expired_token"', 'HEADER = "X-Access-Token"', "pass `timeout=30s` to it",
    "'allPass': 'overEvery1'",
    # Other words, and things about secrets.
    "token_count = 12345678", "max_tokens: 4096", "tokens_used=123456789", "keyboard=qwertz12345678",
    "monkey=abc12345678", "PWD=/home/user/work1", "pass: 104, fail: 2", "passport=AB1234567", "bypass=1234abcd",
    "compass: north123", "token_type: bearer", "secretName: db-credentials",
    "secretKeyRef:\n  name: db1\n  key: password", "api_key_id: abc12345", "password_file: /run/x1",
    "foreign key: user_id2", "primary key is order_id1", "the key is under the mat", "the key: project-alpha-2024",
    "sub_key = row2.key1", '"forgot_password": "Forgot password?"', '"password": "Enter your password"',
    '"password": "Password"', '"type": "password"', '"token": "Token has expired"', '"password": "请输入密码"',
    '<label for="password">Password</label>', "password: 必须包含大写字母",
    # Prose.
    "the token is expired", "password is required", "password policy: 12 characters", "Password must be 8-64 chars",
    "the password is hashed with bcrypt", "the password is base64-encoded", "password last changed: 2024-01-01",
    "send the password to user123", "비밀번호는 bcrypt로 해시한다",
    "비밀번호는 최소 8자",
    "암호화폐 BTC2021",
    "パスワードはbcryptで保存する",
    "密码是必填项", "密码使用bcrypt加密",
    "API key: stored in 1Password", "password: see 1password", "token -> embedding1",
    "the token bucket has 100 tokens", "secret santa 2024", "Bearer authentication", "Basic authentication",
    "the Authorization header", "cookie: a small biscuit", "risk-assessment of task-runner", "sk-estimator-doc-link",
    "https://h.io/a:b@c", "https://h.io:8080/x@y", "git@github.com:o/r.git", "ssh://git@github.com/o/r",
]  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert GATE.redact(text) == (text, ())


def test_a_rule_of_the_user_finds_its_first_group_or_all() -> None:
    gate = Redactor(KEY, [("acme_key", r"ACME-(\d{6})"), ("ticket", r"T-\d{4}")])
    text = "ACME-123456 and T-1234"
    assert [(finding.kind, text[finding.start : finding.end]) for finding in gate.find(text)] == [
        ("acme-key", "123456"),
        ("ticket", "T-1234"),
    ]


def test_a_rule_of_the_user_may_match_placeholders_and_nothing() -> None:
    gate = Redactor(KEY, [("hex", r"[0-9a-f]*"), ("all", r"redacted.*")])
    masked = gate.mask("cafe and zoo redacted zoo")
    assert gate.mask(masked) == masked
    assert "cafe" not in masked


@pytest.mark.parametrize("rule", [("acme-key", "ACME-(["), ("bad name!", "x"), ("", "x")])
def test_a_bad_rule_of_the_user_is_refused_by_name(rule: tuple[str, str]) -> None:
    with pytest.raises(Invalid) as error:
        Redactor(KEY, [rule])
    assert f"'{rule[0]}'" in error.value.message
    assert error.value.hint


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(Invalid, match="key"):
        Redactor(b"")


@pytest.mark.parametrize(
    "unit",
    [
        "pass", "password=", "password: ", "token token ", "eyJ", "eyJ.", "sk-", "-----BEGIN PRIVATE KEY-----",
        "-----", "://a:", "://a:b@", "<private ", "[redacted:x:12345678]", "Cookie: a=b;", "authorization: ",
        'password="\\\\', "api key is ", "token for a b c d ", "token: |\n  ", "MTAx.", "\u200b", "비밀번호는 ",
        'api_key=["a", ', "password (", "token     ", "_" * 64 + "key", "key=&",
    ],
)  # fmt: skip
def test_a_long_text_of_any_pattern_ends(unit: str) -> None:
    text = (unit * (100_000 // len(unit) + 1))[:100_000]
    masked = GATE.mask(text + f"\n\nDB_PASSWORD={PASSWORD}\n")
    assert PASSWORD not in masked


def test_a_long_value_goes_whole() -> None:
    secret = chars(60_000, BASE64)
    for text in (f"client_secret: {secret}\n", f'{{"client_secret": "{secret}"}}', f"TOKEN={secret}"):
        masked, (finding,) = GATE.redact(text)
        assert masked == text.replace(secret, finding.placeholder)


def test_the_gate_imports_nothing_but_the_standard_library_and_errors() -> None:
    code = (
        "import sys; before = set(sys.modules); import wikimem.text.redact; "
        "new = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - set(sys.stdlib_module_names)), sorted(n for n in sys.modules if n.startswith('wikimem.')))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    names = [
        f"wikimem.text.redact{part}"
        for part in ("", "_assign", "_commands", "_fed", "_names", "_rules", "_spots", "_tools", "_values")
    ]
    assert out.strip() == f"['wikimem'] {sorted(['wikimem.errors', 'wikimem.text', *names])}"


# Laws for any text ----------------------------------------------------------------------------------------------------

# Pieces that rules look for, so that random texts meet them.
PIECES = st.sampled_from(
    [
        "password", "=", ": ", '"', "'", "`", "token", " is ", "api_key", "\n", "  ", "://", "@", "<private>",
        "</private>", "eyJ", "sk-", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
        "[redacted:password:12345678]", "[redacted:x:", "]", "\\", "\\n", "Bearer ", "Authorization: ", "Cookie: a=",
        ";", "&", "|", "비밀번호는 ", "。", "\u200b", "İ", "hunter2", "abc123DEF456", "(", ")", "{", "}", ",", "secret",
        "${X}", "***", "Password=", "user:", ".", "-", "_", "a", "9", "\x1b[0m", "：", "\ud800",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=25).map("".join))
SECRETS = st.sampled_from([secret for secrets in FORMATS.values() for secret in secrets])


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_redacting_twice_changes_nothing(text: str) -> None:
    masked = GATE.mask(text)
    assert GATE.redact(masked) == (masked, ())


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_findings_are_ordered_and_the_rest_of_the_text_is_unchanged(text: str) -> None:
    masked, findings = GATE.redact(text)
    assert findings == GATE.find(text)
    rest, at = [], 0
    for finding in findings:
        assert at <= finding.start < finding.end <= len(text)
        rest += [text[at : finding.start], finding.placeholder]
        at = finding.end
    assert masked == "".join([*rest, text[at:]])


@settings(max_examples=200, deadline=None)
@given(TEXTS, SECRETS, TEXTS)
def test_no_planted_secret_survives(before: str, secret: str, after: str) -> None:
    masked = GATE.mask(f"{before} {secret} {after}")
    assert secret not in masked
    assert secret[8:-8] not in masked


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.text(ALNUM, min_size=9, max_size=30), TEXTS)
def test_no_planted_password_survives(before: str, secret: str, after: str) -> None:
    secret = f"q7{secret}"
    for line in (f"DB_PASSWORD={secret}", f'"db_password": "{secret}"', f"The password is {secret}"):
        masked = GATE.mask(f"{before}\n{line}\n{after}")
        assert (
            secret not in masked
            or len(set(secret)) < 6
            or any(char * 6 in secret for char in secret)
            or "x" * 3 in secret.lower()
        )


@given(SECRETS)
@settings(max_examples=60, deadline=None)
def test_a_finding_names_the_secret_by_its_offsets(secret: str) -> None:
    text = f"see\n{secret}\n"
    findings = GATE.find(text)
    assert [text[finding.start : finding.end].strip() for finding in findings] == [secret.strip()]
    assert isinstance(findings[0], Finding)
