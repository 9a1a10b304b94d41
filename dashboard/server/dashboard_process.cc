#include "dashboard/server/dashboard_process.h"

#include <stdlib.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <future>
#include <mutex>
#include <utility>

#include "dashboard/history/history.h"
#include "dashboard/http/problem.h"
#include "dashboard/http/web_server.h"
#include "dashboard/logs/log_routes.h"
#include "dashboard/maps/gpu_readings.h"
#include "dashboard/maps/kueue_cache.h"
#include "dashboard/maps/map_routes.h"
#include "dashboard/server/access.h"
#include "dashboard/server/api_routes.h"
#include "dashboard/server/authenticator.h"
#include "dashboard/server/board.h"
#include "dashboard/server/catching_executor.h"
#include "dashboard/server/job_routes.h"
#include "dashboard/server/login_help.h"
#include "dashboard/server/page_routes.h"
#include "dashboard/server/request_guard.h"
#include "dashboard/server/session_routes.h"
#include "dashboard/server/stream_routes.h"
#include "dashboard/server/usage_routes.h"
#include "dashboard/training/event_mirror.h"
#include "dashboard/training/event_routes.h"
#include "dashboard/training/event_shelf.h"
#include "dashboard/training/loss_watch.h"
#include "dashboard/training/model_routes.h"
#include "dashboard/training/report_source.h"
#include "dashboard/training/series_routes.h"
#include "dashboard/training/series_source.h"
#include "dashboard/training/training_routes.h"
#include "operator/base/file_system.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "operator/base/thread_executor.h"
#include "operator/kube/cpprest_transport.h"
#include "operator/kube/kubeconfig.h"
#include "operator/kube/poll_transport.h"

namespace taas::dashboard {
namespace {

// Many people ask at the same time what they may do, and each question is a write to the API
// server's mind: it stores nothing.
constexpr int kReviewsAtOnce = 32;

bool IsLoopback(const std::string& address) {
  return address.rfind("127.", 0) == 0 || address.rfind("localhost:", 0) == 0 ||
         address.rfind("[::1]:", 0) == 0;
}

// The same server, as nobody: each request brings the token of the one that it is for.
ClusterAccess WithoutCredentials(ClusterAccess access) {
  access.client_certificate = {};
  access.client_key = {};
  access.token = {};
  return access;
}

// A thread whose tasks may throw.
class CatchingThread : public CatchingExecutor {
 public:
  CatchingThread(const Clock& clock, const std::string& name)
      : CatchingThread(std::make_unique<ThreadExecutor>(clock, name), name) {}
  void Stop() { thread_->Stop(); }

 private:
  CatchingThread(std::unique_ptr<ThreadExecutor> thread, const std::string& name)
      : CatchingExecutor(*thread, "a task of the thread " + name), thread_(std::move(thread)) {}

  const std::unique_ptr<ThreadExecutor> thread_;
};

class Process : public DashboardProcess {
 public:
  explicit Process(DashboardOptions options)
      : options_(std::move(options)),
        guard_({.hosts = options_.hosts,
                .loopback_only = options_.hosts.empty() && IsLoopback(options_.address)}),
        pages_({.frame_ancestors = options_.frame_ancestors}) {}
  ~Process() override { Stop(); }

  absl::Status Begin() {
    ASSIGN_OR_RETURN(const ClusterAccess access,
                     FindClusterAccess(files_, ProcessEnv, options_.kubeconfig, /*context=*/""));
    ASSIGN_OR_RETURN(event_dir_, EventDir());
    executor_ = std::make_unique<CatchingThread>(clock_, "dashboard");
    disk_ = std::make_unique<CatchingThread>(clock_, "dashboard-disk");
    reader_ = std::make_unique<CatchingThread>(clock_, "dashboard-read");
    ASSIGN_OR_RETURN(own_, CpprestTransport::Create(access, files_, *executor_,
                                                    {.writes_max = kReviewsAtOnce}));
    ASSIGN_OR_RETURN(callers_, CpprestTransport::Create(WithoutCredentials(access), files_,
                                                        *executor_, {}));
    Wire(access);
    auto web = WebServer::Start({.address = options_.address,
                                 .base_path = options_.base_path,
                                 .probes = {"healthz", "readyz"}},
                                [this](WebRequest request, WebRespond respond) {
                                  Handle(std::move(request), std::move(respond));
                                });
    RETURN_IF_ERROR(web.status()).With(options_.address_flag);
    web_ = *std::move(web);
    port_ = web_->port();
    executor_->Post([this] {
      board_->Start();
      kueue_->Start();
      loss_watch_->Start();
      if (history_ != nullptr) StartHistory();
      AwaitReady();
    });
    Log(LogLevel::kInfo, "dashboard started",
        {{"url", url()}, {"server", access.server}, {"credentials", access.source}});
    return absl::OkStatus();
  }

