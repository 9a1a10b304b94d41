#include "dashboard/logs/log_tail.h"

#include <memory>
#include <utility>

#include "dashboard/logs/log_splitter.h"
#include "operator/base/status.h"
#include "operator/kube/api_error.h"
#include "operator/kube/api_path.h"

namespace taas::dashboard {
namespace {

// A kubelet sends "slightly more or slightly less" than the bytes that were asked for.
constexpr size_t kSlack = 1 << 10;
constexpr std::chrono::seconds kTimeout{20};

class Tails : public std::enable_shared_from_this<Tails> {
 public:
  Tails(KubeTransport& transport, const LogTailOptions& options,
        std::function<void(std::vector<LogTail>)> done)
      : transport_(transport), options_(options), done_(std::move(done)) {}

  void Start(const std::vector<LogPod>& pods) {
    for (const LogPod& pod : pods) {
      if (pod.state == LogPod::State::kWaiting) continue;
      pods_.push_back(pod);
      tails_.push_back({.replica = pod.replica, .pod = pod.name});
    }
    if (pods_.empty()) return done_({});
    while (under_way_ < options_.at_once && next_ < pods_.size()) Next();
  }

 private:
  void Next() {
    ++under_way_;
    Ask(next_++, options_.lines);
  }

  void Ask(size_t index, int lines) {
    const LogPod& pod = pods_[index];
    HttpRequest request;
    request.path = WithQuery(SubresourcePath(Resource::kPods, pod.ns, pod.name, "log"),
                             {{"container", pod.container},
                              {"timestamps", "true"},
                              {"tailLines", std::to_string(lines)},
                              {"limitBytes", std::to_string(options_.bytes)}});
    request.accept = "*/*";
    request.timeout = kTimeout;
    transport_.Do(std::move(request), [self = shared_from_this(), index, lines](
                                          const absl::StatusOr<HttpReply>& reply) {
      self->OnReply(index, lines, reply);
    });
  }

  void OnReply(size_t index, int lines, const absl::StatusOr<HttpReply>& reply) {
    const LogPod& pod = pods_[index];
    const std::string what = "read the end of the log of pod " + pod.ns + "/" + pod.name;
    const absl::Status status =
        reply.ok() ? StatusOfReply(*reply, what) : Annotate(reply.status(), what);
    if (!status.ok()) {
      tails_[index].error = std::string(status.message());
      return End();
    }
    // Of a tail that is too large the limit leaves the beginning; what counts is the end.
    const bool cut = reply->body.size() + kSlack >= options_.bytes;
    if (cut && lines > 1) return Ask(index, lines / 2);
    LogSplitter splitter;
    const auto take = [&](const LogSplitter::Line& line) {
      LogLine parsed = ParseLogLine(line.text);
      parsed.text += line.Mark();
      tails_[index].lines.push_back(std::move(parsed));
    };
    splitter.Add(reply->body, take);
    if (const auto rest = splitter.rest(); rest.has_value()) take(*rest);
    tails_[index].truncated = tails_[index].lines.size() >= static_cast<size_t>(lines);
    End();
  }

  void End() {
    --under_way_;
    if (next_ < pods_.size()) return Next();
    if (under_way_ == 0) done_(std::move(tails_));
  }

  KubeTransport& transport_;
  const LogTailOptions options_;
  const std::function<void(std::vector<LogTail>)> done_;
  std::vector<LogPod> pods_;
  std::vector<LogTail> tails_;
  size_t next_ = 0;
  size_t under_way_ = 0;
};

}  // namespace

void ReadLogTails(KubeTransport& transport, Executor& executor, const std::vector<LogPod>& pods,
                  const LogTailOptions& options,
                  std::function<void(std::vector<LogTail> tails)> done) {
  auto tails = std::make_shared<Tails>(transport, options, std::move(done));
  executor.Post([tails, pods] { tails->Start(pods); });
}

}  // namespace taas::dashboard
