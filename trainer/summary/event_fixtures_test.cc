// Event files that real TensorFlow wrote, read event by event. TAAS_FIXTURES names the directory
// with tf2.21/manifest.json, which says what they hold; without it they are skipped.

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/formats/tensorflow.pb.h"
#include "trainer/summary/event_file.h"

namespace taas {
namespace {

using nlohmann::json;
using Numbers = std::vector<double>;

class EventFixturesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* dir = std::getenv("TAAS_FIXTURES");
    if (dir == nullptr) GTEST_SKIP() << "needs: TAAS_FIXTURES";
    root_ = std::string(dir) + "/tf2.21/";
    manifest_ = json::parse(*files_.ReadAll(root_ + "manifest.json"))["events"];
  }

  PosixFileSystem files_;
  std::string root_;
  json manifest_;
};

// The elements, of those types that summaries have.
template <typename Element>
std::vector<Element> Elements(std::string_view bytes) {
  std::vector<Element> elements(bytes.size() / sizeof(Element));
  std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(Element));
  return elements;
}

void ExpectTensor(const std::string& bytes, const json& want) {
  tf::TensorProto tensor;
  ASSERT_TRUE(tensor.ParseFromString(bytes));
  EXPECT_EQ(static_cast<int>(tensor.dtype()), want["dtype_enum"].get<int>());
  std::vector<int64_t> shape;
  for (const auto& dim : tensor.tensor_shape().dim()) shape.push_back(dim.size());
  EXPECT_EQ(shape, want["shape"].get<std::vector<int64_t>>());
  const std::string& content = tensor.tensor_content();
  if (tensor.dtype() == tf::DT_STRING) {
    EXPECT_EQ(std::vector<std::string>(tensor.string_val().begin(), tensor.string_val().end()),
              want["values"].get<std::vector<std::string>>());
  } else if (tensor.dtype() == tf::DT_FLOAT) {
    std::vector<float> values = Elements<float>(content);
    values.insert(values.end(), tensor.float_val().begin(), tensor.float_val().end());
    EXPECT_EQ(values, want["values"].get<std::vector<float>>());
  } else {
    ASSERT_EQ(tensor.dtype(), tf::DT_DOUBLE);
    std::vector<double> values = Elements<double>(content);
    values.insert(values.end(), tensor.double_val().begin(), tensor.double_val().end());
    EXPECT_EQ(values, want["values"].get<Numbers>());
  }
}

void ExpectValue(const summary::Summary::Value& got, const json& want) {
  EXPECT_EQ(got.tag(), want["tag"]);
  EXPECT_EQ(got.metadata().plugin_data().plugin_name(), want["plugin"]);
  const std::string kind = want["kind"];
  if (kind == "simple_value") {
    EXPECT_EQ(got.simple_value(), want["value"].get<float>());
  } else if (kind == "histo") {
    const summary::HistogramProto& histo = got.histo();
    EXPECT_EQ((Numbers{histo.min(), histo.max(), histo.num(), histo.sum(), histo.sum_squares()}),
              (Numbers{want["min"], want["max"], want["num"], want["sum"], want["sum_squares"]}));
    EXPECT_EQ(Numbers(histo.bucket_limit().begin(), histo.bucket_limit().end()),
              want["bucket_limit"].get<Numbers>());
    EXPECT_EQ(Numbers(histo.bucket().begin(), histo.bucket().end()),
              want["bucket"].get<Numbers>());
  } else {
    EXPECT_EQ(kind, "tensor");
    ASSERT_EQ(got.value_case(), summary::Summary::Value::kTensor);
    ExpectTensor(got.tensor(), want);
  }
}

void ExpectEvent(const summary::Event& got, const json& want) {
  EXPECT_EQ(got.step(), want["step"].get<int64_t>());
  const std::string kind = want["kind"];
  if (kind == "file_version") {
    EXPECT_EQ(got.file_version(), want["file_version"]);
  } else if (kind == "session_log") {
    EXPECT_EQ(got.session_log().status(), want["status"].get<int>());
  } else if (kind == "graph_def") {
    tf::GraphDef graph;
    ASSERT_TRUE(graph.ParseFromString(got.graph_def()));
    std::vector<std::vector<std::string>> nodes;
    for (const auto& node : graph.node()) nodes.push_back({node.name(), node.op(), node.device()});
    EXPECT_EQ(nodes, want["nodes"].get<std::vector<std::vector<std::string>>>());
  } else if (kind == "summary") {
    ASSERT_EQ(got.summary().value_size(), static_cast<int>(want["values"].size()));
    for (int i = 0; i < got.summary().value_size(); ++i) {
      ExpectValue(got.summary().value(i), want["values"][static_cast<size_t>(i)]);
    }
  } else {
    // Which is passed over: it repeats the graph.
    EXPECT_EQ(kind, "meta_graph_def");
    EXPECT_EQ(got.what_case(), summary::Event::WHAT_NOT_SET);
  }
}

TEST_F(EventFixturesTest, EveryEventIsReadAsTensorFlowWroteIt) {
  EXPECT_EQ(manifest_.size(), 2u);
  for (const auto& [name, want] : manifest_.items()) {
    SCOPED_TRACE(name);
    std::vector<summary::Event> events;
    ASSERT_THAT(ReadEventFile(files_, root_ + name, /*size_max=*/1 << 20,
                              [&](const summary::Event& event) { events.push_back(event); }),
                IsOk());
    ASSERT_EQ(events.size(), want.size());
    for (size_t i = 0; i < events.size(); ++i) {
      SCOPED_TRACE(i);
      ExpectEvent(events[i], want[i]);
    }
  }
}

}  // namespace
}  // namespace taas
