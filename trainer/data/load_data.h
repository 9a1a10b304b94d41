// From `spec.trainer.data` to examples in memory.
//
//   {"format": "idx", "train": {"images": PATH, "labels": PATH}, "test": {"images": …, …}}
//   {"format": "generated", "generated": {"examples": 10000, "testExamples": 1000, "features": 20,
//    "classes": 10}}      (classes 0: a linear regression)
//   {"format": "generated", "generated": {"pattern": "waves", "image": [32, 32, 3], …}}
//   {"format": "cifar10", "train": {"files": ["/data/data_batch_*.bin"]}, "test": {"files": […]}}
//   {"format": "cifar100", …, "cifar100": {"labels": "coarse"}}
//   {"format": "tfrecord", …, "classes": 10, "tfrecord": {…}}      (record_spec.h)
//   {"format": "csv", …, "csv": {"header": true, "delimiter": ",", "labelColumn": "species",
//    "columns": ["width", "height"]}}
//   {"format": "raw", "train": {"images": …, "labels": …}, "raw": {"dtype": "uint8",
//    "shape": [32, 32, 3], "labelDtype": "uint8"}}
//   {"format": "text", "train": {"files": […]}, "text": {"context": 256}}
//   {"format": "generated", "generated": {"pattern": "clicks", …}, "columns": […]}
// and of csv, tfrecord and clicks, where the features are texts and numbers of different kinds:
//   "columns": [{"name": "age", "type": "numeric"}, …]      (feature_columns.h)
// and of all that may be images, but not of generated data, tables and texts:
//   "augment": {"crop": {"padding": 4}, "flip": true}
// Of format tfrecord the training set may be larger than memory (stream/streamed_records.h):
//   "streaming": {"shuffleBuffer": 10000, "readers": 2, "prefetch": 2}
//
// Ownership: the caller owns the result, which borrows the FileSystem if it is streamed. Threads:
// any. Errors: InvalidArgument naming the field ("data.train.images: …") for a bad specification;
// for files see the header of each format, each naming the file.
//
//   ASSIGN_OR_RETURN(DataSets data, LoadData(files, config.data, {.seed = config.seed}));
//   Log(LogLevel::kInfo, "data loaded", {{"source", data.source}});

#ifndef TRAINER_DATA_LOAD_DATA_H_
#define TRAINER_DATA_LOAD_DATA_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "operator/base/file_system.h"
#include "trainer/data/augment.h"
#include "trainer/data/columns/feature_columns.h"
#include "trainer/data/dataset.h"
#include "trainer/data/stream/block_source.h"
#include "trainer/data/stream/streaming_options.h"

namespace taas {

struct DataSets {
  Dataset train;  // Of what is streamed the first block.
  std::optional<Dataset> test;
  // Where the data comes from, in words: the text of `source.txt` beside the training files if
  // there is one, else the path of the first, or a description of what was generated; and how many
  // damaged records were passed over.
  std::string source;
  // Of the training set; nothing unless it is of images.
  AugmentOptions augment = {};
  // The training set, if it is not in memory.
  std::unique_ptr<BlockSource> stream = nullptr;
  StreamingOptions streaming = {};
  std::vector<std::string> train_files = {};  // Empty of generated data.
  // Which training data it is (data_identity.h); of generated data what made it.
  std::string identity = {};

  int64_t train_examples() const { return stream ? stream->examples() : train.examples(); }
};

struct LoadOptions {
  uint64_t seed = 0;  // Makes generated data, and nothing else.
  bool ids = false;   // Features that are no columns are whole numbers, to be looked up.
};
// `format` is "idx" unless given.
absl::StatusOr<DataSets> LoadData(FileSystem& files, const nlohmann::json& spec,
                                  const LoadOptions& options = {});

// The feature columns of `spec`, whose files are not looked at; null if it has none.
absl::StatusOr<std::shared_ptr<const FeatureColumns>> ColumnsOf(const nlohmann::json& spec);
// What is between the values of its tables: a comma, unless it says otherwise.
absl::StatusOr<char> DelimiterOf(const nlohmann::json& spec);

}  // namespace taas

#endif  // TRAINER_DATA_LOAD_DATA_H_
