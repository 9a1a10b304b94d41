#include "dashboard/training/model_routes.h"

#include <string>
#include <utility>

#include "dashboard/http/problem.h"
#include "dashboard/server/job_routes.h"
#include "operator/base/log.h"

namespace taas::dashboard {
namespace {

// One answer; alive while something of it is to be read.
struct Download {
  Executor& executor;
  Executor& disk;
  std::shared_ptr<ModelBytes> bytes;
  std::shared_ptr<StreamSink> sink;
};
using DownloadPtr = std::shared_ptr<Download>;

void ReadSome(const DownloadPtr& download) {
  StreamSink& sink = *download->sink;
  for (size_t sent = 0; sent < ModelRoutes::kSliceBytes;) {
    if (sink.unsent() >= ModelRoutes::kUnsentMax) {
      download->executor.PostAfter(ModelRoutes::kDrainCheck, [download] {
        download->disk.Post([download] { ReadSome(download); });
      });
      return;
    }
    absl::StatusOr<std::string> some = download->bytes->Next(ModelRoutes::kChunkBytes);
    if (!some.ok()) {
      Log(LogLevel::kError, "a download of a model broke off",
          {{"why", std::string(some.status().message())}});
      return sink.Abort();
    }
    if (some->empty()) return sink.End();
    sent += some->size();
    if (!sink.Write(Shared(*std::move(some)))) return;
  }
  download->disk.Post([download] { ReadSome(download); });
}

}  // namespace

void ModelRoutes::AddTo(RouteTable* table) {
  table->Add("GET", "jobs/*/*/*/model", [this](ApiCall call) {
    WithJob(context_.board, context_.access, std::move(call),
            [this](const ApiCall& call, const ClusterCache::JobPtr& job) { Find(call, job); });
  });
}

void ModelRoutes::Find(const ApiCall& call, const ClusterCache::JobPtr& job) {
  if (open_ >= kDownloadsMax) {
    return call.respond(ProblemResponse(
        429, "TooManyRequests",
        "download a model: too many are being downloaded at once; try again when one has ended"));
  }
  ++open_;
  context_.source.Find(*job, [this, call](const absl::StatusOr<ModelDownload>& model) {
    if (model.ok()) return Send(call, *model);
    --open_;
    const std::string why(model.status().message());
    call.respond(absl::IsFailedPrecondition(model.status()) ? ProblemResponse(409, "Conflict", why)
                                                            : ProblemResponse(model.status()));
  });
}

void ModelRoutes::Send(const ApiCall& call, const ModelDownload& model) {
  WebResponse response{.content_type = "application/octet-stream"};
  response.headers = {{"Cache-Control", "no-store"},
                      {"X-Accel-Buffering", "no"},
                      {"Content-Disposition", "attachment; filename=\"" + model.name + "\""}};
  response.stream.opened = [&executor = context_.executor, &disk = context_.disk,
                            bytes = model.bytes](std::shared_ptr<StreamSink> sink) {
    const auto download =
        std::make_shared<Download>(Download{executor, disk, bytes, std::move(sink)});
    disk.Post([download] { ReadSome(download); });
  };
  response.stream.bytes = model.bytes->total();
  response.stream.closed = [this, alive = std::weak_ptr<bool>(alive_),
                            &executor = context_.executor] {
    executor.Post([this, alive] {
      if (alive.lock() != nullptr) --open_;
    });
  };
  call.respond(std::move(response));
}

}  // namespace taas::dashboard
