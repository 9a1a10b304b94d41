#include "trainer/data/convert.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/data/example.h"
#include "trainer/data/example_parser.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"
#include "trainer/data/record_file.h"
#include "trainer/data/rows.h"

namespace taas {
namespace {

// Of a label of an IDX file of bytes.
constexpr int64_t kLabelMax = 255;

absl::StatusOr<IdxArray> ReadBytes(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(IdxArray array, ReadIdx(files, path));
  if (array.type == IdxType::kUint8) return array;
  return absl::InvalidArgumentError("read " + path + ": only IDX files of uint8 are converted");
}

absl::Status CheckPair(const IdxArray& images, const IdxArray& labels, const IdxFiles& source) {
  if (images.shape.size() != 3 && images.shape.size() != 4) {
    return absl::InvalidArgumentError("read " + source.images + ": it has " +
                                      std::to_string(images.shape.size()) +
                                      " dimensions, want 3 or 4");
  }
  if (labels.shape.size() != 1 || labels.shape[0] != images.shape[0]) {
    return absl::InvalidArgumentError("read " + source.labels + ": want " +
                                      std::to_string(images.shape[0]) +
                                      " labels in one dimension, it has " +
                                      std::to_string(labels.count()) + " in " +
                                      std::to_string(labels.shape.size()));
  }
  return absl::OkStatus();
}

void AddInt(std::string_view name, int64_t value, ExampleBuilder* builder) {
  builder->AddInts(name, {&value, 1});
}

void AddImage(const ImageShape& image, std::span<const uint8_t> pixels, ExampleBuilder* builder) {
  AddInt("height", image.height, builder);
  AddInt("width", image.width, builder);
  AddInt("depth", image.channels, builder);
  builder->AddBytes("image_raw", std::string_view(reinterpret_cast<const char*>(pixels.data()),
                                                  pixels.size()));
}


FeatureSpec IntSpec(std::string name, std::optional<double> fallback = {}) {
  return {.name = std::move(name), .kind = FeatureKind::kInt64, .fallback = fallback};
}

absl::Status CheckImageBytes(size_t bytes) {
  if (bytes <= kDataBytesMax) return absl::OkStatus();
  return absl::ResourceExhaustedError("the images have more than " +
                                      std::to_string(kDataBytesMax >> 30) + " GiB");
}

// What is collected of the records on the way to IDX files.
class IdxCollector {
 public:
  IdxCollector()
      : parser_({{.name = "image_raw", .kind = FeatureKind::kBytes},
                 IntSpec("label"),
                 IntSpec("height"),
                 IntSpec("width"),
                 // Files of others may have none.
                 IntSpec("depth", 1)}) {}

  absl::Status Add(std::string_view record) {
    RETURN_IF_ERROR(parser_.Parse(record));
    const std::string_view image = parser_.values(0).bytes[0];
    std::array<int64_t, 3> sizes;
    for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = parser_.values(i + 2).ints[0];
    if (labels_.empty()) sizes_ = sizes;
    if (sizes != sizes_) return absl::InvalidArgumentError("its image is not as large as others");
    RETURN_IF_ERROR(CheckSizes(image.size()));
    const int64_t label = parser_.values(1).ints[0];
    if (label < 0 || label > kLabelMax) {
      return absl::InvalidArgumentError("feature \"label\": " + std::to_string(label) +
                                        " does not fit into a byte");
    }
    labels_.push_back(static_cast<char>(label));
    pixels_.append(image);
    return CheckImageBytes(pixels_.size());
  }

  int64_t count() const { return std::ssize(labels_); }
  std::string Images() const {
    std::vector<int64_t> shape = {count(), sizes_[0], sizes_[1]};
    // As MNIST has it: images of one channel have no dimension for it.
    if (sizes_[2] > 1) shape.push_back(sizes_[2]);
    return EncodeIdx(shape, pixels_);
  }
  std::string Labels() const { return EncodeIdx(std::array{count()}, labels_); }

