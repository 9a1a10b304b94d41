#include "operator/controller/event_writer.h"

#include <utility>

#include "operator/api/dialect.h"
#include "operator/base/hash.h"
#include "operator/base/log.h"
#include "operator/base/shorten.h"
#include "operator/kube/api_path.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

// etcd's limit of an event's message.
constexpr size_t kEventMessageBytesMax = 1024;

}  // namespace

void EventWriter::Write(const Job& job, bool warning, const std::string& reason,
                        const std::string& message, const Count& count) {
  const Clock::WallTime now = clock_.WallNow();
  const Dialect& dialect = DialectOf(job.kind);
  const json event = {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata",
       {{"name", job.meta.name + "." + HexOf(random_.Next())}, {"namespace", job.meta.ns}}},
      {"involvedObject",
       {{"apiVersion", dialect.group_version},
        {"kind", dialect.kind_name},
        {"namespace", job.meta.ns},
        {"name", job.meta.name},
        {"uid", job.meta.uid}}},
      {"type", warning ? "Warning" : "Normal"},
      {"reason", reason},
      {"message", Shortened(message, kEventMessageBytesMax)},
      {"source", {{"component", "taas-operator"}}},
      {"reportingComponent", "taas-operator"},
      {"reportingInstance", "taas-operator"},
      {"firstTimestamp", FormatRfc3339(count.since.value_or(now))},
      {"lastTimestamp", FormatRfc3339(now)},
      {"count", count.times}};
  HttpRequest request{.verb = Verb::kPost, .path = CollectionPath(Resource::kEvents, job.meta.ns)};
  request.body = RequestBody(event);
  if (!warning) request.order = Order::kLast;  // It tells what can be seen, too.
  const std::string name = job.meta.ns + "/" + job.meta.name;
  api_.Send(std::move(request), [this, name, reason](absl::StatusOr<HttpReply> reply) {
    const Answer answer = Classify(reply);
    if (answer == Answer::kDone) refused_ = false;
    if (answer == Answer::kDone) return;
    // One line until one is taken again: of a right that is missing there would be thousands.
    const bool news = answer == Answer::kRefused && !std::exchange(refused_, true);
    Log(news ? LogLevel::kWarning : LogLevel::kDebug, Cause(reply, "create event"),
        {{"job", name}, {"reason", reason}});
  });
}

}  // namespace taas
