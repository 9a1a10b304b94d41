#include "localkube/api/pod_logs.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "localkube/api/json_path.h"
#include "localkube/api/kube_status.h"
#include "localkube/api/log_filter.h"
#include "localkube/api/object_rules.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

absl::StatusOr<std::optional<uint64_t>> NumberOf(const Route& route, const char* key) {
  const std::string text = route.Get(key);
  if (text.empty()) return std::optional<uint64_t>();
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return BadRequest(std::string(key) + ": Invalid value: \"" + text + "\": not a number");
  }
  return std::optional<uint64_t>(number);
}

absl::StatusOr<LogFilter::Options> ParseOptions(const Route& route, const Clock& clock) {
  LogFilter::Options options{.timestamps = route.Is("timestamps")};
  ASSIGN_OR_RETURN(options.tail, NumberOf(route, "tailLines"));
  ASSIGN_OR_RETURN(options.limit_bytes, NumberOf(route, "limitBytes"));
  ASSIGN_OR_RETURN(const auto seconds, NumberOf(route, "sinceSeconds"));
  if (seconds.has_value()) {
    options.since = clock.WallNow() - std::chrono::seconds(*seconds);
  } else if (const std::string since = route.Get("sinceTime"); !since.empty()) {
    Clock::WallTime time;
    if (!ParseRfc3339(since, &time)) return BadRequest("sinceTime: not a time: " + since);
    options.since = time;
  }
  return options;
}

// Of spec.containers or spec.initContainers.
std::vector<std::string> NamesOf(const json& pod, const char* list) {
  std::vector<std::string> names;
  const json* containers = FindJsonPath(pod, list);
  if (containers == nullptr || !containers->is_array()) return names;
  for (const json& container : *containers) {
    const json* name = FindJsonPath(container, ".name");
    if (name != nullptr && name->is_string()) names.push_back(name->get<std::string>());
  }
  return names;
}

absl::StatusOr<std::string> ChooseContainer(const json& pod, const std::string& asked) {
  const std::vector<std::string> names = NamesOf(pod, ".spec.containers");
  const std::vector<std::string> inits = NamesOf(pod, ".spec.initContainers");
  for (const auto& list : {names, inits}) {
    if (std::find(list.begin(), list.end(), asked) != list.end()) return asked;
  }
  if (!asked.empty()) {
    return BadRequest("container " + asked + " is not valid for pod " + NameOf(pod));
  }
  if (names.size() == 1) return names[0];
  std::string message = "a container name must be specified for pod " + NameOf(pod) +
                        ", choose one of: [" + absl::StrJoin(names, " ") + "]";
  if (!inits.empty()) {
    message += " or one of the init containers: [" + absl::StrJoin(inits, " ") + "]";
  }
  return BadRequest(message);
}

absl::Status NotReadable(const json& pod, const std::string& container, bool previous,
                         const absl::Status& status) {
  const bool absent = status.code() == absl::StatusCode::kNotFound ||
                      status.code() == absl::StatusCode::kFailedPrecondition;
  if (!absent) return status;
  if (previous) {
    return BadRequest("previous terminated container \"" + container + "\" in pod \"" +
                      NameOf(pod) + "\" not found");
  }
  std::string message =
      "container \"" + container + "\" in pod \"" + NameOf(pod) + "\" is waiting to start";
  for (const char* list : {".status.containerStatuses", ".status.initContainerStatuses"}) {
    const json* waiting = FindJsonPath(
        pod, list + ("[?(@.name==\"" + container + "\")].state.waiting.reason"));
    if (waiting != nullptr && waiting->is_string()) message += ": " + waiting->get<std::string>();
  }
  return BadRequest(message);
}

enum class Drained {
  kSome,  // There is more.
  kAll,   // Nothing new yet.
  kEnded,
};

// Reads until `out` has about `bytes_max`, or there is nothing new.
absl::StatusOr<Drained> Drain(LogReader* reader, LogFilter* filter, size_t bytes_max,
                              std::string* out) {
  while (!filter->full()) {
    ASSIGN_OR_RETURN(const LogChunk chunk, reader->Read(kLogReadBytes));
    filter->Push(chunk.data);
    *out += filter->Take();
    if (chunk.ended) return Drained::kEnded;
    if (chunk.data.empty()) return Drained::kAll;
    if (out->size() >= bytes_max) return Drained::kSome;
  }
  return Drained::kEnded;
}

class FollowStream : public ApiStream {
 public:
  FollowStream(std::unique_ptr<LogReader> reader, LogFilter filter)
      : reader_(std::move(reader)), filter_(std::move(filter)) {}

  void Start(Calls calls) override {
    calls_ = std::move(calls);
    Tick();
  }

  void Tick() override {
    if (ended_) return;
    if (at_ == read_.size()) Read();
    if (at_ < read_.size()) {
      calls_.data(read_.substr(at_, kLogPieceBytes));
      at_ += std::min(kLogPieceBytes, read_.size() - at_);
    }
    if (at_ < read_.size() || drained_ != Drained::kEnded) return;
    ended_ = true;
    calls_.ended();
  }

  bool HasMore() const override {
    return !ended_ && (at_ < read_.size() || drained_ == Drained::kSome);
  }

  std::chrono::milliseconds tick_interval() const override { return kLogPollInterval; }

 private:
  void Read() {
    at_ = 0;
    read_.clear();
    // A log that cannot be read any more ends like one that is complete: the header is long sent.
    drained_ = Drain(reader_.get(), &filter_, kLogPieceBytes, &read_).value_or(Drained::kEnded);
    if (drained_ == Drained::kSome || !std::exchange(backlog_, false)) return;
    filter_.EndOfBacklog();
    read_ += filter_.Take();
    if (filter_.full()) drained_ = Drained::kEnded;
  }

  const std::unique_ptr<LogReader> reader_;
  LogFilter filter_;
  Calls calls_;
  std::string read_;  // Of which what is before at_ was given.
  size_t at_ = 0;
  Drained drained_ = Drained::kAll;
  bool backlog_ = true;
  bool ended_ = false;
};

}  // namespace

absl::StatusOr<ApiResponse> PodLog(LogSource* source, const Clock& clock, const json& pod,
                                   const Route& route) {
  ASSIGN_OR_RETURN(const std::string container, ChooseContainer(pod, route.Get("container")));
  ASSIGN_OR_RETURN(const LogFilter::Options options, ParseOptions(route, clock));
  LogFilter filter(options);
  const bool previous = route.Is("previous");
  absl::StatusOr<std::unique_ptr<LogReader>> reader = absl::NotFoundError("no node has logs");
  if (source != nullptr) {
    reader = source->Open({.ns = MetaText(pod, "namespace"),
                           .pod = NameOf(pod),
                           .uid = UidOf(pod),
                           .container = container,
                           .previous = previous,
                           .tail = options.tail});
  }
  if (!reader.ok()) return NotReadable(pod, container, previous, reader.status());
  ApiResponse response{.content_type = "text/plain"};
  if (route.Is("follow")) {
    response.stream = std::make_unique<FollowStream>(*std::move(reader), std::move(filter));
    return response;
  }
  RETURN_IF_ERROR(Drain(reader->get(), &filter, kLogBytesMax, &response.body).status());
  filter.EndOfBacklog();
  response.body += filter.Take();
  return response;
}

}  // namespace taas::localkube
