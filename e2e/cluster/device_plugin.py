"""GPUs for a node that has none, as NVIDIA's device plugin and container runtime would give them.

    with DevicePlugin(cluster, ["GPU-aa", "GPU-bb"]) as gpus:
        gpus.set("GPU-aa", utilization=93)
        gpus.set("GPU-bb", health="Unhealthy")

The kubelet hands them out as nvidia.com/gpu. A container finds the library that stands for NVML
(operator/base/fake_nvml.cc) where the driver's would be, and its own devices in it.

The process that serves the kubelet is this file again, run by the Python of python/tensorflow.txt,
which has gRPC: /usr/bin/python3 has none. Messages are those of Kubernetes' device plugin API,
v1beta1, as far as they are needed.

Ownership: process and folder go with the block; devices that were handed out stay in the kubelet's
books until their pods end. Errors: an AssertionError with what the process said.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

RESOURCE = "nvidia.com/gpu"
# What the test says about devices, in the folder that both processes know.
STATE = "state.json"
SOCKET = "taas-e2e-gpu.sock"
IN_CONTAINER = "/run/taas-e2e-gpus"
LIBRARY = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
MEMORY_MIB = 81559
# Of jobs on its devices, which train until a test ends, beside others.
STEPS = 2_000_000_000
SMALL = {"requests": {"cpu": "10m", "memory": "256Mi"},
         "limits": {"cpu": "100m", "memory": "256Mi"}}
# Between two looks at the state; there are few devices and one reader.
LOOK_S = 0.2


class DevicePlugin:

    def __init__(self, cluster, ids):
        self.cluster = cluster
        self.devices = {gpu: {"health": "Healthy", "utilization": 0, "used": 0} for gpu in ids}
        self.process = None

    def __enter__(self):
        import programs
        from waiting import until
        # Containers, whose users are others, look into it.
        self.folder = tempfile.mkdtemp(prefix="taas-e2e-gpus-")
        os.chmod(self.folder, 0o755)
        try:
            subprocess.run(
                ["g++", "-shared", "-fPIC", "-o", os.path.join(self.folder, "library"),
                 os.path.join(programs.TREE, "operator", "base", "fake_nvml.cc")], check=True)
            self._write()
            self.log = os.path.join(self.cluster.logs, "device-plugin.log")
            # The kubelet's folder, seen from outside its namespaces.
            sockets = os.path.join(self.cluster.instance.work, "var-lib-kubelet", "device-plugins")
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(
                    [os.path.join(programs.folder("tensorflow"), "python"), __file__, self.folder],
                    cwd=sockets, stdin=subprocess.PIPE, stdout=log, stderr=log)
            until("the node to have GPUs", self._has_them)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _has_them(self):
        if self.process.poll() is not None:
            with open(self.log, encoding="utf-8") as log:
                raise AssertionError(f"the device plugin ended: {log.read()[-2000:]}")
        node = self.cluster.kubectl.json("get", "node", "node-0")
        return node["status"]["allocatable"].get(RESOURCE) == str(len(self.devices))

    def __exit__(self, *_):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def set(self, gpu, **what):
        """`health`, `utilization` in percent or `used` MiB."""
        self.devices[gpu].update(what)
        self._write()

    def _write(self):
        for gpu, it in self.devices.items():
            self._replace(gpu, f"{gpu} {it['utilization']} {it['used']} {MEMORY_MIB} NVIDIA H100\n")
        self._replace(STATE, json.dumps(self.devices))

    def _replace(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".new", path)


# Below: the process that the kubelet talks to.


def messages():
    """Classes of the messages, by name."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    file = descriptor_pb2.FileDescriptorProto(
        name="device_plugin.proto", package="v1beta1", syntax="proto3")
    field_type = descriptor_pb2.FieldDescriptorProto

    def add(name, **fields):
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            many = kind.endswith("*")
            kind = kind.rstrip("*")
            made = message.field.add(name=field, number=number)
            made.label = field_type.LABEL_REPEATED if many else field_type.LABEL_OPTIONAL
            if kind == "string":
                made.type = field_type.TYPE_STRING
            elif kind == "bool":
                made.type = field_type.TYPE_BOOL
            else:
                made.type, made.type_name = field_type.TYPE_MESSAGE, ".v1beta1." + kind

    add("Empty")
    add("RegisterRequest", version=(1, "string"), endpoint=(2, "string"),
        resource_name=(3, "string"))
    add("Options")
    add("Device", id=(1, "string"), health=(2, "string"))
    add("Devices", devices=(1, "Device*"))
    add("ContainerRequest", ids=(1, "string*"))
    add("AllocateRequest", containers=(1, "ContainerRequest*"))
    # An entry of a map, on the wire.
    add("Variable", key=(1, "string"), value=(2, "string"))
    add("Mount", container_path=(1, "string"), host_path=(2, "string"), read_only=(3, "bool"))
    add("ContainerResponse", variables=(1, "Variable*"), mounts=(2, "Mount*"))
    add("AllocateResponse", containers=(1, "ContainerResponse*"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {it.name: message_factory.GetMessageClass(
        pool.FindMessageTypeByName("v1beta1." + it.name)) for it in file.message_type}


class Plugin:
    """Answers of the service DevicePlugin."""

    def __init__(self, folder):
        self.folder = folder
        self.types = messages()

    def devices(self):
        with open(os.path.join(self.folder, STATE), encoding="utf-8") as file:
            state = json.load(file)
        devices = [self.types["Device"](id=gpu, health=it["health"]) for gpu, it in state.items()]
        return self.types["Devices"](devices=devices)

    def watch(self, _request, context):
        sent = None
        while context.is_active():
            now = self.devices()
            if now != sent:
                yield now
                sent = now
            time.sleep(LOOK_S)

    def allocate(self, request, _context):
        return self.types["AllocateResponse"](
            containers=[self.container(list(it.ids)) for it in request.containers])

    def container(self, ids):
        variable, mount = self.types["Variable"], self.types["Mount"]
        # The library reads one file: containers of these tests get one device each.
        (gpu,) = ids
        return self.types["ContainerResponse"](
            variables=[variable(key="NVIDIA_VISIBLE_DEVICES", value=gpu),
                       variable(key="TAAS_FAKE_NVML", value=f"{IN_CONTAINER}/{gpu}")],
            mounts=[mount(container_path=IN_CONTAINER, host_path=self.folder, read_only=True),
                    mount(container_path=LIBRARY, read_only=True,
                          host_path=os.path.join(self.folder, "library"))])

    def method(self, answer, request, stream=False):
        import grpc
        kind = grpc.unary_stream_rpc_method_handler if stream else (
            grpc.unary_unary_rpc_method_handler)
        return kind(answer, request_deserializer=self.types[request].FromString,
                    response_serializer=lambda message: message.SerializeToString())


def serve(folder):
    """Until standard input ends. Runs in the folder of the kubelet's sockets."""
    from concurrent import futures

    import grpc
    plugin = Plugin(folder)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("v1beta1.DevicePlugin", {
        "GetDevicePluginOptions": plugin.method(
            lambda _request, _context: plugin.types["Options"](), "Empty"),
        "ListAndWatch": plugin.method(plugin.watch, "Empty", stream=True),
        "Allocate": plugin.method(plugin.allocate, "AllocateRequest"),
    }),))
    server.add_insecure_port("unix:" + SOCKET)
    server.start()
    register(plugin)
    sys.stdin.read()
    server.stop(grace=None)


def register(plugin):
    import grpc
    request = plugin.types["RegisterRequest"](version="v1beta1", endpoint=SOCKET,
                                              resource_name=RESOURCE)
    with grpc.insecure_channel("unix:kubelet.sock") as channel:
        channel.unary_unary(
            "/v1beta1.Registration/Register",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=plugin.types["Empty"].FromString)(request, timeout=60)


if __name__ == "__main__":
    serve(sys.argv[1])
