#include "localkube/node/run_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "operator/base/file_system.h"

namespace taas::localkube {

RunWatcher::RunWatcher(OnRecord on_record)
    : on_record_(std::move(on_record)),
      inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

RunWatcher::~RunWatcher() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
  thread_.join();
  ::close(inotify_);
  ::close(stop_);
}

absl::Status RunWatcher::Watch(const std::string& run_dir) {
  std::lock_guard lock(mutex_);
  // Records appear by rename; all other files are of no interest.
  const int id = ::inotify_add_watch(inotify_, run_dir.c_str(), IN_MOVED_TO | IN_ONLYDIR);
  if (id < 0) return ErrnoToStatus(errno, "inotify_add_watch", run_dir);
  dirs_[id] = run_dir;
  return absl::OkStatus();
}

void RunWatcher::Run() {
  for (;;) {
    std::array<pollfd, 2> fds = {{{inotify_, POLLIN, 0}, {stop_, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), -1);
    if (fds[1].revents != 0) return;
    if (fds[0].revents != 0) ReadEvents();
  }
}

void RunWatcher::ReadEvents() {
  alignas(inotify_event) std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = ::read(inotify_, buffer.data(), buffer.size())) > 0) {
    for (const char* at = buffer.data(); at < buffer.data() + got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof *event + event->len;
      std::string dir;
      {
        std::lock_guard lock(mutex_);
        const auto found = dirs_.find(event->wd);
        if (found == dirs_.end()) continue;
        dir = found->second;
        if (event->mask & IN_IGNORED) dirs_.erase(found);
      }
      const bool record = event->len > 0 && (std::strcmp(event->name, "state.json") == 0 ||
                                             std::strcmp(event->name, "exit.json") == 0);
      if (record) on_record_(dir);
    }
  }
}

}  // namespace taas::localkube
