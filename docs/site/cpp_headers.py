# SPDX-License-Identifier: Apache-2.0
"""Reads a public C++ header of Cornea: its opening comment, and what it declares with the comments there.

This is no C++ parser. It knows the layout that clang-format and the project's habits give the public headers: a
comment stands before what it describes or behind it on the same line, and declarations that follow each other
without a blank line share the comment before the first of them.
"""
import re
from dataclasses import dataclass, field

MACROS = re.compile(r"\b(?:CORNEA_API|CORNEA_HD)\s+")
TYPE = re.compile(r"(?:template\s*<.*?>\s*)?(class|struct|union|enum class|enum)\s+(?:\w+\s+)??(\w+)(?:<[^{;]*>)?\s*"
                  r"(?:final\s*)?(:(?!:)[^{]*)?\{", re.S)
SPECIALISATION = re.compile(r"template\s*<[^{;]*>\s*(?:class|struct)\s+(?:\w+\s+)??\w+<[^{;]*\{")
ACCESS = re.compile(r"(public|protected|private)\s*:(?!:)")
NAMESPACE = re.compile(r"namespace(?:\s+([\w:]+))?\s*\{")
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|(?<!\w)\'(?:\\.|[^\'\\])\'|//[^\n]*|/\*.*?\*/', re.S)


@dataclass
class Declaration:
    kind: str  # type, enum, enumerator, function, data, alias
    name: str
    code: str  # as a reader should see it
    comment: str = ""
    word: str = ""  # of a type: class, struct, enum class
    groups: list = field(default_factory=list)  # of a type: its public members


@dataclass
class Group:
    """Declarations that one comment is about; without declarations a remark between them."""

    comment: str
    declarations: list = field(default_factory=list)


@dataclass
class Header:
    path: str  # "cornea/describe/sift/sift.h"
    comment: str
    namespace: str
    groups: list

    def declarations(self):
        return [one for group in self.groups for one in group.declarations]


def comment_text(lines):
    """The text of // lines, without the slashes and the one space after them."""
    lines = [re.sub(r"^\s*// ?", "", line) for line in lines]
    return "\n".join(line for line in lines if not re.match(r"NOLINT|clang-format", line))


def end_of_declaration(text, start):
    """Just behind the `;` or the closing brace that ends what begins at `start`."""
    depth, at = 0, start
    while at < len(text):
        literal = LITERAL.match(text, at)
        if literal:
            at = literal.end()
            continue
        c = text[at]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        at += 1
        if depth == 0 and c == ";":
            return at
        if depth == 0 and c == "}":
            following = re.match(r"\s*(.?)", text[at:], re.S)
            if following.group(1) == ";":
                return at + following.end()
            if following.group(1) not in (",", "{"):  # no initialiser: the body of a function
                return at
    return at


def pieces(text):
    """What stands in a scope, in order: ("blank",), ("access", word), ("comment", text), ("trailing", text),
    ("namespace", name, body) and ("code", text)."""
    at, trailing_column = 0, None
    while at < len(text):
        space = re.match(r"\s+", text[at:])
        if space:
            if space.group().count("\n") > 1:
                yield ("blank",)
                trailing_column = None
            at += space.end()
            continue
        line_start = text.rfind("\n", 0, at) + 1
        before, column = text[line_start:at], at - line_start
        if text.startswith("//", at):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            behind = before.strip() != "" or column == trailing_column
            trailing_column = column if behind else None
            yield ("trailing" if behind else "comment", comment_text([text[at:end]]))
            at = end
        elif text[at] == "#":
            end = re.compile(r"(?:[^\n]*\\\n)*[^\n]*").match(text, at).end()
            at = end
        elif ACCESS.match(text, at):
            found = ACCESS.match(text, at)
            yield ("access", found.group(1))
            at = found.end()
        elif NAMESPACE.match(text, at):
            found = NAMESPACE.match(text, at)
            depth, end = 1, found.end()
            while depth and end < len(text):
                literal = LITERAL.match(text, end)
                if literal:
                    end = literal.end()
                    continue
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            yield ("namespace", found.group(1) or "", text[found.end():end - 1])
            comment = re.compile(r"[ \t]*//[^\n]*").match(text, end)
            at = comment.end() if comment else end
        elif text[at] == ";":
            at += 1
        else:
            end = end_of_declaration(text, at)
            yield ("code", text[at:end])
            at = end


def without_templates(code):
    """Code without what stands between < and >, so that its parentheses are those of functions."""
    code = re.sub(r"operator\s*(<=>|<<|>>|<=|>=|<|>)", "operator_", code)
    while True:
        shorter = re.sub(r"<[^<>]*>", "", code)
        if shorter == code:
            return code
        code = shorter


def one_line(code):
    return re.sub(r"\s+", " ", LITERAL.sub(lambda m: "" if m.group().startswith("/") else m.group(), code)).strip()


def signature(code):
    """A function's declaration without its body, initialisers and the project's macros, broken to fit a page."""
    code = one_line(code)
    depth, seen, at = 0, False, 0
    for at, c in enumerate(code):
        if c in "([":
            depth += 1
            seen = True
        elif c in ")]":
            depth -= 1
        elif depth == 0 and seen and (c in "{;" or (c == ":" and ":" not in (code[at - 1], code[at + 1:at + 2]))):
            break
    else:
        at = len(code)
    return wrapped(MACROS.sub("", code[:at]).strip() + ";")


