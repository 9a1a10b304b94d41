#include "cli/container_log.h"

#include <utility>

#include "operator/kube/api_path.h"

namespace taas {
namespace {

// A trainer may be silent for long; a log that is read again costs one request.
constexpr std::chrono::hours kSilence{1};

}  // namespace

ContainerLog::ContainerLog(KubeTransport& transport, const Clock& clock, Options options,
                           Print print, std::function<void()> ended)
    : transport_(transport),
      clock_(clock),
      options_(std::move(options)),
      print_(std::move(print)),
      ended_(std::move(ended)) {}

void ContainerLog::Open() {
  code_ = 0;
  lines_.Clear();
  seen_.Restart();
  const std::string seen = seen_.SinceTime();
  HttpRequest request;
  request.path =
      WithQuery(SubresourcePath(Resource::kPods, options_.ns, options_.pod, "log"),
                {{"container", options_.container},
                 {"follow", "true"},
                 {"timestamps", "true"},
                 {"sinceTime", seen.empty() ? options_.since_time : seen},
                 {"tailLines", seen.empty() ? options_.tail_lines : ""}});
  request.accept = "*/*";
  request.timeout = kSilence;
  stream_ = transport_.Stream(std::move(request),
                              {.opened =
                                   [this](int code) {
                                     code_ = code;
                                     heard_ = clock_.Now();
                                   },
                               .data = [this](std::string_view chunk) { OnData(chunk); },
                               .ended = [this](const absl::Status& why) { OnEnded(why); }});
}

void ContainerLog::OnData(std::string_view chunk) {
  heard_ = clock_.Now();
  if (code_ != 200) return;
  failures_ = 0;
  // Too long a line is dropped, and what follows on it.
  const auto print = [this](std::string_view line) {
    PrintLine(line);
    return absl::OkStatus();
  };
  if (!lines_.Add(chunk, print).ok()) lines_.Clear();
}

void ContainerLog::OnEnded(const absl::Status& status) {
  if (!status.ok() || code_ != 200) ++failures_;
  if (!lines_.rest().empty() && code_ == 200) {
    const std::string rest = lines_.rest();
    PrintLine(rest);
  }
  ended_();
}

void ContainerLog::PrintLine(std::string_view text) {
  const LogLine line = ParseLogLine(text);
  if (seen_.IsNew(line)) print_(line.text);
}

}  // namespace taas
