"""Where the cluster is, and what a server on the other end may do."""

import http.server
import os
import sys
import tempfile
import threading
import unittest
from unittest import mock

from taas.client import Client
from taas.connection import Connection
from taas.errors import ApiError, Attempt, ConfigError, Unreachable

ATTEMPT = Attempt("read", "x")
CONFIG = """
apiVersion: v1
kind: Config
current-context: one
clusters: [{{name: c, cluster: {{server: "{server}"}}}}]
users: [{{name: u, user: {{token: secret}}}}]
contexts:
- {{name: one, context: {{cluster: c, user: u, namespace: team-a}}}}
- {{name: two, context: {{cluster: c, user: u}}}}
"""


class Handler(http.server.BaseHTTPRequestHandler):

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        self.server.answer(self)

    def log_message(self, *_):
        pass


class ConnectionTest(unittest.TestCase):

    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.asked = []
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "kubeconfig")
        self.write(CONFIG.format(server=f"http://127.0.0.1:{self.server.server_port}"))

    def write(self, text):
        with open(self.path, "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)

    def connection(self, **arguments):
        return Connection.load(**{"kubeconfig": self.path, "context": None, "namespace": None,
                                  **arguments})

    def answering(self, body, code=200):
        def answer(handler):
            handler.send_response(code)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)

        self.server.answer = answer
        return self.connection()

    def test_the_namespace_is_the_given_one_or_the_context_s_or_default(self):
        self.assertEqual(self.connection().namespace, "team-a")
        self.assertEqual(self.connection(context="two").namespace, "default")
        self.assertEqual(self.connection(namespace="mine").namespace, "mine")

    def test_the_file_of_the_environment_is_read_when_it_is_needed(self):
        with mock.patch.dict(os.environ, KUBECONFIG=self.path):
            self.assertEqual(Client().namespace, "team-a")

    def test_no_cluster_is_told_with_the_file_and_what_to_do(self):
        with self.assertRaisesRegex(ConfigError, "three"):
            self.connection(context="three")
        with self.assertRaisesRegex(ConfigError, "no/such"):
            self.connection(kubeconfig="/no/such")
        for text in ("", "7", "[]", "a: [", "clusters: 7\ncontexts: x\n", b"\xff\xfe\x00",
                     CONFIG.format(server="x").replace("cluster: c,", "cluster: nowhere,")):
            self.write(text)
            with self.subTest(text), self.assertRaises(ConfigError) as caught:
                self.connection()
            self.assertIn(self.path, str(caught.exception))

    def test_without_any_file_or_account_both_are_named(self):
        with mock.patch.dict(os.environ, {"HOME": "/no/such"}, clear=True):
            with self.assertRaisesRegex(ConfigError, "find a cluster.*KUBECONFIG"):
                Client()

    def test_who_asks_is_said_and_queries_are_encoded(self):
        connection = self.answering(b'{"kind": "x"}')
        self.assertEqual(connection.call("GET", "/a", ATTEMPT, query={"q": "a=b c"}),
                         {"kind": "x"})
        ((path, headers),) = self.server.asked
        self.assertEqual(path, "/a?q=a%3Db+c")
        self.assertEqual(headers["Authorization"], "Bearer secret")

    def test_a_refusal_and_an_answer_that_is_no_json(self):
        with self.assertRaisesRegex(ApiError, "full up"):
            self.answering(b'{"message": "full up"}', 500).call("GET", "/a", ATTEMPT)
        with self.assertRaisesRegex(Unreachable, "no JSON"):
            self.answering(b"<html>").call("GET", "/a", ATTEMPT)

    def test_a_server_that_is_not_there_or_hangs_up(self):
        with self.assertRaisesRegex(Unreachable, "cluster runs"):
            self.write(CONFIG.format(server="http://127.0.0.1:1"))
            self.connection().call("GET", "/a", ATTEMPT)
        self.write(CONFIG.format(server=f"http://127.0.0.1:{self.server.server_port}"))
        self.server.answer = lambda handler: handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
        with self.assertRaisesRegex(Unreachable, "broke"):
            self.connection().call("GET", "/a", ATTEMPT)

    def calls_of(self, thread):
        """The names of the functions that a thread is in."""
        frame, names = sys._current_frames().get(thread.ident), []
        while frame is not None:
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        return names

    def test_lines_come_as_they_are_written_and_closing_wakes_who_reads(self):
        release, ended = threading.Event(), threading.Event()
        self.addCleanup(release.set)

        def answer(handler):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                b"4\r\none\n\r\n")
            release.wait()

        self.server.answer = answer
        stream = self.connection().stream("/log", ATTEMPT)
        lines = stream.lines()
        self.assertEqual(next(lines), b"one")

        def read():
            try:
                list(lines)
            except Unreachable:
                pass
            ended.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        while "readinto" not in self.calls_of(reader):
            release.wait(0.01)
        threading.Thread(target=stream.close, daemon=True).start()
        self.assertTrue(ended.wait(30), "who reads is not woken")


if __name__ == "__main__":
    unittest.main()
