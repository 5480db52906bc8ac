# SPDX-License-Identifier: Apache-2.0
"""Text to HTML: Markdown pages, code with colours and links, and the prose of comments."""
import html
import re
import sys
from pathlib import Path

from markdown_it import MarkdownIt
from pygments.lexers import get_lexer_by_name
from pygments.token import Token
from pygments.util import ClassNotFound

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from links import slug  # noqa: E402

# The stylesheet knows these; all other tokens are plain text.
CLASSES = [(Token.Comment.Preproc, "p"), (Token.Comment, "c"), (Token.Keyword, "k"), (Token.String, "s"),
           (Token.Number, "m"), (Token.Generic.Prompt, "g"), (Token.Generic.Output, "o"), (Token.Name.Builtin, "b")]
# In commands numbers and builtins are words like others.
SHELLS, SHELL_CLASSES = ("sh", "bash", "console"), ("c", "s", "g", "o")


def token_class(kind):
    for parent, name in CLASSES:
        if kind in parent:
            return name
    return ""


def highlight(code, language, links=None):
    """Code as HTML. `links` has the address of each name that should be one, by the name."""
    try:
        lexer = get_lexer_by_name(language or "text", stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False, ensurenl=False)
    out, last = [], ""
    for kind, text in lexer.get_tokens(code.rstrip("\n") + "\n"):
        name = token_class(kind)
        if not text.strip() or (language in SHELLS and name not in SHELL_CLASSES):
            name = last if not text.strip() and "\n" not in text else ""
        escaped = html.escape(text, quote=False)
        if links and kind in Token.Name and text in links:
            escaped = f'<a href="{links[text]}">{escaped}</a>'
        if name != last:
            out.append(("</span>" if last else "") + (f'<span class="{name}">' if name else ""))
        out.append(escaped)
        last = name
    return ("".join(out) + ("</span>" if last else "")).rstrip("\n")


def code_block(code, language, links=None):
    kind = "code text" if language == "text" else "code"
    return f'<pre class="{kind}" tabindex="0"><code>{highlight(code, language, links)}</code></pre>\n'


def code_inline(code):
    """Short code stays on one line; long code may break after punctuation."""
    escaped = html.escape(code, quote=False)
    if len(code) <= 22:
        return f'<code class="short">{escaped}</code>'
    return "<code>" + re.sub(r"([_./(,]|::)(?=[A-Za-z0-9])", r"\1<wbr>", escaped) + "</code>"


class Page:
    """A Markdown page as HTML, with its title, its headings and the links that were rewritten."""

    def __init__(self, text, rewrite, names=None):
        """rewrite(target) gives the address on the site; names: addresses of C++ names."""
        self.headings, seen = [], {}
        markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
        tokens = markdown.parse(text)
        for at, token in enumerate(tokens):
            if token.type == "heading_open":
                inline = tokens[at + 1]
                name = slug(inline.content)
                count = seen.get(name, 0)
                seen[name] = count + 1
                anchor = f"{name}-{count}" if count else name
                token.attrSet("id", anchor)
                self.headings.append((int(token.tag[1]), self.plain(inline), anchor))
            for child in token.children or []:
                for attribute in ("href", "src"):
                    if attribute in child.attrs:
                        child.attrSet(attribute, rewrite(str(child.attrs[attribute])))
                if child.type == "image":
                    child.attrSet("loading", "lazy")
        markdown.add_render_rule("fence", lambda _, tokens, at, *rest: code_block(
            tokens[at].content, tokens[at].info.strip().split(" ")[0],
            names if tokens[at].info.strip() == "cpp" else None))
        markdown.add_render_rule("code_inline", lambda _, tokens, at, *rest: code_inline(tokens[at].content))
        body = markdown.renderer.render(tokens, markdown.options, {})
        body = body.replace("<table>", '<div class="table" tabindex="0"><table>').replace("</table>", "</table></div>")
        # A heading can be linked to from itself.
        body = re.sub(r'<h([2-6]) id="([^"]+)">(.*?)</h\1>',
                      r'<h\1 id="\2">\3<a class="anchor" href="#\2" aria-label="Link to this section">#</a></h\1>',
                      body, flags=re.S)
        self.html = re.sub(r"<!--.*?-->", "", body, flags=re.S)
        self.title = next((text for level, text, _ in self.headings if level == 1), "Cornea")

    @staticmethod
    def plain(inline):
        return "".join(child.content for child in inline.children or [] if child.type in ("text", "code_inline"))


def words(text, names):
    """A line of prose as HTML: `code`, and names of the library as links."""
    out = []
    for part in re.split(r"(`[^`]+`)", text):
        quoted = part.startswith("`") and part.endswith("`") and len(part) > 2
        escaped = html.escape(part[1:-1] if quoted else part, quote=False)

        def link(found):
            name = found.group(1)
            return f'<a href="{names[name]}">{found.group()}</a>' if name in names else found.group()

        if quoted:
            out.append(f"<code>{re.sub(r'(?<![.:])([A-Za-z_][A-Za-z0-9_]*)', link, escaped)}</code>")
        else:
            # Only what cannot be an English word: SiftOptions, detect(), Place::device.
            out.append(re.sub(r"(?<![\w./:&])([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z][a-z0-9_]*(?=\(\))|"
                              r"[A-Z][A-Za-z]+(?=::))(?:\(\)|\b)", link, escaped))
    return "".join(out)


def prose(comment, names):
    """A comment as HTML: paragraphs, numbered and named items, and what is indented as it stands."""
    out = []
    for block in re.split(r"\n\s*\n", comment.strip("\n")):
        out += block_html(block.split("\n"), names)
    return "\n".join(out)


def paragraphs(lines, names):
    """Lines of prose; one that ends a sentence well before the margin ends a paragraph."""
    out, said = [], []
    for line in lines:
        said.append(line.strip())
        if line.rstrip().endswith(".") and len(line) < 64 and line is not lines[-1]:
            out.append(said)
            said = []
    return [f"<p>{words(' '.join(one), names)}</p>" for one in out + ([said] if said else [])]


def block_html(lines, names):
    """The lines of one paragraph, in which indented lines may stand for a list or for a formula."""
    out, at = [], 0
    while at < len(lines):
        indented = lines[at].startswith("  ")
        end = at
        while end < len(lines) and lines[end].startswith("  ") == indented:
            end += 1
        part, at = lines[at:end], end
        if not indented:
            out += paragraphs(part, names)
            continue
        step = min(len(line) - len(line.lstrip()) for line in part)
        part = [line[step:] for line in part]
        numbered = re.match(r"(\d+)\.\s+", part[0])
        if numbered:
            items = re.split(r"\n(?=\d+\.\s)", "\n".join(part))
            out.append(f'<ol start="{numbered.group(1)}">')
            for item in items:
                item = re.sub(r"^\d+\.\s+", "", item)
                out.append(f"<li>{words(' '.join(line.strip() for line in item.split(chr(10))), names)}</li>")
            out.append("</ol>")
        elif re.match(r"[a-z_]+(?:: \S+| \([A-Z])", part[0]) and len(part) > 1 and "  " not in "\n".join(part):
            # Named items: "affine_shape: ..." each begins a paragraph.
            for item in re.split(r"\n(?=[a-z_]{4,}(?:: | \([A-Z]))", "\n".join(part)):
                out += paragraphs(item.split("\n"), names)
        else:
            out.append("<pre>" + html.escape("\n".join(part), quote=False) + "</pre>")
    return out
