#include "trainer/data/stream/train_input.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/data/augment.h"
#include "trainer/data/example.h"
#include "trainer/data/record_file.h"

namespace taas {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Code = absl::StatusCode;

constexpr int64_t kExamples = 500;
constexpr int64_t kBatch = 16;

// Says which threads open files.
class WatchedFiles : public PosixFileSystem {
 public:
  absl::StatusOr<std::unique_ptr<RandomReadFile>> OpenRead(const std::string& path) override {
    {
      std::lock_guard lock(mutex_);
      ++opened_[std::this_thread::get_id()];
      changed_.notify_all();
    }
    return PosixFileSystem::OpenRead(path);
  }
  int64_t OpenedByThisThread() {
    std::lock_guard lock(mutex_);
    return opened_[std::this_thread::get_id()];
  }
  void AwaitOthers(int64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      int64_t others = 0;
      for (const auto& [id, opened] : opened_) {
        if (id != std::this_thread::get_id()) others += opened;
      }
      return others >= count;
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::thread::id, int64_t> opened_;
};

class TrainInputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "/" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    auto writer = RecordWriter::Open(files_, path_);
    ASSERT_THAT(writer, IsOk());
    for (int64_t i = 0; i < kExamples; ++i) {
      ExampleBuilder builder;
      const char pixels[] = {static_cast<char>(i % 256), static_cast<char>(i / 256)};
      builder.AddBytes("pixels", {pixels, 2});
      const int64_t label = i % 10;
      builder.AddInts("label", {&label, 1});
      ASSERT_THAT((*writer)->Append(builder.Take()), IsOk());
    }
    ASSERT_THAT((*writer)->Close(), IsOk());
  }
  json Spec(const json& streaming) const {
    json spec = json::parse(R"({"format": "tfrecord", "classes": 10, "tfrecord": {
        "label": "label", "features": [
          {"name": "pixels", "dtype": "bytes", "decode": "raw", "shape": [1, 2, 1],
           "normalise": {"scale": 1}},
          {"name": "label", "dtype": "int64"}]}})");
    spec["train"] = spec["test"] = {{"files", {path_}}};
    if (!streaming.is_null()) spec["streaming"] = streaming;
    return spec;
  }
  DataSets Load(const json& streaming) {
    auto data = LoadData(files_, Spec(streaming));
    EXPECT_THAT(data, IsOk());
    return *std::move(data);
  }
  // The numbers of the examples of a batch, and that their labels are theirs.
  static std::vector<int64_t> Examples(TrainInput& input, int64_t batch) {
    std::vector<uint8_t> pixels(2 * kBatch);
    std::vector<int32_t> labels(kBatch);
    EXPECT_THAT(input.Fill(batch, {.pixels = pixels, .labels = labels}), IsOk());
    std::vector<int64_t> examples;
    for (size_t i = 0; i < kBatch; ++i) {
      examples.push_back(pixels[2 * i] + 256 * pixels[2 * i + 1]);
      EXPECT_EQ(labels[i], examples.back() % 10);
    }
    return examples;
  }

  WatchedFiles files_;
  std::string path_;
};

const json kStreaming = {{"shuffleBuffer", 128}, {"readers", 2}, {"prefetch", 2}};

// Data in memory, and of a stream: in memory that is lent lies what Fill copies.
TEST_F(TrainInputTest, WhatIsLentIsWhatIsFilled) {
  for (const json& streaming : {json(), json({{"shuffleBuffer", 100}})}) {
    const DataSets data = Load(streaming);
    TrainInput filled(data, {.seed = 7, .batch_size = kBatch});
    const auto ahead = static_cast<size_t>(TrainInput::AheadOf(data));
    ASSERT_GT(ahead, 0u);
    const size_t count = ahead + TrainInput::kLentMax;
    std::vector<uint8_t> pixels(count * 2 * kBatch);
    std::vector<int32_t> labels(count * kBatch);
    TrainInput::Options options{.seed = 7, .batch_size = kBatch};
    EXPECT_EQ(TrainInput::SizesOf(data, kBatch).pixels, size_t{2 * kBatch});
    for (size_t i = 0; i < count; ++i) {
      options.memory.push_back(
          {.pixels = std::span(pixels).subspan(i * 2 * kBatch, 2 * kBatch),
           .labels = std::span(labels).subspan(i * kBatch, kBatch)});
    }
    EXPECT_FALSE(filled.lends());
    TrainInput input(data, options);
    ASSERT_TRUE(input.lends());
    std::vector<BatchPrefetch::Lent> lent;
    for (const int64_t batch : {0, 1, 2, 3, 40, 41, 42, 5}) {
      if (lent.size() == TrainInput::kLentMax) {
        input.GiveBack(lent.front());
        lent.erase(lent.begin());
      }
      const auto next = input.Lend(batch);
      ASSERT_THAT(next, IsOk());
      lent.push_back(*next);
      std::vector<int64_t> examples;
      for (size_t i = 0; i < kBatch; ++i) {
        examples.push_back(next->rows.pixels[2 * i] + 256 * next->rows.pixels[2 * i + 1]);
        EXPECT_EQ(next->rows.labels[i], examples.back() % 10);
      }
      EXPECT_EQ(examples, Examples(filled, batch)) << "batch " << batch;
    }
  }
}

