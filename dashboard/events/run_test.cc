#include "dashboard/events/run.h"

#include "dashboard/events/fake_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kScalarMetadata = Metadata({.plugin = "scalars"});
const std::string kHistogramMetadata = Metadata({.plugin = "histograms"});
const FakeHisto kSmall{.min = 0, .max = 1, .limits = {1, 2}, .counts = {3, 4}};

class RunTest : public ::testing::Test {
 protected:
  std::string Add(int64_t step, const std::string& value) {
    return run_.Add(SummaryEvent(++wall_, step, {value}));
  }
  std::vector<int64_t> ScalarSteps(std::string_view tag) const {
    std::vector<int64_t> steps;
    for (const Scalar& point : std::get<Series::Scalars>(run_.Find(tag)->points).points()) {
      steps.push_back(point.step);
    }
    return steps;
  }
  std::vector<int64_t> HistogramSteps(std::string_view tag) const {
    std::vector<int64_t> steps;
    for (const auto& point : std::get<Series::Histograms>(run_.Find(tag)->points).points()) {
      steps.push_back(point.step);
    }
    return steps;
  }

  MemoryBudget memory_{.most = 1 << 20};
  dashboard::Run run_{&memory_};  // The fixture's base has a Run of its own.
  double wall_ = 100;
};

TEST_F(RunTest, OldValuesAreCurvesAndHistogramsByThemselves) {
  EXPECT_EQ(Add(1, SimpleValue("loss", 0.5f)), "");
  EXPECT_EQ(Add(1, HistoValue("weights", kSmall)), "");
  const Scalar point = std::get<Series::Scalars>(run_.Find("loss")->points).points()[0];
  EXPECT_EQ(point.value, 0.5);
  EXPECT_EQ(point.wall, 101);
  EXPECT_EQ(run_.Find("loss")->display_name, "loss");
  EXPECT_THAT(HistogramSteps("weights"), ElementsAre(1));
  EXPECT_EQ(run_.Find("no such"), nullptr);
  EXPECT_EQ(run_.first_wall(), 101);
}

TEST_F(RunTest, TensorsAreWhatTheFirstMetadataOfTheirTagSay) {
  EXPECT_EQ(Add(1, TensorValue("a", FloatTensor(1), kScalarMetadata)), "");
  EXPECT_EQ(Add(2, TensorValue("a", FloatTensor(2))), "");
  EXPECT_EQ(Add(3, TensorValue("a", FloatTensor(3), kHistogramMetadata)), "");
  EXPECT_THAT(ScalarSteps("a"), ElementsAre(1, 2, 3));
  EXPECT_EQ(Add(1, TensorValue("h", RowsTensor({0, 1, 5}), kHistogramMetadata)), "");
  EXPECT_EQ(Add(2, TensorValue("h", RowsTensor({0, 1, 6}))), "");
  EXPECT_THAT(HistogramSteps("h"), ElementsAre(1, 2));
}

TEST_F(RunTest, OtherKindsOfDataAreLeftAlone) {
  EXPECT_EQ(Add(1, TensorValue("t", FloatTensor(1), Metadata({.plugin = "text"}))), "");
  EXPECT_EQ(Add(1, TensorValue("none", FloatTensor(1))), "");
  EXPECT_EQ(Add(1, TensorValue("class", FloatTensor(1),
                               Metadata({.plugin = "scalars", .data_class = 3}))), "");
  EXPECT_EQ(Add(1, FakeMessage().Bytes(1, "image").Bytes(4, "png").str()), "");
  for (const char* const tag : {"t", "none", "class", "image"}) {
    EXPECT_TRUE(std::holds_alternative<std::monostate>(run_.Find(tag)->points)) << tag;
    EXPECT_FALSE(run_.Find(tag)->has_values) << tag;
  }
}

TEST_F(RunTest, ValuesThatDoNotFitTheirTagAreTold) {
  EXPECT_EQ(Add(1, TensorValue("a", FloatTensor(1), kScalarMetadata)), "");
  EXPECT_THAT(Add(7, TensorValue("a", RowsTensor({0, 1, 5}))),
              HasSubstr("tag \"a\" is a curve, but its value at step 7"));
  EXPECT_EQ(Add(1, TensorValue("h", RowsTensor({0, 1, 5}), kHistogramMetadata)), "");
  EXPECT_THAT(Add(8, TensorValue("h", FloatTensor(1))), HasSubstr("tag \"h\" at step 8"));
  EXPECT_THAT(Add(9, TensorValue("m", FloatTensor(1), "\xff")), HasSubstr("metadata of tag \"m\""));
  EXPECT_THAT(ScalarSteps("a"), ElementsAre(1));
  EXPECT_THAT(HistogramSteps("h"), ElementsAre(1));
}

