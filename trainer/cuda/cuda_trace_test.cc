// A trace of steps on a GPU: each op with the device's own times, and programs as they were.

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/cuda/fake/fake_streams.h"
#include "trainer/graph/session.h"
#include "trainer/graph/step_rest.h"
#include "trainer/graph/step_trace.h"
#include "trainer/graph/testing/unusual_graph.h"

namespace taas::cuda {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::json;

constexpr int64_t kFirst = 4, kLast = 5;
constexpr int kRuns = 7;
constexpr double kCommandUs = fake::kCommandNs / 1e3;

// In the place of an update: one command.
class OneCopy : public StepRest {
 public:
  explicit OneCopy(Device& device)
      : from_(*device.Allocate(16)), to_(*device.Allocate(16)) {}
  absl::Status Launch(Stream& stream) override { return stream.Copy(to_.data(), from_.data(), 16); }

 private:
  const Buffer from_, to_;
};

struct Traced {
  Json events;
  std::set<std::string> ops;  // That a step runs.
  std::vector<float> losses;
  std::vector<int> captures, launches, waits;  // Since the first run, after each.
};

Traced TraceOf(int inter_op_threads) {
  const fake::FakeGpu gpu;
  const RealClock clock;
  StepTrace trace(clock, {.process = "worker/0", .first = kFirst, .last = kLast});
  OneCopy update(gpu.device());
  const UnusualGraph unusual = BuildUnusualGraph();
  auto session = Session::Compile(gpu.runtime(), unusual.graph,
                                  {.batch = 16,
                                   .loss = unusual.loss,
                                   .inter_op_threads = inter_op_threads,
                                   .trace = &trace});
  EXPECT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(1), IsOk());
  FillUnusualBatch(1, session->get());
  (*session)->Append(RunKind::kStep, update);
  Traced traced;
  for (const char* const function :
       {"cuStreamBeginCapture", "cuGraphLaunch", "cuStreamSynchronize"}) {
    gpu.FailAt(function, 0, 0);
  }
  for (int run = 1; run <= kRuns; ++run) {
    EXPECT_THAT((*session)->Run(RunKind::kStep), IsOk());
    traced.losses.push_back((*session)->loss());
    traced.captures.push_back(gpu.Calls("cuStreamBeginCapture"));
    traced.launches.push_back(gpu.Calls("cuGraphLaunch"));
    traced.waits.push_back(gpu.Calls("cuStreamSynchronize"));
  }
  EXPECT_TRUE(trace.complete());
  traced.events = Json::parse(trace.Json())["traceEvents"];
  for (const OpInfo& op : (*session)->ops(RunKind::kStep)) {
    if (op.runs) traced.ops.insert(op.name);
  }
  (*session)->Remove(update);
  return traced;
}

struct Span {
  double begin = 0, end = 0;
};

// By step; "": the step itself.
std::map<int64_t, std::map<std::string, Span>> SpansOf(const Json& events) {
  std::map<int64_t, std::map<std::string, Span>> spans;
  for (const Json& event : events) {
    if (event["ph"] != "X") continue;
    const bool whole = event["cat"] == "step";
    const std::string name = whole ? "" : event["name"].get<std::string>();
    Span& span = spans[event["args"]["step"].get<int64_t>()][name];
    EXPECT_EQ(span.end, 0) << name << " is there twice";
    span = {event["ts"].get<double>(),
            event["ts"].get<double>() + event["dur"].get<double>()};
  }
  return spans;
}

TEST(CudaTraceTest, EachOpHasTheDevicesTimeInAFileAsTheProcessors) {
  const Traced traced = TraceOf(/*inter_op_threads=*/1);
  const auto spans = SpansOf(traced.events);
  ASSERT_EQ(spans.size(), 2u);
  for (const auto& [step, ops] : spans) {
    const Span whole = ops.at("");
    ASSERT_EQ(ops.size(), traced.ops.size() + 2) << "all ops, what follows them, and the step";
    for (const auto& [name, span] : ops) {
      if (name.empty()) continue;
      EXPECT_TRUE(name == "clip and update" || traced.ops.contains(name)) << name;
      const double commands = (span.end - span.begin) / kCommandUs;
      EXPECT_GE(commands, 0.99) << name << ": it launches something";
      EXPECT_NEAR(commands, std::round(commands), 0.05)
          << name << ": times are of the device's clock, which stands still between commands";
      EXPECT_GE(span.begin, whole.begin) << name;
    }
    EXPECT_NEAR(ops.at("clip and update").end - ops.at("clip and update").begin, kCommandUs, 0.5);
  }
}

TEST(CudaTraceTest, ATracedStepIsNoProgramAndTheOthersKeepTheirs) {
  const Traced traced = TraceOf(/*inter_op_threads=*/1);
  EXPECT_THAT(traced.captures, ElementsAre(0, 1, 1, 1, 1, 1, 1)) << "nothing is captured anew";
  EXPECT_THAT(traced.launches, ElementsAre(0, 1, 2, 2, 2, 3, 4));
  for (const float loss : traced.losses) EXPECT_EQ(loss, traced.losses[0]);
  const int waits_of_program = traced.waits[2] - traced.waits[1];
  const int waits_of_traced = traced.waits[4] - traced.waits[3];
  // Besides as it begins, and before its times are read.
  EXPECT_LE(waits_of_traced, waits_of_program + 2) << "nobody waits for each op";
}

TEST(CudaTraceTest, SeveralStreamsHaveOneClock) {
  const Traced traced = TraceOf(/*inter_op_threads=*/3);
  const auto spans = SpansOf(traced.events);
  ASSERT_EQ(spans.size(), 2u);
  for (const auto& [step, ops] : spans) {
    EXPECT_EQ(ops.size(), traced.ops.size() + 2);
    for (const auto& [name, span] : ops) EXPECT_GE(span.end, span.begin) << name;
    // What follows the ops begins when all have ended.
    for (const std::string& name : traced.ops) {
      EXPECT_LE(ops.at(name).end, ops.at("clip and update").begin + 0.5) << name;
    }
  }
}

}  // namespace
}  // namespace taas::cuda
