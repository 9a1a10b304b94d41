"""The API server: requests in JSON, streams of lines, and connections to ports of pods.

The `kubernetes` package says where the cluster is and who we are (kubeconfig, exec plug-ins, the
account of a pod); its exceptions, and those of urllib3 below it, stay in here. Any thread may call.

    connection = Connection.load(kubeconfig=None, context=None, namespace=None)
    job = connection.call("GET", "/apis/…/mnist", Attempt("read job", "default/mnist"))
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import urllib3
from kubernetes import client, config
from urllib3.exceptions import HTTPError

from taas.errors import (AlreadyExists, ApiError, Attempt, ConfigError, Forbidden, NotFound,
                         Unreachable)
from taas.fields import member, text
from taas.lines import lines_of

log = logging.getLogger("taas")

CONNECT_S = 10.0
# An API server answers in milliseconds; one that is overloaded gives up after a minute.
READ_S = 60.0
# Some hundred times the largest page of a list that was seen.
BODY_BYTES_MAX = 256 << 20
# Of a message of an error; a proxy in between may answer with a whole page.
ERROR_CHARS_MAX = 2_000
# An object has at most 1.5 MB in etcd. Of a longer line of a log the rest is left out.
LINE_BYTES_MAX = 4 << 20
# Connections that are kept: a followed job of some dozen replicas needs no others.
POOL_SIZE = 64
NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
DEFAULT_KUBECONFIG = "~/.kube/config"

JSON_TYPE = "application/json"
JSON_PATCH = "application/json-patch+json"

_ADVICE = {
    401: "log in again, or choose another context of the kubeconfig",
    403: "ask for the right, or choose another namespace",
    404: "look at its name and namespace",
    429: "try again later",
}
_CLASSES: dict[int, type[ApiError]] = {401: Forbidden, 403: Forbidden, 404: NotFound}


class Stream:
    """An answer whose lines are read as they come. Another thread may close it meanwhile."""

    def __init__(self, response: urllib3.BaseHTTPResponse, attempt: Attempt) -> None:
        self._response, self._attempt = response, attempt

    def lines(self) -> Iterator[bytes]:
        try:
            yield from lines_of(self._response.stream(decode_content=False), LINE_BYTES_MAX)
        # ValueError and AttributeError are what reading a response meets that was closed beside it.
        except (HTTPError, OSError, ValueError, AttributeError) as error:
            raise Unreachable(self._attempt, f"the connection broke: {error}",
                              "try again") from error

    def close(self) -> None:
        # Wakes a thread that reads; close() alone would wait for it. RuntimeError: the answer has
        # come to its end.
        with suppress(RuntimeError, ValueError, OSError):
            self._response.shutdown()
        with suppress(HTTPError, OSError, ValueError):
            self._response.close()


class Connection:

    def __init__(self, api: client.ApiClient, namespace: str) -> None:
        self._api = api
        self._pool: urllib3.PoolManager = api.rest_client.pool_manager
        self.namespace = namespace
        self.host = str(api.configuration.host)

    @classmethod
    def load(cls, kubeconfig: str | os.PathLike[str] | None, context: str | None,
             namespace: str | None) -> Connection:
        """From the file that is given, else $KUBECONFIG, else ~/.kube/config, else the account of
        the pod that this runs in."""
        settings = client.Configuration()
        settings.connection_pool_maxsize = POOL_SIZE
        given = os.fspath(kubeconfig) if kubeconfig is not None else os.environ.get("KUBECONFIG")
        path = os.path.expanduser(given or DEFAULT_KUBECONFIG)
        in_file = bool(given or context) or os.path.exists(path)
        attempt = Attempt("read kubeconfig", path)
        # Whatever a file holds that is none: yaml, base64, and missing keys have errors of theirs.
        try:
            if in_file:
                config.load_kube_config(config_file=path, context=context,
                                        client_configuration=settings)
                own = _context_namespace(path, context)
            else:
                attempt = Attempt("find a cluster", f"in {path} and in this pod's account")
                config.load_incluster_config(client_configuration=settings)
                own = _pod_namespace()
            return cls(client.ApiClient(settings), namespace or own or "default")
        except Exception as error:
            raise ConfigError(attempt, str(error) or type(error).__name__,
                              "set KUBECONFIG, or name a file and a context that is in it: "
                              "taas.Client(kubeconfig=…, context=…)") from error

    def close(self) -> None:
        self._pool.clear()

    def call(self, method: str, path: str, attempt: Attempt, *, body: Any = None,
             query: Mapping[str, str] | None = None, content_type: str = JSON_TYPE,
             ) -> dict[str, Any]:
        response = self._send(method, path, attempt, body=body, query=query,
                              content_type=content_type, read_s=READ_S)
        data = self._read(response, attempt, BODY_BYTES_MAX)
        try:
            found = json.loads(data)
        except ValueError as error:
            raise Unreachable(attempt, f"the answer is no JSON: {error}",
                              f"look whether {self.host} is a Kubernetes API server") from error
        return found if isinstance(found, dict) else {}

    def stream(self, path: str, attempt: Attempt, *, query: Mapping[str, str] | None = None,
               read_s: float = READ_S) -> Stream:
        """`read_s`: how long it may say nothing."""
        return Stream(self._send("GET", path, attempt, query=query, read_s=read_s), attempt)

    def forward(self, namespace: str, pod: str, port: int, attempt: Attempt) -> Any:
        """A connection to a port of a pod through the API server, which NetworkPolicies do not
        stop: kubernetes.stream's PortForward."""
        # Only those who read curves of a real cluster need it, and it takes a while to import.
        from kubernetes import stream  # pylint: disable=import-outside-toplevel

        # A client of its own, since this call replaces a method of the client for a moment.
        core = client.CoreV1Api(client.ApiClient(self._api.configuration))
        try:
            return stream.portforward(core.connect_get_namespaced_pod_portforward, pod, namespace,
                                      ports=str(port))
        except client.ApiException as error:
            cause = str(error.reason or error.status)[:ERROR_CHARS_MAX]
            raise Unreachable(attempt, f"no connection to port {port}: {cause}",
                              "the account needs get and create of pods/portforward") from error

    def _send(self, method: str, path: str, attempt: Attempt, *, read_s: float, body: Any = None,
              query: Mapping[str, str] | None = None, content_type: str = JSON_TYPE,
              ) -> urllib3.BaseHTTPResponse:
        url = self.host.rstrip("/") + path + ("?" + urlencode(query) if query else "")
        headers = {"Accept": "application/json, */*", "User-Agent": "taas-python",
                   "Content-Type": content_type, **self._credentials(attempt)}
        try:
            response = self._pool.request(
                method, url, headers=headers, preload_content=False, redirect=False, retries=False,
                body=None if body is None else json.dumps(body).encode(),
                timeout=urllib3.Timeout(connect=CONNECT_S, read=read_s))
        except (HTTPError, OSError) as error:
            raise Unreachable(attempt, f"no answer of {self.host}: {error}",
                              "look whether the cluster runs and can be reached") from error
        if 200 <= response.status <= 299:
            return response
        raise api_error(attempt, response.status,
                        self._read(response, attempt, BODY_BYTES_MAX))

    def _credentials(self, attempt: Attempt) -> dict[str, str]:
        # A plug-in of the kubeconfig is a program of the user's and may fail in any way.
        try:
            token = self._api.configuration.auth_settings().get("BearerToken", {}).get("value")
        except Exception as error:
            raise ConfigError(attempt, f"there are no credentials: {error}", _ADVICE[401]
                              ) from error
        return {"Authorization": token} if token else {}

    def _read(self, response: urllib3.BaseHTTPResponse, attempt: Attempt, limit: int) -> bytes:
        data = bytearray()
        try:
            for piece in response.stream(decode_content=False):
                data += piece
                if len(data) > limit:
                    raise Unreachable(attempt, f"the answer has more than {limit} bytes")
        except (HTTPError, OSError) as error:
            raise Unreachable(attempt, f"the connection broke: {error}", "try again") from error
        finally:
            response.release_conn()
        return bytes(data)


def api_error(attempt: Attempt, code: int, body: bytes | Mapping[str, Any]) -> ApiError:
    """Of an answer that refuses: a Status of Kubernetes, or what a proxy in between says."""
    said = ""
    if isinstance(body, bytes):
        said = body[:ERROR_CHARS_MAX].decode(errors="replace")
        try:
            body = member({"it": json.loads(body)}, "it")
        except (ValueError, RecursionError):
            body = {}
    cause = (text(body, "message") or said)[:ERROR_CHARS_MAX].strip() or "no reason was given"
    kind = _CLASSES.get(code, ApiError)
    if text(body, "reason") == "AlreadyExists":
        kind = AlreadyExists
    return kind(attempt, f"{cause} ({code})", _ADVICE.get(code, ""), code=code)


def _context_namespace(path: str, context: str | None) -> str:
    contexts, active = config.list_kube_config_contexts(config_file=path)
    chosen = [found for found in contexts if found["name"] == context] if context else [active]
    return text(member(chosen[0] if chosen else {}, "context"), "namespace")


def _pod_namespace() -> str:
    try:
        with open(NAMESPACE_FILE, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""
