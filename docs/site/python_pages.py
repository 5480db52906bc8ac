# SPDX-License-Identifier: Apache-2.0
"""The Python reference, from the sources of the package: signatures, types and docstrings. Nothing is imported, so
that it needs no build."""
import ast
import html
import re

from markup import code_block, words

MODULES = {
    "cornea": "python/cornea/__init__.py",
    "cornea.colmap": "python/cornea/colmap.py",
    "cornea.convert": "python/cornea/convert.py",
    "cornea.cluster": "python/cornea/cluster/__init__.py",
}
# Subjects in the order in which the data moves, by the file that holds them; others follow.
ORDER = ["__init__", "_files", "_filter", "_detect", "_features", "_match", "_geometry", "_pair", "_svd", "_scene",
         "_draw"]
# What **options are: the names of these aggregates are the keywords.
OPTIONS = {
    "Sift": ["SiftOptions"], "Harris": ["HarrisOptions", "PeakOptions"], "Foagdd": ["FoagddOptions", "PeakOptions"],
    "Moravec": ["MoravecOptions", "PeakOptions"], "Detector": ["SiftOptions", "HarrisOptions", "FoagddOptions",
                                                               "MoravecOptions", "PeakOptions"],
    "detect": ["SiftOptions", "HarrisOptions", "FoagddOptions", "MoravecOptions", "PeakOptions"],
    "filter": ["GaussianOptions", "BilateralOptions", "TrilateralOptions"],
    "Filter": ["GaussianOptions", "BilateralOptions", "TrilateralOptions"],
    "match": ["MatchOptions"], "Matcher": ["MatchOptions"],
    "fundamental": ["FundamentalOptions"], "Fundamental": ["FundamentalOptions"],
    "essential": ["EssentialOptions"], "Essential": ["EssentialOptions"],
    "homography": ["HomographyOptions"], "Homography": ["HomographyOptions"],
    "TwoView": ["TwoViewOptions", "FundamentalOptions"], "svd": ["SvdOptions"], "Svd": ["SvdOptions"],
    "scene": ["SceneOptions", "Degradation"], "extract": ["SiftOptions"], "verify": ["FundamentalOptions"],
    "pair": ["SiftOptions", "MatchOptions", "FundamentalOptions"],
}


def page_of(module):
    return f"api/python/{module}.html"


class Source:
    """A file of the package: its definitions by name, and where imported names come from."""

    def __init__(self, path):
        self.path = path
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.doc = ast.get_docstring(self.tree) or ""
        self.definitions, self.imports, self.public = {}, {}, []
        for node in self.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                if not self.is_overload(node):
                    self.definitions[node.name] = node
            elif isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = node.module
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                self.public = ast.literal_eval(node.value)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                self.imports.setdefault(node.targets[0].id, node.value.id)

    @staticmethod
    def is_overload(node):
        return any(ast.unparse(one) == "overload" for one in getattr(node, "decorator_list", []))

    def find(self, name):
        """The Source and the definition of a public name."""
        if name in self.definitions:
            return self, self.definitions[name]
        module = self.imports.get(name)
        for ending in (".py", ".pyi"):
            path = self.path.parent / f"{module}{ending}"
            if module and path.exists():
                return Source(path).find(name)
        if module in self.definitions:
            return self, self.definitions[module]
        return self, None


