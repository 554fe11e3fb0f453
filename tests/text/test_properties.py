"""The table of properties is that of the schema."""

from __future__ import annotations

from wikimem.model.page import Metadata
from wikimem.text.properties import PROPERTIES
from wikimem.text.schema import read_metadata


def test_every_property_of_the_schema_is_described() -> None:
    assert set(PROPERTIES) == set(Metadata.__struct_fields__) - {"ttl_seconds"}


def test_every_choice_is_a_value_that_the_schema_takes() -> None:
    for name, known in PROPERTIES.items():
        for choice in known.choices:
            assert read_metadata({name: choice}, {}, "x.md")[1] == (), f"{name}: {choice}"
