// Blocks made from numbers: the only feature of example i is i, its label i % 10. A test says what
// happens when one is loaded.
//
// Ownership: none. Threads: as BlockSource, if `on_load` allows it. Errors: those of `on_load`.
//
//   FakeBlockSource source({.examples = 1000, .block_examples = 10});
//   source.on_load = [&](int64_t block) { … return absl::OkStatus(); };

#ifndef TRAINER_DATA_STREAM_FAKE_BLOCK_SOURCE_H_
#define TRAINER_DATA_STREAM_FAKE_BLOCK_SOURCE_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/data/dataset.h"
#include "trainer/data/stream/block_source.h"

namespace taas {

class FakeBlockSource : public BlockSource {
 public:
  struct Options {
    int64_t examples = 1;
    int64_t block_examples = 1;
  };
  explicit FakeBlockSource(Options options) : options_(options) {}

  int64_t examples() const override { return options_.examples; }
  int64_t block_examples() const override { return options_.block_examples; }
  absl::StatusOr<Dataset> Load(int64_t block) const override {
    if (const absl::Status status = on_load(block); !status.ok()) return status;
    std::vector<float> values;
    std::vector<int32_t> labels;
    for (int64_t i = 0; i < ExamplesOf(block); ++i) {
      const int64_t example = block * block_examples() + i;
      values.push_back(static_cast<float>(example));
      labels.push_back(static_cast<int32_t>(example % 10));
    }
    return Dataset::FromFloats("fake", std::move(values), 1, std::move(labels), 10);
  }

  std::function<absl::Status(int64_t block)> on_load = [](int64_t) { return absl::OkStatus(); };

 private:
  const Options options_;
};

}  // namespace taas

#endif  // TRAINER_DATA_STREAM_FAKE_BLOCK_SOURCE_H_
