#include "operator/controller/operator_process.h"

#include <atomic>
#include <future>
#include <mutex>

#include "operator/api/defaults.h"
#include "operator/base/file_pages.h"
#include "operator/base/file_system.h"
#include "operator/base/hash.h"
#include "operator/base/log.h"
#include "operator/base/machine_name.h"
#include "operator/base/status.h"
#include "operator/controller/controller.h"
#include "operator/controller/http_pages.h"
#include "operator/controller/metrics.h"
#include "operator/controller/port_source.h"
#include "operator/kube/cpprest_executor.h"
#include "operator/kube/cpprest_transport.h"
#include "operator/kube/kubeconfig.h"
#include "operator/kube/lease_elector.h"
#include "operator/kube/lease_watchdog.h"
#include "operator/kube/poll_transport.h"
#include "operator/kube/write_gate.h"

namespace taas {
namespace {

// The executor says that it is alive this often, and is taken for stuck after six silences.
constexpr std::chrono::seconds kBeatEvery{5};
constexpr std::chrono::seconds kStuckAfter{30};
// The elector needs at most 7 s to let go of the lease; a process that is told to stop has 30.
constexpr std::chrono::seconds kReleaseLimit{10};

// Of a trainer's /status: the largest there is, a chief's with a thousand peers of eight GPUs, has
// 2.3 MB. All that come at once have an eighth of the memory that the chart gives the operator.
constexpr size_t kStatusBytesMax = 4 << 20;
constexpr size_t kStatusesBytesMax = 32 << 20;

// "POD_7f0c…": a container that starts again in the same pod is another process.
std::string MakeIdentity(Random& random) {
  return MachineName() + "_" + HexOf(random.Next());
}

class Process : public OperatorProcess {
 public:
  explicit Process(OperatorOptions options) : options_(std::move(options)) {}
  ~Process() override { Stop(); }

  absl::Status Begin() {
    if (options_.trainer_image.empty()) options_.trainer_image = std::string(kDefaultTrainerImage);
    ASSIGN_OR_RETURN(const ClusterAccess access,
                     FindClusterAccess(files_, ProcessEnv, options_.kubeconfig, /*context=*/""));
    executor_ = std::make_unique<CpprestExecutor>(clock_);
    WriteGate* const gate = elects() ? &gate_ : nullptr;
    ASSIGN_OR_RETURN(transport_,
                     CpprestTransport::Create(access, files_, *executor_,
                                              {.writes_max = options_.api_writes, .gate = gate}));
    counting_ = std::make_unique<CountingTransport>(*transport_, metrics_);
    poll_ = std::make_unique<TcpPollTransport>(
        *executor_, PollLimits{.body_bytes_max = kStatusBytesMax,
                               .together_bytes_max = kStatusesBytesMax});
    if (elects()) {
      RETURN_IF_ERROR(PrepareElection(access)).With("prepare leader election");
    }
    RETURN_IF_ERROR(OpenPages({.ns = access.ns, .cluster_domain = options_.cluster_domain}));
    executor_->Post([this] {
      StartController();
      Beat();
    });
    Log(LogLevel::kInfo, "operator started",
        {{"server", access.server}, {"credentials", access.source}});
    return absl::OkStatus();
  }

  void Stop() override {
    std::lock_guard lock(stop_mutex_);
    health_.reset();
    pages_.reset();
    if (elector_ != nullptr) HandOver();
    // After this nothing of ours runs on the executor any more, so the rest can go from this
    // thread; the transports go before what their callbacks would have touched.
    if (executor_ != nullptr) executor_->Stop();
    watchdog_.reset();
    controller_.reset();
    poll_.reset();
    elector_.reset();
    transport_.reset();
    counting_.reset();
    election_transport_.reset();
    election_counting_.reset();
  }

