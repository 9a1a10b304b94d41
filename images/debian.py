"""What Debian says of the files that an image took from it: whose they are, licences, versions.

For every package of which the image holds a file:
  /usr/share/doc/PACKAGE/copyright, and the licences of /usr/share/common-licenses it refers to;
  /var/lib/dpkg/status.d/PACKAGE, name, version and source, where scanners for known weaknesses
  look in images without a package manager; and /etc/os-release and /etc/debian_version for them.

Files that no package owns (our own programs, a Python environment) bring their notices themselves.

Errors: ImageError when this is no Debian machine or a package has no copyright file.

    add_packages(root)
"""

import glob
import os
import re

from image_error import ImageError
from root import MERGED, File

DPKG = "/var/lib/dpkg"
RELEASE_FILES = ("/etc/os-release", "/etc/debian_version")
COMMON_LICENCE = re.compile(rb"/usr/share/common-licenses/([A-Za-z0-9][A-Za-z0-9.+-]*[A-Za-z0-9])")
# The fields of dpkg's database that say what a package is.
KEPT_FIELDS = ("Package", "Status", "Maintainer", "Architecture", "Source", "Version", "Homepage")


def add_packages(root):
    """The names of the packages, sorted."""
    owners = _owners(file.source for _, file in root.files() if file.source is not None)
    if not owners:
        return []
    for path in RELEASE_FILES:
        if root.find(path) is None:
            root.add_host(path)
    known = _status()
    # One that was removed and left its configuration behind is not among them.
    owners = sorted((owners | _owners(RELEASE_FILES)) & known.keys())
    for name in owners:
        root.add(f"{DPKG}/status.d/{name}", File(0o644, data=known[name].encode()))
        _add_copyright(root, name)
    return owners


def _owners(paths):
    """Packages that own one of the files."""
    wanted = {os.path.realpath(path) for path in paths}
    lists = glob.glob(f"{DPKG}/info/*.list")
    if not lists:
        raise ImageError(f"read the lists of packages in {DPKG}/info: there are none; images are "
                         "put together on Debian")
    return {os.path.basename(path).removesuffix(".list").split(":")[0]
            for path in lists if _names_one_of(path, wanted)}


def _names_one_of(path, wanted):
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        return any(_merged(line.rstrip("\n")) in wanted for line in lines)


def _merged(path):
    """Packages may still call a file by its name before /usr and / were merged."""
    return "/usr" + path if path.split("/", 2)[1] in MERGED else path


def _status():
    """Name -> the fields that are kept, of each installed package."""
    packages = {}
    with open(f"{DPKG}/status", encoding="utf-8") as file:
        for stanza in file.read().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in stanza.splitlines()
                          if ": " in line and not line.startswith(" "))
            if fields.get("Status", "").endswith(" installed"):
                packages[fields["Package"]] = "".join(
                    f"{name}: {fields[name]}\n" for name in KEPT_FIELDS if name in fields)
    return packages


def _add_copyright(root, package):
    source = f"/usr/share/doc/{package}/copyright"
    try:
        with open(source, "rb") as file:
            text = file.read()
    except OSError as error:
        raise ImageError(f"read the licence of package {package} in {source}: "
                         f"{error.strerror}") from error
    if root.find(source) is None:
        root.add(source, File(0o644, data=text))
    for licence in sorted(set(COMMON_LICENCE.findall(text))):
        path = f"/usr/share/common-licenses/{licence.decode()}"
        # Some copyright files tell of licences that Debian has no common text of.
        if os.path.isfile(path) and root.find(path) is None:
            root.add_host(path)
