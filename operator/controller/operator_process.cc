#include "operator/controller/operator_process.h"

#include <atomic>
#include <mutex>

#include "operator/api/defaults.h"
#include "operator/base/file_system.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "operator/base/thread_executor.h"
#include "operator/controller/controller.h"
#include "operator/controller/http_pages.h"
#include "operator/controller/metrics.h"
#include "operator/controller/poll_transport.h"
#include "operator/controller/port_source.h"
#include "operator/kube/cpprest_transport.h"
#include "operator/kube/kubeconfig.h"

namespace taas {
namespace {

// The executor says that it is alive this often, and is taken for stuck after six silences.
constexpr std::chrono::seconds kBeatEvery{5};
constexpr std::chrono::seconds kStuckAfter{30};

class Process : public OperatorProcess {
 public:
  explicit Process(OperatorOptions options) : options_(std::move(options)) {}
  ~Process() override { Stop(); }

  absl::Status Begin() {
    if (options_.trainer_image.empty()) options_.trainer_image = std::string(kDefaultTrainerImage);
    ASSIGN_OR_RETURN(const ClusterAccess access,
                     FindClusterAccess(files_, ProcessEnv, options_.kubeconfig, /*context=*/""));
    executor_ = std::make_unique<ThreadExecutor>(clock_, "operator");
    ASSIGN_OR_RETURN(transport_, CpprestTransport::Create(access, files_, *executor_, {}));
    counting_ = std::make_unique<CountingTransport>(*transport_, metrics_);
    poll_ = std::make_unique<TcpPollTransport>(*executor_);
    RETURN_IF_ERROR(OpenPages());
    executor_->Post([this] {
      controller_ = std::make_unique<Controller>(
          *counting_, *executor_, random_, *poll_, ports_, metrics_,
          Controller::Options{
              .view = {.namespaces = options_.namespaces, .kinds = options_.kinds},
              .trainer_image = options_.trainer_image,
              .addresses = {.scheme = options_.address_scheme,
                            .cluster_domain = options_.cluster_domain,
                            .service_per_job = options_.tfjob_service_per_job},
              .gpu_resource = options_.gpu_resource,
              .legacy_labels = options_.tfjob_legacy_labels});
      controller_->Start();
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
    // After this nothing of ours runs on the executor any more, so the rest can go from this
    // thread; the transports go before what their callbacks would have touched.
    if (executor_ != nullptr) executor_->Stop();
    controller_.reset();
    poll_.reset();
    transport_.reset();
    counting_.reset();
  }

  bool Ready() const override { return ready_; }
  std::string Metrics() const override { return metrics_.Text(); }
  int metrics_port() const override { return pages_ == nullptr ? 0 : pages_->port(); }
  int health_port() const override {
    if (health_ != nullptr) return health_->port();
    return options_.health_addr.empty() ? 0 : metrics_port();
  }

 private:
  absl::Status OpenPages() {
    const auto make = [this](const std::string& path) { return Page(path); };
    if (!options_.metrics_addr.empty()) {
      ASSIGN_OR_RETURN(pages_, HttpPages::Start(options_.metrics_addr, make));
    }
    const bool shared = options_.health_addr == options_.metrics_addr;
    if (!options_.health_addr.empty() && !shared) {
      ASSIGN_OR_RETURN(health_, HttpPages::Start(options_.health_addr, make));
    }
    return absl::OkStatus();
  }

  HttpPage Page(const std::string& path) const {
    if (path == "/metrics") return {.code = 200, .text = metrics_.Text()};
    if (path == "/readyz") {
      return ready_ ? HttpPage{.code = 200, .text = "ok\n"}
                    : HttpPage{.code = 503, .text = "the first lists have not arrived yet\n"};
    }
    if (path == "/healthz") {
      const Clock::Time beat{Clock::Duration(last_beat_.load())};
      const bool stuck = clock_.Now() - beat > kStuckAfter;
      return stuck ? HttpPage{.code = 503, .text = "the controller's thread is stuck\n"}
                   : HttpPage{.code = 200, .text = "ok\n"};
    }
    return {};
  }

  void Beat() {
    last_beat_ = clock_.Now().time_since_epoch().count();
    if (controller_ != nullptr && controller_->synced()) ready_ = true;
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
  std::unique_ptr<ThreadExecutor> executor_;
  std::unique_ptr<CpprestTransport> transport_;
  std::unique_ptr<CountingTransport> counting_;
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