def wrapped(code, width=92):
    """One line, or after the opening parenthesis as many parameters per line as fit."""
    if len(code) <= width or "(" not in code:
        return code
    opening = code.index("(")
    depth, parts, start = 0, [], opening + 1
    for at in range(opening, len(code)):
        c = code[at]
        depth += {"(": 1, ")": -1, "<": 1, ">": -1, "{": 1, "}": -1}.get(c, 0)
        if (c == "," and depth == 1) or depth == 0:
            parts.append(code[start:at + (c == ",")].strip())
            start = at + 1
            if depth == 0:
                break
    lines, line = [], ""
    for part in parts:
        if line and len(line) + len(part) + 5 > width:
            lines.append(line)
            line = ""
        line = f"{line} {part}".strip()
    return code[:opening + 1] + "\n    " + "\n    ".join(lines + [line]) + code[at:]


def type_of(code):
    found = TYPE.match(code)
    return found if found and "(" not in without_templates(code[:found.end()]).split(":")[0] else None


def head_of(code):
    """What stands before a type's body, without qualified names."""
    return code.split("{")[0].replace("::", "")


def enumerators(body):
    """Of an enum's body, with the comments before and behind them."""
    found, before = [], []
    # An enumerator's comment stands behind its comma: the comma is moved there.
    for line in re.sub(r",(\s*//[^\n]*)?[ \t]*(?=\n|\S|$)", lambda m: (m.group(1) or "") + "\n", body).split("\n"):
        code, slashes, comment = line.partition("//")
        code, comment = code.strip(), comment.strip()
        if code:
            found.append(Declaration("enumerator", re.match(r"\w+", code).group(), code,
                                     "\n".join(before + ([comment] if comment else []))))
            before = []
        elif slashes and found and line.index("//") > 8:
            found[-1].comment += "\n" + comment
        elif slashes:
            before.append(comment)
    return found


def is_special(code, owner):
    """Destructors, copies and moves, which say nothing to a reader; and what is defaulted or deleted."""
    line = one_line(code)
    copies = rf"(?:{owner}&? (?:operator=)?|{owner})\(\s*(?:const )?{owner}\s*&&?\s*\w*\)"
    return bool(re.search(r"=\s*(?:default|delete)\s*;?$", line) or line.startswith("~") or "virtual ~" in line or
                (owner and re.match(copies, line)))


def declaration(code, owner):
    """What a piece of code declares; None where that is nothing for a reader."""
    bare = without_templates(one_line(code))
    kind = type_of(code)
    if SPECIALISATION.match(code) and ":" not in head_of(code):
        return None  # a specialisation says nothing that the template does not
    if kind:
        body = code[kind.end():code.rindex("}")]
        word, name = kind.group(1), kind.group(2)
        head = MACROS.sub("", one_line(code[:kind.end() - 1]))
        if word.startswith("enum"):
            return Declaration("enum", name, head, word=word, groups=[Group("", enumerators(body))])
        return Declaration("type", name, head, word=word, groups=groups_of(body, name, word != "class"))
    if re.match(r"(?:template )?(?:class|struct|union|enum(?: class)?) \w+;$", bare) or "friend " in bare:
        return None
    if bare.startswith("static_assert") or is_special(code, owner):
        return None
    alias = re.match(r"(?:template\s*)?using (\w+)", bare)
    if alias:
        return Declaration("alias", alias.group(1), one_line(code))
    if "(" in re.split(r"=(?!=)|\{", re.sub(r"operator\s*[^\w\s(]+", "operator_", bare))[0]:
        called = re.sub(r"\b(?:decltype|requires)\s*\((?:[^()]|\([^()]*\))*\)", "", bare)
        name = re.search(r"(operator\s*(?:\(\)|[^\w\s(]+)|[\w:~]+)\s*\(", called)
        if not name or "::" in name.group(1).replace("std::", ""):
            return None  # a member, defined further below
        return Declaration("function", name.group(1), signature(code))
    name = re.search(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:=|\{|;|,)", bare)
    return Declaration("data", name.group(1) if name else "", MACROS.sub("", one_line(code)).rstrip(";"))


def groups_of(text, owner="", shown=True):
    """The declarations of a scope that readers may see, as groups; owner: the type whose scope it is."""
    groups, comment, fresh = [], [], True

    def remark():
        if comment and shown:
            groups.append(Group("\n".join(comment)))

    for piece in pieces(text):
        if piece[0] == "blank":
            remark()
            comment, fresh = [], True
        elif piece[0] == "access":
            shown, comment, fresh = piece[1] == "public", [], True
        elif piece[0] == "comment":
            comment.append(piece[1])
            fresh = True
        elif piece[0] == "trailing":
            if shown and groups and groups[-1].declarations:
                last = groups[-1].declarations[-1]
                last.comment = f"{last.comment}\n{piece[1]}".strip("\n")
        elif piece[0] == "code" and shown:
            made = declaration(piece[1], owner)
            if made:
                types = ("type", "enum")
                if fresh or made.kind in types or groups[-1].declarations[-1].kind in types:
                    if not fresh and made.kind in types and groups[-1].declarations[-1].kind == "data":
                        # A constant before the type that it serves: the comment is about the type.
                        comment, groups[-1].comment = [groups[-1].comment], ""
                    groups.append(Group("\n".join(comment)))
                groups[-1].declarations.append(made)
                comment, fresh = [], False
    remark()
    return groups


def read_header(text, path):
    """The Header of a file's text."""
    opening = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        opening.append(line)
    body = "\n".join(text.split("\n")[len(opening):])
    namespace, groups = "cornea", []
    for piece in pieces(body):
        if piece[0] == "namespace" and piece[1].split("::")[0] == "cornea":
            namespace = max(namespace, piece[1], key=len)
            groups += groups_of(piece[2])
    return Header(path, comment_text(opening), namespace, groups)
