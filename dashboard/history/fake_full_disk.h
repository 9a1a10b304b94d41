// While it lives no file of this process can grow beyond a size, as on a disk that is full.
//
// Ownership: the test's. Threads: of the whole process. Errors: a check fails.
//
//   FakeFullDisk full(400'000);   // Bytes of a file.

#ifndef DASHBOARD_HISTORY_FAKE_FULL_DISK_H_
#define DASHBOARD_HISTORY_FAKE_FULL_DISK_H_

#include <sys/resource.h>

#include <csignal>

#include "operator/base/check.h"

namespace taas::dashboard {

class FakeFullDisk {
 public:
  explicit FakeFullDisk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    CHECK(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    rlimit full = before_;
    full.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &full) == 0);
  }
  ~FakeFullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FakeFullDisk(const FakeFullDisk&) = delete;
  FakeFullDisk& operator=(const FakeFullDisk&) = delete;

 private:
  void (*const signal_)(int);
  rlimit before_{};
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_FAKE_FULL_DISK_H_