  bool Ready() const override { return ready_; }
  std::string Metrics() const override { return metrics_.Text(clock_.WallNow()); }
  int metrics_port() const override { return pages_ == nullptr ? 0 : pages_->port(); }
  int health_port() const override {
    if (health_ != nullptr) return health_->port();
    return options_.health_addr.empty() ? 0 : metrics_port();
  }

 private:
  bool elects() const { return options_.leader_election.enabled; }

  void StartController() {
    controller_ = std::make_unique<Controller>(
        *counting_, *executor_, random_, *poll_, ports_, metrics_,
        Controller::Options{
            .view = {.namespaces = options_.namespaces, .kinds = options_.kinds},
            .trainer_image = options_.trainer_image,
            .trainer_cuda_image = options_.trainer_cuda_image,
            .addresses = {.scheme = options_.address_scheme,
                          .cluster_domain = options_.cluster_domain,
                          .service_per_job = options_.tfjob_service_per_job},
            .gpu_resource = options_.gpu_resource,
            .legacy_labels = options_.tfjob_legacy_labels,
            .gang = options_.gang,
            .adopt = options_.adopt,
            .standby = elects(),
            .on_later_epoch = [this](int64_t epoch) { Doubt(epoch); }});
    metrics_.SetLeader(!elects());
    controller_->Start();
  }

  // The election has connections of its own, which no gate shuts and nothing else keeps busy.
  absl::Status PrepareElection(const ClusterAccess& access) {
    LeaderElectionOptions& election = options_.leader_election;
    RETURN_IF_ERROR(CheckLeaseTimes(election.times));
    if (election.ns.empty()) election.ns = access.ns;
    if (election.name.empty()) return absl::InvalidArgumentError("--lease-name is empty");
    ASSIGN_OR_RETURN(election_transport_,
                     CpprestTransport::Create(access, files_, *executor_, {}));
    election_counting_ = std::make_unique<CountingTransport>(*election_transport_, metrics_);
    elector_ = std::make_unique<LeaseElector>(
        *election_counting_, *executor_, random_, gate_,
        LeaseElector::Options{.name = {.ns = election.ns, .name = election.name},
                              .identity = MakeIdentity(random_),
                              .times = election.times},
        LeaseElector::Calls{.on_lead = [this](int64_t epoch) { Lead(epoch); },
                            // No graceful end: what is under way must not go on for longer.
                            .on_lost = [](const std::string&) { _exit(kLeaseLostExitCode); },
                            .known_epoch = [this] { return controller_->known_epoch(); }});
    return absl::OkStatus();
  }

  void Lead(int64_t epoch) {
    watchdog_ = std::make_unique<LeaseWatchdog>(gate_, kWatchdogGrace, EndOutlivedProcess);
    metrics_.SetLeader(true);
    controller_->Lead(epoch);
  }

  // Anybody who may edit pods can write a later epoch on one; only the lease says whether there is
  // a later leader.
  void Doubt(int64_t epoch) {
    elector_->Verify([this, epoch] { controller_->DisproveEpochs(epoch); });
  }

  void HandOver() {
    auto released = std::make_shared<std::promise<absl::Status>>();
    auto result = released->get_future();
    executor_->Post([this, released] {
      elector_->Release([released](const absl::Status& status) { released->set_value(status); });
    });
    if (result.wait_for(kReleaseLimit) != std::future_status::ready) {
      return Log(LogLevel::kWarning, "the lease is left to run out",
                 {{"why", "the controller's thread is stuck"}});
    }
    const absl::Status status = result.get();
    if (!status.ok()) {
      Log(LogLevel::kWarning, "the lease is left to run out",
          {{"why", std::string(status.message())}});
    }
  }

