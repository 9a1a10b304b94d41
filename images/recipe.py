"""A recipe: the TOML file that says what an image is made of (docs/images.md has each field).

A field that is not known, of another type or with a bad value is an error with the names of the
recipe and of the field; nothing is guessed. Paths on this machine are taken from one folder,
unless they begin with /; paths in the image begin with / always.

Ownership: a value. Errors: ImageError.

    recipe = read_recipe("images/operator.toml")
    root = build_root(recipe, folder=".")
"""

import dataclasses
import os
import re
import tomllib

from debian import add_packages
from image_error import ImageError
from libraries import add_libraries
from root import Directory, File, Link, Root, image_path

# What registries accept: the distribution specification.
NAME = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*")
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
USER_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
# The largest that every program holds.
ID_MAX = 2**31 - 1
PORT_MAX = 65_535
MODE = re.compile(r"[0-7]{3,4}")
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What every container runtime mounts something on, also where the layers are read-only for it.
MOUNT_POINTS = ("/dev", "/proc", "/run", "/sys")

FIELDS = {"name": str, "tag": str, "user": dict, "entrypoint": list, "command": list,
          "workdir": str, "env": dict, "labels": dict, "ports": list, "files": dict,
          "trees": dict, "links": dict, "directories": dict, "libraries": list, "provided": list}
TYPE_NAMES = {str: "a text", dict: "a table", list: "a list"}


@dataclasses.dataclass(frozen=True)
class Source:
    """A file of this machine; without a mode it keeps whether it can be executed."""
    path: str
    mode: int | None = None


@dataclasses.dataclass(frozen=True)
class Recipe:
    path: str
    name: str
    tag: str
    user: str
    uid: int
    entrypoint: tuple[str, ...]
    command: tuple[str, ...]
    workdir: str
    env: dict[str, str]
    labels: dict[str, str]
    ports: tuple[int, ...]
    files: dict[str, Source]
    trees: dict[str, str]
    links: dict[str, str]
    directories: dict[str, Directory]
    libraries: tuple[str, ...]
    provided: tuple[str, ...]


