"""Kubeflow's training-operator, which TaaS is measured beside: built once, outside the tree.

    [peer.program(), *peer.TUNED]     without kubeconfig and addresses
    peer.crd()                        the file with its definition of TFJob
"""

import functools
import os
import subprocess

import programs

SETUP = os.path.join(programs.TREE, "tools", "setup", "setup.sh")
# Ten jobs at a time, and more requests than an API server of two cores answers.
TUNED = ("--controller-threads=10", "--kube-api-qps=500", "--kube-api-burst=1000")


@functools.cache
def folder():
    """Says on standard error what it builds; returns at once when that was done before."""
    subprocess.run([SETUP, "peer"], check=True)
    programs_at = subprocess.run([SETUP, "path", "peer"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout.strip()
    return os.path.dirname(programs_at)


def program():
    return os.path.join(folder(), "bin", "measured")


def crd():
    return os.path.join(folder(), "manifests", "base", "crds", "kubeflow.org_tfjobs.yaml")