 private:
  absl::Status CheckSizes(size_t bytes) const {
    uint64_t want = 1;
    for (const int64_t size : sizes_) {
      const bool fits = size >= 1 && static_cast<uint64_t>(size) <= kDataBytesMax / want;
      if (!fits) return absl::InvalidArgumentError("an image of such sizes is none");
      want *= static_cast<uint64_t>(size);
    }
    if (want == bytes) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "feature \"image_raw\": " + std::to_string(bytes) + " bytes are no image of " +
        std::to_string(sizes_[0]) + " × " + std::to_string(sizes_[1]) + " × " +
        std::to_string(sizes_[2]));
  }

  ExampleParser parser_;
  std::array<int64_t, 3> sizes_{};
  std::string pixels_;
  std::string labels_;
};

// In the order of CifarClasses.
std::span<const std::string_view> LabelNames(CifarFormat format) {
  static constexpr std::string_view kNames[] = {"coarse_label", "label"};
  return std::span(kNames).last(CifarClasses(format).size());
}

// What is collected of the records on the way to a file of CIFAR.
class CifarCollector {
 public:
  explicit CifarCollector(CifarFormat format) : format_(format), parser_(SpecsOf(format)) {}

  absl::Status Add(std::string_view record) {
    RETURN_IF_ERROR(parser_.Parse(record));
    const std::array<int64_t, 3> sizes = {IntOf(0), IntOf(1), IntOf(2)};
    if (sizes != std::array{kCifarImage.height, kCifarImage.width, kCifarImage.channels}) {
      return absl::InvalidArgumentError(
          "an image of " + std::to_string(sizes[0]) + " × " + std::to_string(sizes[1]) + " × " +
          std::to_string(sizes[2]) + " is none of CIFAR, whose are 32 × 32 × 3");
    }
    std::vector<uint8_t> labels;
    for (const int32_t classes : CifarClasses(format_)) {
      const size_t feature = kLabels + labels.size();
      const int64_t label = IntOf(feature);
      if (label < 0 || label >= classes) {
        return absl::InvalidArgumentError("feature \"" + parser_.specs()[feature].name + "\": " +
                                          std::to_string(label) + " is out of range, want 0 to " +
                                          std::to_string(classes - 1));
      }
      labels.push_back(static_cast<uint8_t>(label));
    }
    const std::string_view image = parser_.values(kImage).bytes[0];
    AppendCifarRecord({labels, {reinterpret_cast<const uint8_t*>(image.data()), image.size()}},
                      &text_);
    ++count_;
    return CheckImageBytes(text_.size());
  }

  int64_t count() const { return count_; }
  const std::string& text() const { return text_; }

 private:
  static constexpr size_t kImage = 3;
  static constexpr size_t kLabels = 4;

  static std::vector<FeatureSpec> SpecsOf(CifarFormat format) {
    std::vector<FeatureSpec> specs = {IntSpec("height"), IntSpec("width"), IntSpec("depth"),
                                      {.name = "image_raw",
                                       .kind = FeatureKind::kBytes,
                                       .shape = {kCifarImage.height, kCifarImage.width,
                                                 kCifarImage.channels},
                                       .raw = RawType::kUint8}};
    for (const std::string_view name : LabelNames(format)) {
      specs.push_back(IntSpec(std::string(name)));
    }
    return specs;
  }
  int64_t IntOf(size_t feature) const { return parser_.values(feature).ints[0]; }

  const CifarFormat format_;
  ExampleParser parser_;
  std::string text_;
  int64_t count_ = 0;
};

// All records of a file, of which there is at least one.
template <typename Collector>
absl::Status Collect(FileSystem& files, const std::string& source, Collector* collector) {
  ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(files, source, {}));
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> record, reader->Next());
    if (!record) break;
    RETURN_IF_ERROR(collector->Add(*record)).With(reader->Where());
  }
  if (collector->count() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("read " + source + ": it has no records");
}

std::string Packed(const std::string& path, const std::string& text) {
  return path.ends_with(".gz") ? GzipCompress(text) : text;
}

absl::Status WriteText(FileSystem& files, const std::string& path, const std::string& text) {
  return files.WriteAtomically(path, Packed(path, text));
}

