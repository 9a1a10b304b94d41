// A watch of one resource that never ends: it goes on after a gap and after a failure.
//
// After `restarted` what was known no longer counts: everything that exists comes as kAdded, then
// kInitialEnd, then changes. kGone and kBookmark are not passed on.
//
// Ownership: store and executor outlive it; whoever owns it stops the executor first. Threads: all
// of it, callbacks too, on the executor. Errors: logged, and tried again.
//
//   ObjectWatch watch(store, executor, "pods", {.restarted = [&] { pods.clear(); },
//                                               .changed = [&](const StoreEvent& e) { … }});
//   executor.Post([&] { watch.Start(); });

#ifndef LOCALKUBE_NODE_OBJECT_WATCH_H_
#define LOCALKUBE_NODE_OBJECT_WATCH_H_

#include <functional>
#include <memory>
#include <string>

#include "localkube/api/store.h"
#include "operator/base/executor.h"

namespace taas::localkube {

class ObjectWatch {
 public:
  struct Callbacks {
    std::function<void()> restarted;
    std::function<void(const StoreEvent& event)> changed;
  };
  ObjectWatch(Store& store, Executor& executor, std::string resource, Callbacks callbacks);

  void Start();

 private:
  void OnEvent(const StoreEvent& event);

  Store& store_;
  Executor& executor_;
  const std::string resource_;
  const Callbacks callbacks_;
  std::unique_ptr<StoreWatch> watch_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_OBJECT_WATCH_H_
