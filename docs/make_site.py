#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the documentation as a static site that works from disk, without a network.

    make_site.py [OUT]    into OUT (default build/site); exits with 1 if a link leads nowhere

Pages are README, CHANGELOG, CONTRIBUTING and docs/*.md; the C++ reference comes from the public headers and the
Python reference from the sources of the package. Needs markdown-it-py and Pygments; script/docs installs them.
"""
import html
import json
import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PROJECT = DOCS.parent
sys.path[:0] = [str(DOCS / "site"), str(DOCS), str(PROJECT / "tests")]

import check  # noqa: E402
import cpp_pages  # noqa: E402
import house_test  # noqa: E402
import links  # noqa: E402
import python_pages  # noqa: E402
from markup import Page, code_block  # noqa: E402

# What a reader looks for, in the order of the navigation: pages by their Markdown file, with a short name.
NAVIGATION = {
    "Start": {"docs/README.md": "Where to begin", "README.md": "About Cornea", "docs/tutorial.md": "Tutorial"},
    "How-to": {"docs/pair.md": "Two photographs", "docs/folder.md": "A folder of photographs",
               "docs/colmap.md": "COLMAP, step by step", "docs/cluster.md": "Clusters",
               "docs/python.md": "Python", "docs/coming-from.md": "Coming from OpenCV, COLMAP, kornia",
               "docs/evaluate.md": "Comparing detectors", "docs/packaging.md": "Packages and containers",
               "docs/troubleshooting.md": "Troubleshooting"},
    "Reference": {"docs/corners.md": "Corners", "docs/foagdd.md": "FOAGDD", "docs/filters.md": "Filters",
                  "docs/sift.md": "SIFT", "docs/match.md": "Matching", "docs/retrieve.md": "Image retrieval",
                  "docs/fundamental.md": "Fundamental matrix", "docs/essential.md": "Essential matrix, homography",
                  "docs/svd.md": "SVD", "docs/reading.md": "Image files", "docs/scenes.md": "Synthetic scenes"},
    "API": {},
    "Results": {"docs/results.md": "The four experiments"},
    "Project": {"docs/architecture.md": "Architecture", "CONTRIBUTING.md": "Contributing",
                "CHANGELOG.md": "Changelog", "golden/README.md": "Recorded results"},
}
NAMED = {"docs/README.md": "index.html", "README.md": "about.html", "golden/README.md": "golden.html"}
HIGHLIGHTED = {".h": "cpp", ".cc": "cpp", ".cu": "cpp", ".py": "python", ".sh": "sh", ".cmake": "cmake", "": "sh"}


def address_of(page):
    """The file of the site for a Markdown page."""
    return NAMED.get(page) or Path(page).stem.lower() + ".html"


class Site:
    def __init__(self, out):
        self.out = out
        self.pages = {}  # address: (title, body, headings)
        self.sources = {}  # address of a file or folder of the project that a page shows: its path
        self.version = re.search(r"project\([^)]*VERSION\s+([\d.]+)", (PROJECT / "CMakeLists.txt").read_text()).group(1)

    def rewrite(self, page, target):
        """The address on the site that a link of a Markdown page means."""
        if re.match(r"[a-z][a-z0-9+.-]*:|#", target):
            return target
        path, hash_mark, anchor = target.partition("#")
        aim = (PROJECT / page).parent.joinpath(path).resolve()
        if not aim.exists():
            return target  # the check names it
        name = aim.relative_to(PROJECT).as_posix()
        if aim.suffix == ".md" and name in self.markdown:
            return address_of(name) + hash_mark + anchor
        if name.startswith("docs/images/"):
            return name.removeprefix("docs/")
        return self.source(name)

    def source(self, name):
        """The address of a file or folder of the project, which is then part of the site."""
        aim = PROJECT / name
        if aim.is_dir():
            address = f"source/{name}/index.html"
        elif aim.suffix in HIGHLIGHTED:
            address = f"source/{name}.html"
        else:
            address = f"source/{name}"
        self.sources[address] = name
        return address

    def read_markdown(self, names):
        self.markdown = [page.relative_to(PROJECT).as_posix() for page in links.pages(PROJECT)]
        listed = [page for pages in NAVIGATION.values() for page in pages]
        missing = [page for page in listed if page not in self.markdown]
        if missing:
            sys.exit(f"make_site.py: NAVIGATION names pages that are not there: {', '.join(missing)}")
        for name in self.markdown:
            text = (PROJECT / name).read_text(encoding="utf-8")
            page = Page(text, lambda target, name=name: self.rewrite(name, target), names)
            self.pages[address_of(name)] = (page.title, page.html, page.headings)
            if name not in listed:  # a page that nobody has put in its place yet
                NAVIGATION["Project"][name] = page.title

    def read_references(self):
        """The pages of both references; gives the addresses of C++ names from the root of the site."""
        cmake = (PROJECT / "src" / "cornea" / "CMakeLists.txt").read_text(encoding="utf-8")
        found = cpp_pages.headers(PROJECT, house_test.public_headers(cmake)[0])
        names = cpp_pages.names_of(found)
        for header in found:
            page = cpp_pages.HeaderPage(header, {n: "../../" + a for n, a in names.items()})
            body = page.html("../../" + self.source("src/" + header.path))
            self.pages[cpp_pages.page_of(header)] = (header.path, body, page.headings)
        body, headings = cpp_pages.index(found)
        self.pages["api/cpp/index.html"] = ("C++ reference", body, headings)
        for module in python_pages.MODULES:
            page = python_pages.ModulePage(PROJECT, module, {n: "../../" + a for n, a in names.items()})
            body = page.html()
            self.pages[python_pages.page_of(module)] = (module, body, page.headings)
        return names

    def read_sources(self):
        """The files and folders of the project that pages lead to."""
        for address, name in list(self.sources.items()):
            aim = PROJECT / name
            root = "../" * address.count("/")
            if aim.is_dir():
                inside = sorted(one for one in aim.iterdir() if one.is_file())
                for one in inside:
                    self.copy(one, f"source/{name}/{one.name}")
                listed = "\n".join(f'<li><a href="{html.escape(one.name)}">{html.escape(one.name)}</a></li>'
                                   for one in inside)
                body = f"<h1><code>{name}</code></h1>\n<ul class=\"files\">{listed}</ul>"
                self.pages[address] = (name, body, [])
            elif aim.suffix in HIGHLIGHTED:
                names = {n: root + a for n, a in self.names.items()} if aim.suffix in (".h", ".cc", ".cu") else None
                body = f"<h1><code>{name}</code></h1>\n" + code_block(
                    aim.read_text(encoding="utf-8"), HIGHLIGHTED[aim.suffix], names)
                self.pages[address] = (name, body, [])
            else:
                self.copy(aim, address)

    def copy(self, file, address):
        (self.out / address).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, self.out / address)

    def navigation(self, current, root):
        parts = []
        for group, pages in NAVIGATION.items():
            entries = [(address_of(page), name) for page, name in pages.items()]
            if group == "API":
                entries = [("api/cpp/index.html", "C++"), ("api/python/cornea.html", "Python")]
            items = []
            for address, name in entries:
                here = address == current or (group == "API" and current.startswith(str(Path(address).parent) + "/"))
                mark = ' aria-current="page"' if here else ""
                items.append(f'<li><a href="{root}{address}"{mark}>{html.escape(name)}</a></li>')
            parts.append(f"<h2>{group}</h2>\n<ul>{''.join(items)}</ul>")
        return "\n".join(parts)

    def neighbours(self, address, root):
        """Links to the page before and the page after, in the order of the navigation."""
        order = [(address_of(page), name) for pages in NAVIGATION.values() for page, name in pages.items()]
        places = [at for at, (one, _) in enumerate(order) if one == address]
        if not places:
            return ""
        links = []
        for step, word, mark in ((-1, "Previous", "prev"), (1, "Next", "next")):
            at = places[0] + step
            if 0 <= at < len(order):
                links.append(f'<a class="{mark}" rel="{mark}" href="{root}{order[at][0]}"><small>{word}</small> '
                             f"{html.escape(order[at][1])}</a>")
        return f'<footer class="neighbours">{"".join(links)}</footer>'

    def write_page(self, address, title, body, headings):
        root = "../" * address.count("/")
        inner = [h for h in headings if h[0] in (2, 3)]
        if len(inner) > 40:
            inner = [h for h in inner if h[0] == 2]
        contents = "".join(f'<li class="level{level}"><a href="#{anchor}">{html.escape(text)}</a></li>'
                           for level, text, anchor in inner)
        contents = f'<aside class="contents"><h2>On this page</h2><ul>{contents}</ul></aside>' if len(inner) > 1 else ""
        trail = ""
        if address.startswith("api/cpp/") and not address.endswith("index.html"):
            trail = '<p class="trail"><a href="index.html">C++ reference</a></p>'
        elif address.startswith("api/python/") and not address.endswith("/cornea.html"):
            trail = '<p class="trail"><a href="cornea.html">Python reference</a></p>'
        navigation = self.navigation(address, root)
        kind = ' class="start"' if address == "index.html" else ""
        full = title if title == "Cornea" else f"{title} · Cornea"
        text = f"""<!DOCTYPE html>
<html lang="en" data-root="{root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(full)}</title>
<link rel="stylesheet" href="{root}site.css">
</head>
<body>
<a class="skip" href="#main">To the text</a>
<header class="top">
<a class="brand" href="{root}index.html">Cornea <small>{self.version}</small></a>
<div class="search" role="search"><input id="search" type="search" placeholder="Search ( / )" autocomplete="off"
aria-label="Search titles, headings and names"><ul id="found" hidden></ul></div>
</header>
<div class="page">
<nav class="side" aria-label="Pages">{navigation}</nav>
<details class="menu"><summary>Pages</summary><nav aria-label="Pages">{navigation}</nav></details>
<main id="main"{kind}>{trail}
{body}
{self.neighbours(address, root)}
</main>
{contents}
</div>
<script src="{root}index.js"></script>
<script src="{root}search.js"></script>
</body>
</html>
"""
        path = self.out / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write_index(self):
        """Titles, headings and names, for the search."""
        entries = []
        for address, (title, _, headings) in sorted(self.pages.items()):
            if address.startswith("source/"):
                continue
            entries.append((title, "", address))
            where = f"{title} (Python)" if address.startswith("api/python") else title
            entries += [(text, where, f"{address}#{anchor}") for level, text, anchor in headings if level > 1]
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
        (self.out / "index.js").write_text(f"window.corneaIndex = [\n{lines}\n];\n", encoding="utf-8")

    def build(self):
        if self.out.exists():
            if any(self.out.iterdir()) and not (self.out / "index.js").exists():
                sys.exit(f"make_site.py: {self.out} holds something else; give a folder of its own")
            shutil.rmtree(self.out)
        self.out.mkdir(parents=True)
        self.names = self.read_references()
        self.read_markdown(self.names)
        self.read_sources()
        shutil.copytree(DOCS / "images", self.out / "images")
        for name in ("site.css", "search.js"):
            self.copy(DOCS / "site" / name, name)
        for address, (title, body, headings) in self.pages.items():
            self.write_page(address, title, body, headings)
        self.write_index()


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT / "build" / "site"
    dead = list(links.dead_links(PROJECT))
    site = Site(out.resolve())
    site.build()
    dead += check.dead_links(out)
    for sentence in dead:
        print(sentence, file=sys.stderr)
    if dead:
        sys.exit(f"make_site.py: {len(dead)} links lead nowhere")
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{len(site.pages)} pages, {size / 1e6:.1f} MB, all links lead somewhere: {out / 'index.html'}")


if __name__ == "__main__":
    main()
