#include "operator/base/file_pages.h"

#include <fstream>
#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

// Of files, mapped by this process.
long ResidentFileKilobytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    long kilobytes = -1;
    if (word == "RssFile:" && status >> kilobytes) return kilobytes;
  }
  return -1;
}

struct Speaker {
  virtual ~Speaker() = default;
  virtual std::string Say() const { return said; }
  std::string said = "first";
};

std::string written = "as the file has it";

TEST(GiveBackFilePagesTest, WhatTheStartNeededIsNoLongerMappedAndWhatWasWrittenStays) {
  const std::unique_ptr<Speaker> speaker = std::make_unique<Speaker>();
  speaker->said = "then";
  written = "as the process has it";
  const long before = ResidentFileKilobytes();
  ASSERT_GT(before, 0);
  GiveBackFilePages();
  EXPECT_LT(ResidentFileKilobytes(), before);
  EXPECT_EQ(written, "as the process has it");
  EXPECT_EQ(speaker->Say(), "then");
}

}  // namespace
}  // namespace taas
