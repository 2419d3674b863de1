# SPDX-License-Identifier: Apache-2.0
"""Extracts the English of the project: comments, docstrings, Markdown, messages, help texts and
test names.

`extract(name, text)` yields one Passage for each paragraph. The language of a file follows from its
name or its `#!` line.
"""

import ast
import dataclasses
import io
import pathlib
import re
import tokenize

COMMENT, MARKDOWN, MESSAGE, TEST_NAME = "comment", "markdown", "message", "test name"
MESSAGE_WORDS = 4  # a string literal with fewer words is a name or a key, not a message
MESSAGE_SHARE = 0.6  # of the tokens of a message must be plain words, or the literal is code


@dataclasses.dataclass(frozen=True)
class Passage:
    """One paragraph, with the line on which it begins. `measured` is False for tables and
    examples, which have no sentences.
    """

    path: str
    line: int
    kind: str
    text: str
    measured: bool = True
    opens: bool = False  # True for the first paragraph of a comment


WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*|\d[\d.,]*")


def words(text):
    return len(WORD.findall(text))


# --- paragraphs -----------------------------------------------------------------------------------

ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)]|[A-Z]\d[:.])\s+")
TABLE = re.compile(r"^\s*\||\S {3,}\S|^\s*[-=+|]{3,}\s*$")


def paragraphs(path, kind, lines):
    """Splits numbered lines of prose at blank lines, list items and headings; keeps tables and
    indented examples apart.
    """
    collected, start, first = [], 0, True

    def flush(measured=True):
        nonlocal first
        text = "\n".join(collected)
        collected.clear()
        if words(text):
            yield Passage(path, start, kind, text, measured, first)
            first = False

    inside_item = False
    for number, line in lines:
        if not line.strip():
            yield from flush()
            inside_item = False
            continue
        heading = kind == MARKDOWN and line.startswith("#")
        if (
            TABLE.search(line)
            or heading
            or (re.match(r" {4,}\S", line) and not inside_item and not collected)
        ):
            yield from flush()
            start = number
            collected.append(line.lstrip("#") if heading else line)
            yield from flush(measured=False)
            continue
        if ITEM.match(line):
            yield from flush()
            inside_item = True
        if not collected:
            start = number
        collected.append(line)
    yield from flush()


# --- languages with a lexer made of one regular expression ----------------------------------------

DOUBLE = r'"(?:\\.|[^"\\\n])*"'
SINGLE = r"'(?:\\.|[^'\\\n])*'"
CHARACTER = r"'(?:\\[^\n']{1,8}|\\'|[^'\\\n])'"
SLASHES = r"(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)"
RAW = r'(?P<raw>R"(?P<d>[^(\s]*)\(.*?\)(?P=d)")'


def lexer(*alternatives):
    return re.compile("|".join(alternatives), re.DOTALL)


C_LIKE = lexer(RAW, SLASHES, f"(?P<string>{DOUBLE})", f"(?<![0-9A-Fa-f]){CHARACTER}")
QUOTED = lexer(SLASHES, f"(?P<string>{DOUBLE}|{SINGLE}|`[^`]*`)")
HASH = lexer(r"(?P<line>(?:(?<=\s)|^)#[^\n]*)", f"(?P<string>{DOUBLE})")
TOML = lexer(r"(?P<line>#[^\n]*)", rf'(?P<string>""".*?"""|\'\'\'.*?\'\'\'|{DOUBLE}|{SINGLE})')
CMAKE = lexer(r"(?P<line>#[^\n]*)", r'(?P<string>"(?:\\.|[^"\\])*")')
SHELL = lexer(
    r"<<-?\s*['\"]?(?P<tag>\w+)['\"]?[^\n]*\n(?P<here>.*?)\n\s*(?P=tag)\b",
    r"\$#|\$\{#[^}]*\}|\\.",
    r"(?P<line>(?:(?<=[\s;])|^)#[^\n]*)",
    r'(?P<string>"(?:\\.|[^"\\])*"|' r"'[^']*')",
)
HASKELL = lexer(r"(?P<line>--[^\n]*)|(?P<block>\{-.*?-\})", f"(?P<string>{DOUBLE})", CHARACTER)
ERLANG = lexer(r"(?P<line>%[^\n]*)", f"(?P<string>{DOUBLE})", SINGLE, r"\$.")
JSON = lexer(f"(?P<string>{DOUBLE})")
MARKUP = lexer(r"(?P<block><!--.*?-->)")