  absl::Status OpenPages(const HostNames& names) {
    if (!options_.metrics_addr.empty()) {
      const auto make = [this](const std::string& path) {
        if (path != "/metrics") return Probe(path);
        return HttpPage{.code = 200, .text = metrics_.Text(clock_.WallNow())};
      };
      auto pages = HttpPages::Start(options_.metrics_addr, make, names);
      RETURN_IF_ERROR(pages.status()).With("--metrics-addr");
      pages_ = *std::move(pages);
    }
    const bool shared = options_.health_addr == options_.metrics_addr;
    if (!options_.health_addr.empty() && !shared) {
      // A kubelet comes from anywhere, so everybody may; metrics are for whom they are meant.
      const auto make = [this](const std::string& path) { return Probe(path); };
      auto health = HttpPages::Start(options_.health_addr, make, names);
      RETURN_IF_ERROR(health.status()).With("--health-addr");
      health_ = *std::move(health);
    }
    return absl::OkStatus();
  }

  HttpPage Probe(const std::string& path) const {
    if (path == "/readyz") {
      return ready_ ? HttpPage{.code = 200, .text = ReadyText()}
                    : HttpPage{.code = 503, .text = "the first lists have not arrived yet\n"};
    }
    return path == "/healthz" ? HealthPage() : HttpPage{};
  }

  std::string ReadyText() const {
    if (elector_ == nullptr) return "ok\n";
    const LeaseState lease = elector_->state();
    if (lease.leads) return "ok, leads with epoch " + std::to_string(lease.epoch) + "\n";
    return lease.holder.empty() ? "ok, nobody leads\n" : "ok, stands by for " + lease.holder + "\n";
  }

  HttpPage HealthPage() const {
    const Clock::Time now = clock_.Now();
    const Clock::Time beat{Clock::Duration(last_beat_.load())};
    if (now - beat > kStuckAfter) {
      return {.code = 503, .text = "the controller's thread is stuck\n"};
    }
    if (elector_ != nullptr) {
      const absl::Status lease =
          CheckLeaseHealth(elector_->state(), options_.leader_election.times, now);
      if (!lease.ok()) return {.code = 503, .text = std::string(lease.message()) + "\n"};
    }
    return {.code = 200, .text = "ok\n"};
  }

  void Beat() {
    last_beat_ = clock_.Now().time_since_epoch().count();
    if (!ready_ && controller_->synced()) {
      ready_ = true;
      GiveBackFilePages();  // Two thirds of what it holds by now, if there are few jobs.
      // Whoever could not see the jobs would only keep another from leading.
      if (elector_ != nullptr) elector_->Start();
    }
    const auto next = ready_ ? Clock::Duration(kBeatEvery) : Clock::Duration(kReadyCheck);
    executor_->PostAfter(next, [this] { Beat(); });
  }

  // While the first lists are under way, somebody may wait for Ready.
  static constexpr std::chrono::milliseconds kReadyCheck{20};

  OperatorOptions options_;
  RealClock clock_;
  PosixFileSystem files_;
  SystemRandom random_;
  taas::Metrics metrics_;
  LoopbackPorts ports_{random_};
  std::atomic<bool> ready_ = false;
  std::atomic<Clock::Duration::rep> last_beat_{clock_.Now().time_since_epoch().count()};
  std::mutex stop_mutex_;
  WriteGate gate_{clock_};
  std::unique_ptr<CpprestExecutor> executor_;
  std::unique_ptr<CpprestTransport> transport_;
  std::unique_ptr<CountingTransport> counting_;
  std::unique_ptr<CpprestTransport> election_transport_;
  std::unique_ptr<CountingTransport> election_counting_;
  std::unique_ptr<LeaseElector> elector_;
  std::unique_ptr<LeaseWatchdog> watchdog_;
  std::unique_ptr<TcpPollTransport> poll_;
  std::unique_ptr<HttpPages> pages_;
  std::unique_ptr<HttpPages> health_;
  std::unique_ptr<Controller> controller_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OperatorProcess>> OperatorProcess::Start(OperatorOptions options) {
  auto process = std::make_unique<Process>(std::move(options));
  RETURN_IF_ERROR(process->Begin()).With("start the operator");
  return std::unique_ptr<OperatorProcess>(std::move(process));
}

}  // namespace taas