// Half of a pair is of no use: both are written before either takes the place of an older one.
absl::Status WritePair(FileSystem& files, const IdxFiles& target, const IdxCollector& from) {
  const std::string images = target.images + ".next", labels = target.labels + ".next";
  absl::Status status = files.WriteAtomically(images, Packed(target.images, from.Images()));
  status.Update(files.WriteAtomically(labels, Packed(target.labels, from.Labels())));
  if (status.ok()) status = files.Rename(images, target.images);
  if (status.ok()) status = files.Rename(labels, target.labels);
  if (!status.ok()) {
    files.Remove(images).IgnoreError();
    files.Remove(labels).IgnoreError();
    return status;
  }
  RETURN_IF_ERROR(files.SyncDir(DirName(target.images)));
  return files.SyncDir(DirName(target.labels));
}

}  // namespace

absl::StatusOr<int64_t> IdxToRecords(FileSystem& files, const IdxFiles& source,
                                     const std::string& target) {
  ASSIGN_OR_RETURN(const IdxArray images, ReadBytes(files, source.images));
  ASSIGN_OR_RETURN(const IdxArray labels, ReadBytes(files, source.labels));
  RETURN_IF_ERROR(CheckPair(images, labels, source));
  const int64_t count = images.shape[0];
  const size_t size = count == 0 ? 0 : images.bytes.size() / static_cast<size_t>(count);
  ASSIGN_OR_RETURN(const auto writer, RecordWriter::Open(files, target));
  ExampleBuilder builder;
  const ImageShape image{.height = images.shape[1],
                         .width = images.shape[2],
                         .channels = images.shape.size() == 4 ? images.shape[3] : 1};
  for (int64_t i = 0; i < count; ++i) {
    AddInt("label", labels.bytes[static_cast<size_t>(i)], &builder);
    AddImage(image, {images.bytes.data() + i * size, size}, &builder);
    RETURN_IF_ERROR(writer->Append(builder.Take()));
  }
  RETURN_IF_ERROR(writer->Close());
  return count;
}

absl::StatusOr<int64_t> RecordsToIdx(FileSystem& files, const std::string& source,
                                     const IdxFiles& target) {
  IdxCollector collector;
  RETURN_IF_ERROR(Collect(files, source, &collector));
  RETURN_IF_ERROR(WritePair(files, target, collector));
  return collector.count();
}

absl::StatusOr<int64_t> CifarToRecords(FileSystem& files, const std::string& source,
                                       CifarFormat format, const std::string& target) {
  ASSIGN_OR_RETURN(const auto writer, RecordWriter::Open(files, target));
  ExampleBuilder builder;
  int64_t count = 0;
  RETURN_IF_ERROR(EachCifarRecord(files, source, format, [&](const CifarRecord& record) {
    for (size_t i = 0; i < record.labels.size(); ++i) {
      AddInt(LabelNames(format)[i], record.labels[i], &builder);
    }
    AddImage(kCifarImage, record.pixels, &builder);
    ++count;
    return writer->Append(builder.Take());
  }));
  if (count == 0) return absl::InvalidArgumentError("read " + source + ": it has no records");
  RETURN_IF_ERROR(writer->Close());
  return count;
}

absl::StatusOr<int64_t> RecordsToCifar(FileSystem& files, const std::string& source,
                                       CifarFormat format, const std::string& target) {
  CifarCollector collector(format);
  RETURN_IF_ERROR(Collect(files, source, &collector));
  RETURN_IF_ERROR(WriteText(files, target, collector.text()));
  return collector.count();
}

absl::StatusOr<int64_t> RecordsToRecords(FileSystem& files, const std::string& source,
                                         const std::string& target) {
  ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(files, source, {}));
  ASSIGN_OR_RETURN(const auto writer, RecordWriter::Open(files, target));
  for (int64_t count = 0;; ++count) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> record, reader->Next());
    if (record) {
      RETURN_IF_ERROR(writer->Append(*record));
      continue;
    }
    if (count == 0) return absl::InvalidArgumentError("read " + source + ": it has no records");
    RETURN_IF_ERROR(writer->Close());
    return count;
  }
}

}  // namespace taas