  void Stop() override {
    std::lock_guard lock(stop_mutex_);
    if (executor_ == nullptr) return;
    auto told = std::make_shared<std::promise<void>>();
    executor_->Post([this, told] {
      RunCaught("telling pages that the server stops", [this] {
        if (streams_ != nullptr) streams_->Stop();
        if (logs_ != nullptr) logs_->Stop();
      });
      told->set_value();
    });
    told->get_future().wait();
    web_.reset();  // Its handlers post to the executor, so it goes before.
    disk_->Stop();  // Its tasks, and the reader's, post to the executor.
    reader_->Stop();
    executor_->Stop();
    if (history_ != nullptr) history_->Close();
    loss_watch_.reset();
    streams_.reset();
    logs_.reset();
    series_routes_.reset();
    training_routes_.reset();
    model_routes_.reset();
    event_routes_.reset();
    events_.reset();
    shelf_.reset();
    if (!temporary_dir_.empty()) (void)files_.RemoveAll(temporary_dir_);
    maps_.reset();
    readings_.reset();
    kueue_.reset();
    usage_.reset();
    jobs_.reset();
    sessions_.reset();
    routes_.reset();
    history_.reset();
    board_.reset();
    models_.reset();
    checkpoints_.reset();
    reports_.reset();
    series_.reset();
    poll_.reset();
    access_.reset();
    authenticator_.reset();
    callers_.reset();
    own_.reset();
    disk_.reset();
    reader_.reset();
    executor_.reset();
  }

  bool Ready() const override { return ready_; }
  uint16_t port() const override { return port_; }
  std::string url() const override {
    const std::string host = options_.address.substr(0, options_.address.rfind(':'));
    return "http://" + host + ":" + std::to_string(port_) + options_.base_path + "/";
  }
  std::vector<std::string> routes() const override { return routes_->table().Names(); }
  std::string OneTimeUrl() override {
    auto code = std::make_shared<std::promise<std::string>>();
    executor_->Post([this, code] {
      std::string text;
      RunCaught("making a link", [&] { text = sessions_->MakeCode(); });
      code->set_value(std::move(text));
    });
    const std::string text = code->get_future().get();
    return text.empty() ? url() : url() + "#code=" + text;
  }

 private:
  LoginHelp HelpOf(const ClusterAccess& access) {
    const std::string token = access.token.file.empty()
                                  ? access.token.text
                                  : files_.ReadAll(access.token.file).value_or("");
    return {.link_command = options_.link_command, .account = ServiceAccountOf(token)};
  }

