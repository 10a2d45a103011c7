"""Tables of keys for docs/keys.md, from the schemas that `c3sim config schema` prints.

A page asks for the keys of a table between two comments:

    <!-- keys of: experiment strategy.* -->
    <!-- end of keys -->

The first word is a kind of file, then come the names of tables; `*` stands for any name that the file chooses, or for every table
in there, whose keys are then listed once with the tables that have them.
"""

import json
import re
import subprocess

BLOCK = re.compile(r"^<!-- keys of: (\w+) ?(\S*) -->\n(.*?)^<!-- end of keys -->$", re.MULTILINE | re.DOTALL)
QUANTITY = re.compile(r"(\w[\w ]* (?:above 0|0 or more))[?!]?")
LIMITED = re.compile(r"(int|num) (\S+?)\.\.(\S+?)[?!]?")
SOURCED = [f"{what}{source}" for what in ("value", "number") for source in ("", " with its source")]  # tables that hold a value with its source
SLUG = "[A-Za-z0-9_][A-Za-z0-9_.-]*"


class Schema:
    """One kind of file."""

    def __init__(self, command, kind):
        text = subprocess.run([command, "config", "schema", kind], capture_output=True, text=True, check=True).stdout
        self.kind, self.root = kind, json.loads(text)

    def plain(self, part):
        """`part` itself instead of a reference, and without the form in which a source is given, too."""
        if "$ref" in part and not self.is_sourced(part):
            return self.plain(self.root["$defs"][part["$ref"].removeprefix("#/$defs/")])
        ways = [way for way in part.get("anyOf", []) if not self.is_sourced(way)]
        if self.is_sourced(part):
            return self.plain(next(iter({**part.get("patternProperties", {}), **part.get("properties", {})}.values())))
        return self.plain(ways[0]) if len(ways) == 1 and len(part["anyOf"]) == 2 else part

    @staticmethod
    def is_sourced(part):
        return any(way.get("$ref", "").removeprefix("#/$defs/") in SOURCED for way in [part, *part.get("allOf", [])])

    def value(self, part):
        """What may be written: "bandwidth above 0", "`cu`, `dma`"."""
        name = part.get("$ref", "").removeprefix("#/$defs/")
        if quantity := QUANTITY.fullmatch(name):
            return quantity.group(1)
        if limits := LIMITED.fullmatch(name):
            return self.short("{} {} to {}".format({"int": "integer", "num": "number"}[limits[1]], limits[2], limits[3]))
        part = self.plain(part)
        if "$ref" in part:
            return self.value(part)
        if "enum" in part:
            return ", ".join(f"`{name}`" for name in part["enum"])
        if "anyOf" in part:
            return " or ".join(dict.fromkeys(self.value(way) for way in part["anyOf"] if "required" not in way))
        kind = part.get("type") or self.limited(part)
        if kind == "array":
            return "list of " + re.sub(r"\b(table|text|name|integer|size|list)\b", r"\1s", self.value(part["items"]))
        if kind in ("integer", "number"):
            return self.short(f"{kind} {part['minimum']} to {part['maximum']}")
        if kind == "string":
            return "name" if part.get("pattern") == f"^({SLUG})$" else "text"
        return {"boolean": "true or false", "object": "table"}.get(kind, "any value")

    @staticmethod
    def limited(part):
        """"integer" or "number" of limits that hold for a plain one as for one with its source."""
        return part["allOf"][0].get("$ref", "").removeprefix("#/$defs/any ") if "minimum" in part and part.get("allOf") else None

    @staticmethod
    def short(limits):
        """With large powers of two as such, and without a range of one value."""
        limits = re.sub(r"\b1 to 1$", "1", limits)
        for power in (20, 24, 32, 40, 53):
            limits = limits.replace(f" {2**power - 1}", f" 2^{power} - 1").replace(f" {2**power}", f" 2^{power}")
        return limits

    def table(self, part):
        """The table that `part` is, may be, or is a list of; None for anything else."""
        part = self.plain(part)
        if part.get("type") == "object":
            return part
        if part.get("type") == "array":
            return self.table(part["items"])
        found = [self.table(way) for way in part.get("anyOf", []) if "required" not in way]
        return next((table for table in found if table), None)

    def keys(self, table):
        """(name, schema) of each key; of names that the file chooses, the part that it chooses is NAME."""
        for name, part in table.get("properties", {}).items():
            yield name, self.explained(part)
        for pattern, part in table.get("patternProperties", {}).items():
            prefix = re.sub(r"^\^\((\(\?!.*?\)\$\))?", "", pattern).removesuffix(f"{SLUG})$")
            yield f"{prefix}NAME", self.explained(part)

    def explained(self, part):
        """`part` with its meaning, which stands in the definition that it refers to where several keys have it."""
        definition = self.root["$defs"].get(part.get("$ref", "").removeprefix("#/$defs/"), {})
        return definition if "description" in definition else part

    def tables(self, part=None, needs=None, path=()):
        """(path, table, requirements) of every table, the file's own first."""
        part = part or self.root
        needs = next((way for way in self.root["anyOf"] if way.get("required") != ["extends"]), {}) if needs is None else needs
        yield path, part, needs
        for name, inner in self.keys(part):
            table = self.table(inner)
            if not table:
                continue
            needed = self.needs_below(needs, name) or (self.plain(table.get("allOf", [{}])[0]))
            yield from self.tables(table, needed, (*path, "*" if name.endswith("NAME") else name))

    def needs_below(self, needs, name):
        needs = self.plain(needs)
        if name in needs.get("properties", {}):
            return self.plain(needs["properties"][name])
        return next((self.plain(part) for part in needs.get("patternProperties", {}).values() if name.endswith("NAME")), {})


