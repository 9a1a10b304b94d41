#include "localkube/node/object_watch.h"

#include <chrono>
#include <utility>

#include "operator/base/log.h"

namespace taas::localkube {
namespace {

// After a failure of the store.
constexpr std::chrono::milliseconds kRetryAfter{500};

}  // namespace

ObjectWatch::ObjectWatch(Store& store, Executor& executor, std::string resource,
                         Callbacks callbacks)
    : store_(store),
      executor_(executor),
      resource_(std::move(resource)),
      callbacks_(std::move(callbacks)) {}

void ObjectWatch::Start() {
  watch_.reset();
  callbacks_.restarted();
  auto watch = store_.Watch({.resource = resource_}, [this](const StoreEvent& event) {
    executor_.Post([this, event] { OnEvent(event); });
  });
  if (watch.ok()) {
    watch_ = *std::move(watch);
    return;
  }
  Log(LogLevel::kError, "watch failed",
      {{"resource", resource_}, {"cause", std::string(watch.status().message())}});
  executor_.PostAfter(kRetryAfter, [this] { Start(); });
}

void ObjectWatch::OnEvent(const StoreEvent& event) {
  if (event.type == StoreEventType::kBookmark) return;
  // The last event of a watch: nothing of the old one can follow what the new one brings.
  if (event.type == StoreEventType::kGone) return Start();
  callbacks_.changed(event);
}

}  // namespace taas::localkube