  void Wire(const ClusterAccess& access) {
    authenticator_ = std::make_unique<Authenticator>(*own_, *executor_);
    access_ = std::make_unique<Access>(*own_, *executor_);
    MakeHistory();
    board_ = std::make_unique<Board>(*own_, *executor_, random_,
                                     ClusterCache::Options{.namespaces = options_.namespaces,
                                                           .kinds = options_.kinds,
                                                           .gpu_resource = options_.gpu_resource,
                                                           .nodes = options_.namespaces.empty()},
                                     history_ != nullptr ? history_->witness() : Board::Witness{});
    poll_ = std::make_unique<TcpPollTransport>(*executor_);
    series_ = std::make_unique<SeriesSource>(*poll_, *executor_);
    reports_ = std::make_unique<ReportSource>(*poll_, *executor_);
    checkpoints_ = std::make_unique<CheckpointSource>(
        CheckpointSource::Context{.executor = *executor_,
                                  .disk = *disk_,
                                  .reports = *reports_,
                                  .claim_dir = options_.claim_dir});
    models_ = std::make_unique<ModelSource>(ModelSource::Context{
        .executor = *executor_, .disk = *disk_, .claim_dir = options_.claim_dir});
    shelf_ = std::make_unique<EventShelf>(files_, EventShelf::Options{.dir = event_dir_});
    events_ = std::make_unique<EventMirror>(*poll_, *executor_, *disk_, *shelf_,
                                            options_.claim_dir);
    routes_ = std::make_unique<ApiRoutes>(ApiRoutes::Context{.executor = *executor_,
                                                             .authenticator = *authenticator_,
                                                             .guard = guard_,
                                                             .read_only = options_.read_only});
    sessions_ = std::make_unique<SessionRoutes>(
        SessionRoutes::Context{.executor = *executor_,
                               .authenticator = *authenticator_,
                               .access = *access_,
                               .board = *board_,
                               .read_only = options_.read_only,
                               .local_token = options_.local_token,
                               .history_days = history_ != nullptr ? options_.history_days : 0,
                               .help = HelpOf(access)});
    sessions_->AddTo(routes_.get());
    AddRoutes(&routes_->table());
  }

  void AddRoutes(RouteTable* table) {
    jobs_ = std::make_unique<JobRoutes>(
        JobRoutes::Context{.executor = *executor_,
                           .reader = *reader_,
                           .board = *board_,
                           .access = *access_,
                           .callers = *callers_});
    jobs_->AddTo(table);
    UsageRoutes::Context usage{.executor = *executor_,
                               .board = *board_,
                               .access = *access_,
                               .callers = *callers_};
    if (history_ != nullptr) {
      usage.recorded = [this](const std::string& uid, auto done) {
        history_->Usage(uid, std::move(done));
      };
    }
    usage_ = std::make_unique<UsageRoutes>(std::move(usage));
    usage_->AddTo(table);
    logs_ = std::make_unique<LogRoutes>(LogRoutes::Context{.executor = *executor_,
                                                           .board = *board_,
                                                           .authenticator = *authenticator_,
                                                           .access = *access_,
                                                           .callers = *callers_});
    logs_->AddTo(table);
    SeriesRoutes::Context series{.executor = *executor_,
                                 .board = *board_,
                                 .access = *access_,
                                 .source = *series_};
    series.written = [this](const auto& job, const auto& pods, auto done) {
      FetchFiles(job, pods, std::move(done));
    };
    if (history_ != nullptr) {
      series.recorded = [this](const std::string& uid, auto done) {
        history_->Curves(uid, std::move(done));
      };
    }
    series_routes_ = std::make_unique<SeriesRoutes>(std::move(series));
    series_routes_->AddTo(table);
    AddTraining(table);
    event_routes_ = std::make_unique<EventRoutes>(
        EventRoutes::Context{.board = *board_, .access = *access_, .mirror = *events_});
    event_routes_->AddTo(table);
    if (history_ != nullptr) history_->AddTo(table);
    AddMaps(table);
  }

  void AddTraining(RouteTable* table) {
    TrainingRoutes::Context training{.board = *board_,
                                     .access = *access_,
                                     .reports = *reports_,
                                     .checkpoints = *checkpoints_,
                                     .models = *models_};
    if (history_ != nullptr) {
      training.recorded = [this](const std::string& uid, auto done) {
        history_->Checkpoints(uid, std::move(done));
      };
    }
    training_routes_ = std::make_unique<TrainingRoutes>(std::move(training));
    training_routes_->AddTo(table);
    model_routes_ = std::make_unique<ModelRoutes>(ModelRoutes::Context{.executor = *executor_,
                                                                       .disk = *disk_,
                                                                       .board = *board_,
                                                                       .access = *access_,
                                                                       .source = *models_});
    model_routes_->AddTo(table);
  }

