#include "localkube/cluster/local_cluster.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "localkube/cluster/cluster_directory.h"
#include "localkube/cluster/job_advice.h"
#include "localkube/node/container_run.h"
#include "localkube/node/pod_volumes.h"
#include "localkube/node/sandbox.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using namespace std::chrono_literals;

constexpr char kNodeName[] = "local";
// A process that was killed while it started a shim holds its lock until the shim has been
// executed.
constexpr auto kLockPatience = 1s;
constexpr auto kLockRetryEvery = 10ms;

constexpr std::array<const char*, 3> kPrivateDirs = {"api", "pods", "volumes"};

std::string NameOfNode(int number) {
  return number == 1 ? kNodeName : kNodeName + ("-" + std::to_string(number));
}

// "NVIDIA H100 80GB HBM3" as the value of a label, as NVIDIA's feature discovery has it.
std::string LabelOf(const std::string& product) {
  constexpr size_t kLabelBytesMax = 63;
  std::string out = product.substr(0, kLabelBytesMax);
  for (char& c : out) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '-';
  }
  while (!out.empty() && !absl::ascii_isalnum(static_cast<unsigned char>(out.back()))) {
    out.pop_back();
  }
  return out;
}

// As NVIDIA's plugins tell of a node's GPUs.
void SetGpus(int count, const std::string& product, std::optional<int64_t> memory_mib,
             NodeCapacity* node) {
  if (count == 0) return;
  node->allocatable.gpus = count;
  node->labels["nvidia.com/gpu.product"] = product;
  node->labels["nvidia.com/gpu.count"] = std::to_string(count);
  if (memory_mib) node->labels["nvidia.com/gpu.memory"] = std::to_string(*memory_mib);
}

// A slot's number is what a container reads in CUDA_VISIBLE_DEVICES, so it must be the index of its
// device: what comes behind a device that does not answer is left out.
void SetGpus(const std::vector<GpuReading>& gpus, NodeCapacity* node) {
  int count = 0;
  for (const GpuReading& gpu : gpus) count += gpu.index == count ? 1 : 0;
  if (count == 0) return;
  SetGpus(count, LabelOf(gpus.front().name), gpus.front().memory_total_mib, node);
}

std::set<std::string> NamesOfNodes(int count) {
  std::set<std::string> out;
  for (int i = 1; i <= count; ++i) out.insert(NameOfNode(i));
  return out;
}

// What a container gets of this process's environment.
std::vector<std::pair<std::string, std::string>> BaseEnvironment() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const char* name : {"PATH", "HOME", "TMPDIR", "LANG"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) out.emplace_back(name, value);
  }
  return out;
}

}  // namespace

LocalCluster::LocalCluster(Options options)
    : options_(std::move(options)),
      dirs_(options_.dir + "/pods"),
      logs_(disk_, dirs_),
      usage_(NamesOfNodes(options_.nodes), disk_, clock_) {}

LocalCluster::~LocalCluster() {
  node_.reset();
  scheduler_.reset();
  server_.reset();
  if (lock_ >= 0) ::close(lock_);
}

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Start(Options options) {
  std::unique_ptr<LocalCluster> cluster(new LocalCluster(std::move(options)));
  RETURN_IF_ERROR(cluster->TakeDirectory());
  RETURN_IF_ERROR(cluster->StartServer());
  LocalCluster& c = *cluster;
  c.sandbox_ = SandboxWorks();
  if (!c.sandbox_) {
    Log(LogLevel::kWarning,
        "bubblewrap cannot make mount namespaces here: volumes reach the bundled trainer only");
  }
  Api& api = c.server_->api();
  c.scheduler_ = std::make_unique<Scheduler>(api, c.server_->store(), c.clock_);
  c.node_ = std::make_unique<Node>(
      Node::Options{.nodes = c.Nodes(),
                    .pods_dir = c.dirs_.root(),
                    .volumes_dir = VolumesDirOf(c.options_),
                    .volume_bindings = c.options_.volume_bindings,
                    .trainer_path = c.options_.trainer_path,
                    .shim_path = c.options_.shim_path,
                    .base_env = BaseEnvironment(),
                    .sandbox = c.sandbox_,
                    .real_gpus = c.options_.fake_gpus.count == 0,
                    .owner_lock = c.options_.ephemeral ? LockPath(c.options_.dir) : ""},
      api, c.server_->store(), c.usage_, c.disk_, c.clock_);
  RETURN_IF_ERROR(c.node_->Start());
  c.scheduler_->Start();
  c.usage_.Start();
  return cluster;
}