TEST_F(TrainInputTest, StreamedAndPrefetchedBatchesAreThoseOfThePlan) {
  const DataSets data = Load(kStreaming);
  ASSERT_NE(data.stream, nullptr);
  EXPECT_EQ(data.train_examples(), kExamples);
  ASSERT_TRUE(data.test.has_value());
  EXPECT_EQ(data.test->examples(), kExamples);
  TrainInput input(data, {.seed = 3, .batch_size = kBatch});
  const BatchPlan plan({.seed = 3,
                        .examples = kExamples,
                        .batch_size = kBatch,
                        .blocks = {.examples = 2, .per_window = 64}});
  for (int64_t batch = 0; batch < 100; ++batch) {
    std::vector<int64_t> want(kBatch);
    plan.Indices(batch, want);
    EXPECT_EQ(Examples(input, batch), want) << batch;
  }
}

TEST_F(TrainInputTest, ThreadsMakeNoDifference) {
  const DataSets data = Load(kStreaming);
  const DataSets alone = Load({{"shuffleBuffer", 128}, {"readers", 1}, {"prefetch", 0}});
  TrainInput input(data, {.seed = 3, .batch_size = kBatch});
  TrainInput alone_input(alone, {.seed = 3, .batch_size = kBatch});
  for (const int64_t batch : {0, 1, 2, 70, 3, 71, 31, 32, 33}) {
    EXPECT_EQ(Examples(input, batch), Examples(alone_input, batch)) << batch;
  }
}

// Of a stream and of memory, and made ahead.
TEST_F(TrainInputTest, PixelsComeWithTheSeedsOfTheirAugmentation) {
  for (const json& streaming : {json(), kStreaming}) {
    json spec = Spec(streaming);
    spec["augment"] = {{"flip", true}};
    const auto data = LoadData(files_, spec);
    ASSERT_THAT(data, IsOk());
    TrainInput input(*data, {.seed = 3, .batch_size = kBatch});
    for (int64_t batch = 0; batch < 60; ++batch) {
      std::vector<uint8_t> pixels(2 * kBatch);
      std::vector<int32_t> labels(kBatch);
      std::vector<int64_t> seeds(kBatch), want(kBatch);
      ASSERT_THAT(input.Fill(batch, {.pixels = pixels, .seeds = seeds, .labels = labels}), IsOk());
      for (size_t i = 0; i < kBatch; ++i) {
        const int64_t position = batch * kBatch + static_cast<int64_t>(i);
        want[i] = static_cast<int64_t>(
            AugmentSeed({.job = 3, .epoch = input.plan().EpochAt(position),
                         .example = pixels[2 * i] + 256 * pixels[2 * i + 1]}));
      }
      EXPECT_EQ(seeds, want) << batch;
    }
  }
}

// The training thread itself reads a file only where nobody was faster.
TEST_F(TrainInputTest, FilesAreReadBesideTheTraining) {
  const DataSets data = Load(kStreaming);
  TrainInput input(data, {.seed = 3, .batch_size = kBatch});
  Examples(input, 0);
  files_.AwaitOthers(80);  // More blocks than the first window has.
  const int64_t before = files_.OpenedByThisThread();
  for (int64_t batch = 1; batch < 7; ++batch) Examples(input, batch);
  EXPECT_EQ(files_.OpenedByThisThread(), before);
}

// What makes features of an example is needed as long as blocks are read.
TEST_F(TrainInputTest, FeatureColumnsAreMadeOfWhatIsStreamed) {
  constexpr int64_t kLateHours = int64_t{1} << 24;
  const std::string path = path_ + ".hours";
  auto writer = RecordWriter::Open(files_, path);
  ASSERT_THAT(writer, IsOk());
  for (int64_t i = 0; i < kExamples; ++i) {
    ExampleBuilder builder;
    // As floats, two of these are often one.
    const int64_t hour = kLateHours + i % 24, label = hour % 10;
    builder.AddInts("hour", {&hour, 1});
    builder.AddInts("label", {&label, 1});
    ASSERT_THAT((*writer)->Append(builder.Take()), IsOk());
  }
  ASSERT_THAT((*writer)->Close(), IsOk());
  const auto data = LoadData(files_, json::parse(R"({"format": "tfrecord", "classes": 10,
      "streaming": {"shuffleBuffer": 128}, "train": {"files": [")" + path + R"("]},
      "columns": [{"name": "time", "type": "identity", "source": "hour",
                   "buckets": 16777300}],
      "tfrecord": {"label": "label", "features": [
        {"name": "hour", "dtype": "int64"}, {"name": "label", "dtype": "int64"}]}})"));
  ASSERT_THAT(data, IsOk());
  TrainInput input(*data, {.seed = 3, .batch_size = kBatch});
  std::vector<int64_t> ids(kBatch);
  std::vector<int32_t> labels(kBatch);
  for (int64_t batch = 0; batch < 20; ++batch) {
    ASSERT_THAT(input.Fill(batch, {.ids = ids, .labels = labels}), IsOk());
    for (size_t i = 0; i < kBatch; ++i) {
      EXPECT_GE(ids[i], kLateHours);
      EXPECT_EQ(ids[i] % 10, labels[i]);
    }
  }
}