  void AddMaps(RouteTable* table) {
    kueue_ = std::make_unique<KueueCache>(
        *own_, *executor_, random_,
        KueueCache::Options{.namespaces = options_.namespaces,
                            .gpu_resource = options_.gpu_resource},
        [this] { TouchMaps(); });
    const bool local = !options_.local_token.empty();
    readings_ = std::make_unique<GpuReadings>(
        GpuReadings::Context{.transport = *poll_,
                             .executor = *executor_,
                             .local = local,
                             .jobs = [this] { return GpuJobsOf(board_->cache()); },
                             .changed = [this] { TouchMaps(); }});
    maps_ = std::make_unique<MapRoutes>(MapRoutes::Context{.executor = *executor_,
                                                           .board = *board_,
                                                           .access = *access_,
                                                           .kueue = kueue_.get(),
                                                           .local = local,
                                                           .readings = readings_.get()});
    maps_->AddTo(table);
    streams_ = std::make_unique<StreamRoutes>(TabStream::Context{
        .executor = *executor_,
        .board = *board_,
        .authenticator = *authenticator_,
        .access = *access_,
        .gpus = [this](const Sight& sight) { return maps_->Gpus(sight); },
        .queues = [this](const Sight& sight,
                         const QueueSight& queues) { return maps_->Queues(sight, queues); },
        .map_namespaces = [this] { return maps_->Namespaces(); }});
    streams_->AddTo(table);
    MakeLossWatch();
  }

  void MakeLossWatch() {
    loss_watch_ = std::make_unique<LossWatch>(LossWatch::Context{
        .executor = *executor_,
        .jobs = [this] { return board_->cache().Jobs(); },
        .fetch =
            [this](const WatchedJob& job, std::function<void(const std::string&)> done) {
              series_->Fetch(job, board_->cache().PodsOf(job),
                             [done = std::move(done)](const SeriesReply& reply) {
                               done(reply.text);
                             });
            },
        .watched = [this] { return streams_->tabs() > 0; },
        .tell = [this](const WatchedJob& job, bool rises) { board_->NoteLoss(job, rises); }});
  }

  void TouchMaps() {
    maps_->Touch();
    board_->NoteMaps();
  }

  // A folder below /tmp that nobody else can have prepared.
  absl::StatusOr<std::string> EventDir() {
    if (!options_.event_dir.empty()) return options_.event_dir;
    const char* const temporary = std::getenv("TMPDIR");
    std::string path = std::string(temporary != nullptr ? temporary : "/tmp") +
                       "/taas-dashboard-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      return ErrnoToStatus(errno, "make a temporary folder", path);
    }
    temporary_dir_ = path;
    return path + "/events";
  }

  void MakeHistory() {
    if (options_.history_file.empty()) return;
    HistoryStore::Options options{.path = options_.history_file, .limits = {}};
    options.limits.days = options_.history_days;
    history_ = std::make_unique<History>(
        History::Context{.executor = *executor_, .own = *own_, .access = *access_},
        std::move(options));
  }

  // The curves in a job's event files; "": there are none.
  void FetchFiles(const WatchedJob& job, const EventMirror::Pods& pods,
                  std::function<void(std::string curves)> done) {
    events_->Ask(job, pods, {.path = std::string(EventShelf::kCurvesPath), .query = {}},
                 [done = std::move(done)](const Answer& answer) {
                   done(answer.status == 200 ? answer.body : "");
                 });
  }

  void StartHistory() {
    history_->Start({.board = *board_,
                     .fetch_series = [this](const auto& job, const auto& pods, auto done) {
                       series_->Fetch(*job, pods, [done = std::move(done)](
                                                      const SeriesReply& reply) {
                         done(reply.text);
                       });
                     },
                     .fetch_files = [this](const auto& job, const auto& pods, auto done) {
                       FetchFiles(*job, pods, std::move(done));
                     },
                     .fetch_checkpoints = [this](const auto& job, const auto& pods, auto done) {
                       checkpoints_->Fetch(*job, pods, [job, done = std::move(done)](
                                                           const CheckpointList& list) {
                         done(SeenCheckpoints(*job, list));
                       });
                     },
                     .look_at_gpus = [this] { readings_->Look(); },
                     .add_gpus = [this](const WatchedPod& pod, ReplicaUse* use) {
                       const GpuUse gpus = UseOf(readings_->Of(pod));
                       use->gpu = gpus.busy;
                       use->gpu_memory_mib = gpus.memory_mib;
                     }});
  }

