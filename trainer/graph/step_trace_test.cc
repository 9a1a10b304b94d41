#include "trainer/graph/step_trace.h"

#include <algorithm>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/graph/session.h"
#include "trainer/graph/testing/unusual_graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

using Json = nlohmann::json;

struct Traced {
  Json file;
  std::set<std::string> steps;  // Names of the nodes that a training run runs.
};

Traced TraceOf(int inter_op_threads, int64_t first, int64_t last, int runs) {
  const RealClock clock;
  StepTrace trace(clock, {.process = "worker/3", .first = first, .last = last});
  const UnusualGraph unusual = BuildUnusualGraph();
  auto session = Session::Compile(CpuRuntime(), unusual.graph,
                                  {.batch = 16,
                                   .loss = unusual.loss,
                                   .inter_op_threads = inter_op_threads,
                                   .trace = &trace});
  EXPECT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(1), IsOk());
  FillUnusualBatch(1, session->get());
  for (int run = 1; run <= runs; ++run) {
    EXPECT_EQ(trace.complete(), run > last) << run;
    EXPECT_THAT((*session)->Run(RunKind::kTrain), IsOk());
    EXPECT_THAT((*session)->Run(RunKind::kForward), IsOk());  // Not recorded and not counted.
  }
  Traced traced{.file = Json::parse(trace.Json()), .steps = {}};
  for (const OpInfo& op : (*session)->ops(RunKind::kTrain)) {
    if (op.runs) traced.steps.insert(op.name);
  }
  return traced;
}

class StepTraceTest : public testing::TestWithParam<int> {};

TEST_P(StepTraceTest, HoldsEachOpOfEachStepOnceAndNoTwoOfAThreadAtATime) {
  const Traced traced = TraceOf(GetParam(), 2, 4, 6);
  std::map<int64_t, std::multiset<std::string>> by_step;
  std::map<int64_t, std::pair<double, double>> whole;
  std::map<int, std::vector<std::pair<double, double>>> by_thread;
  for (const Json& event : traced.file["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const int64_t step = event["args"]["step"];
    const double begin = event["ts"], end = begin + event["dur"].get<double>();
    EXPECT_GE(end, begin);
    if (event["cat"] == "step") {
      whole[step] = {begin, end};
      continue;
    }
    by_step[step].insert(event["name"].get<std::string>());
    by_thread[event["tid"].get<int>()].push_back({begin, end});
    EXPECT_EQ(event["args"]["device"], "/job:localhost/replica:0/task:0/device:CPU:0");
    EXPECT_THAT(event["args"]["shape"].get<std::string>(), testing::StartsWith("float32["));
    EXPECT_GT(event["args"]["bytes"].get<double>(), 0);
    EXPECT_FALSE(event["args"]["op"].get<std::string>().empty());
  }
  ASSERT_EQ(by_step.size(), 3u);
  const std::multiset<std::string> expected(traced.steps.begin(), traced.steps.end());
  for (const int64_t step : {2, 3, 4}) EXPECT_EQ(by_step[step], expected) << step;
  EXPECT_EQ(whole.size(), 3u);
  EXPECT_LE(by_thread.size(), static_cast<size_t>(GetParam()));
  for (auto& [thread, spans] : by_thread) {
    std::ranges::sort(spans);
    for (size_t i = 1; i < spans.size(); ++i) {
      EXPECT_LE(spans[i - 1].second, spans[i].first + 1e-3) << "thread " << thread;
    }
    EXPECT_GE(spans.front().first, whole[2].first);
    EXPECT_LE(spans.back().second, whole[4].second + 1e-3);
  }
  EXPECT_EQ(traced.file["otherData"]["events left out"], 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, StepTraceTest, testing::Values(1, 2, 4));

TEST(StepTraceFileTest, NamesTheProcessItsSessionsAndTheirThreads) {
  FakeClock clock;
  StepTrace trace(clock, {.process = "worker/3", .first = 1, .last = 1});
  trace.AddTrack("tower 0", {{.name = "y", .op = "Relu"}}, 1);
  trace.AddTrack("tower 1", {{.name = "y", .op = "Relu"}}, 2);
  std::vector<std::string> names;
  std::set<int> threads;
  const Json file = Json::parse(trace.Json());
  for (const Json& event : file["traceEvents"]) {
    names.push_back(event["args"]["name"]);
    if (event["name"] == "thread_name") threads.insert(event["tid"].get<int>());
  }
  EXPECT_THAT(names, testing::ElementsAre("worker/3", "tower 0, steps", "tower 0, ops, thread 0",
                                          "tower 1, steps", "tower 1, ops, thread 0",
                                          "tower 1, ops, thread 1"));
  EXPECT_EQ(threads.size(), 5u);
}

TEST(StepTraceFileTest, IsCompleteWhenAllSessionsAre) {
  FakeClock clock;
  StepTrace trace(clock, {.first = 1, .last = 1});
  EXPECT_FALSE(trace.complete());
  StepTrace::Track* const one = trace.AddTrack("1", {}, 1);
  StepTrace::Track* const two = trace.AddTrack("2", {}, 1);
  EXPECT_TRUE(one->Begin());
  one->End();
  EXPECT_FALSE(trace.complete());
  EXPECT_TRUE(two->Begin());
  two->End();
  EXPECT_TRUE(trace.complete());
  EXPECT_FALSE(two->Begin());
}

}  // namespace
}  // namespace taas
