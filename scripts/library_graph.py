"""The libraries that CMake makes, what each is linked with, and a drawing of that for docs/README.md."""

import dataclasses
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["base", "files", "engine", "gpu", "interconnect", "collectives", "workloads", "results", "configs", "importers", "app", "studies"]


@dataclasses.dataclass(frozen=True)
class Library:
    folder: str
    files: set[str]  # of its list in CMake, written from the root
    uses: set[str]  # libraries of ours that it is linked with


def libraries():
    """By name."""
    found = {}
    for path in sorted(path for folder in FOLDERS for path in (SOURCE / folder).rglob("CMakeLists.txt")):
        folder = path.parent.relative_to(SOURCE)
        for name, body in re.findall(r"^c3_add_library\((\w+)\s([^()]*)\)", path.read_text(), re.M):
            words = body.split()
            found[name] = Library(str(folder), {str(folder / word) for word in words if word.endswith((".cpp", ".hpp"))},
                                  {word.removeprefix("c3::") for word in words if word.startswith("c3::")})
    return found


def reached(name, uses):
    """All libraries that one is linked with, itself among them."""
    known, ahead = set(), [name]
    while ahead:
        one = ahead.pop()
        if one not in known:
            known.add(one)
            ahead += uses[one]
    return known


def arrows(uses):
    """Of each library those that are linked with it, without arrows that follow from others."""
    above = {}
    for name in sorted(uses):
        for below in uses[name]:
            if not any(below in reached(other, uses) for other in uses[name] - {below}):
                above.setdefault(below, []).append(name)
    return sorted(above.items())


def drawing():
    """In the language of Mermaid, which pages of repositories draw: an arrow leads from a library to one that may include its headers."""
    made = libraries()
    lines = ["graph BT"]
    for top in FOLDERS:
        names = sorted(name for name, library in made.items() if library.folder.split("/")[0] == top)
        if names == [top]:
            lines.append(f"  {top}")
        else:
            lines += [f'  subgraph in_{top} ["{top}/"]', *(f"    {name}" for name in names), "  end"]
    lines += [f"  {below} --> {' & '.join(above)}" for below, above in arrows({name: library.uses for name, library in made.items()})]
    return "\n".join(lines) + "\n"
