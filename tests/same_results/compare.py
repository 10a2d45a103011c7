"""Bit-for-bit comparison of two folders of results; for scripts/same_results."""

import dataclasses
import json

import h5py
import numpy

# Names of JSON keys and HDF5 attributes that may differ between two versions with the same results.
NOT_COMPARED = {
    "software_version", "git_commit", "compiler", "date", "command_line", "command", "output", "config_sha256",
    "config_resolved", "configuration", "folder", "points/id", "schema_version", "host", "elapsed_s", "source", "long_name",
}


@dataclasses.dataclass(frozen=True)
class Difference:
    where: str
    before: object
    after: object

    def __str__(self):
        return f"{self.where}: {shortened(self.before)} -> {shortened(self.after)}"


def shortened(value):
    text = repr(value) if not isinstance(value, (str, numpy.ndarray)) else str(value)
    return text if len(text) < 60 else text[:57] + "..."


def compare_files(before, after):
    """Differences, and the names of what only `after` has, of two folders with the outputs of one case."""
    differences = []
    new = {str(path.relative_to(after)) for path in after.rglob("*")
           if path.suffix in (".json", ".h5") and path.parts[len(after.parts)] != "points"
           and not (before / path.relative_to(after)).exists()}
    for path in sorted(before.rglob("*")):
        if path.is_dir() or path.name in ("done", "stderr") or path.parts[len(before.parts)] == "points":
            continue
        name = path.relative_to(before)
        other = after / name
        if not other.exists():
            differences.append(Difference(str(name), "a file", "no file"))
        else:
            compare_values(str(name), values_of(path), values_of(other), differences, new)
    return differences, new


def compare_values(name, before, after, differences, new):
    for key, value in before.items():
        if key not in after:
            differences.append(Difference(f"{name} {key}", value, "absent"))
        elif not same(value, after[key]):
            differences.append(Difference(f"{name} {key}", *first_unequal(value, after[key])))
    new.update(key for key in after if key not in before)


def same(a, b):
    if isinstance(a, numpy.ndarray) or isinstance(b, numpy.ndarray):
        a, b = numpy.asarray(a), numpy.asarray(b)
        if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
            return False
        return numpy.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return type(a) is type(b) and (a == b or (a != a and b != b))


def first_unequal(a, b):
    if isinstance(a, numpy.ndarray) and isinstance(b, numpy.ndarray) and a.shape == b.shape and a.size:
        at = numpy.flatnonzero(~((a == b) | ((a != a) & (b != b))).reshape(-1))
        if at.size:
            return a.reshape(-1)[at[0]], b.reshape(-1)[at[0]]
    return a, b


def values_of(path):
    """Everything that a file says, by the place where it says it."""
    if path.suffix == ".h5":
        return hdf5_values(path)
    text = path.read_text()
    if path.suffix == ".json":
        values = {}
        for number, document in enumerate(documents(text)):
            flatten(document, str(number) if number else "", values)
        return values
    return dict(enumerate(text.splitlines()))


def documents(text):
    """The JSON documents that follow one another in a text, and what is none line by line."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            document, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            document, _, rest = text[at:].partition("\n")
            at = len(text) - len(rest)
        yield document
        while at < len(text) and text[at].isspace():
            at += 1


def flatten(value, place, values):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in NOT_COMPARED:
                flatten(inner, f"{place}.{key}", values)
    elif isinstance(value, list):
        values[f"{place}.length"] = len(value)
        ids = [inner.get("id") if isinstance(inner, dict) else None for inner in value]
        are_named = None not in ids and len(set(ids)) == len(ids)  # figures: where one stands is no result
        for name, inner in zip(ids if are_named else range(len(value)), value):
            flatten(inner, f"{place}[{name}]", values)
    else:
        values[place] = value


def hdf5_values(path):
    values = {}

    def add(name, item):
        for key, value in item.attrs.items():
            if key not in NOT_COMPARED:
                values[f"{name}@{key}"] = value
        if not isinstance(item, h5py.Dataset) or not NOT_COMPARED.isdisjoint({name, name.rsplit("/", 1)[-1]}):
            return
        if "indexes" in item.attrs and item.attrs["indexes"] in ("names", "/names", b"/names"):
            names = file["names"][:]
            values[name] = numpy.array([names[index] for index in item[:].reshape(-1)], dtype=object)
        elif name != "names":
            values[name] = item[()]

    with h5py.File(path) as file:
        add("", file)
        file.visititems(add)
    return values
