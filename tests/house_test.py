#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the structure of the sources: house_test.py [SOURCE_FOLDER]. Prints what is wrong and exits 1.
house_test.py --public [SOURCE_FOLDER] lists the public headers instead.

1. Data moves in one direction: a stage includes only core, linalg and earlier stages. The umbrella headers
   at the root, which are the interface of the package and of its components, are above all stages: they may
   include every stage, and no stage includes them (rank()).
2. Public headers (those that src/cornea/CMakeLists.txt lists) include only the standard library and other
   public headers; those of the component `scene` also Eigen.
3. Other headers declare nothing in namespace cornea itself: the internals of a room are in its namespace.
4. No two types have the same name, except in unnamed namespaces.
5. Error sentences of the library name options (max_points), never flags (--max-points).
6. Every member of a public struct has a default, so that {.max_size = 0} is fully initialised without a
   warning.
7. There is one version: the citation, the newest section of the changelog and the version that find_package()
   asks for in tests and examples are those of CMakeLists.txt.
8. Every source file names its licence in one of its first lines.
"""
import os
import re
import sys
from pathlib import Path

RANKS = ["core", "linalg", "io", "filter", "scene", "detect", "describe", "match", "retrieve",
         "geometry", "report", "export", "catalog", "pipeline", "cli"]
UMBRELLAS = {"cornea.h", "scene.h", "colmap.h"}

SPDX = "SPDX-License-Identifier: Apache-2.0"


def rank(name):
    """A header includes nothing of a higher rank: stages in their order, umbrellas above all."""
    stage = name.split("/")[0]
    return len(RANKS) if name in UMBRELLAS else RANKS.index(stage) if stage in RANKS else -1


def is_test(path):
    return path.stem.endswith("_test") or path.stem.endswith("testing")


def includes(text):
    return re.findall(r'^#include "cornea/([^"]+)"', text, re.M)


def public_headers(cmake):
    """The headers that the CMake file lists, and the subset of the component scene."""
    cmake = re.sub(r"#[^\n]*", "", cmake)
    headers, of_scene = set(UMBRELLAS) | {"core/build.h"}, {"scene.h"}
    for arguments in re.findall(r"cornea_headers\(([^)]*)\)", cmake):
        words = arguments.split()
        component = None
        if words[0] == "COMPONENT":
            component, words = words[1], words[2:]
        names = {name if words[0] == "." else f"{words[0]}/{name}" for name in words[1:]}
        headers |= names
        if component == "scene":
            of_scene |= names
    for arguments in re.findall(r"cornea_room\(([^)]*)\)", cmake):
        stage, room = arguments.split()[:2]
        headers.add(f"{stage}/{room}/{room}.h")
    return headers, of_scene


def without_comments_and_strings(text):
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"(?<![0-9a-fA-F])'(\\.|[^'\\\n])'", "' '", text)


def statements(text):
    """(namespace, statement) of everything at namespace scope, up to its `;` or `{`; the namespace is None
    within an unnamed one."""
    text = without_comments_and_strings(text)
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M)
    spaces, depth, statement = [], 0, ""  # depth: nesting within something that is not a namespace
    for part in re.findall(r"[{};]|[^{};]+", text):
        if part in "{;" and depth == 0:
            space = re.fullmatch(r"\s*(?:inline\s+)?namespace(?:\s+([\w:]+))?\s*", statement)
            if part == "{" and space:
                spaces.append(space.group(1) or "")
            else:
                if statement.strip():
                    yield None if "" in spaces else "::".join(spaces), statement.strip()
                depth += part == "{"
            statement = ""
        elif part == "{":
            depth += 1
        elif part == "}":
            if depth > 0:
                depth -= 1
            elif spaces:
                spaces.pop()
            statement = ""
        elif part != ";":
            statement += part


def defined_type(statement):
    """The name of the type that a statement before a `{` defines, except specialisations."""
    kind = re.match(r"(?:template\s*<.*?>\s*(?:requires[^{]*?)?)?(?:class|struct|union|enum(?:\s+class)?)\s+"
                    r"(?:CORNEA_API\s+|alignas\([^)]*\)\s+)*(\w+)\s*(?:final\s*)?(?::[^:].*)?$",
                    statement, re.S)
    return kind.group(1) if kind and not re.match(r"template\s*<\s*>", statement) else None


def declares_in_cornea(text):
    """Whether a header declares something in namespace cornea itself. Nested types of public classes
    (struct Sift::Inside) have to be defined there, and forward declarations are allowed there."""
    return any(space == "cornea" and not re.match(r"(?:class|struct) \w+(?:::\w+)?$", statement)
               for space, statement in statements(text))


def members_without_default(text):
    """(struct, member) of plain members that are declared without an initialiser."""
    for name, body in re.findall(r"^struct (?:CORNEA_API )?(\w+) \{\n(.*?)^\};", text, re.S | re.M):
        for line in body.split("\n"):
            code = line.split("//")[0].strip()
            if re.fullmatch(r"(?!using |friend )[\w:<>,\s]+\s+\*?\w+(, \*?\w+)*;", code):
                yield name, code


def is_source(path):
    return (path.suffix in (".h", ".cc", ".cu", ".py", ".pyi", ".cmake") or path.name.endswith(".h.in")
            or path.name == "CMakeLists.txt" or path.parent.name in ("script", ".ci"))


def without_licence(source):
    """The source files, without those of builds and virtual environments, whose first three lines do not name the
    licence."""
    made = {"build", "out", ".git", ".tools", ".deps", "__pycache__"}
    for folder, folders, files in os.walk(source):
        folders[:] = sorted(name for name in set(folders) - made if not Path(folder, name, "pyvenv.cfg").exists())
        for path in (Path(folder, name) for name in sorted(files)):
            if is_source(path) and not any(SPDX in line for line in path.read_text().split("\n")[:3]):
                yield path.relative_to(source).as_posix()


def other_versions(source):
    """What names another version than CMakeLists.txt does: complaints."""
    version = re.search(r"project\(cornea VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text())[1]
    changes = re.search(r"^## ([0-9.]+) \(([^)]*)\)", (source / "CHANGELOG.md").read_text(), re.M)
    citation = (source / "CITATION.cff").read_text()
    cited = re.search(r"^version: (\S+)$", citation, re.M)[1], re.search(r"^date-released: (\S+)$", citation, re.M)[1]
    if changes[1] != version:
        yield f"CHANGELOG.md: its newest section is {changes[1]}, and CMakeLists.txt has {version}"
    if changes[2] != "unreleased" and cited != changes.groups():
        yield f"CITATION.cff: is of {' '.join(cited)}, and CHANGELOG.md of {' '.join(changes.groups())}"
    minor = version.rpartition(".")[0]
    for name in ("tests/outside/CMakeLists.txt", "examples/CMakeLists.txt"):
        for asked in re.findall(r"find_package\(cornea ([0-9.]+)", (source / name).read_text()):
            if asked != minor:
                yield f"{name}: asks for Cornea {asked}, and this is {version}"


def main():
    words = [word for word in sys.argv[1:] if word != "--public"]
    source = Path(words[0] if words else Path(__file__).resolve().parent.parent)
    house = source / "src" / "cornea"
    complaints = []
    public, of_scene = public_headers((house / "CMakeLists.txt").read_text())
    if "--public" in sys.argv:
        print("\n".join(f"cornea/{name}" for name in sorted(public)))
        return 0
    types = {}
    files = sorted(p for p in house.rglob("*") if p.suffix in (".h", ".cc", ".cu"))
    for path in files:
        name = path.relative_to(house).as_posix()
        text = path.read_text()
        stage = name.split("/")[0]
        if rank(name) < 0:
            complaints.append(f"{name}: {stage} is not a stage; see CONTRIBUTING.md")
            continue
        for included in includes(text):
            # Tests may check results through later stages.
            if rank(included) > rank(name) and (included in UMBRELLAS or not is_test(path)):
                kind = "an umbrella header" if included in UMBRELLAS else "a later stage"
                complaints.append(f"{name}: includes {included}, {kind}")
            if name in public and included not in public:
                complaints.append(f"{name}: is public but includes {included}, which is not")
        if name in public:
            for struct, member in members_without_default(text):
                complaints.append(f"{name}: {struct} has a member without a default: {member}")
            for other in re.findall(r"^#include <([^>]+)>", text, re.M):
                known = re.fullmatch(r"[a-z_]+", other) or (other.startswith("Eigen/") and name in of_scene)
                if not known:
                    complaints.append(f"{name}: is public and includes <{other}>")
        elif path.suffix == ".h" and not is_test(path) and stage != "cli" and declares_in_cornea(text):
            complaints.append(f"{name}: is not public but declares names in namespace cornea")
        if not is_test(path):
            definitions = re.sub(r"\b(class|struct|enum class|enum)\s+\w+\s*;", "", text)
            for space, statement in statements(definitions):
                type_name = defined_type(statement)
                if space and type_name:
                    types.setdefault(f"{space}::{type_name}", []).append(name)
            if stage not in ("cli", "catalog"):
                for literal in re.findall(r'"(?:\\.|[^"\\\n])*"', re.sub(r"//[^\n]*", "", text)):
                    if re.search(r"(^|[\s(\"])--[a-z]", literal):
                        complaints.append(f"{name}: a sentence names a flag: {literal}")
    complaints += other_versions(source)
    complaints += [f"{name}: has no line {SPDX}" for name in without_licence(source)]
    for listed in sorted(public - {"core/build.h"}):
        if not (house / listed).exists():
            complaints.append(f"{listed}: is listed as public but does not exist")
    for type_name, places in sorted(types.items()):
        if len(places) > 1:
            complaints.append(f"{type_name}: is defined in {' and in '.join(places)}")
    for complaint in complaints:
        print(complaint)
    print(f"{len(files)} files, {len(public)} public headers, {len(types)} types, "
          f"{len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
