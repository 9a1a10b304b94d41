#include "localkube/node/memory_use.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "tools/fuzz/memory_files.h"

namespace taas::localkube {
namespace {

constexpr int64_t kMiB = 1 << 20;

// A parent (1) and its fork (2) that share 100 MiB; the parent ends once its memory was read.
class ParentThatEnds : public PosixFileSystem {
 public:
  absl::StatusOr<std::unique_ptr<RandomReadFile>> OpenRead(const std::string& path) override {
    std::map<std::string, std::string> files = {{path, Text(path)}};
    return MemoryFiles(std::move(files)).OpenRead(path);
  }

 private:
  std::string Text(const std::string& path) {
    if (path.ends_with("/status")) return "Name:\tx\nRssAnon:\t102400 kB\n";
    const bool parent = path == "/proc/1/smaps_rollup";
    const std::string share = parent_is_there_ ? "51200" : parent ? "0" : "102400";
    if (parent) parent_is_there_ = false;
    return "Rss: 1 kB\nPss_Anon: " + share + " kB\n";
  }

  bool parent_is_there_ = true;
};

// Symptom: a container was killed as OOMKilled at two thirds of its limit, since a process ended
// between the read of its own share and that of the process that it shared its pages with.
TEST(MemoryUseTest, WhatAnEndedProcessSharedIsNotCountedTwice) {
  ParentThatEnds disk;
  EXPECT_EQ(MemoryUse(disk, std::vector<pid_t>{1, 2}, 140 * kMiB), 100 * kMiB);
}

}  // namespace
}  // namespace taas::localkube
