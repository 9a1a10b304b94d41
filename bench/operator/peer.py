"""Kubeflow's training-operator, which TaaS is measured beside: built once, outside the tree.

    [peer.program(), *peer.TUNED]     without kubeconfig and addresses
    peer.crd()                        the file with its definition of TFJob
"""

import functools
import os
import subprocess

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer", "build.sh")
# Ten jobs at a time, and more requests than an API server of two cores answers.
TUNED = ("--controller-threads=10", "--kube-api-qps=500", "--kube-api-burst=1000")


@functools.cache
def folder():
    """Says on standard error what it builds; returns at once when that was done before."""
    return subprocess.run([BUILD], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def program():
    return os.path.join(folder(), "training-operator")


def crd():
    return os.path.join(folder(), "tfjobs.yaml")
