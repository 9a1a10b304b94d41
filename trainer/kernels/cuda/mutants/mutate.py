"""Small mistakes that somebody could make in a kernel's source: for each line what it could be
instead. Pure; `gpu_mutants.py` compiles them and asks the tests.

    for mutant in choose({"sums.cu": text}, count=100, seed=1):
        print(f"{mutant.file}:{mutant.line}  {mutant.kind}")
"""

import collections
import dataclasses
import random
import re

# Words and indices, without spaces, as the tree's style has them around operators.
_OPERAND = r"[\w.]+(?:\[[^\[\]]*\])?"

# Kind, what it finds, what stands there instead. Operators have spaces around them in this tree,
# and templates' brackets have not.
_RULES = [(kind, re.compile(pattern), instead) for kind, pattern, instead in (
    ("bound", r" < ", " <= "),
    ("bound", r" <= ", " < "),
    ("bound", r" > ", " >= "),
    ("bound", r" >= ", " > "),
    ("equality", r" == ", " != "),
    ("equality", r" != ", " == "),
    ("operator", r" \+ ", " - "),
    ("operator", r" - ", " + "),
    ("operator", r" \* ", " + "),
    ("operator", r" / ", " * "),
    ("operator", r" % ", " / "),
    ("operator", r" \+= ", " -= "),
    ("operator", r" -= ", " += "),
    ("operator", r" \*= ", " /= "),
    ("operator", r" & ", " | "),
    ("operator", r" \^ ", " | "),
    ("operator", r" << ", " >> "),
    ("operator", r" >> ", " << "),
    ("logic", r" && ", " || "),
    ("logic", r" \|\| ", " && "),
    ("logic", r"!(?=[\w(])", ""),
    ("operands", rf"({_OPERAND}) ([-/%]) ({_OPERAND})", r"\3 \2 \1"),
    ("index", r"(?<=\w)\[([^\[\]]+)\]", r"[\1 + 1]"),
    ("constant", r"(?<![\w.'])(\d+)(?![\w.'])", lambda it: str(int(it.group(1)) + 1)),
    ("constant", r"(?<![\w.])(\d+\.\d+)(?=f\b)", lambda it: _other(float(it.group(1)))),
    ("barrier", r"__sync(threads|warp)\([^()]*\);", ""),
    ("mask", r"\bkAllLanes\b", "0xfffffffeu"),
    ("mask", r"\bkAllLanes\b", "0x7fffffffu"),
    ("guard", r"\bif \([^;]*\) (return|continue|break)\b[^;]*;", ""),
    ("choice", r" \? ([^?:]+) : ([^?:;,]+?)(?=[;,)])", r" ? \2 : \1"),
    ("place", r"\bthreadIdx\.x\b", "blockIdx.x"),
    ("place", r"\bblockIdx\.x\b", "threadIdx.x"),
    ("function", r"\bfmaxf\b", "fminf"),
    ("function", r"\bfminf\b", "fmaxf"),
    ("function", r"\batomicMin\b", "atomicAdd"),
    ("statement", r"^ *\*?[A-Za-z_][\w.]*(\[[^\[\]]*\]|->\w+|\.\w+)* [-+*/|&^]?= [^;]*;", ""),
)]

# Of which there is no mistake to be made that the compiler would not see, or that is one.
_NO_CODE = re.compile(r"\s*($|//|#|using |static_assert|template |namespace |extern \"C\" |})")
# An array's size: one more element is no mistake.
_ARRAY = re.compile(r"^\s*(__shared__ )?(const )?[\w:]+( long)* \w+\[[^\]]+\]( = \{.*\})?;")
_DEVICE_PART = re.compile(r"#if defined\(__CUDACC__\)")


def _other(number):
    return repr(number * 2 if number else 1.0)


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One line of one file as it could be instead; `line` counts from 1."""
    file: str
    line: int
    kind: str
    before: str
    after: str

    def key(self):
        """By which it is known again when lines before it come and go."""
        return self.file, self.before.strip(), self.after.strip()

    def apply(self, text):
        lines = text.splitlines(keepends=True)
        lines[self.line - 1] = self.after + "\n"
        return "".join(lines)


def device_lines(file, text):
    """Numbers of the lines that are compiled for GPUs: all of a .cu, and of a header its part."""
    inside = file.endswith(".cu")
    for number, line in enumerate(text.splitlines(), start=1):
        if not file.endswith(".cu"):
            if _DEVICE_PART.match(line):
                inside = True
            elif line.startswith("#endif"):
                inside = False
        if inside:
            yield number, line


def mutants_of(file, text):
    """All of a file."""
    found = {}
    for number, line in device_lines(file, text):
        if _NO_CODE.match(line) or _ARRAY.match(line):
            continue
        code = line.split("//")[0].rstrip()
        comment = line[len(code):]
        for kind, pattern, instead in _RULES:
            for match in pattern.finditer(code):
                there = match.expand(instead) if isinstance(instead, str) else instead(match)
                after = code[:match.start()] + there + code[match.end():]
                if after.strip() == code.strip():
                    continue
                mutant = Mutant(file, number, kind, line, (after + comment).rstrip())
                found.setdefault((number, mutant.after.strip()), mutant)
    return list(found.values())


def shares(sizes, count):
    """How many of `count` each has, in proportion to its size, and at least one, if there are
    enough."""
    left = min(count, sum(sizes.values()))
    out = {name: min(1, size) for name, size in sizes.items()}
    rest = left - sum(out.values())
    if rest < 0:
        keep = set(sorted(sizes)[:left])
        return {name: int(name in keep) for name in sizes}
    exact = {name: rest * size / max(1, sum(sizes.values())) for name, size in sizes.items()}
    for name, part in exact.items():
        out[name] = min(sizes[name], out[name] + int(part))
    by_rest = sorted(sizes, key=lambda name: (int(exact[name]) - exact[name], name))
    while sum(out.values()) < left:
        for name in by_rest:
            if sum(out.values()) < left and out[name] < sizes[name]:
                out[name] += 1
    return out


def in_order(mutants, rng):
    """Of one file: kinds in turn, each in an order that is drawn."""
    by_kind = collections.defaultdict(list)
    for mutant in mutants:
        by_kind[mutant.kind].append(mutant)
    for list_ in by_kind.values():
        rng.shuffle(list_)
    kinds = sorted(by_kind)
    rng.shuffle(kinds)
    while kinds:
        for kind in list(kinds):
            yield by_kind[kind].pop()
            if not by_kind[kind]:
                kinds.remove(kind)


def choose(sources, count, seed):
    """For each file its mutants in the order in which they are to be tried, and how many: (file,
    how many, iterator). Those that do not compile are to be passed over."""
    found = {file: mutants_of(file, text) for file, text in sorted(sources.items())}
    of_each = shares({file: len(list_) for file, list_ in found.items()}, count)
    rng = random.Random(seed)
    return [(file, of_each[file], list(in_order(list_, rng))) for file, list_ in found.items()]


def read_equivalents(text):
    """The file of those that change nothing: {key: reason}. A block each:

        sums.cu
        - for (; i < end; ++i) {
        + for (; i != end; ++i) {
        = i comes to `end` in steps of one
    """
    out = {}
    block = {}
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if block:
                out[block["file"], block["-"], block["+"]] = block["="]
            block = {}
        elif line[0] in "-+=" and line[1:2] == " " or line in ("-", "+", "="):
            block[line[0]] = (block[line[0]] + " " if line[0] in block else "") + line[2:].strip()
        else:
            block["file"] = line.strip()
    return out