TEST_F(RunTest, TheSecondMarkOfAStartDropsAllFromItsStepOn) {
  run_.Add(FileVersionEvent(1));
  Add(0, SimpleValue("a", 1));
  run_.Add(StartEvent(2, 0));  // The first drops nothing, also where values came before it.
  for (const int64_t step : {1, 2, 3}) {
    Add(step, SimpleValue("a", 1));
    Add(step, HistoValue("h", kSmall));
  }
  Add(2, SimpleValue("back without a mark", 1));
  EXPECT_THAT(ScalarSteps("a"), ElementsAre(0, 1, 2, 3));
  const uint64_t before = memory_.used;
  run_.Add(StartEvent(2, 2));
  EXPECT_THAT(ScalarSteps("a"), ElementsAre(0, 1));
  EXPECT_THAT(HistogramSteps("h"), ElementsAre(1));
  EXPECT_LT(memory_.used, before);
  EXPECT_TRUE(run_.Find("back without a mark")->has_values);
  EXPECT_THAT(ScalarSteps("back without a mark"), IsEmpty());
}

TEST_F(RunTest, InFilesWithoutMarksAStepThatGoesBackDropsItsOwnTags) {
  run_.Add(FileVersionEvent(1, "brain.Event:1"));
  for (const int64_t step : {1, 2, 3}) {
    Add(step, SimpleValue("a", 1));
    Add(step, SimpleValue("b", 1));
  }
  run_.Add(StartEvent(1, 0));
  run_.Add(StartEvent(1, 0));
  Add(2, SimpleValue("a", 1));
  EXPECT_THAT(ScalarSteps("a"), ElementsAre(1, 2));
  EXPECT_THAT(ScalarSteps("b"), ElementsAre(1, 2, 3));
  // A graph counts as the newest summary: the next one is not behind it.
  run_.Add(FakeMessage().Varint(2, 0).Bytes(4, "graph").str());
  Add(1, SimpleValue("b", 1));
  EXPECT_THAT(ScalarSteps("b"), ElementsAre(1, 2, 3, 1));
}

TEST_F(RunTest, SeriesAreBounded) {
  memory_.most = 1 << 30;
  for (int64_t step = 0; step < 1500; ++step) {
    Add(step, SimpleValue("a", 1));
    Add(step, HistoValue("h", kSmall));
  }
  EXPECT_THAT(ScalarSteps("a"), SizeIs(kScalarsMax));
  EXPECT_EQ(ScalarSteps("a").back(), 1499);
  EXPECT_THAT(HistogramSteps("h"), SizeIs(kHistogramsMax));
  EXPECT_EQ(HistogramSteps("h").back(), 1499);
}

TEST_F(RunTest, BeyondTheMemoryNothingMoreIsKept) {
  std::string problem;
  for (int64_t step = 0; problem.empty() && step < 100'000; ++step) {
    problem = Add(step, HistoValue("h" + std::to_string(step % 100), kSmall));
  }
  EXPECT_THAT(problem, HasSubstr("take 1 MiB, which is all they may"));
  EXPECT_LE(memory_.used, memory_.most);
  EXPECT_GT(memory_.used, memory_.most - 500);
}

TEST_F(RunTest, MemoryIsGivenBack) {
  {
    dashboard::Run other(&memory_);
    other.Add(SummaryEvent(1, 1, {HistoValue("h", kSmall), SimpleValue("a", 1)}));
    EXPECT_GT(memory_.used, 0u);
  }
  EXPECT_EQ(memory_.used, 0u);
}

TEST_F(RunTest, TagsAreBoundedAndUtf8) {
  EXPECT_THAT(Add(1, SimpleValue("bad \xff", 1)), HasSubstr("no UTF-8"));
  EXPECT_THAT(Add(1, SimpleValue(std::string(kTagBytesMax + 1, 'x'), 1)), HasSubstr("4097 bytes"));
  EXPECT_THAT(run_.series(), IsEmpty());
  std::string problem;
  for (size_t i = 0; i < kTagsMax; ++i) {
    problem = Add(1, SimpleValue("tag" + std::to_string(i), 1));
    ASSERT_EQ(problem, "");
  }
  EXPECT_THAT(Add(1, SimpleValue("one more", 1)), HasSubstr("more than 10000 tags"));
  EXPECT_EQ(Add(2, SimpleValue("tag7", 1)), "");
}

TEST_F(RunTest, RecordsThatAreNoEventsAreTold) {
  EXPECT_THAT(run_.Add("\xff"), HasSubstr("no event"));
  EXPECT_THAT(run_.Add(FakeMessage().Varint(2, 7).Bytes(5, "\xff").str()),
              HasSubstr("step 7 holds no summary"));
  EXPECT_EQ(run_.first_wall(), std::nullopt);
}

TEST_F(RunTest, NamesAndDescriptionsAreKept) {
  Add(1, TensorValue("a", FloatTensor(1),
                     Metadata({.plugin = "scalars", .display_name = "A", .description = "d"})));
  EXPECT_EQ(run_.Find("a")->display_name, "A");
  EXPECT_EQ(run_.Find("a")->description, "d");
  Add(1, FakeMessage().Bytes(1, "b").Float(2, 1).Bytes(9, Metadata({.display_name = "B"})).str());
  EXPECT_EQ(run_.Find("b")->display_name, "B");
  Add(1, TensorValue("c", FloatTensor(1),
                     Metadata({.plugin = "scalars", .content = FakeMessage().Varint(1, 9).str()})));
  EXPECT_FALSE(run_.Find("c")->is_known_version);
}

}  // namespace
}  // namespace taas::dashboard
