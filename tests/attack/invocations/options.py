"""What a verb takes, read from its --help, so that a new option is attacked from the day it is there."""

import dataclasses
import json
import os
import re
import subprocess

OPTION = re.compile(r"^  (?:(-\w)(?:,|  | )|)(--[\w-]+|)(?:\{\w+\})?(.*?)(?:  .*)?$")


@dataclasses.dataclass
class Option:
    names: list
    kind: str = ""  # its metavariable, empty for a flag
    choices: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Verb:
    words: list
    options: list = dataclasses.field(default_factory=list)
    positionals: list = dataclasses.field(default_factory=list)


def output_of(*arguments):
    return subprocess.run([os.environ["C3SIM"], *arguments], capture_output=True, text=True, check=True).stdout


def choices_of(text):
    found = re.search(r"\{([^}]*)\}", text)
    return found.group(1).split(",") if found else []


def sections_of(text):
    """Lines of the help text below each heading, such as `Options:`."""
    sections, name = {}, ""
    for line in text.splitlines():
        heading = re.match(r"^(\w[\w ]*):$", line)
        if heading:
            name = heading.group(1)
        elif re.match(r"^  \S", line):
            sections.setdefault(name, []).append(line)
    return sections


def option_of(line):
    head = re.split(r"\s{2,}", line.strip(), maxsplit=1)[0]
    words = head.split(" ", 1)
    names = [re.sub(r"\{.*", "", name) for name in words[0].split(",") if name.startswith("-")]
    kind = words[1] if len(words) > 1 else ""
    return Option(names, kind.split(":")[0].split("=")[0].split(" ")[0], choices_of(kind))


def verb_of(words):
    sections = sections_of(output_of(*words, "--help"))
    verb = Verb(list(words))
    for name, lines in sections.items():
        if name in ("Subcommands", "Examples") or name.startswith("Examples"):
            continue
        for line in lines:
            if name == "Positionals":
                verb.positionals.append(Option([line.split()[0]], line.split()[0], choices_of(line)))
            elif line.startswith("  -"):
                verb.options.append(option_of(line))
    return verb


def subcommands_of(*words):
    return [line.split()[0] for line in sections_of(output_of(*words, "--help")).get("Subcommands", [])]


def all_verbs():
    verbs = []
    for name in subcommands_of():
        inner = subcommands_of(name)
        verbs += [verb_of((name, word)) for word in inner] if inner else [verb_of((name,))]
    return verbs


def keys_below(schema, path, definitions):
    """Dotted paths of all keys that a part of a JSON schema describes."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")]
    for part in schema.get("anyOf", []) + schema.get("oneOf", []) + schema.get("allOf", []):
        yield from keys_below(part, path, definitions)
    for name, inner in schema.get("properties", {}).items():
        if name in ("kind", "source", "low", "nominal", "high", "value"):
            continue
        yield (*path, name)
        if len(path) < 6:
            yield from keys_below(inner, (*path, name), definitions)
    for inner in (schema.get("additionalProperties"), schema.get("items")):
        if isinstance(inner, dict) and len(path) < 6:
            step = "0" if inner is schema.get("items") else "concurrent"
            yield from keys_below(inner, (*path, step), definitions)


def keys_of(kind, *prefix):
    """Dotted paths of all keys of experiments or of one kind of preset."""
    schema = json.loads(output_of("config", "schema", kind))
    return {".".join(path) for path in keys_below(schema, prefix, schema["$defs"])}


def all_keys():
    """Every key of experiments and presets, as --set writes it."""
    keys = keys_of("experiment")
    for kind in verb_of(("config", "schema")).positionals[0].choices:
        if kind != "experiment":
            keys |= keys_of(kind, kind)
    return sorted(keys)
