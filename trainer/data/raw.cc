#include "trainer/data/raw.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/data/foreign_file.h"
#include "trainer/data/whole_file.h"
#include "trainer/formats/file_kind.h"

namespace taas {
namespace {

int64_t BytesOf(RawNumber type) {
  switch (type) {
    case RawNumber::kUint8: return 1;
    case RawNumber::kInt32: return 4;
    case RawNumber::kInt64: return 8;
    case RawNumber::kFloat32: return 4;
  }
  return 1;
}

// Examples of `each` bytes; an error if the file does not end after one.
absl::StatusOr<int64_t> CountOf(const std::vector<uint8_t>& bytes, int64_t each,
                                const std::string& path) {
  const int64_t rest = std::ssize(bytes) % each;
  if (rest == 0) return std::ssize(bytes) / each;
  return absl::DataLossError("read " + path + ": example " +
                             std::to_string(std::ssize(bytes) / each) + " is truncated: it has " +
                             std::to_string(rest) + " of " + std::to_string(each) + " bytes");
}

template <typename T>
double As(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<double>(value);
}

double NumberAt(RawNumber type, const uint8_t* bytes) {
  switch (type) {
    case RawNumber::kUint8: return *bytes;
    case RawNumber::kInt32: return As<int32_t>(bytes);
    case RawNumber::kInt64: return As<int64_t>(bytes);
    case RawNumber::kFloat32: return As<float>(bytes);
  }
  return 0;
}

}  // namespace

ImageShape ImageOfShape(const std::vector<int64_t>& shape) {
  if (shape.size() != 2 && shape.size() != 3) return {};
  return {shape[0], shape[1], shape.size() == 3 ? shape[2] : 1};
}

namespace {

absl::StatusOr<Dataset> ReadPair(FileSystem& files, const std::string& features,
                                 const std::string& labels, const RawOptions& options) {
  CHECK(options.type == RawNumber::kUint8 || options.type == RawNumber::kFloat32)
      << "features are bytes or floats";
  int64_t width = 1;
  for (const int64_t size : options.shape) width *= size;
  ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, ReadWholeFile(files, features));
  ASSIGN_OR_RETURN(const int64_t examples, CountOf(bytes, width * BytesOf(options.type), features));
  ASSIGN_OR_RETURN(const std::vector<uint8_t> answers, ReadWholeFile(files, labels));
  const int64_t answer_bytes = BytesOf(options.label_type);
  ASSIGN_OR_RETURN(const int64_t answer_count, CountOf(answers, answer_bytes, labels));
  if (examples != answer_count) {
    return absl::InvalidArgumentError("read " + features + ": it has " + std::to_string(examples) +
                                      " examples, but " + labels + " has " +
                                      std::to_string(answer_count) + " labels");
  }
  Rows rows;
  for (int64_t i = 0; i < examples; ++i) {
    RETURN_IF_ERROR(
        rows.AddLabel(NumberAt(options.label_type, answers.data() + i * answer_bytes),
                      options.classes))
        .With("read " + labels + ": example " + std::to_string(i));
  }
  if (options.type == RawNumber::kUint8) {
    rows.pixels = std::move(bytes);
  } else {
    rows.values.resize(bytes.size() / sizeof(float));
    if (!bytes.empty()) std::memcpy(rows.values.data(), bytes.data(), bytes.size());
    RETURN_IF_ERROR(CheckFiniteRows(rows.values, width)).With("read " + features);
  }
  ASSIGN_OR_RETURN(Dataset set,
                   std::move(rows).Make("read " + features, {width}, options.classes));
  set.set_image(ImageOfShape(options.shape));
  return set;
}

}  // namespace

absl::StatusOr<Dataset> ReadRaw(FileSystem& files, const std::string& features,
                                const std::string& labels, const RawOptions& options) {
  auto set = ReadPair(files, features, labels, options);
  if (set.ok()) return set;
  // Either of the two may be what the error comes from; numbers may begin as anything.
  const absl::Status status = NameForeign(files, features, FileKind::kUnknown, set.status());
  return status == set.status() ? NameForeign(files, labels, FileKind::kUnknown, status) : status;
}

}  // namespace taas