  // On a thread of the web server.
  void Handle(WebRequest request, WebRespond respond) {
    const std::string first = request.segments.empty() ? "" : request.segments[0];
    // Probes come with the pod's address as host, and learn nothing else.
    if (request.segments.size() == 1 && first == "healthz") return Health(respond, true);
    if (request.segments.size() == 1 && first == "readyz") return Health(respond, ready_);
    if (const absl::Status host = guard_.CheckHost(request); !host.ok()) {
      return respond(ProblemResponse(host));
    }
    if (first != "api") return respond(pages_.Answer(request));
    executor_->Post([this, request = std::move(request), respond = std::move(respond)]() mutable {
      routes_->Handle(std::move(request), std::move(respond));
    });
  }

  static void Health(const WebRespond& respond, bool well) {
    respond({.code = well ? 200 : 503,
             .content_type = "text/plain; charset=utf-8",
             .body = Shared(well ? "ok\n" : "the first lists have not arrived yet\n")});
  }

  void AwaitReady() {
    ready_ = board_->synced();
    if (!ready_) executor_->PostAfter(kReadyCheck, [this] { AwaitReady(); });
  }

  static constexpr std::chrono::milliseconds kReadyCheck{50};

  const DashboardOptions options_;
  RealClock clock_;
  PosixFileSystem files_;
  SystemRandom random_;
  const RequestGuard guard_;
  const PageRoutes pages_;
  std::atomic<bool> ready_ = false;
  uint16_t port_ = 0;
  std::mutex stop_mutex_;
  std::string event_dir_;
  std::string temporary_dir_;  // Around it, if it is none of the options'.
  std::unique_ptr<CatchingThread> executor_;
  std::unique_ptr<CatchingThread> disk_;
  std::unique_ptr<CatchingThread> reader_;
  std::unique_ptr<CpprestTransport> own_;
  std::unique_ptr<CpprestTransport> callers_;
  std::unique_ptr<Authenticator> authenticator_;
  std::unique_ptr<Access> access_;
  std::unique_ptr<TcpPollTransport> poll_;
  std::unique_ptr<SeriesSource> series_;
  std::unique_ptr<ReportSource> reports_;
  std::unique_ptr<CheckpointSource> checkpoints_;
  std::unique_ptr<ModelSource> models_;
  std::unique_ptr<EventShelf> shelf_;
  std::unique_ptr<EventMirror> events_;
  std::unique_ptr<History> history_;
  std::unique_ptr<Board> board_;
  std::unique_ptr<ApiRoutes> routes_;
  std::unique_ptr<SessionRoutes> sessions_;
  std::unique_ptr<JobRoutes> jobs_;
  std::unique_ptr<UsageRoutes> usage_;
  std::unique_ptr<LogRoutes> logs_;
  std::unique_ptr<SeriesRoutes> series_routes_;
  std::unique_ptr<TrainingRoutes> training_routes_;
  std::unique_ptr<ModelRoutes> model_routes_;
  std::unique_ptr<EventRoutes> event_routes_;
  std::unique_ptr<KueueCache> kueue_;
  std::unique_ptr<GpuReadings> readings_;
  std::unique_ptr<MapRoutes> maps_;
  std::unique_ptr<StreamRoutes> streams_;
  std::unique_ptr<LossWatch> loss_watch_;
  std::unique_ptr<WebServer> web_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DashboardProcess>> DashboardProcess::Start(
    DashboardOptions options) {
  auto process = std::make_unique<Process>(std::move(options));
  RETURN_IF_ERROR(process->Begin()).With("start the dashboard");
  return std::unique_ptr<DashboardProcess>(std::move(process));
}

}  // namespace taas::dashboard
