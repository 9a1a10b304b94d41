#include "trainer/data/idx.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "operator/base/status.h"
#include "trainer/data/foreign_file.h"
#include "trainer/data/gzip.h"
#include "trainer/data/rows.h"
#include "trainer/formats/file_kind.h"
#include "trainer/formats/take_memory.h"

namespace taas {
namespace {

// Deflate packs at most 1,032 times: a header that promises more than that lies.
constexpr uint64_t kDeflateRatioMax = 1032;

int64_t ElementBytesOf(IdxType type) {
  switch (type) {
    case IdxType::kUint8:
    case IdxType::kInt8:
      return 1;
    case IdxType::kInt16:
      return 2;
    case IdxType::kInt32:
    case IdxType::kFloat32:
      return 4;
    case IdxType::kFloat64:
      return 8;
  }
  return 0;
}

// Of images and their labels.
struct IdxPaths {
  const std::string& images;
  const std::string& labels;
};

bool IsFloat(IdxType type) { return type == IdxType::kFloat32 || type == IdxType::kFloat64; }

uint32_t BigEndian32(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

template <typename T, typename Out>
void AppendNumbers(const std::vector<uint8_t>& bytes, std::vector<Out>* out) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    out->push_back(static_cast<Out>(value));
  }
}

absl::Status NotIdx(const std::string& path, const std::string& why) {
  return absl::DataLossError("read " + path + ": not an IDX file: " + why);
}

// Type and shape; reads the header only.
absl::StatusOr<IdxArray> ReadHeader(GzipReader& reader, const std::string& path) {
  uint8_t magic[4] = {};
  ASSIGN_OR_RETURN(const size_t got, reader.Read(magic));
  if (got < sizeof(magic)) return NotIdx(path, "it has only " + std::to_string(got) + " bytes");
  IdxArray array;
  array.type = static_cast<IdxType>(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || ElementBytesOf(array.type) == 0 || magic[3] == 0) {
    char hex[16];
    std::snprintf(hex, sizeof(hex), "%02x%02x%02x%02x", magic[0], magic[1], magic[2], magic[3]);
    return NotIdx(path, std::string("wrong magic number 0x") + hex);
  }
  int64_t total = ElementBytesOf(array.type);
  for (int i = 0; i < magic[3]; ++i) {
    uint8_t size[4] = {};
    ASSIGN_OR_RETURN(const size_t bytes, reader.Read(size));
    if (bytes < sizeof(size)) return NotIdx(path, "the header is truncated");
    array.shape.push_back(BigEndian32(size));
    if (__builtin_mul_overflow(total, array.shape.back(), &total)) total = kIdxBytesMax + 1;
  }
  if (total > kIdxBytesMax) {
    return absl::ResourceExhaustedError("read " + path + ": the header promises more than " +
                                        std::to_string(kIdxBytesMax >> 30) + " GiB");
  }
  return array;
}

void SwapToNative(IdxArray* array) {
  const int64_t element = ElementBytesOf(array->type);
  for (size_t i = 0; i < array->bytes.size(); i += static_cast<size_t>(element)) {
    std::reverse(array->bytes.data() + i, array->bytes.data() + i + element);
  }
}

std::vector<int32_t> Int32s(const IdxArray& array) {
  std::vector<int32_t> numbers(static_cast<size_t>(array.count()));
  if (!numbers.empty()) std::memcpy(numbers.data(), array.bytes.data(), array.bytes.size());
  return numbers;
}

absl::StatusOr<std::vector<int32_t>> ClassLabels(const IdxArray& array, const std::string& path) {
  std::vector<int32_t> labels;
  if (array.type == IdxType::kInt32) {
    // As floats those above 2^24 would be rounded, the largest to a number that is no int32.
    labels = Int32s(array);
  } else {
    labels.resize(static_cast<size_t>(array.count()));
    std::ranges::transform(array.Numbers<float>(), labels.begin(),
                           [](float value) { return static_cast<int32_t>(value); });
  }
  const auto negative = std::ranges::find_if(labels, [](int32_t label) { return label < 0; });
  if (negative == labels.end()) return labels;
  return absl::InvalidArgumentError("read " + path + ": label " + std::to_string(*negative) +
                                    " of example " + std::to_string(negative - labels.begin()) +
                                    " is out of range: it is negative");
}

// Of rows of `width`.
absl::StatusOr<std::vector<float>> FiniteFloats(const IdxArray& array, int64_t width,
                                                const std::string& path) {
  std::vector<float> values = array.Numbers<float>();
  RETURN_IF_ERROR(CheckFiniteRows(values, width)).With("read " + path);
  return values;
}

// The first dimension counts examples; a fourth is that of the channels.
ImageShape ImageOf(const std::vector<int64_t>& shape) {
  if (shape.size() != 3 && shape.size() != 4) return {};
  return {shape[1], shape[2], shape.size() == 4 ? shape[3] : 1};
}

absl::StatusOr<Dataset> WithLabels(IdxArray pixels, const IdxArray& answers, int64_t features,
                                   const IdxPaths& paths, LabelledIdxOptions options) {
  int32_t class_count = options.classes;
  const std::string& labels = paths.labels;
  if (answers.shape.size() != 1) {
    return absl::InvalidArgumentError("read " + labels + ": labels have " +
                                      std::to_string(answers.shape.size()) +
                                      " dimensions, want one");
  }
  ASSIGN_OR_RETURN(std::vector<int32_t> classes, ClassLabels(answers, labels));
  if (class_count == 0) {
    ASSIGN_OR_RETURN(class_count, CountClasses(classes, "read " + labels));
  }
  if (pixels.type == IdxType::kUint8) {
    return Dataset::FromPixels("read " + labels, std::move(pixels.bytes), features,
                               std::move(classes), class_count);
  }
  if (pixels.type == IdxType::kInt32 && options.ids) {
    const std::vector<int32_t> ids = Int32s(pixels);
    return Dataset::FromFloats("read " + labels, {}, 0, std::move(classes), class_count,
                               {{ids.begin(), ids.end()}, features});
  }
  ASSIGN_OR_RETURN(std::vector<float> values, FiniteFloats(pixels, features, paths.images));
  return Dataset::FromFloats("read " + labels, std::move(values), features, std::move(classes),
                             class_count);
}

absl::StatusOr<Dataset> WithTargets(const IdxArray& pixels, const IdxArray& answers,
                                    int64_t features, const IdxPaths& paths, bool as_ids) {
  const int64_t width = answers.count() / pixels.shape[0];
  ASSIGN_OR_RETURN(std::vector<float> values, FiniteFloats(pixels, features, paths.images));
  ASSIGN_OR_RETURN(std::vector<float> targets, FiniteFloats(answers, width, paths.labels));
  if (as_ids && !IsFloat(pixels.type)) {
    const std::vector<double> ids = pixels.Numbers<double>();  // Which has all of 32 bits.
    return Dataset::ForRegression("read " + paths.labels, {}, 0, std::move(targets), width,
                                  {{ids.begin(), ids.end()}, features});
  }
  // As Dataset does with the pixels of a classification.
  if (pixels.type == IdxType::kUint8) {
    for (float& value : values) value /= 255.0f;
  }
  return Dataset::ForRegression("read " + paths.labels, std::move(values), features,
                                std::move(targets), width);
}

}  // namespace