SUFFIXES = {
    **dict.fromkeys(
        (
            ".cpp",
            ".hpp",
            ".h",
            ".cfa",
            ".hfa",
            ".rs",
            ".java",
            ".cs",
            ".pml",
            ".S",
            ".map",
            ".css",
            ".in",
        ),
        C_LIKE,
    ),
    **dict.fromkeys((".go", ".js", ".mjs"), QUOTED),
    **dict.fromkeys(
        (".yml", ".yaml", ".ini", ".txt", ".cfg", ".editorconfig", ".clang-format", ".clang-tidy"),
        HASH,
    ),
    ".toml": TOML,
    ".cmake": CMAKE,
    ".sh": SHELL,
    ".hs": HASKELL,
    ".erl": ERLANG,
    ".json": JSON,
    ".html": MARKUP,
}
NAMES = {
    "CMakeLists.txt": CMAKE,
    "Makefile": HASH,
    ".clang-format": HASH,
    ".clang-tidy": HASH,
    ".editorconfig": HASH,
    "LICENSE": None,
}
FENCES = {
    "cpp": C_LIKE,
    "c++": C_LIKE,
    "c": C_LIKE,
    "rust": C_LIKE,
    "java": C_LIKE,
    "go": QUOTED,
    "js": QUOTED,
    "toml": TOML,
    "sh": SHELL,
    "bash": SHELL,
    "console": SHELL,
    "cmake": CMAKE,
    "python": HASH,
}


def is_message(text):
    """True if a literal reads as English: four words or more, and few tokens that are not words."""
    text = re.sub(r"%[-\d.]*[a-z]+|\{[^}]*\}|\$\w+|\\[nt]", " ", text)
    tokens = text.split()
    plain = [
        token
        for token in tokens
        if re.fullmatch(r"[(\"'`*]?[A-Za-z][A-Za-z'’-]*[)\"'`*,.;:!?]*", token)
    ]
    return len(plain) >= MESSAGE_WORDS and len(plain) >= MESSAGE_SHARE * len(tokens)


def messages(path, line, text):
    if is_message(text):
        text = text.replace("\\n", "\n" if "\n" not in text else " ").replace('\\"', '"')
        yield from (
            dataclasses.replace(passage, opens=False)
            for passage in paragraphs(path, MESSAGE, numbered(text, line, text.count("\n") > 1))
        )


def numbered(text, line, several=True):
    """(line number, text) of each line; all with the same number where the lines are no lines of
    the file.
    """
    return [
        (line + index if several else line, part) for index, part in enumerate(text.split("\n"))
    ]


def strip_block(text):
    """The lines of a block comment without its marks."""
    inner = re.sub(r"^(/\*+|\{-|<!--)|(\*+/|-\}|-->)$", "", text)
    return [re.sub(r"^\s*\*(?: |$)", "", part) for part in inner.split("\n")]


LINE_MARK = re.compile(r"^(//[/!<]*|#+!?|--+|%+) ?")


def lexed(path, text, pattern, offset=0):
    """Yields the passages of a text in a language that one regular expression can split."""
    pending, last_line, last_end = [], -2, 0  # consecutive comment lines
    literal, literal_line, literal_end = "", 0, -1  # adjacent string literals

    def flush_literal():
        nonlocal literal
        if literal:
            yield from messages(path, literal_line, literal)
        literal = ""

    def flush_comment():
        if pending:
            yield from paragraphs(path, COMMENT, list(pending))
            pending.clear()

    position, line = 0, 1 + offset
    for found in pattern.finditer(text):
        line += text.count("\n", position, found.start())
        position = found.start()
        groups = found.groupdict()
        string = groups.get("string") or groups.get("raw")
        if groups.get("line"):
            alone = not text[text.rfind("\n", 0, position) + 1 : position].strip()
            if not (alone and line == last_line + 1 and text[last_end:position].strip() == ""):
                yield from flush_comment()
            if not re.match(
                r"//\s*SPDX|#\s*SPDX|#!|//\s*(NOLINT|clang-format)|#\s*(noqa|shellcheck|type:)",
                groups["line"],
            ):
                pending.append((line, LINE_MARK.sub("", groups["line"])))
            last_line, last_end = line, found.end()
        elif groups.get("block"):
            yield from flush_comment()
            yield from paragraphs(
                path,
                COMMENT,
                [(line + i, part) for i, part in enumerate(strip_block(groups["block"]))],
            )
        elif groups.get("here"):
            first = line + text.count("\n", position, found.start("here"))
            yield from paragraphs(path, MESSAGE, numbered(groups["here"], first))
        elif string:
            if text[literal_end:position].strip() or not literal:
                yield from flush_literal()
                literal_line = line
            literal += (
                re.sub(r'^R"[^(]*\(|\)[^)"]*"$', "", string)
                if groups.get("raw")
                else string.strip("\"'`")
            )
            literal_end = found.end()
    yield from flush_comment()
    yield from flush_literal()


