#include "trainer/graph/schedule.h"

#include <set>

#include "gtest/gtest.h"

namespace taas {
namespace {

using Kind = ScheduledBuffer::Kind;

class ScheduleTest : public testing::Test {
 protected:
  Value Input(std::string_view name) {
    return graph_.Input(name, {DType::kFloat32, Shape({Shape::kBatch, 4})});
  }
  Schedule Make(std::vector<Value> forward, std::vector<Value> gradients = {}) {
    return MakeSchedule({.ops = graph_.ops(),
                         .nodes = graph_.nodes(),
                         .batch = 8,
                         .forward = std::move(forward),
                         .gradients = std::move(gradients)});
  }
  Graph graph_;
};

TEST_F(ScheduleTest, NodesThatNobodyNeedsAreLeftOut) {
  const Value x = Input("x");
  const Value y = graph_.Add("Relu", "y", {x});
  graph_.Add("Tanh", "unused", {x});
  const Schedule schedule = Make({y});
  ASSERT_EQ(schedule.steps.size(), 1u);
  EXPECT_EQ(schedule.steps[0].node, y.node);
}

TEST_F(ScheduleTest, ARunWithoutGradientsSkipsTheirSteps) {
  const Value x = Input("x");
  const Value y = graph_.Add("Relu", "y", {x});
  const Value gradient = graph_.Add("Square", "g", {y});
  const Schedule schedule = Make({y}, {gradient});
  ASSERT_EQ(schedule.steps.size(), 2u);
  EXPECT_TRUE(schedule.steps[0].forward);
  EXPECT_FALSE(schedule.steps[1].forward);
}

TEST_F(ScheduleTest, AnOpWritesOverAnInputThatNobodyReadsLater) {
  const Value x = Input("x");
  const Value a = graph_.Add("Relu", "a", {x});
  const Value b = graph_.Add("Tanh", "b", {a});
  const Schedule schedule = Make({b});
  EXPECT_EQ(schedule.buffer_of.at(a), schedule.buffer_of.at(b));
}

TEST_F(ScheduleTest, InputsAreNeverWrittenOver) {
  const Value x = Input("x");
  const Value a = graph_.Add("Relu", "a", {x});
  const Schedule schedule = Make({a});
  EXPECT_NE(schedule.buffer_of.at(x), schedule.buffer_of.at(a));
}

TEST_F(ScheduleTest, AnInputReadLaterIsKept) {
  const Value x = Input("x");
  const Value a = graph_.Add("Relu", "a", {x});
  const Value b = graph_.Add("Tanh", "b", {a});
  const Value c = graph_.Add("Add", "c", {a, b});
  const Schedule schedule = Make({c});
  EXPECT_NE(schedule.buffer_of.at(a), schedule.buffer_of.at(b));
}

TEST_F(ScheduleTest, AFetchedValueIsKeptUntilTheNextRun) {
  const Value x = Input("x");
  const Value a = graph_.Add("Relu", "a", {x});
  const Value b = graph_.Add("Tanh", "b", {a});
  const Schedule schedule = Make({a, b});
  EXPECT_NE(schedule.buffer_of.at(a), schedule.buffer_of.at(b));
  const size_t buffer = static_cast<size_t>(schedule.buffer_of.at(a));
  EXPECT_EQ(schedule.buffers[buffer].last, ScheduledBuffer::kForever);
}

TEST_F(ScheduleTest, AValueGivenTwiceIsNotWrittenOver) {
  const Value x = Input("x");
  const Value a = graph_.Add("Relu", "a", {x});
  const Value sum = graph_.Add("AddN", "sum", {a, a, a});
  const Schedule schedule = Make({sum});
  EXPECT_NE(schedule.buffer_of.at(a), schedule.buffer_of.at(sum));
}

TEST_F(ScheduleTest, AViewLiesWhereItsSourceLiesAndKeepsItAlive) {
  const Value x = Input("x");
  const Value a = graph_.Add("Relu", "a", {x});
  const Value view =
      graph_.Add("Reshape", "v", {a}, {{"shape", std::vector<int64_t>{2, Shape::kBatch, 2}}});
  const Value b = graph_.Add("Tanh", "b", {a});
  const Value c = graph_.Add("Tanh", "c", {view});
  const Schedule schedule = Make({b, c});
  EXPECT_EQ(schedule.buffer_of.at(a), schedule.buffer_of.at(view));
  EXPECT_NE(schedule.buffer_of.at(a), schedule.buffer_of.at(b));
}

TEST_F(ScheduleTest, GradientsHaveBuffersOfTheirOwn) {
  const Value x = Input("x");
  const Value a = graph_.Add("Relu", "a", {x});
  const Value g = graph_.Add("Tanh", "g", {a});
  const Value h = graph_.Add("Tanh", "h", {g});
  const Schedule schedule = Make({}, {g, h});
  std::set<int> buffers;
  for (const Value value : {a, g, h}) buffers.insert(schedule.buffer_of.at(value));
  EXPECT_EQ(buffers.size(), 3u);
  EXPECT_EQ(schedule.buffers[static_cast<size_t>(schedule.buffer_of.at(g))].kind, Kind::kGradient);
}

}  // namespace
}  // namespace taas