def read_recipe(path, tag=None):
    """The recipe in file `path`; `tag`, where given, is used instead of its own."""
    try:
        with open(path, "rb") as file:
            fields = tomllib.load(file)
    except OSError as error:
        raise ImageError(f"read recipe {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ImageError(f"read recipe {path}: {error}") from error
    if tag is not None:
        fields["tag"] = tag
    return _Reader(path, fields).recipe()


class _Reader:
    """Takes the fields of one recipe; every complaint begins with its name."""

    def __init__(self, path, fields):
        self._path = path
        self._fields = fields

    def recipe(self):
        for name, value in self._fields.items():
            self._check(name in FIELDS, f"there is no field `{name}`; there are "
                        f"{', '.join(FIELDS)}")
            self._check(isinstance(value, FIELDS[name]),
                        f"`{name}` must be {TYPE_NAMES[FIELDS[name]]}")
        user, uid = self._user()
        entrypoint = self._texts("entrypoint")
        self._check(bool(entrypoint), "`entrypoint` must name the program")
        return Recipe(
            path=self._path, name=self._name(), tag=self._tag(), user=user, uid=uid,
            entrypoint=entrypoint, command=self._texts("command"),
            workdir=self._place("workdir", self._fields.get("workdir", "/")),
            env={"PATH": DEFAULT_PATH, **self._text_table("env")},
            labels=self._text_table("labels"), ports=self._ports(),
            files={self._place("files", path): self._source(path, value)
                   for path, value in self._table("files")},
            trees={self._place("trees", path): value
                   for path, value in self._text_table("trees").items()},
            links={self._place("links", path): value
                   for path, value in self._text_table("links").items()},
            directories={self._place("directories", path): self._directory(path, value)
                         for path, value in self._table("directories")},
            libraries=tuple(self._place("libraries", path) for path in self._texts("libraries")),
            provided=self._texts("provided"))

    def _check(self, fine, sentence):
        if not fine:
            raise ImageError(f"recipe {self._path}: {sentence}")

    def _place(self, field, path):
        return image_path(path, f"recipe {self._path}: `{field}`")

    def _name(self):
        name = self._fields.get("name", "")
        self._check(all(NAME.fullmatch(part) for part in name.split("/")),
                    f"`name` {name!r} is no name of an image; use small letters, digits and single "
                    ". _ - between them, with / between parts")
        return name

    def _tag(self):
        tag = self._fields.get("tag", "")
        self._check(bool(TAG.fullmatch(tag)), f"`tag` {tag!r} is no tag of an image; give one here "
                    "or with --tag: letters, digits and _ . -, at most 128")
        self._check(tag != "latest", "`tag` must not be `latest`, which Kubernetes pulls anew at "
                    "each start")
        return tag

    def _user(self):
        user = self._fields.get("user", {})
        self._check(set(user) == {"name", "id"}, "`user` must have `name` and `id`, and nothing "
                    "else")
        self._check(isinstance(user["name"], str) and bool(USER_NAME.fullmatch(user["name"])),
                    f"`user.name` {user['name']!r} is no name of a user")
        self._check(type(user["id"]) is int and 0 <= user["id"] <= ID_MAX,
                    f"`user.id` must be a number from 0 to {ID_MAX}")
        self._check((user["name"] == "root") == (user["id"] == 0), "`user.id` 0 is `root`, and "
                    "nobody else")
        return user["name"], user["id"]

    def _texts(self, field):
        values = self._fields.get(field, [])
        self._check(all(isinstance(value, str) for value in values),
                    f"`{field}` must be a list of texts")
        return tuple(values)

    def _table(self, field):
        return self._fields.get(field, {}).items()

    def _text_table(self, field):
        for name, value in self._table(field):
            self._check(isinstance(value, str), f"`{field}.{name}` must be a text")
        return dict(self._table(field))

    def _ports(self):
        ports = self._fields.get("ports", [])
        for port in ports:
            self._check(type(port) is int and 0 < port <= PORT_MAX,
                        f"`ports` must be numbers from 1 to {PORT_MAX}, not {port!r}")
        return tuple(ports)

    def _source(self, path, value):
        if isinstance(value, str):
            return Source(value)
        self._check(isinstance(value, dict) and set(value) <= {"source", "mode"} and
                    isinstance(value.get("source"), str),
                    f"`files.{path}` must be a path on this machine, or a table with `source` and "
                    "`mode`")
        return Source(value["source"], self._mode(f"files.{path}", value))

    def _directory(self, path, value):
        field = f"directories.{path}"
        self._check(isinstance(value, dict) and set(value) <= {"owner", "mode"},
                    f"`{field}` must be a table with `owner` and `mode`, or an empty one")
        owner = value.get("owner", 0)
        self._check(type(owner) is int and 0 <= owner <= ID_MAX,
                    f"`{field}.owner` must be the number of a user, from 0 to {ID_MAX}")
        mode = self._mode(field, value)
        return Directory(0o755 if mode is None else mode, owner)

    def _mode(self, field, value):
        if "mode" not in value:
            return None
        mode = value["mode"]
        self._check(isinstance(mode, str) and bool(MODE.fullmatch(mode)),
                    f"`{field}.mode` must be a text of octal digits like \"0755\"")
        number = int(mode, 8)
        self._check(number & 0o6000 == 0, f"`{field}.mode` {mode} gives a program rights that its "
                    "caller lacks (setuid, setgid); images have none")
        return number


def build_root(recipe, folder):
    """The file tree of the recipe's image. Sources that do not begin with / are below `folder`."""
    root = Root()
    for path in MOUNT_POINTS:
        root.add(path, Directory())
    for path, directory in recipe.directories.items():
        root.add(path, directory)
    for path, source in recipe.trees.items():
        root.add_tree(path, _on_this_machine(recipe, folder, source))
    for path, source in recipe.files.items():
        root.add_file(path, _on_this_machine(recipe, folder, source.path), source.mode)
    for path, target in recipe.links.items():
        root.add(path, Link(target))
    _add_user(root, recipe)
    add_libraries(root, recipe.libraries, recipe.provided)
    add_packages(root)
    _check_entrypoint(root, recipe)
    return root


def _on_this_machine(recipe, folder, path):
    if os.path.isabs(path):
        return path
    if os.path.normpath(path).split("/")[0] == "..":
        raise ImageError(f"recipe {recipe.path}: {path!r} is outside of {folder}; put it there, or "
                         "write its path from / on")
    return os.path.join(folder, path)


def _add_user(root, recipe):
    """Who the program is, and how names are looked up: in /etc/hosts first, then DNS."""
    users = {0: "root", recipe.uid: recipe.user}.items()
    texts = {
        "/etc/passwd": "".join(f"{name}:x:{uid}:{uid}:{name}:/:/sbin/nologin\n"
                               for uid, name in users),
        "/etc/group": "".join(f"{name}:x:{uid}:\n" for uid, name in users),
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    }
    for path, text in texts.items():
        if root.find(path) is None:
            root.add(path, File(0o644, data=text.encode()))


def _check_entrypoint(root, recipe):
    program = recipe.entrypoint[0]
    found = root.find(program) if program.startswith("/") else None
    if found is None or not isinstance(found[1], File) or not found[1].mode & 0o111:
        raise ImageError(f"recipe {recipe.path}: `entrypoint` {program!r} is no program in the "
                         "image; write its path from / on")
