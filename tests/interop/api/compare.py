#!/usr/bin/env python3
"""Compares the public API of the stand-in for h2 with that of h2, item by item.

    compare.py H2.json FAIRMUX.json STAND_IN.json DIFFERENCES

The first three are rustdoc's JSON of h2, of fairmux and of compat/h2 (whose names are re-exports from
fairmux). An item is one line: a type with its generics, a method with its bounds, an implementation of
a trait, an auto trait with its conditions, a constant. DIFFERENCES lists the lines that only one of the
two has, each under the reason for it; a difference that is not listed fails, and so does a listed one
that is none. Methods beside those of h2 are counted and not judged: no program for h2 calls them.
"""

import json
import re
import sys


# Auto traits that no stable program can name.
UNSTABLE = {"Freeze", "UnsafeUnpin"}


class Api:
    """The items of one crate, as lines."""

    def __init__(self, path):
        with open(path) as file:
            self.doc = json.load(file)
        self.index = self.doc["index"]
        self.lines = set()
        # Of the type whose items are being added: its name, and the bounds that come with it.
        self.self_type, self.implied = "Self", set()

    # Names, as one finds them from outside.

    def exports(self):
        """public path -> item, for all that the crate shows under a name of its own or another."""
        found = {}
        self.walk(self.index[str(self.doc["root"])], "", found)
        return found

    def walk(self, module, prefix, found):
        for number in module["inner"]["module"]["items"]:
            item = self.index.get(str(number))
            if item is None:
                continue
            kind = next(iter(item["inner"]))
            if kind == "module":
                found[prefix + item["name"]] = item
                self.walk(item, prefix + item["name"] + "::", found)
            elif kind == "use":
                use = item["inner"]["use"]
                found[prefix + use["name"]] = self.index.get(str(use["id"]), use["source"])
            else:
                found[prefix + item["name"]] = item

    # Items.

    def add(self, path, item):
        kind, inner = next(iter(item["inner"].items()))
        if kind == "module":
            self.lines.add(f"mod {path}")
        elif kind == "function":
            self.self_type, self.implied = "Self", set()
            self.lines.add(f"fn {path}{self.function(inner, [], [])}")
        elif kind == "type_alias":
            self.add_alias(path, inner)
        else:
            self.add_type(path, item, {})

    def add_alias(self, path, alias):
        """A name for a generic type with its parameters given is compared as the type it names."""
        target = alias["type"]["resolved_path"]
        item = self.index[str(target["id"])]
        names = [p["name"] for p in next(iter(item["inner"].values()))["generics"]["params"]]
        given = [a["type"] for a in target["args"]["angle_bracketed"]["args"]]
        self.add_type(path, item, dict(zip(names, given)))

    def add_type(self, path, item, given):
        kind, inner = next(iter(item["inner"].items()))
        params, where = self.generics(inner["generics"])
        params = [p for p in params if p not in given]
        self.self_type, self.implied = path.split("::")[-1], set(where)
        attributes = [a for a in item["attrs"] if "must_use" in str(a)]
        self.lines.add(f"{'must_use ' if attributes else ''}{kind} {path}{listed(params)}{clause(where)}")
        fields = inner["kind"].get("plain", {}).get("fields", [])
        for field in fields:
            self.lines.add(f"field {path}::{self.index[str(field)]['name']}")
        own = item["id"]
        for number in inner["impls"]:
            found = self.index[str(number)]["inner"]["impl"]
            if found["blanket_impl"] is None and self.fits(found["for"], own, given):
                self.add_impl(path, found, given)

    def fits(self, target, own, given):
        """Whether an impl is for the type with the given parameters (or for all)."""
        path = target.get("resolved_path")
        if not given or path is None or path["id"] != own:
            return True
        args = [a["type"] for a in path["args"]["angle_bracketed"]["args"]]
        return all("generic" in a or self.type(a) == self.type(g) for a, g in zip(args, given.values()))

    def add_impl(self, path, found, given):
        params, where = self.generics(found["generics"])
        where = [line for line in where if not any(re.match(rf"{name}\b", line) for name in given)]
        where = [line for line in where if line not in self.implied]
        params = [p for p in params if p not in given]
        if found["trait"] is None:
            for number in found["items"]:
                self.add_method(path, self.index[str(number)], params, where)
            return
        # Where there is no implementation of an auto trait, the other crate's is the difference.
        if last(found["trait"]["path"]) in UNSTABLE or found["is_negative"]:
            return
        name = self.trait(found["trait"])
        target = self.type(found["for"]).replace(path.split("::")[-1], path, 1)
        for side in given:
            target = re.sub(rf"<{side}>|<{self.type(given[side])}>", "", target)
        target = re.sub("'[a-z_]+", "'_", target)
        self.lines.add(f"impl {name} for {target}{clause(where)}")
        for number in found["items"]:
            item = self.index[str(number)]
            if "assoc_type" in item["inner"]:
                output = self.type(item["inner"]["assoc_type"]["type"])
                self.lines.add(f"type <{target} as {name}>::{item['name']} = {output}")

    def add_method(self, path, item, params, where):
        kind, inner = next(iter(item["inner"].items()))
        name = f"{path}::{item['name']}"
        if kind == "function":
            self.lines.add(f"fn {name}{self.function(inner, params, where)}")
        else:
            self.lines.add(f"const {name}: {self.type(inner['type'])}")

    # Parts of items.

    def function(self, inner, outer, where):
        params, own = self.generics(inner["generics"])
        used = sorted(set(outer) | set(params))
        inputs = ", ".join(self.type(kind) for _, kind in inner["sig"]["inputs"])
        header = inner["header"]
        words = "".join(f"{word} " for word in ("const", "unsafe", "async") if header["is_" + word])
        output = self.type(inner["sig"]["output"]) if inner["sig"]["output"] else "()"
        return f"{listed(used)}({inputs}) -> {words}{output}{clause(where + own)}"

    def generics(self, generics):
        """Names of parameters, and every bound, wherever it is written, on a line of its own."""
        params, where = [], []
        for param in generics["params"]:
            kind, inner = next(iter(param["kind"].items()))
            if kind == "lifetime":
                continue
            if kind == "type" and inner["is_synthetic"]:
                continue
            default = inner.get("default")
            params.append(param["name"] + (f" = {self.type(default)}" if default else ""))
            where += [f"{param['name']}: {self.bound(b)}" for b in inner.get("bounds", [])]
        for predicate in generics["where_predicates"]:
            bound = predicate.get("bound_predicate")
            if bound:
                where += [f"{self.type(bound['type'])}: {self.bound(b)}" for b in bound["bounds"]]
        return params, where

    def bound(self, bound):
        if "use" in bound:
            return "use" + listed([arg.get("param") or arg["lifetime"] for arg in bound["use"]])
        if "outlives" in bound:
            return bound["outlives"]
        inner = bound["trait_bound"]
        optional = "?" if inner["modifier"] == "maybe" else ""
        return optional + self.trait(inner["trait"])

    def trait(self, path):
        return last(path["path"]) + self.args(path["args"])

    def args(self, args):
        if not args:
            return ""
        if "parenthesized" in args:
            inner = args["parenthesized"]
            return f"({', '.join(map(self.type, inner['inputs']))}) -> {self.type(inner['output'])}"
        inner = args["angle_bracketed"]
        parts = [a["lifetime"] if "lifetime" in a else self.type(a["type"]) for a in inner["args"]]
        for constraint in inner["constraints"]:
            parts.append(f"{constraint['name']} = {self.type(constraint['binding']['equality']['type'])}")
        # A parameter that is left out and one that is given as its default are the same.
        parts = ["'_" if part.startswith("'") and part != "'static" else part for part in parts]
        parts = [part for part in parts if part != "'_"]
        return listed(parts)

    def type(self, kind):
        name, inner = next(iter(kind.items()))
        match name:
            case "generic" | "primitive":
                return self.self_type if inner == "Self" else inner
            case "resolved_path":
                return last(inner["path"]) + self.args(inner["args"])
            case "borrowed_ref":
                static = "'static " if inner["lifetime"] == "'static" else ""
                return f"&{static}{'mut ' if inner['is_mutable'] else ''}{self.type(inner['type'])}"
            case "tuple":
                return f"({', '.join(map(self.type, inner))})"
            case "slice":
                return f"[{self.type(inner)}]"
            case "impl_trait":
                return "impl " + " + ".join(sorted(map(self.bound, inner)))
            case "qualified_path":
                trait = self.trait(inner["trait"]) if inner["trait"] else ""
                return f"<{self.type(inner['self_type'])} as {trait}>::{inner['name']}"
        raise ValueError(f"a kind of type that is new here: {name}")


