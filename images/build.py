#!/usr/bin/python3
"""Builds images from recipes, without a daemon and the same bytes each time (docs/images.md).

  images/build.py images/operator.toml images/trainer.toml --from . --out dist --tag 0.1.0

prints for each its name, digest, size and archive. Exit codes: 0 built, 1 the machine failed (a
full disk), 2 a recipe or what it names is wrong. $SOURCE_DATE_EPOCH, where it is set, is the moment
of all files in seconds since 1970; otherwise that is 0.
"""

import argparse
import os
import re
import sys

from image_error import ImageError
from oci import Image, write_archive
from recipe import NAME, build_root, read_recipe

# A host or host:port of a registry, and the first parts of the names there.
REGISTRY = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9.-]*(:[0-9]{1,5})?")
DEFAULT_REGISTRY = "docker.io"
# The last second that the time in a compiled Python module can hold.
MOMENT_MAX = 2**32 - 1


def main(argv):
    args = _arguments(argv)
    try:
        moment = _moment(os.environ.get("SOURCE_DATE_EPOCH", ""))
        registry = _registry(args.registry)
        for path in args.recipes:
            print(_build(path, args, registry, moment), flush=True)
    except ImageError as error:
        print(f"images: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"images: {error}", file=sys.stderr)
        return 1
    return 0


def full_name(name, registry):
    """The name with its registry. Without --registry names are read as `docker` and Kubernetes do:
    a first part with a dot, or `localhost`, is a registry, else it is docker.io."""
    if registry:
        return f"{registry}/{name}"
    first, _, rest = name.partition("/")
    if rest and ("." in first or first == "localhost"):
        return name
    return f"{DEFAULT_REGISTRY}/{name}" if rest else f"{DEFAULT_REGISTRY}/library/{name}"


def _arguments(argv):
    parser = argparse.ArgumentParser(
        description="Builds images from recipes, without a daemon.", allow_abbrev=False)
    parser.add_argument("recipes", nargs="+", metavar="RECIPE", help="a TOML file")
    parser.add_argument("--from", dest="folder", metavar="DIR",
                        help="where the paths of recipes begin; default: each recipe's folder")
    parser.add_argument("--out", default="dist", metavar="DIR",
                        help="where the archives go; default: %(default)s")
    parser.add_argument("--registry", default="", metavar="HOST[:PORT][/PATH]",
                        help="goes before the names of the images")
    parser.add_argument("--tag", help="goes before the recipes' own")
    return parser.parse_args(argv)


def _moment(text):
    if text == "":
        return 0
    if not text.isascii() or not text.isdigit() or int(text) > MOMENT_MAX:
        raise ImageError(f"SOURCE_DATE_EPOCH is {text!r}; it must be a whole number of seconds "
                         f"since 1970, from 0 to {MOMENT_MAX}")
    return int(text)


def _registry(text):
    host, *parts = text.split("/")
    if text and not (REGISTRY.fullmatch(host) and all(NAME.fullmatch(part) for part in parts)):
        raise ImageError(f"--registry {text!r} is no registry; give HOST, HOST:PORT or "
                         "HOST/PATH, without https://")
    return text


def _build(path, args, registry, moment):
    recipe = read_recipe(path, args.tag)
    folder = args.folder if args.folder is not None else os.path.dirname(path) or "."
    root = build_root(recipe, folder)
    config = {"User": f"{recipe.uid}:{recipe.uid}", "Entrypoint": list(recipe.entrypoint),
              "WorkingDir": recipe.workdir,
              "Env": [f"{name}={value}" for name, value in sorted(recipe.env.items())],
              "Labels": {"org.opencontainers.image.version": recipe.tag, **recipe.labels}}
    if recipe.command:
        config["Cmd"] = list(recipe.command)
    if recipe.ports:
        config["ExposedPorts"] = {f"{port}/tcp": {} for port in recipe.ports}
    image = Image(full_name(recipe.name, registry), recipe.tag, config,
                  created_by=f"images/build.py {os.path.basename(path)}")
    os.makedirs(args.out, exist_ok=True)
    archive = os.path.join(args.out, recipe.name.replace("/", "-") + ".tar")
    written = write_archive(archive, image, root, moment)
    shown = image.name.removeprefix(DEFAULT_REGISTRY + "/")
    return f"{shown}:{image.tag}  {written.digest}  {written.size / 1e6:.1f} MB  {archive}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
