"""Who takes part in the measurements, and as whom they talk to the API server.

    title("bare-tfjob")        "bare clients, objects of TaaS, TFJob"
    user("operator")           "system:serviceaccount:bench:operator"
"""

NAMESPACE = "bench"
TITLES = {
    "taas-trainingjob": "TaaS, TrainingJob",
    "taas-perjob": "TaaS, TFJob, one service per job",
    "taas-tfjob": "TaaS, TFJob",
    "peer-tuned": "training-operator, tuned",
    "peer-default": "training-operator",
}
TUNED, DEFAULT = "peer-tuned", "peer-default"
OURS = ("taas-trainingjob", "taas-perjob", "taas-tfjob")
PEERS = (TUNED, DEFAULT)


def user(name):
    return f"system:serviceaccount:{NAMESPACE}:{name}"


def bare(name):
    """The bare clients that make the objects of one of ours."""
    return "bare-" + name.removeprefix("taas-")


def telling(name):
    """Those that also write what it wrote of the jobs."""
    return "telling-" + name.removeprefix("taas-")


def ceilings(name):
    """The clients with the same kinds of objects: the peer has a service for each replica."""
    name = "taas-tfjob" if name in PEERS else name
    return bare(name), telling(name)


def title(name):
    if name in TITLES:
        return TITLES[name]
    clients, _, operator = name.partition("-")
    return f"{clients} clients, objects of " + TITLES["taas-" + operator]