def signature(node, name, skip_self=False):
    """`name(arguments) -> type`, broken into lines where it is long."""
    arguments = node.args
    plain = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    parts = [parameter(a, d) for a, d in zip(plain, defaults)][1 if skip_self else 0:]
    if arguments.vararg:
        parts.append("*" + parameter(arguments.vararg, None))
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += [parameter(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        parts.append("**" + arguments.kwarg.arg)
    result = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    return call(name, parts, result)


def call(name, parts, result=""):
    """`name(parts) result` on one line, or with as many parts per line as fit."""
    line = f"{name}({', '.join(parts)}){result}"
    if len(line) <= 88:
        return line
    lines = [""]
    for part in parts:
        if len(lines[-1]) + len(part) > 80 and lines[-1]:
            lines.append("")
        lines[-1] += f"{part}, "
    inner = "\n    ".join(one.rstrip() for one in lines).rstrip(",")
    return f"{name}(\n    {inner}\n){result}"


def parameter(argument, default):
    text = argument.arg
    if argument.annotation:
        text += f": {ast.unparse(argument.annotation)}"
    if default is not None:
        value = ast.unparse(default)
        fallback = re.match(r"getattr\(_cornea, '\w+', (.*)\)$", value)
        text += f" = {fallback.group(1) if fallback else value}"
    return text


ROW = re.compile(r"^((?:\*\*)?[A-Za-z_][\w.]*(?:, [A-Za-z_][\w.]*)*)(?: {2,})(\S.*)$")


def docstring(text, names):
    """Docstrings of this package: paragraphs, columns of names and their meaning, and examples."""
    out = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.split("\n")
        if lines[0].startswith(">>>"):
            out.append(code_block("\n".join(lines), "pycon"))
        elif all(line.startswith("    ") for line in lines):
            out.append(code_block("\n".join(line[4:] for line in lines), "python"))
        elif ROW.match(lines[0]):
            rows = []
            for line in lines:
                found = ROW.match(line)
                if found:
                    rows.append([found.group(1), found.group(2)])
                else:
                    rows[-1][1] += " " + line.strip()
            out.append('<div class="table members arguments" tabindex="0"><table><tbody>' + "".join(
                f"<tr><td><code>{html.escape(name)}</code></td><td>{words(said, names)}</td></tr>"
                for name, said in rows) + "</tbody></table></div>")
        else:
            said = " ".join(line.strip() for line in lines).replace("``", "`")
            out.append(f"<p>{words(said, names)}</p>")
    return "\n".join(out)


class ModulePage:
    """The page of a module. `cpp` are addresses of C++ names, relative to the page."""

    def __init__(self, project, module, cpp):
        self.module, self.cpp = module, cpp
        self.source = Source(project / MODULES[module])
        self.headings, self.names = [], {}

    def html(self):
        body = [f"<h1><code>{self.module}</code></h1>"]
        found = [(name, *self.source.find(name)) for name in self.source.public]
        found = [(name, source, node) for name, source, node in found if node is not None]
        self.names = {name: f"#{name}" for name, _, _ in found}
        body.append(docstring(self.source.doc, self.names))
        if self.module == "cornea":
            body.append('<p>Modules of their own: <a href="cornea.colmap.html"><code>cornea.colmap</code></a>, '
                        '<a href="cornea.convert.html"><code>cornea.convert</code></a>, '
                        '<a href="cornea.cluster.html"><code>cornea.cluster</code></a>. '
                        "Types for mypy and editors come with the package.</p>")
        # By the file that a name comes from: one file is one subject.
        files = {}
        for one in found:
            files.setdefault(one[1].path, []).append(one)
        order = {stem: at for at, stem in enumerate(ORDER)}
        for path, ones in sorted(files.items(), key=lambda one: order.get(one[0].stem, len(order))):
            if self.module == "cornea" and path != self.source.path:
                subject = (Source(path).doc or "Arrays on a GPU, and errors").split("\n")[0].rstrip(".")
                anchor = "subject-" + path.stem.strip("_")
                self.headings.append((2, subject, anchor))
                body.append(f'<h2 id="{anchor}">{html.escape(subject)}</h2>')
            elif self.module == "cornea":
                self.headings.append((2, "About this build, files of matches", "subject-package"))
                body.append('<h2 id="subject-package">About this build, files of matches</h2>')
            for name, source, node in sorted(ones, key=lambda one: (one[0][0].isupper(), one[0])):
                body.append(self.definition(name, source, node))
        return "\n".join(body)

    def definition(self, name, source, node):
        self.headings.append((3, name, name))
        kind = "class" if isinstance(node, ast.ClassDef) else "function"
        out = [f'<section class="type"><h3 id="{name}"><small>{kind}</small> {name}'
               f'<a class="anchor" href="#{name}" aria-label="Link to this section">#</a></h3>']
        if kind == "function":
            out.append(code_block(signature(node, f"{self.module}.{name}"), "python"))
        else:
            out += self.constructor(name, source, node)
        out.append(docstring(ast.get_docstring(node) or "", self.names))
        options = [o for o in OPTIONS.get(name, []) if o in self.cpp]
        if options:
            linked = ", ".join(f'<a href="{self.cpp[o]}"><code>{o}</code></a>' for o in options)
            out.append(f"<p>The keywords of <code>options</code> are the members of {linked}; "
                       f"<code>help(cornea.{name})</code> lists them with their defaults.</p>"
                       if self.module == "cornea" else f"<p>The keywords of <code>options</code>: {linked}.</p>")
        if kind == "class":
            out += self.members(source, node)
        return "\n".join(out) + "</section>"

    def bases(self, source, node):
        """The class and those of its bases that have no name for users, then the first public base."""
        chain, public = [node], None
        for base in node.bases:
            word = ast.unparse(base).split("[")[0]
            inner = source.definitions.get(word)
            if inner is not None and word.startswith("_"):
                more, public = self.bases(source, inner)
                chain += more
            elif word in self.names or word in ("RuntimeError",):
                public = word
        return chain, public

    def constructor(self, name, source, node):
        chain, public = self.bases(source, node)
        out = []
        for one in chain:
            init = next((m for m in one.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None)
            if init:
                made = signature(init, f"{self.module}.{name}", True)
                if not re.search(r": _", made):  # what only the package itself can make
                    out.append(code_block(made, "python"))
                break
        else:
            fields = [ast.unparse(m) for m in node.body
                      if isinstance(m, ast.AnnAssign) and "ClassVar" not in ast.unparse(m)]
            if fields:
                out.append(code_block(call(f"{self.module}.{name}", fields), "python"))
        if public:
            link = f"<code>{public}</code>"
            link = f'<a href="#{public}">{link}</a>' if public in self.names else link
            out.append(f"<p>Derives from {link}.</p>")
        return out

    def members(self, source, node):
        """Properties as a table, then methods, each with its bases' where these have no name for users."""
        properties, methods, seen = [], [], set()
        for one in self.bases(source, node)[0]:
            for member in one.body:
                if not isinstance(member, ast.FunctionDef) or member.name in seen or Source.is_overload(member):
                    continue
                if member.name.startswith("_") and member.name not in ("__len__", "__getitem__", "__dlpack__"):
                    continue
                seen.add(member.name)
                marks = [ast.unparse(d) for d in member.decorator_list]
                text = ast.get_docstring(member) or ""
                anchor = f"{node.name}.{member.name}"
                if any(mark.endswith("property") for mark in marks):
                    kind = f": {ast.unparse(member.returns)}" if member.returns else ""
                    said = words(" ".join(text.split()), self.names)
                    properties.append(f'<tr id="{anchor}"><td><code>{html.escape(member.name + kind)}</code></td>'
                                      f"<td>{said}</td></tr>")
                    continue
                static = "staticmethod" in marks
                code = signature(member, member.name, skip_self=not static)
                code = ("@classmethod\n" if "classmethod" in marks else "@staticmethod\n" if static else "") + code
                methods.append(f'<div class="member" id="{anchor}">{code_block(code, "python")}'
                               f"{docstring(text, self.names)}</div>")
        if properties:
            properties.insert(0, '<div class="table members" tabindex="0"><table><tbody>')
            properties.append("</tbody></table></div>")
        return properties + methods