int64_t IdxArray::count() const {
  return static_cast<int64_t>(bytes.size()) / ElementBytesOf(type);
}

template <typename T>
std::vector<T> IdxArray::Numbers() const {
  std::vector<T> out;
  out.reserve(static_cast<size_t>(count()));
  switch (type) {
    case IdxType::kUint8: AppendNumbers<uint8_t>(bytes, &out); break;
    case IdxType::kInt8: AppendNumbers<int8_t>(bytes, &out); break;
    case IdxType::kInt16: AppendNumbers<int16_t>(bytes, &out); break;
    case IdxType::kInt32: AppendNumbers<int32_t>(bytes, &out); break;
    case IdxType::kFloat32: AppendNumbers<float>(bytes, &out); break;
    case IdxType::kFloat64: AppendNumbers<double>(bytes, &out); break;
  }
  return out;
}
template std::vector<float> IdxArray::Numbers<float>() const;
template std::vector<double> IdxArray::Numbers<double>() const;

namespace {

absl::StatusOr<IdxArray> ReadArray(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(auto reader, GzipReader::Open(files, path));
  ASSIGN_OR_RETURN(IdxArray array, ReadHeader(*reader, path));
  uint64_t total = static_cast<uint64_t>(ElementBytesOf(array.type));
  for (const int64_t size : array.shape) total *= static_cast<uint64_t>(size);
  if (total > reader->file_size() * kDeflateRatioMax) {
    return absl::DataLossError("read " + path + ": truncated: a file of " +
                               std::to_string(reader->file_size()) +
                               " bytes cannot hold the " + std::to_string(total) +
                               " bytes that its header promises");
  }
  if (!TakeMemory(total, &array.bytes)) return NoMemory("read " + path, total);
  ASSIGN_OR_RETURN(const size_t got, reader->Read(array.bytes));
  if (got < total) {
    return absl::DataLossError("read " + path + ": truncated: it has " + std::to_string(got) +
                               " of the " + std::to_string(total) +
                               " bytes that its header promises");
  }
  uint8_t extra = 0;
  // At the end this also checks the checksum of the gzip file.
  ASSIGN_OR_RETURN(const size_t more, reader->Read({&extra, 1}));
  if (more > 0) return NotIdx(path, "it has more bytes than its header says");
  SwapToNative(&array);
  return array;
}

}  // namespace

absl::StatusOr<IdxArray> ReadIdx(FileSystem& files, const std::string& path) {
  auto array = ReadArray(files, path);
  if (!array.ok()) return NameForeign(files, path, FileKind::kIdx, array.status());
  return array;
}

std::string EncodeIdx(std::span<const int64_t> shape, std::string_view bytes) {
  std::string out{0, 0, static_cast<char>(IdxType::kUint8), static_cast<char>(shape.size())};
  for (const int64_t size : shape) {
    for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<char>(size >> shift));
  }
  return out.append(bytes);
}

absl::StatusOr<Dataset> ReadLabelledIdx(FileSystem& files, const std::string& images,
                                        const std::string& labels, LabelledIdxOptions options) {
  ASSIGN_OR_RETURN(IdxArray pixels, ReadIdx(files, images));
  ASSIGN_OR_RETURN(const IdxArray answers, ReadIdx(files, labels));
  const int64_t examples = pixels.shape[0];
  if (examples != answers.shape[0]) {
    return absl::InvalidArgumentError("read " + images + ": it has " + std::to_string(examples) +
                                      " images, but " + labels + " has " +
                                      std::to_string(answers.shape[0]) + " labels");
  }
  if (examples == 0) return absl::InvalidArgumentError("read " + images + ": it has no images");
  const int64_t features = pixels.count() / examples;
  if (features == 0) return absl::InvalidArgumentError("read " + images + ": images are empty");
  const ImageShape image = ImageOf(pixels.shape);
  auto set = IsFloat(answers.type)
                 ? WithTargets(pixels, answers, features, {images, labels}, options.ids)
                 : WithLabels(std::move(pixels), answers, features, {images, labels},
                              options);
  if (set.ok()) set->set_image(image);
  return set;
}

}  // namespace taas
