# SPDX-License-Identifier: Apache-2.0
"""The C++ reference: a page per public header, and their index by stage."""
import html
import re

from cpp_headers import read_header
from markup import code_block, highlight, prose, words

# Stages in the order in which the data moves, and what each is for.
STAGES = {
    "": "Umbrella headers",
    "core": "Core: contexts, images, features, errors",
    "linalg": "Linear algebra",
    "io": "Files",
    "filter": "Filters",
    "scene": "Synthetic scenes",
    "detect": "Detectors",
    "describe": "Descriptors",
    "match": "Matching",
    "retrieve": "Image retrieval",
    "geometry": "Two-view geometry",
    "report": "Pictures and pages",
    "export": "COLMAP databases",
    "catalog": "Algorithms by name",
    "pipeline": "Pipelines: pairs, folders, shards",
}
# Macros and what CMake writes: nothing that a reader calls.
LEFT_OUT = {"core/build.h", "core/export.h", "core/host_device.h"}


def headers(project, names):
    """The Header of every public header, in the order of the stages."""
    order = list(STAGES)
    found = []
    for name in sorted(set(names) - LEFT_OUT, key=lambda n: (order.index(stage_of(n)), n)):
        text = (project / "src" / "cornea" / name).read_text(encoding="utf-8")
        found.append(read_header(text, f"cornea/{name}"))
    return found


def stage_of(name):
    return name.split("/")[0] if "/" in name else ""


def page_of(header):
    return "api/cpp/" + re.sub(r"^cornea/|\.h$", "", header.path).replace("/", "-") + ".html"


def summary(header):
    """The first sentence of a header's comment."""
    first = re.split(r"\n\s*\n|\n  +", header.comment)[0].replace("\n", " ")
    return re.split(r"(?<=[a-z0-9)\"])(?:\.|:)(?=\s|$)", first)[0].strip() + "."


def names_of(found):
    """The address of every public type, function and constant, from the root of the site. Names that two headers
    declare are left out, but for those that one of them only repeats."""
    addresses, twice = {}, set()
    for header in found:
        for one in header.declarations():
            if not one.name or one.name.startswith("operator"):
                continue
            address = f"{page_of(header)}#{one.name}"
            if addresses.get(one.name, address) != address:
                twice.add(one.name)
            addresses.setdefault(one.name, address)
    return {name: address for name, address in addresses.items() if name not in twice}