def usual(name, part, needs, before):
    """Whether a key must be there, or what holds without it. `before` are the keys of its table above it."""
    if name in needs.get("required", []):
        return "required"
    if "default" in part:
        return f"`{json.dumps(part['default'])}`"
    owner = next((key for key in needs.get("dependencies", {}).get(name, []) if key in before), None)
    return f"with `{owner}`" if owner else "-"


class KeyTables:
    """Fills a page's tables of keys."""

    KINDS = ("experiment", "gpu", "node", "library", "fabric", "framework", "host", "model")

    def __init__(self, command):
        self.schemas = {kind: Schema(command, kind) for kind in self.KINDS}
        self.shown = []

    def rows(self, schema, path, table, needs):
        """(key, value, default, meaning) of each key; of a preset's overrides in an experiment, those that the preset has not."""
        own = self.schemas.get(path[0]) if schema.kind == "experiment" and path else None
        known = dict(own.keys(dict(next(iter(own.tables()))[1]))) if own and len(path) == 1 else {}
        before, every = [], dict(schema.keys(table))
        for name, part in every.items():
            if name not in known:
                # What a family has of its own means what the default of all means.
                meaning = part.get("description") or every[name.removesuffix("NAME") + "default"]["description"]
                yield f"`{name}`", schema.value(part), usual(name, part, needs, before), meaning
            before.append(name)

    def block(self, match):
        kind, path = match.group(1), tuple(filter(None, match.group(2).split(".")))
        schema, found = self.schemas[kind], {}
        for at, table, needs in schema.tables():
            fits = len(at) == len(path) and all(want in ("*", name) for want, name in zip(path, at))
            if not fits:
                continue
            self.shown.append(table)
            for row in self.rows(schema, at, table, needs):
                found.setdefault(row, []).append(at[path.index("*")] if "*" in path else "")
        return self.written(match, found)

    @staticmethod
    def written(match, found):
        owners = list(dict.fromkeys(owner for names in found.values() for owner in names))
        several = len(owners) > 1
        lines = ["| key | " + ("of | " if several else "") + "value | default | meaning |", "| --- " * (5 if several else 4) + "|"]
        for (key, *cells), names in found.items():
            rest = [name for name in owners if name not in names]
            of = "all" if not rest else "all but " + ", ".join(rest) if len(rest) < len(names) else ", ".join(names)
            lines.append("| " + " | ".join([key, *([of] if several else []), *cells]) + " |")
        head = match.group(0).split("\n", 1)[0]
        return "\n".join([head, *lines, "<!-- end of keys -->"])

    def missing(self):
        """Tables of which the page shows no keys, there or where an equal table is. What an experiment overrides is a preset's."""
        for kind, schema in self.schemas.items():
            for path, table, needs in schema.tables():
                is_of_preset = kind == "experiment" and len(path) > 1 and path[0] in self.schemas
                if not is_of_preset and table not in self.shown and any(self.rows(schema, path, table, needs)):
                    yield f"{kind} {'.'.join(path)}".strip()


def filled(text, command):
    """The page `text` with today's keys, and the tables whose keys it lacks."""
    tables = KeyTables(command)
    new = BLOCK.sub(tables.block, text)
    return new, list(tables.missing())