TEST_F(TrainInputTest, DataOfOneWindowIsShuffledAsAWhole) {
  const DataSets data = Load({{"shuffleBuffer", 10'000}});
  TrainInput input(data, {.seed = 3, .batch_size = kBatch});
  std::vector<int64_t> first = Examples(input, 0);
  std::ranges::sort(first);
  EXPECT_GT(first.back() - first.front(), kExamples / 2);
}

TEST_F(TrainInputTest, ADamagedRecordEndsTheBatchThatNeedsIt) {
  std::string text = *files_.ReadAll(path_);
  const size_t record = text.size() / kExamples;
  text[77 * record + 20] = static_cast<char>(text[77 * record + 20] ^ 1);
  ASSERT_THAT(files_.WriteAtomically(path_, text), IsOk());
  json spec = Spec(kStreaming);
  spec.erase("test");
  const auto data = LoadData(files_, spec);
  ASSERT_THAT(data, IsOk());
  TrainInput input(*data, {.seed = 3, .batch_size = kBatch});
  std::vector<uint8_t> pixels(2 * kBatch);
  std::vector<int32_t> labels(kBatch);
  std::vector<int64_t> failed;
  for (int64_t batch = 0; (batch + 1) * kBatch <= kExamples; ++batch) {
    const absl::Status status = input.Fill(batch, {.pixels = pixels, .labels = labels});
    if (status.ok()) continue;
    failed.push_back(batch);
    EXPECT_THAT(status, StatusIs(Code::kDataLoss,
                                 AllOf(HasSubstr(path_ + ": record 77 at offset"),
                                       HasSubstr("checksum of its data"))));
  }
  EXPECT_THAT(failed, Not(::testing::IsEmpty()));
  // Its block has two examples.
  EXPECT_LE(failed.size(), 2u);
}

TEST_F(TrainInputTest, WhatCannotBeStreamedSaysWhy) {
  struct Case {
    const char* name;
    const char* patch;
    const char* want;
  };
  const Case cases[] = {
      {"unknown", R"({"streaming": {"buffer": 1}})", "data.streaming"},
      {"buffer", R"({"streaming": {"shuffleBuffer": 0}})", "data.streaming.shuffleBuffer"},
      {"readers", R"({"streaming": {"readers": 0}})", "data.streaming.readers"},
      {"prefetch", R"({"streaming": {"prefetch": -1}})", "data.streaming.prefetch"},
      {"gzip", R"({"streaming": {}, "tfrecord": {"compression": "gzip"}})",
       "data.tfrecord.compression"},
      {"classes", R"({"streaming": {}, "classes": null})", "data.classes"},
      {"csv", R"({"streaming": {}, "format": "csv"})", "data.streaming: is of format tfrecord"},
  };
  for (const Case& c : cases) {
    json spec = Spec(nullptr);
    spec.merge_patch(json::parse(c.patch));
    EXPECT_THAT(LoadData(files_, spec), StatusIs(Code::kInvalidArgument, HasSubstr(c.want)))
        << c.name;
  }
}

// Twice 100 million examples of 1,004 bytes.
TEST_F(TrainInputTest, ABufferBeyondMemoryIsRefused) {
  const std::string big = path_ + ".big";
  auto writer = RecordWriter::Open(files_, big);
  ASSERT_THAT(writer, IsOk());
  ExampleBuilder builder;
  builder.AddBytes("pixels", std::string(1000, 'x'));
  const int64_t label = 1;
  builder.AddInts("label", {&label, 1});
  ASSERT_THAT((*writer)->Append(builder.Take()), IsOk());
  ASSERT_THAT((*writer)->Close(), IsOk());
  json spec = Spec({{"shuffleBuffer", 100'000'000}});
  spec["tfrecord"]["features"][0]["shape"] = {1000};
  spec["train"]["files"] = {big};
  EXPECT_THAT(LoadData(files_, spec),
              StatusIs(Code::kResourceExhausted,
                       AllOf(HasSubstr("data.streaming.shuffleBuffer"), HasSubstr("16 GiB"))));
}

}  // namespace
}  // namespace taas
