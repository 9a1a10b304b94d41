"""A network of the browser's own, in which nothing happens but what a test does.

Chromium drops all connections when an interface or an address comes or goes (ERR_NETWORK_CHANGED),
and clusters of tests beside this one come and go. In here there are a loopback, on which the one
port of the page is relayed, and a pair of interfaces that goes nowhere, so that the browser is not
offline.

    with QuietNetwork("http://127.0.0.1:8080/") as network:
        subprocess.run([*network.enter, "chromium", …])

Needs root; without, the browser shares this machine's network. In both cases what `enter` begins
ends with the thread that has started it.
"""

import os
import signal
import shutil
import subprocess
import tempfile
import urllib.parse

from waiting import until

LIMIT_S = 30
# Who is killed cleans nothing up: the kernel ends these with the thread that has started them.
ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]
# Arguments: the port, the socket of the relay outside, and the command. The address is one of
# documentation (RFC 5737); one of IPv6 would come some seconds later. This shell is process 1 in
# there: with it its relay ends.
INSIDE = """
ip link set lo up && ip link add quiet0 type veth peer name quiet1 &&
ip link set quiet0 addrgenmode none && ip link set quiet1 addrgenmode none &&
ip address add 192.0.2.2/24 dev quiet0 && ip link set quiet0 up && ip link set quiet1 up || exit 1
port=$1 page=$2
shift 2
socat "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr" "UNIX-CONNECT:$page" 2>/dev/null &
until socat -u /dev/null "TCP:127.0.0.1:$port" 2>/dev/null; do sleep 0.05; done
"$@"
"""


class QuietNetwork:

    def __init__(self, url):
        self.port = urllib.parse.urlsplit(url).port
        self.enter = ENDS_WITH_US
        self.relay = None
        self.folder = None

    def __enter__(self):
        if os.geteuid() != 0:
            return self
        self.folder = tempfile.mkdtemp(prefix="taas-browser-net-")
        page = os.path.join(self.folder, "page.sock")
        self.relay = subprocess.Popen(
            [*ENDS_WITH_US, "socat", f"UNIX-LISTEN:{page},fork", f"TCP:127.0.0.1:{self.port}"],
            start_new_session=True, stderr=subprocess.DEVNULL)
        try:
            until("the relay of the browser's network", lambda: os.path.exists(page), LIMIT_S)
        except BaseException:
            self.__exit__()
            raise
        self.enter = [*ENDS_WITH_US, "unshare", "--net", "--pid", "--fork", "--mount-proc",
                      "--kill-child", "--", "sh", "-c", INSIDE, "sh", str(self.port), page]
        return self

    def __exit__(self, *_):
        if self.relay is not None:
            os.killpg(self.relay.pid, signal.SIGKILL)
            self.relay.wait()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
