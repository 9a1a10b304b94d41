// Logs from memory, for tests of who reads logs.
//
// Ownership: the test's; outlives its readers. Threads: any. Errors: NotFound for a pod without a
// log.
//
//   FakeLogSource logs;
//   logs.Append("a", "2026-01-01T00:00:00Z stdout F hello\n");
//   logs.End("a");

#ifndef LOCALKUBE_API_FAKE_LOG_SOURCE_H_
#define LOCALKUBE_API_FAKE_LOG_SOURCE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "localkube/api/log_source.h"

namespace taas::localkube {

class FakeLogSource : public LogSource {
 public:
  void Append(const std::string& pod, const std::string& records) {
    std::lock_guard lock(mutex_);
    logs_[pod].data += records;
  }
  void End(const std::string& pod) {
    std::lock_guard lock(mutex_);
    logs_[pod].ended = true;
  }

  absl::StatusOr<std::unique_ptr<LogReader>> Open(const LogRequest& request) override {
    std::lock_guard lock(mutex_);
    if (logs_.count(request.pod) == 0 || request.previous) {
      return absl::NotFoundError("no log of " + request.pod);
    }
    return std::unique_ptr<LogReader>(std::make_unique<Reader>(this, request.pod));
  }

 private:
  struct Log {
    std::string data;
    bool ended = false;
  };

  class Reader : public LogReader {
   public:
    Reader(FakeLogSource* source, std::string pod) : source_(source), pod_(std::move(pod)) {}
    absl::StatusOr<LogChunk> Read(size_t size_max) override {
      std::lock_guard lock(source_->mutex_);
      const Log& log = source_->logs_[pod_];
      std::string data = log.data.substr(position_, size_max);
      data.resize(data.rfind('\n') + 1);  // npos + 1 is 0.
      position_ += data.size();
      return LogChunk{std::move(data), log.ended && position_ == log.data.size()};
    }

   private:
    FakeLogSource* const source_;
    const std::string pod_;
    size_t position_ = 0;
  };

  std::mutex mutex_;
  std::map<std::string, Log> logs_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_FAKE_LOG_SOURCE_H_
