# SPDX-License-Identifier: Apache-2.0
"""Options from the library's tables: names, defaults and help of every detector, filter and estimator. An option that
is added to a table is available in Python without further changes."""

from __future__ import annotations

import inspect
import numbers
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, Union

from . import _cornea

#: A value that an option takes.
OptionValue = Union[bool, int, float, str, Sequence[float]]


@dataclass(frozen=True)
class Option:
    """One option of a table."""

    name: str
    help: str
    kind: str  # number, integer, on_off, choice or numbers
    default: Any
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """An algorithm of a table."""

    name: str
    summary: str
    source: str
    options: dict[str, Option]


def _value(kind: str, words: str) -> Any:
    if kind == "number":
        return float(words)
    if kind == "integer":
        return int(words)
    if kind == "on_off":
        return words == "yes"
    if kind == "numbers":
        return tuple(float(word) for word in words.split(",") if word)
    return words


def _options(rows: Sequence[tuple[str, str, str, str, list[str]]]) -> dict[str, Option]:
    options = {}
    for flag, words, kind, default, choices in rows:
        name = flag.replace("-", "_")
        # The help texts are written for the program, whose options are flags.
        words = re.sub(r"--([a-z-]+)", lambda found: found.group(1).replace("-", "_"), words)
        options[name] = Option(name, words, kind, _value(kind, default), tuple(choices))
    return options


_TABLES = _cornea.tables()


def table(name: str) -> dict[str, Entry]:
    """The algorithms of "detectors", "filters" or "estimators"."""
    return {
        key: Entry(key, summary, source, _options(rows))
        for key, (summary, source, rows) in _TABLES[name].items()
    }


def options_of(name: str) -> dict[str, Option]:
    """Options that belong to no algorithm of a table: "match", "svd", "draw", "scene", "extract"."""
    return _options(_TABLES.get(name, []))


def _text(option: Option, value: Any) -> str:
    if option.kind == "on_off":
        # numpy.bool_ is not a bool.
        if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
            raise ValueError(f"{option.name} is True or False, not {value!r}")
        return "yes" if value else "no"
    if option.kind == "numbers" and not isinstance(value, (str, numbers.Number)):
        return ",".join(repr(float(number)) for number in value)
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    return str(value)


def settings(options: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, str]:
    """The given values as text for the library, which rejects unknown names and invalid values."""
    return {
        name.replace("_", "-"): _text(options[name], value) if name in options else str(value)
        for name, value in given.items()
    }


def _annotation(option: Option) -> Any:
    return {
        "number": float,
        "integer": int,
        "on_off": bool,
        "numbers": Sequence[float],
        "choice": str,
    }[option.kind]


def parameters(options: Mapping[str, Option]) -> list[inspect.Parameter]:
    """The options as keywords of a signature."""
    return [
        inspect.Parameter(o.name, inspect.Parameter.KEYWORD_ONLY, default=o.default, annotation=_annotation(o))
        for o in options.values()
    ]


def options_text(options: Mapping[str, Option], indent: str = "    ") -> str:
    """The options, one per paragraph, for a docstring."""
    lines = []
    for o in options.values():
        choices = f" ({', '.join(repr(c) for c in o.choices)})" if o.choices else ""
        lines += textwrap.wrap(
            f"{o.name} = {o.default!r}: {o.help}{choices}",
            100,
            initial_indent=indent,
            subsequent_indent=indent + "    ",
            break_on_hyphens=False,
        )
    return "\n".join(lines)


T = TypeVar("T")


def with_options(options: Mapping[str, Option]) -> Callable[[T], T]:
    """Adds the options to the signature and the docstring of a class or function that takes **options."""

    def dress(made: T) -> T:
        given: Any = made
        plain = inspect.signature(given)
        kept = [p for p in plain.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        names = {p.name for p in kept}
        added = [p for p in parameters(options) if p.name not in names]
        given.__signature__ = plain.replace(parameters=kept + added)
        if options:
            head = inspect.cleandoc(given.__doc__ or "")
            given.__doc__ = f"{head}\n\nOptions:\n\n{options_text(options)}\n"
        return made

    return dress