# --- languages with a reader of their own ---------------------------------------------------------


def python(path, text):
    try:
        tree = ast.parse(text)
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, tokenize.TokenError):
        return
    pending = []
    for token in tokens:
        if token.type == tokenize.COMMENT:
            line = token.start[0]
            if re.match(r"#!|#\s*(SPDX|noqa|type:)", token.string):
                continue
            alone = not token.line[: token.start[1]].strip()
            if pending and not (alone and line == pending[-1][0] + 1):
                yield from paragraphs(path, COMMENT, pending)
                pending = []
            pending.append((line, LINE_MARK.sub("", token.string)))
    yield from paragraphs(path, COMMENT, pending)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield Passage(
                    path, node.lineno, TEST_NAME, split_name(node.name[5:]), measured=False
                )
            if (
                node.body
                and isinstance(node.body[0], ast.Expr)
                and isinstance(node.body[0].value, ast.Constant)
            ):
                docstrings.add(node.body[0].value)
                value = node.body[0].value
                if isinstance(value.value, str):
                    lines = value.value.split("\n")
                    indent = min(
                        (len(part) - len(part.lstrip()) for part in lines[1:] if part.strip()),
                        default=0,
                    )
                    yield from paragraphs(
                        path,
                        COMMENT,
                        [
                            (value.lineno + i, part[indent:] if i else part)
                            for i, part in enumerate(lines)
                        ],
                    )
    inside = {
        part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            whole = "".join(
                part.value if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
            yield from messages(path, node.lineno, whole)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in docstrings | inside
        ):
            yield from messages(path, node.lineno, node.value)


FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+-]*)")


def markdown(path, text):
    prose, block, fence, language, start = [], [], None, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence) and not mark.group(2):
                if (
                    language in FENCES
                ):  # the comments of an example are read, but its sentences are not measured
                    for passage in lexed(path, "\n".join(block), FENCES[language], start):
                        yield dataclasses.replace(passage, measured=False)
                fence = None
            else:
                block.append(line)
        elif mark:
            yield from paragraphs(path, MARKDOWN, prose)
            prose, block, fence, language, start = [], [], mark.group(1), mark.group(2), number
        else:
            prose.append((number, re.sub(r"<!--.*?-->", "", line)))
    yield from paragraphs(path, MARKDOWN, prose)


# --- test names -----------------------------------------------------------------------------------

TEST_MACRO = re.compile(
    r"^[ \t]*(?:(?:TYPED_)?TEST(?:_F|_P)?|SIM_\w+)\(\s*(\w+)\s*,\s*(\w+)", re.MULTILINE
)


def split_name(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()


def test_names(path, text):
    for found in TEST_MACRO.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Passage(
            path, line, TEST_NAME, split_name(f"{found.group(1)} {found.group(2)}"), measured=False
        )


# --- one file -------------------------------------------------------------------------------------


def language_of(name, text):
    """A lexer, or one of the functions python and markdown, or None for a file without prose."""
    path = pathlib.PurePosixPath(name)
    if path.name in NAMES:
        return NAMES[path.name]
    if path.suffix == ".py" or re.match(r"#!.*python", text):
        return python
    if path.suffix == ".md":
        return markdown
    if re.match(r"#!.*sh\b", text):
        return SHELL
    return SUFFIXES.get(path.suffix) or (HASH if not path.suffix else None)


def extract(name, text):
    language = language_of(name, text)
    if language is None:
        return
    if language in (python, markdown):
        yield from language(name, text)
        return
    yield from lexed(name, text, language)
    if language is C_LIKE:
        yield from test_names(name, text)
