#include "operator/kube/watch_reader.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/kube_protobuf.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// What a new reader makes of the stream.
struct Outcome {
  absl::Status status;
  std::vector<std::pair<WatchType, std::string>> events;
};
Outcome ReadAll(std::string_view stream, size_t chunk_bytes = SIZE_MAX) {
  WatchReader reader;
  Outcome outcome;
  while (!stream.empty() && outcome.status.ok()) {
    outcome.status = reader.Add(stream.substr(0, chunk_bytes), [&](const WatchEvent& event) {
      outcome.events.emplace_back(event.type, event.object);
      return absl::OkStatus();
    });
    stream.remove_prefix(std::min(chunk_bytes, stream.size()));
  }
  return outcome;
}

std::string Frame(std::string_view type, std::string_view object) {
  std::string extension, event;
  AppendField(1, object, &extension);
  AppendField(1, type, &event);
  AppendField(2, extension, &event);
  return std::string("\0\0\0", 3) + static_cast<char>(event.size()) + event;
}

TEST(WatchReaderTest, TypeAndObjectOfALineComeOutInEitherOrder) {
  for (const char* line : {R"({"type":"MODIFIED","object":{"a":1}})",
                           R"({"object":{"a":1},"type":"MODIFIED"})"}) {
    const Outcome outcome = ReadAll(std::string(line) + "\n");
    EXPECT_THAT(outcome.status, IsOk());
    EXPECT_THAT(outcome.events, ElementsAre(Pair(WatchType::kModified, R"({"a":1})")));
  }
}

TEST(WatchReaderTest, EachTypeIsKnownAndAnyOtherIsUnknown) {
  const std::pair<const char*, WatchType> types[] = {
      {"ADDED", WatchType::kAdded},       {"MODIFIED", WatchType::kModified},
      {"DELETED", WatchType::kDeleted},   {"BOOKMARK", WatchType::kBookmark},
      {"ERROR", WatchType::kError},       {"SYNC", WatchType::kUnknown}};
  for (const auto& [name, want] : types) {
    const std::string line = std::string(R"({"type":")") + name + R"(","object":{}})" + "\n";
    EXPECT_THAT(ReadAll(line).events, ElementsAre(Pair(want, "{}"))) << name;
    EXPECT_THAT(ReadAll(Frame(name, "x")).events, ElementsAre(Pair(want, "x"))) << name;
  }
}

TEST(WatchReaderTest, AStreamIsCutIntoEventsWhereverItsChunksEnd) {
  const std::string pod = WrapKubeProtobuf("a pod");
  const std::string frames = Frame("ADDED", pod) + Frame("BOOKMARK", "x");
  const std::string lines = R"({"type":"ADDED","object":{"a":1}})" "\n"
                            R"({"type":"BOOKMARK","object":{}})" "\n";
  for (size_t chunk = 1; chunk < frames.size(); ++chunk) {
    EXPECT_THAT(ReadAll(frames, chunk).events,
                ElementsAre(Pair(WatchType::kAdded, pod), Pair(WatchType::kBookmark, "x")));
    EXPECT_THAT(ReadAll(lines, chunk).events,
                ElementsAre(Pair(WatchType::kAdded, R"({"a":1})"),
                            Pair(WatchType::kBookmark, "{}")));
  }
}

// C7.
TEST(WatchReaderTest, WhatIsNoEventIsAnError) {
  for (const char* line : {"{", "[]", R"({"type":"ADDED"})", R"({"object":{}})", "null", "{}x",
                           R"({"type":"ADDED","object":{})", R"({"type":1,"object":{}})"}) {
    EXPECT_THAT(ReadAll(std::string(line) + "\n").status,
                StatusIs(absl::StatusCode::kInvalidArgument))
        << line;
  }
  for (const std::string& frame : {Frame("ADDED", ""), Frame("", "x"), std::string("\0\0\0\0", 4),
                                   std::string("\0\0\0\1\7", 5)}) {
    EXPECT_THAT(ReadAll(frame).status, StatusIs(absl::StatusCode::kInvalidArgument))
        << testing::PrintToString(frame);
  }
}

}  // namespace
}  // namespace taas
