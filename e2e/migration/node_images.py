"""Images of this folder's recipes, on the real node of a cluster.

    node_images.load(cluster, "tensorflow_image.toml", source=programs.TREE)
"""

import os
import subprocess
import tempfile

import programs

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(programs.TREE, "images", "build.py")


def load(cluster, recipe, source, *arguments):
    """Builds the image from files below `source` and imports it; its name is in the recipe."""
    with tempfile.TemporaryDirectory(prefix="taas-e2e-image-") as out:
        done = subprocess.run(
            [BUILD, os.path.join(HERE, recipe), "--from", source, "--out", out, *arguments],
            text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise RuntimeError(f"build the image of {recipe}: {done.stdout.strip()}")
        # A line per image, which ends with its archive.
        cluster.node.import_image(done.stdout.split()[-1])