class HeaderPage:
    """The page of one header. `names` are addresses relative to the page."""

    def __init__(self, header, names):
        self.header, self.names = header, names
        self.headings, self.anchors = [], set()

    def anchor(self, name, owner=""):
        base = f"{owner}-{name}" if owner else name
        base = re.sub(r"[^\w-]", "", base.replace("operator()", "call").replace("~", "not-")) or "operator"
        anchor, number = base, 1
        while anchor in self.anchors:
            number += 1
            anchor = f"{base}-{number}"
        self.anchors.add(anchor)
        return anchor

    def html(self, source):
        """The whole page; source: the address of the header's text."""
        title = self.header.path
        body = [f"<h1><code>{html.escape(title)}</code></h1>",
                f'<p class="facts"><code>#include &lt;{html.escape(title)}&gt;</code> '
                f"<span>namespace <code>{self.header.namespace}</code></span> "
                f'<a href="{source}">Text of the header</a></p>',
                prose(self.header.comment, self.names)]
        for group in self.header.groups:
            body.append(self.group(group, 2, ""))
        return "\n".join(body)

    def group(self, group, level, owner):
        """A group of declarations: a type on its own, or functions and constants under one comment."""
        if not group.declarations:
            return prose(group.comment, self.names)
        first = group.declarations[0]
        if first.kind in ("type", "enum"):
            return self.type(first, group.comment, level, owner)
        if first.kind == "enumerator" or all(one.kind == "data" for one in group.declarations) and owner:
            return self.table([group])
        anchors = [self.anchor(one.name, owner) for one in group.declarations]
        if level == 2:
            for one, anchor in zip(group.declarations, anchors):
                if (2, one.name) not in [(h[0], h[1]) for h in self.headings]:
                    self.headings.append((2, one.name, anchor))
        marks = "".join(f'<span id="{anchor}"></span>' for anchor in anchors)
        text = prose(group.comment, self.names)
        code = "\n".join(one.code.rstrip(";") + ";" + (f"  // {one.comment}".replace("\n", " ") if one.comment else "")
                         for one in group.declarations)
        return f'<div class="member">{marks}{code_block(code, "cpp", self.names)}{text}</div>'

    def type(self, one, comment, level, owner):
        anchor = self.anchor(one.name, owner)
        if level == 2:
            self.headings.append((2, one.name, anchor))
        tag = f"h{min(level, 6)}"
        comment = "\n".join(part for part in (comment, one.comment) if part)
        body = [f'<section class="type"><{tag} id="{anchor}"><small>{one.word}</small> {html.escape(one.name)}'
                f'<a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a></{tag}>']
        if one.kind == "enum" and not any(d.comment for group in one.groups for d in group.declarations):
            values = ", ".join(d.code for group in one.groups for d in group.declarations)
            body.append(code_block(f"{one.code} {{ {values} }};", "cpp", self.names))
            return "\n".join(body + [prose(comment, self.names)]) + "</section>"
        if re.search(r"template|(?<!:):(?!:)", one.code):
            body.append(code_block(one.code + ";", "cpp", self.names))
        body.append(prose(comment, self.names))
        rows = []
        for group in one.groups:
            data = [d for d in group.declarations if d.kind in ("data", "enumerator")]
            rest = [d for d in group.declarations if d.kind not in ("data", "enumerator")]
            if data:
                rows.append(type(group)(group.comment, data))
            if rest or not group.declarations:
                if rows:
                    body.append(self.table(rows))
                    rows = []
                body.append(self.group(type(group)("" if data else group.comment, rest), level + 1, one.name))
        if rows:
            body.append(self.table(rows))
        return "\n".join(body) + "</section>"

    def table(self, groups):
        """Members or enumerators with their meaning; a comment before several is about the first."""
        lines = []
        for group in groups:
            for at, one in enumerate(group.declarations):
                said = "\n".join(part for part in (group.comment if at == 0 else "", one.comment) if part)
                said = words(" ".join(said.split()), self.names)
                code = highlight(one.code, "cpp", self.names)
                lines.append(f"<tr><td><code>{code}</code></td><td>{said}</td></tr>")
        if all(line.endswith("<td></td></tr>") for line in lines):
            lines = [line.replace("<td></td></tr>", "</tr>") for line in lines]
        return '<div class="table members" tabindex="0"><table><tbody>' + "\n".join(lines) + "</tbody></table></div>"


def index(found):
    """The index of all headers, by stage; addresses are relative to the folder of the pages."""
    body = ["<h1>C++ reference</h1>",
            "<p>Made from the public headers, which are the only ones that are installed. "
            "<code>#include &lt;cornea/cornea.h&gt;</code> is everything but two components, which have headers of "
            "their own: <code>cornea/scene.h</code> (needs Eigen) and <code>cornea/colmap.h</code> (needs SQLite). "
            "All names live in the namespace <code>cornea</code>. Options are aggregates with defaults: "
            "<code>{.max_points = 500}</code>. What cannot be done throws <code>cornea::Error</code>, with a code and "
            "a sentence.</p>"]
    headings, stage = [], None
    for header in found:
        name = header.path.removeprefix("cornea/")
        if stage_of(name) != stage:
            if stage is not None:
                body.append("</tbody></table></div>")
            stage = stage_of(name)
            anchor = stage or "umbrella"
            headings.append((2, STAGES[stage], anchor))
            body.append(f'<h2 id="{anchor}">{STAGES[stage]}</h2><div class="table api" tabindex="0"><table><tbody>')
        page = page_of(header).removeprefix("api/cpp/")
        named = []
        for one in header.declarations():
            if one.kind in ("type", "enum", "function") and one.name not in named:
                named.append(one.name)
        listed = ", ".join(f"<code>{html.escape(n)}</code>" for n in named[:12]) + (", …" if len(named) > 12 else "")
        body.append(f'<tr><td><a href="{page}"><code>{html.escape(name)}</code></a></td>'
                    f"<td>{words(summary(header), {})}<br><small>{listed}</small></td></tr>")
    body.append("</tbody></table></div>")
    return "\n".join(body), headings
