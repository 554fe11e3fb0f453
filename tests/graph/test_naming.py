"""Which names mean the same entity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.errors import Invalid
from wikimem.graph.naming import make_entity, page_id_of, page_iri, parse_entity_iri
from wikimem.graph.vocabulary import ENTITY_TYPES
from wikimem.text.triples import Triple, parse_line, render_triple


@pytest.mark.parametrize(
    ("type_name", "names"),
    [
        ("function", ["Foo.bar()", "foo.bar", "Foo#bar(x, y)", "Foo::bar", "FOO.bar( )"]),
        (
            "file",
            ["src/auth.ts", "./src/auth.ts", "src\\auth.ts", "src//auth.ts", "src/lib/../auth.ts", "src/auth.ts:12:3"],
        ),
        ("library", ["Foo_Bar", "foo-bar", "foo.bar", "pypi:foo__bar", "foo_bar==1.2", "Foo-Bar >= 2", "foo-bar@5"]),
        ("library", ["@Scope/Name", "@scope/name", "npm:@scope/name", "@scope/name@^5.1.0"]),
        ("person", ["Ada  Example", "@ada example", "ADA EXAMPLE"]),
        ("concept", ["JWT auth", "jwt  Auth"]),
        ("concept", ["Caf\u00e9", "cafe\u0301"]),
    ],
)
def test_names_of_one_entity(type_name: str, names: list[str]) -> None:
    assert len({make_entity(type_name, name, "shop").iri for name in names}) == 1


@pytest.mark.parametrize(
    ("type_name", "one", "other"),
    [
        ("file", "src/Auth.ts", "src/auth.ts"),
        ("library", "@a/b-c", "@a/b_c"),
        ("library", "github.com/a/b", "github.com/a-b"),
        ("concept", "a:b", "a%3Ab"),
        ("error", "E1", "E2"),
    ],
)
def test_names_of_two_entities(type_name: str, one: str, other: str) -> None:
    assert make_entity(type_name, one).iri != make_entity(type_name, other).iri


def test_what_belongs_to_a_project_is_another_in_the_next() -> None:
    for name, kind in ENTITY_TYPES.items():
        iris = {make_entity(name, "x", project).iri for project in ("shop-api", "shop-web", None)}
        assert len(iris) == (3 if kind.scoped else 1), name
    assert make_entity("file", "a.py", "Shop").iri == make_entity("file", "a.py", "shop").iri


@given(
    st.sampled_from(sorted(ENTITY_TYPES)), st.text(max_size=60), st.one_of(st.none(), st.text(min_size=1, max_size=9))
)
def test_any_name_is_an_iri_that_is_read_back_or_refused(type_name: str, name: str, project: str | None) -> None:
    try:
        entity = make_entity(type_name, name, project)
    except Invalid:
        return
    found = parse_entity_iri(entity.iri)
    assert found is not None
    assert (found.type, found.key, found.project) == (entity.type, entity.key, entity.project)
    triple = Triple(entity.iri, entity.iri, entity.iri)
    assert parse_line(render_triple(triple)) == triple


@pytest.mark.parametrize("name", ["", "  ", "\x00", "a\ud800", "x" * 501, "\u2028"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(Invalid):
        make_entity("concept", name)


def test_an_unknown_type_lists_the_known_ones() -> None:
    with pytest.raises(Invalid) as error:
        make_entity("gadget", "x")
    assert all(name in error.value.hint for name in ENTITY_TYPES)


def test_pages_and_foreign_iris_are_no_entities() -> None:
    for iri in (
        page_iri("01JDZK3V9Q4T8M2X7B5C1R6W0N"),
        "urn:wikimem:gadget:x",
        "https://x.example/",
        "urn:wikimem:library:",
    ):
        assert parse_entity_iri(iri) is None
    assert page_id_of(page_iri("A") + "#%5Eo-1") == "A"
    assert page_id_of("urn:wikimem:library:jose") is None
