"""Is this the name of a secret?

Names in Latin script are read as identifiers, word by word, so that `max_tokens`, `password_policy` and `monkey` are
none. Names in Chinese, Japanese and Korean are literal.
"""

from __future__ import annotations

from functools import lru_cache

from wikimem.text.redact_values import compiled, word_set

STEMS = (
    "pass",
    "pw",
    "secret",
    "token",
    "key",
    "credential",
    "creds",
    "psk",
    "auth",
    "kennwort",
    "senha",
    "contraseña",
    "парол",
)
CJK_PASSWORDS = (
    "비밀번호", "비밀 번호", "비번", "패스워드", "암호",
    "パスワード", "パスフレーズ", "暗証番号",
    "密码", "密碼", "口令",
)  # fmt: skip
CJK_SECRETS = (
    "토큰", "시크릿", "api 키", "api키", "액세스 키", "인증키", "인증 키", "비밀키", "비밀 키",
    "トークン", "シークレット", "apiキー", "api キー", "アクセスキー", "秘密鍵",
    "令牌", "密钥", "密鑰", "金鑰",
)  # fmt: skip

NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.ñалопрь"
MAX_NAME = 64
_HUMP = r"[A-Z]+(?![a-z])|[A-Z]?[a-zñа-я]+|\d+"

_PASSWORD_WORD = (
    r"(?:[a-z]*(?:password|passwd|passphrase)|passcode|psk"
    r"|(?:db|my|user|root|admin|pg|ftp|smtp|ssh|store|key|require|http|become|sudo|proxy)?(?:pass|pwd|pw)|passwort|kennwort|senha"
    r"|contraseña|пароль|passwords|passwds|userpassword)"
)
_TOKEN_WORD = r"[a-z]*token|(?:api|access|auth|refresh|bot)tokens"
_SECRET_WORD = r"[a-z]*secrets?|credentials?|creds?"
_KEY_WORD = r"(?:api|secret|access|private|auth|encryption|signing|master|account|service|client|app|license)keys?"
# What makes a plain "key" a secret one.
_KEY_OWNERS = word_set(
    """
    api secret access unseal preshared private auth authentication encryption decryption signing master account
    storage shared
    service server license webhook hmac jwt cookie session deploy app application client admin root rest
    subscription data
    """
)
# A name that ends so speaks about the secret: how many, how long, where kept, whether shown.
_ABOUT = word_set(
    """
    count counts id ids type types url uri urls endpoint file files filename path dir name names length len size
    limit limits max min ttl age expiry expires expired expire expiration at in on used usage budget policy
    policies field fields label hint prompt manager managers store storage provider providers ref reference
    header headers prefix suffix format regex pattern rotation rotations required enabled disabled valid
    validator validation validity status version versions column env var variable location class error errors
    message messages cost costs estimate estimates estimator total rate window ratio index position offset list
    set map hash hashes digest hasher salt scope scopes audience issuer strategy algorithm method mode kind
    source placeholder title text button input form page reset change changed strength confirm confirmation
    service handler middleware exchange request response parser tokenizer stream bucket limiter counter
    budgeting per and or is are not lock exists annotations vesting holder owner owners created updated last
    first model models module loader factory interface object generator helper util utils test tests spec mock
    scanner scanning detection redaction review leak leaks sharing
    """
)
_PASSES = word_set("all any by low high band first second third single multi one two render next last final")
_NOT_MINE = word_set(
    """
    max min num total count no n avg mean median input output prompt completion cached reasoning next prev
    special stop pad eos bos unk sep cls mask public primary foreign sort partition
    """
)
_TAIL = word_set(
    """
    value val prod production dev development staging stage test live local backup old new current primary
    secondary main base v string str raw plain text plaintext b64 base64 data
    """
)


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> str | None:
    """The kind of secret that an identifier names, read word by word; None when it names none."""
    words = [word.lower() for word in compiled(_HUMP).findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _TAIL or (len(words[-1]) == 1 and words[-1] != "n")):
        words.pop()
    if not words or not _NOT_MINE.isdisjoint(words) or words[-1] in _ABOUT:
        return None
    # An environment variable may say at its end whose secret it is; another name that goes on is about something else.
    last = 0 if name.upper() == name else len(words) - 1
    for at in range(len(words) - 1, last - 1, -1):
        word = words[at]
        if at < len(words) - 1 and word in ("pass", "pw", "auth"):
            continue
        if word == "pass" and at and words[at - 1] in _PASSES:
            continue
        if compiled(_PASSWORD_WORD).fullmatch(word):
            return "password"
        if compiled(_KEY_WORD).fullmatch(word) or (word in ("key", "keys") and at and words[at - 1] in _KEY_OWNERS):
            return "api-key" if "api" in "".join(words) else "secret-key"
        if compiled(_TOKEN_WORD).fullmatch(word):
            return "token"
        if compiled(_SECRET_WORD).fullmatch(word):
            return "secret"
        if at < len(words) - 3:
            break
    return "secret" if words in (["auth"], ["n", "auth"]) else None