absl::Status LocalCluster::TakeDirectory() {
  const std::string& dir = options_.dir;
  RETURN_IF_ERROR(MakeClusterDirectory(disk_, dir));
  absl::StatusOr<int> lock = TakeLock(LockPath(dir));
  const Clock::Time deadline = clock_.Now() + kLockPatience;
  while (absl::IsFailedPrecondition(lock.status()) && clock_.Now() < deadline) {
    clock_.SleepUntil(clock_.Now() + kLockRetryEvery);
    lock = TakeLock(LockPath(dir));
  }
  if (absl::IsFailedPrecondition(lock.status())) {
    const std::string pid = disk_.ReadAll(PidPath(dir)).value_or("unknown");
    return absl::FailedPreconditionError("start a cluster in " + dir +
                                         ": another `taas local` is at work there (pid " + pid +
                                         "); end it with: taas local down --dir " + dir);
  }
  RETURN_IF_ERROR(lock.status());
  lock_ = *lock;
  RETURN_IF_ERROR(disk_.WriteAtomically(PidPath(dir), std::to_string(::getpid())));
  // Whatever the directory itself lets others see, environments, logs and objects it does not.
  for (const char* name : kPrivateDirs) {
    const std::string path = dir + "/" + name;
    RETURN_IF_ERROR(disk_.MakeDirs(path));
    if (::chmod(path.c_str(), 0700) != 0) return ErrnoToStatus(errno, "chmod 0700", path);
  }
  return absl::OkStatus();
}

absl::Status LocalCluster::StartServer() {
  const std::string port_path = options_.dir + "/port";
  uint16_t port = options_.port;
  // The same address as last time, so that a kubeconfig that somebody copied goes on working.
  const bool remembered = port == 0;
  if (remembered)
    port = static_cast<uint16_t>(std::atoi(disk_.ReadAll(port_path).value_or("0").c_str()));
  const auto start = [&](uint16_t wanted) {
    return ApiServer::Start({.dir = options_.dir + "/api",
                             .port = wanted,
                             .advice =
                                 [this](const std::string& ns, const nlohmann::json& job) {
                                   return EmptyClaims(job, [&](const std::string& claim) {
                                     return ClaimDir(ns, claim);
                                   });
                                 }},
                            clock_, random_, &logs_, &usage_);
  };
  absl::StatusOr<std::unique_ptr<ApiServer>> server = start(port);
  if (!server.ok() && remembered && port != 0) server = start(0);
  RETURN_IF_ERROR(server.status());
  server_ = *std::move(server);
  RETURN_IF_ERROR(disk_.WriteAtomically(port_path, std::to_string(server_->port())));
  return server_->WriteKubeconfig(kubeconfig());
}

// All of them this machine: each has all of its processors and memory, and simulated GPUs of its
// own.
std::vector<NodeCapacity> LocalCluster::Nodes() const {
  std::vector<NodeCapacity> nodes;
  for (int i = 1; i <= options_.nodes; ++i) {
    NodeCapacity node;
    node.name = NameOfNode(i);
    node.labels = {{"kubernetes.io/hostname", node.name},
                   {"kubernetes.io/os", "linux"},
                   {"kubernetes.io/arch", "amd64"}};
    node.allocatable.cpu_milli = ::sysconf(_SC_NPROCESSORS_ONLN) * 1000;
    node.allocatable.memory_bytes = ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE);
    if (options_.fake_gpus.count > 0) {
      SetGpus(options_.fake_gpus.count, "simulated", options_.fake_gpus.gibibytes * 1024, &node);
    } else if (i == 1) {
      SetGpus(options_.gpus, &node);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::string LocalCluster::ClaimDir(const std::string& ns, const std::string& claim) const {
  return ClaimDirOf(options_, ns, claim);
}

std::string LocalCluster::ClaimDirOf(const Options& options, const std::string& ns,
                                     const std::string& claim) {
  return PlaceOfClaim(VolumesDirOf(options), options.volume_bindings, ns, claim).dir;
}

absl::Status LocalCluster::EndPods(std::chrono::milliseconds grace) {
  node_.reset();
  scheduler_.reset();
  return EndAllRuns(disk_, clock_, dirs_, grace).status();
}

absl::Status LocalCluster::Remove() {
  node_.reset();
  scheduler_.reset();
  server_.reset();
  // The lock last: until then nobody starts a cluster between what is left of this one.
  for (const char* name :
       {"api", "pods", "volumes", "dashboard", "kubeconfig", "port", "up.json", "taas.log", "pid",
        "lock"}) {
    RETURN_IF_ERROR(disk_.RemoveAll(options_.dir + "/" + name));
  }
  ::rmdir(options_.dir.c_str());  // Stays if there is anything of the user's in it.
  return absl::OkStatus();
}

}  // namespace taas::localkube
