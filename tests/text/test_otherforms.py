"""Pages whose properties are in another program's form are not given a second block in front."""

from __future__ import annotations

import pytest

from wikimem.errors import Refused
from wikimem.text.frontmatter import set_properties


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("+++\ntitle = 'A'\n+++\nbody\n", "TOML"),
        ("\ufeff+++\r\ntitle = 'A'\r\n+++\r\nbody\r\n", "TOML"),
        ("+++\n+++", "TOML"),
        ('{\n  "title": "A"\n}\n\nbody\n', "JSON"),
        ("{}\nbody\n", "JSON"),
        ("---\n# nothing yet\n---\nbody\n", "nothing but lines with #"),
        ("---\r\n\r\n# Heading\r\n\r\n---\r\n\r\nbody\r\n", "nothing but lines with #"),
    ],
)
def test_a_page_with_properties_in_another_form_is_refused_with_the_place(text: str, form: str) -> None:
    with pytest.raises(Refused, match=rf"^p\.md:1: .*{form}") as refused:
        set_properties(text.encode(), {"key": "new"}, path="p.md")
    assert refused.value.hint
    assert set_properties(text.encode(), {}, remove=["key"], path="p.md") == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        "+++\nnever closed\n",
        "++++\na\n++++\n",
        "text\n+++\na = 1\n+++\n",
        '{{date}} "x"\n',
        '{"half": \n',
        "{% include x %}\n",
        "---\n\nSome prose.\n\n---\n",
        "---\n- a list\n---\n",
        "# Heading\n---\n# Heading\n---\n",
    ],
)
def test_what_only_looks_like_it_gets_its_block_in_front(text: str) -> None:
    assert set_properties(text.encode(), {"key": "new"}) == b"---\nkey: new\n---\n" + text.encode()
