"""Credentials that their own shape gives away: what the redaction gate knows about each format.

A rule is tried only where one of its anchors, a fixed piece of text, stands, and its pattern is compiled when that
first happens: a text without anchors costs a few substring searches, and importing this module compiles nothing.

Patterns stay linear: a run is bounded, or possessive, or may start only where a word starts.
Prefixes and lengths follow the issuers' documentation and the public gitleaks rules (MIT), with lower bounds relaxed so
that a token cut short by a terminal or a log is still caught.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Iterator

from wikimem.text.redact_values import compiled, is_placeholder, looks_mixed

# Where a word may start: not after a letter or digit, except those of an escape (`\n`) or a percent code.
LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2}))"
RIGHT = r"(?![A-Za-z0-9])"
_WORD = r"[A-Za-z0-9_\-]"

Span = tuple[int, int]


# No dataclass and no typing.NamedTuple: hooks load this module, and either import takes longer than all of its work.
class Rule(namedtuple("Rule", ("kind", "anchors", "pattern", "fold", "lead"), defaults=(False, 0))):  # noqa: PYI024
    """One credential format.

    `anchors` are looked for in the text, lower-cased when `fold`; the pattern is matched `lead` characters before one.
    The group `v` is the secret; a pattern without that group is secret from end to end.
    """

    __slots__ = ()


def _prefixed(kind: str, prefixes: str, body: str, *, word_start: bool = False) -> Rule:
    """A token with one of the blank-separated `prefixes`; `word_start` for a prefix that words also contain."""
    anchors = tuple(prefixes.split())
    start = "|".join(re.escape(anchor) for anchor in anchors)
    return Rule(kind, anchors, f"{LEFT if word_start else ''}(?:{start}){body}")


FORMATS: tuple[Rule, ...] = (
    _prefixed(
        "aws-access-key-id", "AKIA ASIA ABIA ACCA A3T", rf"(?:(?<=A3T)[A-Z0-9])?[A-Z0-9]{{16}}{RIGHT}", word_start=True
    ),
    Rule(
        "aws-secret-key",
        ("AKIA", "ASIA"),
        rf"{LEFT}A[KS]IA[A-Z0-9]{{16}}[\s,;:|\"']{{1,5}}(?P<v>[A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+])",
    ),
    _prefixed("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{80,}+={0,2}", word_start=True),
    _prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,}+"),
    _prefixed("github-token", "github_pat_", r"[A-Za-z0-9_]{36,}+"),
    _prefixed(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glimt- glffct-",
        r"[A-Za-z0-9_\-]{20,}+(?:\.[0-9a-z]{2,}){0,3}",
    ),
    _prefixed("npm-token", "npm_", r"[A-Za-z0-9]{30,}+", word_start=True),
    _prefixed("pypi-token", "pypi-Ag", rf"{_WORD}{{40,}}+"),
    _prefixed("rubygems-key", "rubygems_", r"[a-f0-9]{40,}+"),
    _prefixed("docker-token", "dckr_pat_ dckr_oat_", rf"{_WORD}{{20,}}+"),
    _prefixed("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,}+", word_start=True),
    _prefixed("anthropic-key", "sk-ant-", rf"{_WORD}{{20,}}+"),
    _prefixed("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", rf"{_WORD}{{20,}}+"),
    _prefixed("openrouter-key", "sk-or-v1-", r"[A-Za-z0-9]{32,}+"),
    _prefixed("langfuse-key", "sk-lf-", r"[0-9a-f\-]{32,}+"),
    # The digit keeps out words such as CSS classes that happen to start with "sk-".
    _prefixed("openai-key", "sk-", r"(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{20,}+", word_start=True),
    _prefixed("api-key", "sk-", rf"(?=[A-Za-z_\-]{{0,40}}[0-9])[a-z0-9]{{2,10}}-{_WORD}{{32,}}+", word_start=True),
    _prefixed("groq-key", "gsk_", r"[A-Za-z0-9]{40,}+"),
    _prefixed("xai-key", "xai-", r"[A-Za-z0-9]{60,}+", word_start=True),
    _prefixed("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}+"),
    _prefixed("replicate-token", "r8_", r"[A-Za-z0-9]{32,}+", word_start=True),
    _prefixed("nvidia-key", "nvapi-", rf"{_WORD}{{40,}}+"),
    _prefixed("tavily-key", "tvly-", rf"{_WORD}{{20,}}+"),
    _prefixed("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}_[a-f0-9]{10}"),
    _prefixed("google-api-key", "AIza", rf"{_WORD}{{35}}", word_start=True),
    _prefixed("google-oauth-secret", "GOCSPX-", rf"{_WORD}{{20,}}+"),
    _prefixed("google-token", "ya29.", rf"{_WORD}{{20,}}+(?:\.{_WORD}+)?", word_start=True),
    _prefixed("google-token", "1//0", rf"{_WORD}{{40,}}+", word_start=True),
    _prefixed("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_", r"[A-Za-z0-9]{16,}+"),
    _prefixed("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}+={0,2}"),
    _prefixed("square-token", "sq0csp- sq0atp- EAAAE", rf"{_WORD}{{22,}}+", word_start=True),
    _prefixed(
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb-",
        r"[A-Za-z0-9%/+\-]{10,}+",
    ),
    _prefixed("slack-token", "xapp-", r"[0-9]-[A-Z0-9]+-[0-9]+-[A-Za-z0-9]{20,}+"),
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<v>[A-Za-z0-9+/]{20,}+)",
        fold=True,
    ),
    Rule("discord-webhook", ("/api/webhooks/",), r"/api/webhooks/[0-9]{10,}/(?P<v>[A-Za-z0-9_\-]{20,}+)", fold=True),
    Rule(
        "teams-webhook",
        ("webhook.office.com/",),
        r"webhook\.office\.com/webhookb2/(?P<v>[A-Za-z0-9@/\-]{40,}+)",
        fold=True,
    ),
    Rule("telegram-token", (":AA",), r"(?<=[0-9]{8}):(?P<v>AA[A-Za-z0-9_\-]{30,}+)"),
    _prefixed("twilio-key", "SK", rf"[0-9a-f]{{32}}{RIGHT}", word_start=True),
    _prefixed("sendgrid-key", "SG.", rf"{_WORD}{{16,}}+\.{_WORD}{{16,}}+", word_start=True),
    _prefixed("mailgun-key", "key-", rf"[0-9a-f]{{32}}{RIGHT}", word_start=True),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{40,}+"),
    _prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[A-Fa-f0-9]{32,}+"),
    Rule(
        "azure-secret",
        ("8Q~",),
        r"(?:(?<![A-Za-z0-9_~.\-])|(?<=\\[nrt]))[A-Za-z0-9_~.\-]{3}8Q~[A-Za-z0-9_~.\-]{30,}+",
        lead=3,
    ),
    Rule(
        "azure-key",
        ("accountkey=", "sharedaccesskey=", "sharedsecret="),
        r"(?i:\w+)=(?P<v>[A-Za-z0-9+/%]{40,}+={0,2})",
        fold=True,
    ),
    _prefixed("databricks-token", "dapi", rf"[a-f0-9]{{32}}(?:-[0-9])?{RIGHT}", word_start=True),
    _prefixed("vault-token", "hvs. hvb. hvr.", rf"{_WORD}{{24,}}+", word_start=True),
    _prefixed("terraform-token", ".atlasv1.", rf"{_WORD}{{40,}}+"),
    _prefixed("pulumi-token", "pul-", rf"[a-f0-9]{{40}}{RIGHT}", word_start=True),
    _prefixed("grafana-token", "glsa_ glc_", r"[A-Za-z0-9+/_=]{30,}+", word_start=True),
    _prefixed("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_]{40,}+"),
    _prefixed("supabase-key", "sbp_ sb_secret_", rf"{_WORD}{{20,}}+", word_start=True),
    _prefixed("notion-token", "ntn_", r"[A-Za-z0-9]{40,}+", word_start=True),
    _prefixed("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}+"),
    _prefixed("atlassian-token", "ATATT3 ATCTT3", r"[A-Za-z0-9_\-=]{60,}+"),
    _prefixed("figma-token", "figd_", rf"{_WORD}{{30,}}+"),
    _prefixed("postman-key", "PMAK-", r"[a-f0-9\-]{40,}+"),
    _prefixed("netlify-token", "nfp_", r"[A-Za-z0-9]{36,}+", word_start=True),
    _prefixed("fly-token", "fm1_ fm2_", r"[A-Za-z0-9+/=,_]{40,}+"),
    _prefixed("heroku-key", "HRKU-", rf"{_WORD}{{36,}}+"),
    _prefixed("newrelic-key", "NRAK-", r"[A-Z0-9]{27}"),
    _prefixed("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}", word_start=True),
    _prefixed("onepassword-token", "ops_eyJ", rf"{_WORD}{{100,}}+"),
    _prefixed("crates-token", "cio", rf"[A-Za-z0-9]{{32}}{RIGHT}", word_start=True),
    _prefixed("nuget-key", "oy2", rf"[a-z0-9]{{43}}{RIGHT}", word_start=True),
    _prefixed("clojars-token", "CLOJARS_", r"[a-fA-F0-9]{50,}+"),
    _prefixed("cloudflare-key", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{100,}+", word_start=True),
    _prefixed("posthog-key", "phx_", r"[A-Za-z0-9]{32,}+", word_start=True),
    _prefixed("dynatrace-token", "dt0c01. dt0s16.", r"[A-Z0-9]{20,}+\.[A-Z0-9]{40,}+", word_start=True),
    _prefixed("readme-key", "rdme_", r"[a-f0-9]{50,}+", word_start=True),
    _prefixed("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{50,}+", word_start=True),
    _prefixed("tailscale-key", "tskey-", rf"[a-z]+-{_WORD}{{20,}}+"),
    _prefixed(
        "doppler-token",
        "dp.pt. dp.st. dp.ct. dp.sa.",
        r"(?:[a-z0-9_\-]{2,30}\.)?[A-Za-z0-9]{36,}+",
        word_start=True,
    ),
    _prefixed("hubspot-token", "pat-na1- pat-na2- pat-eu1-", r"[a-f0-9\-]{30,}+", word_start=True),
    _prefixed("sourcegraph-token", "sgp_", r"[a-fA-F0-9_]{40,}+", word_start=True),
    _prefixed("brevo-key", "xkeysib-", r"[a-f0-9]{60,}+-[A-Za-z0-9]{10,}+"),
    _prefixed("openshift-token", "sha256~", rf"{_WORD}{{40,}}+", word_start=True),
    _prefixed("artifactory-key", "AKCp", r"[A-Za-z0-9]{60,}+", word_start=True),
    _prefixed("alibaba-key-id", "LTAI", rf"[A-Za-z0-9]{{12,24}}{RIGHT}", word_start=True),
    _prefixed("typeform-token", "tfp_", rf"{_WORD}{{40,}}+", word_start=True),
    _prefixed("vercel-token", "vcp_ vck_ vca_", r"[A-Za-z0-9]{40,}+", word_start=True),
    _prefixed("planetscale-token", "pscale_", r"(?:tkn|pw|oauth)_[A-Za-z0-9_\-.]{30,}+", word_start=True),
    _prefixed("resend-key", "re_", r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{8,}_[A-Za-z0-9]{20,}+", word_start=True),
    _prefixed("mapbox-token", "sk.eyJ", rf"{_WORD}{{40,}}+\.{_WORD}{{16,}}+", word_start=True),
    _prefixed("firecrawl-key", "fc-", rf"[a-f0-9]{{32}}{RIGHT}", word_start=True),
    # A name, the word that says it is a secret, and a long run: `acme_live_...`, `acme_pat_...`; `pk_live_` is public.
    Rule(
        "token",
        ("_live_", "_prod_", "_pat_", "_tkn_", "_secret_", "_oauth_", "_token_", "_sk_", "_pw_"),
        rf"(?<=[a-z0-9])(?<!pk)_[a-z]{{2,6}}_(?P<v>(?=[A-Za-z]{{0,40}}[0-9]){_WORD}{{28,}}+)",
    ),
    _prefixed("age-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{40,}+"),
    Rule(
        "jwt",
        ("eyJ",),
        rf"{LEFT}eyJ{_WORD}{{10,}}+\."
        rf"(?:eyJ{_WORD}{{10,}}+(?:\.{_WORD}*+){{0,3}}|{_WORD}{{10,}}+(?:\.{_WORD}*+){{1,3}}"
        rf"|\.{_WORD}{{10,}}+(?:\.{_WORD}++){{2}})",  # encrypted to a key that both sides have
    ),
    Rule("url-signature", ("sig=", "signature="), r"(?<=[?&;\-])\w+=(?P<v>[A-Za-z0-9%+/=_\-]{16,}+)", fold=True),
)

# A bot token is base64 of a number, so it starts with M, N or O; the look-behind stands after the set so that the
# engine can skip to those letters.
DISCORD = (
    r"[MNO](?:(?<![A-Za-z0-9_\-].)|(?<=\\[nrt].))[A-Za-z0-9_\-]{22,27}+\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,45}+"
)

_RUN = r"([A-Za-z0-9*])\1{5}"
_DUMMY_WORD = r"(?i)example|placeholder|redacted|changeme|your[-_]|[-_]here\b|dummy"


def is_dummy(value: str) -> bool:
    """Is this a made-up token as documentation shows it: says EXAMPLE, repeats one letter, or uses hardly any?"""
    return bool(compiled(_DUMMY_WORD).search(value) or compiled(_RUN).search(value)) or len(set(value)) < 6


def find_formats(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """Every credential of a known format as (kind, start, end); `low` is `text` in lower case, of the same length."""
    # Each format is a run of at least 15 characters without a blank. Prose has few such runs, and one that is a word
    # has no digit or sign: the anchors are looked for in what is left, and only those present in the text itself.
    runs = "\n".join(
        [
            word
            for word in text.split()
            if len(word) >= 20 or (len(word) >= 15 and not (word.isalpha() and word.isascii()))
        ]
    )
    if not runs:
        return
    low_runs = runs.lower()
    for rule in FORMATS:
        hay = low if rule.fold else text
        for anchor in rule.anchors:
            if anchor not in (low_runs if rule.fold else runs):
                continue
            at = hay.find(anchor)
            while at >= 0:
                found = compiled(rule.pattern).match(text, max(at - rule.lead, 0))
                step = at + 1
                if found is not None:
                    start, end = found.span("v" if "v" in found.re.groupindex else 0)
                    if not is_dummy(text[start:end]):
                        yield rule.kind, start, end
                    step = max(end, step)
                at = hay.find(anchor, step)
    if "." in runs:
        for found in compiled(DISCORD).finditer(text):
            yield "discord-token", found.start(), found.end()


# Private keys ---------------------------------------------------------------------------------------------------------

KEY_REACH = 24_576
"""Characters from a BEGIN line within which its END line is looked for; a key of 16,384 bits has 13,000."""

_BEGIN = r"-----?[ ]?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[ ]?-----?"
_END = r"-----?[ ]?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[ ]?-----?"
_BREAK = r"(?:\s|\\+[nrt]|[>#*|\"'+,;/\\]|[0-9]{1,5}[\u2192:|\t])"
# What may follow BEGIN when END is missing: header lines, then lines that look like base64.
_BODY = (
    rf"(?:{_BREAK}*+[A-Z][A-Za-z0-9\-]{{2,20}}: [^\n\\]{{0,120}})*+"
    rf"(?:{_BREAK}*+[A-Za-z0-9+/=]{{16,}}+)*+"
    rf"(?:{_BREAK}++(?=[A-Za-z/+]*[0-9+/=])[A-Za-z0-9+/=]{{1,15}}+(?![A-Za-z0-9]))?"
)
_PUTTY = r"Private-Lines:[ \t]*[0-9]+\s+(?P<v>(?:[A-Za-z0-9+/=]{20,}+\s*)*+[A-Za-z0-9+/=]+)"
_BASE64_LINE = r"[A-Za-z0-9+/=]{16,}"


def _each(pattern: str, anchors: tuple[str, ...], text: str, low: str) -> Iterator[re.Match[str]]:
    for anchor in anchors:
        at = low.find(anchor)
        while at >= 0:
            found = compiled(pattern).match(text, at)
            if found is not None:
                yield found
            at = low.find(anchor, max(found.end(), at + 1) if found is not None else at + 1)


def find_private_keys(text: str) -> Iterator[tuple[str, int, int]]:
    """PEM, OpenSSH and PGP private keys, through the END line, or as far as the base64 goes where that is missing.

    A mere mention of the BEGIN line, with no key after it, is left alone.
    """
    for found in _each(_PUTTY, ("Private-Lines:",), text, text):
        yield "private-key", *found.span("v")
    if "BEGIN " not in text or "PRIVATE KEY" not in text:
        return
    begins = [found.span() for found in compiled(_BEGIN).finditer(text)]
    ends = [found.span() for found in compiled(_END).finditer(text)]
    next_end = 0
    for number, (start, body) in enumerate(begins):
        while next_end < len(ends) and ends[next_end][0] < body:
            next_end += 1
        limit = begins[number + 1][0] if number + 1 < len(begins) else len(text)
        if next_end < len(ends) and ends[next_end][0] <= min(limit, body + KEY_REACH):
            inside = text[body : ends[next_end][0]]
            keyed = sum(len(line) for line in compiled(_BASE64_LINE).findall(inside))
            # Mostly base64: one key, whatever else a mail program or a diff put between its lines.
            if keyed and keyed * 2 >= len(inside):
                yield "private-key", start, ends[next_end][1]
                continue
        run = compiled(_BODY).match(text, body, limit)
        if run is not None and compiled(_BASE64_LINE).search(text, body, run.end()):
            yield "private-key", start, run.end()


# Headers, cookies and addresses ---------------------------------------------------------------------------------------

_AUTHORIZATION = (
    r"(?i:authorization)(?:\\*[\"'])?[ \t]*[:=][ \t]*(?:\\*[\"'`])?[ \t]*"
    r"(?:(?i:bearer|basic|token|apikey|api-key|bot|negotiate|ntlm|key)[ \t]+(?P<v>[^\s\"'`,;<>\\]{6,})"
    r"|(?:(?i:digest|aws4-hmac-sha256|signature|oauth|hawk)[ \t]+(?P<line>[^\n`]{8,}))"
    r"|(?P<bare>[^\s\"'`,;<>\\]{12,}))"
)
_BEARER = r"(?i:bearer)(?:[ \t]+|%20)(?P<v>[A-Za-z0-9._~+/\-]{16,}+={0,2})"
_BASIC = rf"{LEFT}(?i:basic)[ \t]+(?P<v>[A-Za-z0-9+/]{{8,}}+={{0,2}})"
_COOKIE = (
    r"(?i:(?P<set>set-)cookie|(?<!set-)cookie2?)(?:\\*[\"'])?[ \t]*:[ \t]*(?:\\*[\"'])?(?P<pairs>[^\n\"'`\\]{0,16384})"
)
_PAIR = r"(?:^|;)[ \t]*[^\s=;,]{1,200}=(?P<v>[^;\s]+)"
# User and host stay. The first form is a proper URL; the second has a slash that was not percent-encoded.
_ADDRESS = (
    r"(?:(?<=:)|(?<![\w/:.\-\\]))//(?:(?P<user>[^\s:@/?#\"'`<>]{0,200}+):(?:(?P<v>[^\s/?#\"'`<>]{1,300})@(?=[\w\[.$%{\-])"
    r"|(?![0-9]{1,5}[/?#])(?P<w>[^\s\"'`<>]{1,200}?)@(?=[A-Za-z0-9\-]+[.:/]))"
    r"|(?<=https://)(?P<only>[A-Za-z0-9_\-]{20,200})@)"
)
_TAG_REACH = 10  # characters before the name of a tag: `&lt; \\/ `
# A tag between two backticks is talked about, not used. In JSON and HTML its signs are escaped.
_LT, _GT = r"(?:<|&lt;|\\u003c)[ ]?", r"(?:>|&gt;|\\u003e)"
_PRIVATE_TAG = rf"{_LT}(?P<shut>\\?/[ ]?)?private(?(shut)\s*|(?:\s[^<>]{{0,100}}?)?/?){_GT}"
_PRIVATE = rf"(?i:(?<!`){_PRIVATE_TAG}|{_PRIVATE_TAG.replace('shut', 'also')}(?!`))"


def _looks_encoded(value: str) -> bool:
    """Is this base64 of `user:password`, rather than a word after "Basic"?"""
    try:
        import binascii

        plain = binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except ValueError:
        return False
    return b":" in plain and plain.isascii() and plain.decode("ascii").isprintable()


def find_headers(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """Values of Authorization and Cookie headers; names, schemes and attributes stay."""
    for found in _each(_AUTHORIZATION, ("authorization",), text, low):
        group = found.lastgroup or "v"
        start, end = found.span(group)
        if group == "line":
            end = start + len(found[group].rstrip(" \t\"'\\"))
        if group == "line" or (not is_placeholder(found[group]) and (group == "v" or looks_mixed(found[group]))):
            yield "authorization", start, end
    for found in _each(_BEARER, ("bearer",), text, low):
        if looks_mixed(found["v"]) and not is_dummy(found["v"]):
            yield "authorization", *found.span("v")
    for found in _each(_BASIC, ("basic",), text, low):
        if _looks_encoded(found["v"]):
            yield "authorization", *found.span("v")
    for found in _each(_COOKIE, ("set-cookie", "cookie"), text, low):
        base = found.start("pairs")
        for pair in compiled(_PAIR).finditer(found["pairs"]):
            if not is_placeholder(pair["v"]):
                yield "cookie", base + pair.start("v"), base + pair.end("v")
            if found["set"]:
                break


def find_addresses(text: str) -> Iterator[tuple[str, int, int]]:
    """Passwords in URLs; user and host stay."""
    at = text.find("//")
    while at >= 0:
        found = compiled(_ADDRESS).match(text, at)
        if found is not None:
            group = next(name for name in ("v", "w", "only") if found[name] is not None)
            if looks_mixed(found[group]) if group == "only" else not is_placeholder(found[group]):
                yield "url-password", *found.span(group)
        at = text.find("//", at + 2)


def _private_tags(text: str, low: str) -> Iterator[re.Match[str]]:
    done = 0
    at = low.find("private")
    while at >= 0:
        first = max(at - _TAG_REACH, done)
        if "<" in low[first:at] or "lt;" in low[first:at] or "003c" in low[first:at]:
            found = compiled(_PRIVATE).search(text, first, at + 120)
            if found is not None:
                yield found
                done = found.end()
        at = low.find("private", max(at + 7, done))


def find_private_blocks(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """`<private>` blocks with their tags, one in another too; one never closed goes on to the end of the text."""
    depth = start = 0
    for found in _private_tags(text, low):
        if found["shut"] is None and found["also"] is None:
            start = start if depth else found.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield "private", start, found.end()
    if depth:
        yield "private", start, len(text)
