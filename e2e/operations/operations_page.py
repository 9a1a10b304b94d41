"""What docs/operations.md says there is, and what the code has: metrics, events, log lines, flags.

    metrics_on_page() == metrics_in_code()      {name: labels}
    types_on_page() == types_in_code()          of metrics
    reasons_on_page() == reasons_in_code()      of events
    log_lines_on_page() == log_lines_in_code()  {(message, fields): levels}
    flags_on_page() == flags_in_help(text)      {flag: default}
"""

import collections
import glob
import os
import re
from typing import NamedTuple

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# Every line has them, in JSON.
FIELDS_OF_ALL = {"time", "level", "message"}
# On the page: a message that the code puts together.
VARIES = "…"
# What schedulers and kubelets call what is in a pod's way: passed on as it comes. The page has
# those that people meet.
OF_KUBERNETES = {"Unschedulable", "SchedulerError", "ErrImagePull", "ImagePullBackOff",
                 "ErrImageNeverPull", "InvalidImageName", "CrashLoopBackOff",
                 "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}


def read(*path):
    with open(os.path.join(TREE, *path), encoding="utf-8") as file:
        return file.read()


def sources():
    """{path: text} of what the operator is made of; tests and what serves them are not."""
    found = {}
    for path in glob.glob(os.path.join(TREE, "operator", "**", "*.cc"), recursive=True):
        name = os.path.basename(path)
        if not re.search(r"_(test|fixture)\.cc$|^(fake|sim|test)_", name):
            found[os.path.relpath(path, TREE)] = read(path)
    return found


# The page.

def rows(section):
    """The cells of each row of the tables below `## section`, heads left out."""
    page = read("docs", "operations.md")
    text = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", page, re.M | re.S).group(1)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        for line in table.splitlines()[2:]:
            yield [cell.strip() for cell in re.split(r" \|(?= )", line.strip("|"))]


def code_words(cell):
    return re.findall(r"`([^`]+)`", cell)


def types_on_page():
    """Of each metric: the first word of what the page says of it."""
    return {code_words(name)[0]: re.match(r"\w+", text).group(0)
            for name, _, text in rows("Metrics")}


def metrics_on_page():
    return {code_words(name)[0]: set(code_words(labels)) for name, labels, *_ in rows("Metrics")}


class Event(NamedTuple):
    kind: str  # Of the object that it is about.
    type: str
    reason: str

    @staticmethod
    def of(body):
        return Event(body["involvedObject"]["kind"], body["type"], body["reason"])


def events_on_page():
    return {Event(kind, *code_words(type_), reason) for kinds, type_, reasons, *_ in rows("Events")
            for kind in code_words(kinds) for reason in code_words(reasons)}


def reasons_on_page():
    return {event.reason for event in events_on_page()}


def log_lines_on_page():
    """The levels of each message with its fields."""
    found = collections.defaultdict(set)
    for levels, messages, fields, *_ in rows("Log"):
        for message in code_words(messages) or [VARIES]:
            found[message, tuple(sorted(code_words(fields)))] |= set(levels.split(", "))
    return dict(found)


def log_fields_on_page():
    return FIELDS_OF_ALL | {field for _, fields in log_lines_on_page() for field in fields}


def flags_on_page():
    return {flag: default for names, default, *_ in rows("Flags")
            for flag in code_words(names.replace(",", " ")) if flag.startswith("--")}


# The code.

def types_in_code():
    text = read("operator", "controller", "metrics.cc")
    return {name: type_.lower() for type_, name in
            re.findall(r'Build(\w+)\(\)\s*\.Name\("(\w+)"\)', text)}


def metrics_in_code():
    text = read("operator", "controller", "metrics.cc")
    names = dict(re.findall(r'& (\w+) =\s+Build\w+\(\)\s*\.Name\("(\w+)"\)', text))
    labels = {name: set() for name in names.values()}
    for member, pairs in re.findall(r"families_->(\w+)\s*\.Add\(\s*\{(\{.*?\})\}\)", text, re.S):
        labels[names[member]] = set(re.findall(r'\{"(\w+)",', pairs))
    # Those of jobs, which have two more.
    of_jobs = set(re.findall(r'\{"(\w+)",', function(text, "LabelsOf", indent="  ")))
    for member, pairs in re.findall(
            r"\bOf\(scope, (?:families_->|f\.)(\w+)(?:,\s*\{(.*?)\})?\)\s*[.;]", text, re.S):
        labels[names[member]] = of_jobs | set(re.findall(r'\{"(\w+)",', pairs))
    return labels


def values_on_page(metric):
    """Of the label that the row of a metric lists."""
    (text,) = [text for name, _, text in rows("Metrics") if code_words(name) == [metric]]
    return set(code_words(text))


def names_in_code(enum):
    return set(re.findall(rf'\{{{enum}::k\w+, "(\w+)"\}}', read("operator", "api", "names.cc")))


def literals(text):
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', group)).replace('\\"', '"')
            for group in re.findall(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*', text)]


def reasons_in_code():
    """The words that each of the few ways to an event is given."""
    code = sources()
    everything = "\n".join(code.values())
    found = set(re.findall(r'\bNote\(\s*(?:true|false),\s*"(\w+)"', everything)) | OF_KUBERNETES
    found |= set(re.findall(r'\bNoteTrouble\("(\w+)"', everything))
    found |= set(re.findall(r'\bNoteChange\(draft,[^"]*"(\w+)"', everything))
    found |= set(re.findall(r'\.End\(JobState::k\w+,\s*"(\w+)"', everything))
    found |= set(re.findall(r'\bFlaw\{"(\w+)"', everything))
    # Also the names of a condition and of what hinders a job.
    found |= set(re.findall(r'\bkTemplateWarningCondition = "(\w+)"',
                            read("operator", "plan", "conditions.h")))
    found |= set(re.findall(r'\bkGpusIdle\[\] = "(\w+)"',
                            read("operator", "plan", "idle_gpus.h")))
    text = code["operator/plan/tfjob_text.cc"]
    found |= set(re.findall(r'\{"(TFJob\w+)"', function(text, "OutcomeText")))
    for name in set(re.findall(r"\b(TfJob\w+)\(", code["operator/plan/suspension.cc"]
                               + code["operator/plan/restarts.cc"])):
        found |= set(re.findall(r'\{"(TFJob\w+)"', function(text, name)))
    header = read("operator", "plan", "tfjob_text.h")
    found |= set(re.findall(r'constexpr char k\w+\[\] = "(\w+)"', header))
    reporter = code["operator/controller/job_reporter.cc"]
    found |= set(literals(function(reporter, "FailureReason")))
    found |= set(re.findall(r'\b(?:tell\(|Write\(job, false, )"(\w+)"', reporter))
    found |= set(re.findall(r'\bOnce\([^;]*?,\s*"(\w+)",\s*(?:text|\w+(?:\.|->))', everything))
    found |= set(re.findall(r'\{"reason", "(\w+)"\}', code["operator/kube/lease.cc"]))
    return found


def function(text, name, indent=""):
    """From its name at the begin of a definition to the brace that ends it."""
    return re.search(rf"^{indent}\S[^\n]*\b{name}\(.*?^{indent}\}}", text, re.M | re.S).group(0)


def arguments(text, start):
    """The arguments of a call, whose parenthesis opens before `start`."""
    found, depth, begun, inside = [], 0, start, False
    position = start
    while True:
        letter = text[position]
        if letter == '"' and text[position - 1] != "\\":
            inside = not inside
        elif not inside and letter in "({[":
            depth += 1
        elif not inside and letter in ")}]":
            if depth == 0:
                return found + [text[begun:position]]
            depth -= 1
        elif not inside and letter == "," and depth == 0:
            found.append(text[begun:position])
            begun = position + 1
        position += 1


def log_lines_in_code():
    """The levels of each message with its fields."""
    found = collections.defaultdict(set)
    for path, text in sources().items():
        if path == "operator/base/log.cc":
            continue
        for call in re.finditer(r"(?<![\w:])Log\(", text):
            level, message, *rest = arguments(text, call.end())
            fields = tuple(sorted(re.findall(r'\{"(\w+)",', rest[0]))) if rest else ()
            for line in literals(message) or [VARIES]:
                found[line, fields] |= {
                    name.lower() for name in re.findall(r"LogLevel::k(\w+)", level)}
    return dict(found)


def flags_in_help(text):
    """{flag: default} of what `--help` prints; empty where it tells none."""
    option = r"^  (?:-\w,)?(--[\w-]+)(?: (?:TEXT|INT)(?::\{[^}]*\})?(?:=\[?([^\s\]]+))?)?"
    return dict(re.findall(option, text, re.M))


def variables_in_help(text):
    """{flag: variable of the environment}"""
    return dict(re.findall(r"^  (--[\w-]+).*\(Env:(\w+)\)", text, re.M))
