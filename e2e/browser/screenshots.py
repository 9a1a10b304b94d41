#!/usr/bin/python3
"""Pictures of every page of the dashboard, at three widths, in both themes and both languages.

  e2e/browser/screenshots.py [--out dist/screenshots] [--look en-light-1280 …] [--page jobs …]

`make screenshots` runs it. OUT/en-light-1280/jobs.png and so on; what was there before is replaced.
"""

import argparse
import os
import shutil
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TREE, "e2e", "cluster")]

# The folder of the cluster's parts must be known before these.
import browser
import seeds
from local_cluster import LocalCluster


def main():
    parser = argparse.ArgumentParser(description="Pictures of every page of the dashboard.")
    parser.add_argument("--out", default=os.path.join(TREE, "dist", "screenshots"))
    parser.add_argument("--look", action="append", help="such as zh-dark-360; default: all twelve")
    parser.add_argument("--page", action="append", help="of src/pages.ts; default: all")
    args = parser.parse_args()
    chosen = {"looks": args.look, "only": args.page}
    if not args.look and not args.page:
        shutil.rmtree(args.out, ignore_errors=True)
    os.makedirs(args.out, exist_ok=True)
    with LocalCluster() as cluster:
        jobs = seeds.plant(cluster)
        browser.run("screenshots", "en", folder=args.out, url=cluster.url, jobs=jobs,
                    acts={"link": cluster.link}, namespace=seeds.NAMESPACE, local=True,
                    **{name: value for name, value in chosen.items() if value})
    print(f"pictures of every page: {args.out}")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"screenshots: {error}")