def last(path):
    return path.split("::")[-1]


def listed(parts):
    return f"<{', '.join(parts)}>" if parts else ""


def clause(where):
    return f" where {', '.join(sorted(set(where)))}" if where else ""


def name_of(line):
    """The path of a method, without its signature."""
    return re.match(r"fn ([\w:]+)|", line).group(1)


def of_crate(path):
    api = Api(path)
    for name, item in api.exports().items():
        api.add(name, item)
    return api.lines


def of_stand_in(path, implementation):
    """The items of `implementation` that the crate at `path` shows."""
    shown, api = Api(path).exports(), Api(implementation)
    there = api.exports()
    for name, target in shown.items():
        # A re-export of another crate has no item here, only the path it names.
        source = target.removeprefix("fairmux::") if isinstance(target, str) else name
        if source not in there:
            sys.exit(f"{name} is {source}, which fairmux does not show")
        api.add(name, there[source])
    return api.lines


def listed_differences(path):
    with open(path) as file:
        lines = [line.rstrip("\n") for line in file]
    return {line for line in lines if line[:2] in ("- ", "+ ")}


def main():
    theirs, ours = of_crate(sys.argv[1]), of_stand_in(sys.argv[3], sys.argv[2])
    names = {name_of(line) for line in theirs}
    more = {line for line in ours - theirs if line.startswith("fn ") and name_of(line) not in names}
    found = {f"- {line}" for line in theirs - ours} | {f"+ {line}" for line in ours - theirs - more}
    known = listed_differences(sys.argv[4])
    for line in sorted(found - known, key=lambda line: line[2:]):
        print(f"not listed: {line}")
    for line in sorted(known - found):
        print(f"listed, but none: {line}")
    print(
        f"{len(theirs)} items of h2: {len(theirs & ours)} are the same; {len(found)} lines differ,"
        f" {len(found & known)} of them listed; {len(more)} methods more"
    )
    sys.exit(found != known)


main()
