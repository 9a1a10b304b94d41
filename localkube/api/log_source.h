// Where the API server reads the logs of containers.
//
// The node implements this over files; the API server turns what it reads into answers to `kubectl
// logs`.
// The format is CRI's: one record per line, "2026-11-21T05:54:17.123456789Z stdout F the text\n";
// F ends a
// line of the container, P is a part of one that goes on in the next record.
//
// Ownership: a reader owns what it opened and may outlive the pod, not the source. Threads: a
// LogSource from
// any thread, a reader from one at a time. Errors: NotFound: there is no such log;
// FailedPrecondition: the
// container has not started.
//
//   ASSIGN_OR_RETURN(auto reader, source.Open({.ns = "default", .pod = "mnist-worker-0"}));
//   ASSIGN_OR_RETURN(LogChunk chunk, reader->Read(64 << 10));

#ifndef LOCALKUBE_API_LOG_SOURCE_H_
#define LOCALKUBE_API_LOG_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas::localkube {

struct LogRequest {
  std::string ns;
  std::string pod;
  std::string uid;        // Of the pod object; never empty when the API server asks.
  std::string container;  // Never empty when the API server asks.
  bool previous = false;  // The run of the container before this one.
  // That run of the container, from 0; none: the latest that has started.
  std::optional<int> run;
  // Only so many lines from the end are wanted: a reader may begin there, or earlier.
  std::optional<uint64_t> tail;
};

struct LogChunk {
  std::string data;    // Whole records, in order; empty: nothing new yet.
  // Nothing will follow `data`: the container has ended and all of it was read.
  bool ended = false;
};

class LogReader {
 public:
  virtual ~LogReader() = default;
  // What is there now, from where the last call stopped; at most about `size_max` bytes. Never
  // waits.
  virtual absl::StatusOr<LogChunk> Read(size_t size_max) = 0;
};

class LogSource {
 public:
  virtual ~LogSource() = default;
  // A reader at the oldest record that is kept and wanted.
  virtual absl::StatusOr<std::unique_ptr<LogReader>> Open(const LogRequest& request) = 0;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_LOG_SOURCE_H_
