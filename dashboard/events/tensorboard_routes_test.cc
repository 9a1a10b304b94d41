#include "dashboard/events/tensorboard_routes.h"

#include <cmath>

#include "dashboard/events/fake_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_directory.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;
using Query = std::vector<std::pair<std::string, std::string>>;

class TensorBoardRoutesTest : public ::testing::Test {
 protected:
  void Write(const std::string& run, const std::vector<std::string>& values, int64_t step = 5) {
    fake_.Write(run + "/events.out.tfevents.1",
                FramedRecord(SummaryEvent(1.5, step, values)));
    runs_.Refresh();
  }
  Answer Get(const std::string& path, const Query& query = {}) const {
    return AnswerTensorBoard(runs_, path, query);
  }
  json GetJson(const std::string& path, const Query& query = {}) const {
    const Answer answer = Get(path, query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.content_type, "application/json");
    return json::parse(answer.body);
  }

  FakeDirectory fake_;
  RunSet runs_{fake_.path()};
};

TEST_F(TensorBoardRoutesTest, WithoutRunsAllListsAreEmpty) {
  EXPECT_EQ(Get("/data/runs").body, "[]");
  EXPECT_EQ(Get("/data/plugin/scalars/tags").body, "{}");
  EXPECT_EQ(Get("/data/plugin/histograms/tags").body, "{}");
  EXPECT_EQ(Get("/data/plugin/distributions/tags").body, "{}");
}

TEST_F(TensorBoardRoutesTest, TagsAreListedByRunAndKind) {
  Write("a", {SimpleValue("loss", 1), HistoValue("w", {.limits = {1}, .counts = {1}})});
  Write("b", {SimpleValue("loss", 1)});
  EXPECT_EQ(GetJson("/data/runs"), json::parse(R"(["a", "b"])"));
  EXPECT_EQ(GetJson("/data/plugin/scalars/tags"), json::parse(R"({
    "a": {"loss": {"displayName": "loss", "description": ""}},
    "b": {"loss": {"displayName": "loss", "description": ""}}})"));
  EXPECT_EQ(GetJson("/data/plugin/histograms/tags"), json::parse(R"({
    "a": {"w": {"displayName": "w", "description": ""}}})"));
  EXPECT_EQ(GetJson("/data/plugin/distributions/tags"), GetJson("/data/plugin/histograms/tags"));
}

TEST_F(TensorBoardRoutesTest, TagsOfANewerPluginAreNotListedButRead) {
  const std::string newer =
      Metadata({.plugin = "scalars", .content = FakeMessage().Varint(1, 1).str()});
  Write("a", {TensorValue("loss", FloatTensor(2), newer)});
  EXPECT_EQ(GetJson("/data/plugin/scalars/tags"), json::parse(R"({"a": {}})"));
  EXPECT_EQ(GetJson("/data/plugin/scalars/scalars", {{"run", "a"}, {"tag", "loss"}}),
            json::parse("[[1.5, 5, 2.0]]"));
}

TEST_F(TensorBoardRoutesTest, DescriptionsAreTextInParagraphs) {
  const std::string metadata = Metadata(
      {.plugin = "scalars", .description = "<b>x</b> & y\n\n\nmore\nlines\n\n"});
  Write("a", {TensorValue("loss", FloatTensor(2), metadata)});
  EXPECT_EQ(GetJson("/data/plugin/scalars/tags")["a"]["loss"]["description"],
            "<p>&lt;b&gt;x&lt;/b&gt; &amp; y</p>\n<p>more\nlines</p>");
}

TEST_F(TensorBoardRoutesTest, WhatIsNoNumberIsATextAsInTensorBoard) {
  const float infinity = HUGE_VALF;
  Write("a", {SimpleValue("x", NAN), SimpleValue("x", infinity), SimpleValue("x", -infinity)}, -5);
  const Query query = {{"run", "a"}, {"tag", "x"}};
  EXPECT_EQ(GetJson("/data/plugin/scalars/scalars", query),
            json::parse(R"([[1.5, -5, "NaN"], [1.5, -5, "Infinity"], [1.5, -5, "-Infinity"]])"));
  const Answer csv = Get("/data/plugin/scalars/scalars",
                         {{"run", "a"}, {"tag", "x"}, {"format", "csv"}});
  EXPECT_EQ(csv.content_type, "text/csv; charset=utf-8");
  EXPECT_EQ(csv.body, "Wall time,Step,Value\r\n1.5,-5,nan\r\n1.5,-5,inf\r\n1.5,-5,-inf\r\n");
}

TEST_F(TensorBoardRoutesTest, HistogramsAndDistributions) {
  const std::string metadata = Metadata({.plugin = "histograms"});
  Write("a", {TensorValue("w", RowsTensor({0, 1, 2, 1, 2, 6, 2, 4, 2}), metadata),
              TensorValue("w", RowsTensor({}))});
  const Query query = {{"run", "a"}, {"tag", "w"}};
  EXPECT_EQ(GetJson("/data/plugin/histograms/histograms", query),
            json::parse("[[1.5, 5, [[0, 1, 2], [1, 2, 6], [2, 4, 2]]], [1.5, 5, []]]"));
  EXPECT_EQ(GetJson("/data/plugin/distributions/distributions", query), json::parse(R"([
      [1.5, 5, [[0, 0.0], [668, 0.334], [1587, 0.7935], [3085, 1.1808333333333334], [5000, 1.5],
                [6915, 1.8191666666666668], [8413, 2.413], [9332, 3.332], [10000, 4.0]]],
      [1.5, 5, [[0, 0.0], [668, 0.0], [1587, 0.0], [3085, 0.0], [5000, 0.0], [6915, 0.0],
                [8413, 0.0], [9332, 0.0], [10000, 0.0]]]])"));
}

TEST_F(TensorBoardRoutesTest, ErrorsAreTensorBoards) {
  Write("a", {SimpleValue("loss", 1)});
  const std::string path = "/data/plugin/scalars/scalars";
  EXPECT_EQ(Get(path).status, 400);
  EXPECT_EQ(Get(path, {{"tag", "it's"}}).body,
            "Invalid argument: Both run and tag must be specified: tag=\"it's\", run=None");
  EXPECT_EQ(Get(path, {{"run", "a"}, {"tag", "x"}}).status, 404);
  EXPECT_EQ(Get(path, {{"run", "a"}, {"tag", "x"}}).body,
            "Not found: No scalar data for run='a', tag='x'");
  const Answer histogram =
      Get("/data/plugin/histograms/histograms", {{"run", "a"}, {"tag", "loss"}});
  EXPECT_EQ(histogram.status, 404);
  EXPECT_EQ(histogram.body, "Not found: No histogram tag 'loss' for run 'a'");
  EXPECT_EQ(histogram.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(Get("/data/plugin/histograms/histograms", {{"run", "a"}}).status, 400);
  EXPECT_EQ(Get("/data/plugin/images/tags").body, "Not found");
  EXPECT_EQ(Get("").status, 404);
  EXPECT_EQ(Get("/data/runs/").status, 200);
}

}  // namespace
}  // namespace taas::dashboard
