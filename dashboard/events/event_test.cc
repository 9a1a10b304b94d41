#include "dashboard/events/event.h"

#include <string>

#include "dashboard/events/fake_events.h"
#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

TEST(EventTest, KindsOfEventsAreToldApart) {
  const std::string version_message = FileVersionEvent(1.5);
  const auto version = ParseEvent(version_message);
  ASSERT_TRUE(version.has_value());
  EXPECT_EQ(version->what, EventView::What::kFileVersion);
  EXPECT_EQ(version->content, "brain.Event:2");
  EXPECT_EQ(version->wall, 1.5);

  const auto start = ParseEvent(StartEvent(2, -3));
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->what, EventView::What::kSessionStart);
  EXPECT_EQ(start->step, -3);

  const auto stop = ParseEvent(FakeMessage().Bytes(7, FakeMessage().Varint(1, 2).str()).str());
  EXPECT_EQ(stop->what, EventView::What::kOther);

  const auto graph = ParseEvent(FakeMessage().Varint(2, 7).Bytes(4, "graph").str());
  EXPECT_EQ(graph->what, EventView::What::kSummary);
  EXPECT_EQ(graph->content, "");
  EXPECT_EQ(ParseEvent(FakeMessage().Bytes(6, "log").str())->what, EventView::What::kOther);
  EXPECT_EQ(ParseEvent("")->what, EventView::What::kOther);
}

TEST(EventTest, FieldsMayComeInAnyOrder) {
  const std::string message = FakeMessage().Bytes(5, "").Varint(2, 9).Double(1, 3).str();
  const auto event = ParseEvent(message);
  EXPECT_EQ(event->step, 9);
  EXPECT_EQ(event->wall, 3);
  EXPECT_EQ(event->what, EventView::What::kSummary);
}

TEST(EventTest, KindsOfValuesAreToldApart) {
  std::string summary;
  {
    FakeMessage message;
    message.Bytes(1, SimpleValue("a", 0.5f)).Bytes(1, HistoValue("b", {}));
    message.Bytes(1, TensorValue("c", "tensor", "meta"));
    message.Bytes(1, FakeMessage().Bytes(1, "d").Bytes(4, "image").str());
    summary = message.str();
  }
  std::vector<ValueView> values;
  ASSERT_TRUE(ParseValues(summary, &values));
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(values[0].tag, "a");
  EXPECT_EQ(values[0].what, ValueView::What::kSimple);
  EXPECT_EQ(values[0].simple, 0.5f);
  EXPECT_EQ(values[1].what, ValueView::What::kHisto);
  EXPECT_FALSE(values[1].has_metadata);
  EXPECT_EQ(values[2].what, ValueView::What::kTensor);
  EXPECT_EQ(values[2].content, "tensor");
  EXPECT_EQ(values[2].metadata, "meta");
  EXPECT_EQ(values[3].what, ValueView::What::kOther);
  EXPECT_EQ(values[3].tag, "d");
}

TEST(EventTest, MetadataIsRead) {
  const std::string message = Metadata({.plugin = "scalars",
                                        .display_name = "Loss",
                                        .description = "what it is",
                                        .content = FakeMessage().Varint(1, 3).str(),
                                        .data_class = 1});
  const auto metadata = ParseMetadata(message);
  ASSERT_TRUE(metadata.has_value());
  EXPECT_EQ(metadata->plugin, "scalars");
  EXPECT_EQ(metadata->display_name, "Loss");
  EXPECT_EQ(metadata->description, "what it is");
  EXPECT_EQ(metadata->data_class, kScalarDataClass);
  EXPECT_EQ(metadata->plugin_version, 3u);
}

TEST(EventTest, ContentOfOtherPluginsMayBeAnything) {
  const std::string message = Metadata({.plugin = "histograms", .content = "{}"});
  ASSERT_TRUE(ParseMetadata(message).has_value());
  EXPECT_EQ(ParseMetadata(message)->plugin_version, 0u);
}

TEST(EventTest, BytesThatAreNoMessageAreRefused) {
  EXPECT_FALSE(ParseEvent("\x2a\x7fshort").has_value());
  std::vector<ValueView> values;
  EXPECT_FALSE(ParseValues("\x0a\x7f", &values));
  EXPECT_FALSE(ParseValues(FakeMessage().Bytes(1, "\x0a\x7f").str(), &values));
  EXPECT_FALSE(ParseMetadata("\x0a\x7f").has_value());
  EXPECT_FALSE(ParseMetadata(FakeMessage().Bytes(1, "\x0a\x7f").str()).has_value());
}

TEST(EventTest, VersionsAreTheNumberAtTheEnd) {
  EXPECT_EQ(ParseFileVersion("brain.Event:2"), 2);
  EXPECT_EQ(ParseFileVersion("brain.Event:1.5"), 1.5);
  EXPECT_EQ(ParseFileVersion("3"), 3);
  EXPECT_EQ(ParseFileVersion("brain.Event:two"), -1);
  EXPECT_EQ(ParseFileVersion(""), -1);
}

}  // namespace
}  // namespace taas::dashboard
