// Tells when a shim has written a record, by inotify, so that nobody has to ask again and again.
//
// Ownership: owns a thread. Threads: Watch from any thread; the callback runs on the watcher's own
// thread and must only post. Errors: Unavailable if the kernel has no inotify instance or watch
// left; who polls as well loses only time.
//
//   RunWatcher watcher([&](const std::string& run_dir) { executor.Post(…); });
//   RETURN_IF_ERROR(watcher.Watch(files.dir));

#ifndef LOCALKUBE_NODE_RUN_WATCHER_H_
#define LOCALKUBE_NODE_RUN_WATCHER_H_

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"

namespace taas::localkube {

class RunWatcher {
 public:
  using OnRecord = std::function<void(const std::string& run_dir)>;
  explicit RunWatcher(OnRecord on_record);
  ~RunWatcher();
  RunWatcher(const RunWatcher&) = delete;
  RunWatcher& operator=(const RunWatcher&) = delete;

  // Until the directory is removed. May be repeated.
  absl::Status Watch(const std::string& run_dir);

 private:
  void Run();
  void ReadEvents();

  const OnRecord on_record_;
  int inotify_ = -1;
  int stop_ = -1;
  std::mutex mutex_;
  std::map<int, std::string> dirs_;  // By watch descriptor.
  std::thread thread_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_RUN_WATCHER_H_
