"""Sorts source files into groups that may be compiled as one: prints a line "GROUP FILE" for each that has a group.

unity_groups.py ROOT SIZE FILE..

A group has at most SIZE files. None has a name that another one keeps to itself in an anonymous
namespace: neither in its own text and that of the headers that it includes from ROOT, nor among what the headers define that
those include. Such names may be the same in many files, as in the members of a table (collectives/algorithms), and
do not count in a file whose code is in a namespace of its name, as that of every test is.
None has a constant inside a function that hides one of a header that another includes: -Wshadow would refuse it.
None names a constant that a header of another defines anew: in a namespace further in, that one would count.
Coroutines have no group: g++ 12 takes two coroutines of one name for the same one."""

import functools
import pathlib
import re
import sys

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# Alone, or on one line with the namespace around it.
ANONYMOUS = re.compile(r"^(?:namespace \w+(?:::\w+)* \{ )?namespace \{$(.*?)^\}{1,2}  // namespace(?: [\w:]+)?$", re.DOTALL | re.MULTILINE)
# What begins at the left margin, as clang-format leaves it, up to where a definition's name has ended.
# An alias of a namespace and what it takes from one may stand there twice.
DEFINITION = re.compile(r"^(?!namespace |using namespace |static_assert)(?:template <.*>\n)?\w[^\n;(){}=\[\]]*", re.MULTILINE)
# Of a type, what stands before its bases; of anything else, the last word.
NAME_OF_DEFINITION = re.compile(r"(?:\b(?:class|struct|union|enum|enum class) (\w+)(?: final)?\s*(?::.*)?|(\w+)\s*)$", re.DOTALL)
CONSTANTS = re.compile(r"^constexpr [^;]*;", re.MULTILINE)
CONSTANTS_OF_FUNCTIONS = re.compile(r"^ +(?:static )?constexpr [^;]*?;", re.MULTILINE)
NAME_OF_CONSTANT = re.compile(r"\b(k[A-Z]\w*)(?: = |\{)")
FURTHER_CONSTANT = re.compile(r",\s*(k[A-Z]\w*) = ")
# Members are looked up in their classes.
MENTION = re.compile(r"(?<![\w.>:])[A-Za-z_]\w*|(?<=[^-]>)[A-Za-z_]\w*|(?<=[^:]:)[A-Za-z_]\w*")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
COROUTINE = re.compile(r"\bco_(await|return|yield)\b")


def code_of(text):
    return COMMENT_OR_TEXT.sub(" ", text)


def defined_in(code):
    """Names of functions, constants and types that are defined at the left margin."""
    found = {name.group(1) or name.group(2) for definition in DEFINITION.findall(code)
             if (name := NAME_OF_DEFINITION.search(definition))}
    return found.union(*(FURTHER_CONSTANT.findall(line) for line in CONSTANTS.findall(code)))


@functools.cache
def text_of_header(path):
    return path.read_text() if path.exists() else ""


@functools.cache
def defined_by_header(root, name):
    """With what the headers define that it includes."""
    text = text_of_header(root / name)
    return frozenset(defined_in(code_of(text))).union(*(defined_by_header(root, other) for other in INCLUDE.findall(text)))


@functools.cache
def constants_by_header(root, name):
    """Pairs of a constant and the header that defines it, with those of the headers that it includes."""
    text = text_of_header(root / name)
    own = frozenset((constant, name) for constant in defined_in(code_of(text)) if constant[:1] == "k" and constant[1:2].isupper())
    return own.union(*(constants_by_header(root, other) for other in INCLUDE.findall(text)))


@functools.cache
def mentions_of_header(root, name):
    return frozenset(MENTION.findall(code_of(text_of_header(root / name)))) | defined_by_header(root, name)


class Source:
    def __init__(self, root, path):
        whole = pathlib.Path(path).read_text()
        text = code_of(whole)
        self.path = path
        self.is_coroutine = COROUTINE.search(text) is not None
        headers = INCLUDE.findall(whole)
        self.in_functions = {name for line in CONSTANTS_OF_FUNCTIONS.findall(text) for name in NAME_OF_CONSTANT.findall(line)}
        self.from_headers = set().union(*(defined_by_header(root, h) for h in headers))
        self.constants = set().union(*(constants_by_header(root, h) for h in headers))
        self.mentions = set(MENTION.findall(text)).union(*(mentions_of_header(root, h) for h in headers))
        self.own = set(re.findall(r"^#define (\w+)", text, re.MULTILINE))
        of_its_name = re.search(rf"^namespace (?:\w+::)+{pathlib.Path(path).stem} \{{", whole, re.MULTILINE)
        for block in ANONYMOUS.findall(whole[:of_its_name.start()] if of_its_name else whole):
            self.own |= defined_in(code_of(block))

    def can_join(self, other):
        return not (self.own & other.mentions or other.own & self.mentions or
                    self.in_functions & other.from_headers or other.in_functions & self.from_headers or
                    self.is_confused_by(other) or other.is_confused_by(self))

    def is_confused_by(self, other):
        known = {name for name, _ in self.constants} & self.mentions
        return any(name in known for name, _ in other.constants - self.constants)


def main():
    root, size = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    sources = [source for path in sys.argv[3:] if not (source := Source(root, path)).is_coroutine]
    apart = {source: [other for other in sources if other is not source and not source.can_join(other)] for source in sources}
    groups = []
    # First those that few others can join: they would be left alone at the end.
    for source in sorted(sources, key=lambda source: -len(apart[source])):
        for group in groups:
            if len(group) < size and not any(other in apart[source] for other in group):
                group.append(source)
                break
        else:
            groups.append([source])
    for number, group in enumerate(groups):
        for source in group:
            print(number, source.path)


if __name__ == "__main__":
    main()
