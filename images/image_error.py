"""What is wrong with a recipe or with what it names, as one sentence for the person who wrote it.

Raised by every module of this folder; build.py alone catches it, prints it and exits with 2.
Errors of the machine (a full disk) stay OSError and exit with 1.
"""


class ImageError(Exception):
    """Says what was attempted, on what, and why it cannot be."""
