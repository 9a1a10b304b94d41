#include "trainer/data/record_data.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/data/empty_files.h"
#include "trainer/data/raw.h"

namespace taas {
namespace {

constexpr uintptr_t kLargePage = uintptr_t{2} << 20;

// Examples that are fixed in size take about as much memory as their files; of files that hold much
// that is not read, no more than this is taken for nothing, and not touched.
constexpr int64_t kReservedMax = int64_t{1} << 30;

// Where the kernel gives them: what it answers changes nothing but time.
void AdviseLargePages(void* memory, size_t bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t end = (begin + bytes) / kLargePage * kLargePage;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

size_t PlaceOf(const std::string& name, const RecordDataOptions& options) {
  const auto found = std::ranges::find(options.features, name, &FeatureSpec::name);
  CHECK(found != options.features.end()) << name << " is one of the features";
  return static_cast<size_t>(found - options.features.begin());
}

// What cannot be opened is told by who reads it.
int64_t SizeOf(FileSystem& files, const std::vector<std::string>& paths) {
  uint64_t size = 0;
  for (const std::string& path : paths) {
    const auto file = files.OpenRead(path);
    if (file.ok()) size += (*file)->Size().value_or(0);
  }
  return static_cast<int64_t>(std::min<uint64_t>(size, kReservedMax));
}

// Of a feature of one value at most.
SourceValue ValueOf(const FeatureValues& values) {
  if (!values.bytes.empty()) return values.bytes.front();
  if (!values.ints.empty()) return values.ints.front();
  if (!values.floats.empty()) return static_cast<double>(values.floats.front());
  return SourceValue();
}

// Bytes of an input are pixels unless their scale is given; those of a label are its number.
std::vector<FeatureSpec> WithPixelScale(const RecordDataOptions& options) {
  std::vector<FeatureSpec> specs = options.features;
  for (FeatureSpec& spec : specs) {
    if (spec.name == options.label || spec.raw != RawType::kUint8 || spec.normalise) continue;
    spec.normalise = Normalise{.scale = PixelScale().scale, .offset = PixelScale().offset};
  }
  return specs;
}

// As push_back does it, but with memory in large pages once it is large: half of the time that the
// records of a file took was first touches of small ones.
template <typename T>
void MakeRoom(std::vector<T>& values, size_t more) {
  if (values.capacity() - values.size() >= more) return;
  std::vector<T> grown;
  grown.reserve(std::max(2 * values.size(), values.size() + more));
  AdviseLargePages(grown.data(), grown.capacity() * sizeof(T));
  grown.insert(grown.end(), values.begin(), values.end());
  values = std::move(grown);
}

class Collector {
 public:
  explicit Collector(const RecordDataOptions& options)
      : parser_(WithPixelScale(options)),
        columns_(options.feature_columns),
        label_(PlaceOf(options.label, options)),
        classes_(options.classes),
        of_ids_(options.ids) {
    if (!classes_ && !HasWholeLabel(options)) classes_ = 0;
    if (columns_ != nullptr) {
      for (const std::string& source : columns_->sources()) {
        inputs_.push_back(PlaceOf(source, options));
      }
      width_ = {std::ssize(columns_->shapes()) - columns_->ids(), columns_->ids()};
      return;
    }
    for (size_t i = 0; i < parser_.specs().size(); ++i) {
      if (i == label_) continue;
      inputs_.push_back(i);
      width_.features += parser_.specs()[i].count();
    }
    CHECK(!inputs_.empty()) << "a data set has features beside its label";
    // They take a quarter of the memory that floats do.
    keeps_bytes_ = inputs_.size() == 1 && First().raw == RawType::kUint8 && First().fixed;
    const auto is_whole = [&](size_t input) {
      const FeatureSpec& spec = parser_.specs()[input];
      return spec.kind == FeatureKind::kInt64 && !spec.normalise;
    };
    if (of_ids_ && std::ranges::all_of(inputs_, is_whole)) width_ = {0, width_.features};
  }

  void Reserve(int64_t examples) {
    const size_t features = static_cast<size_t>(examples * width_.features);
    if (keeps_bytes_) {
      MakeRoom(rows_.pixels, features);
    } else {
      MakeRoom(rows_.values, features);
    }
    MakeRoom(rows_.ids, static_cast<size_t>(examples * width_.ids));
  }
  void ReserveBytes(int64_t bytes) {
    const int64_t feature = static_cast<int64_t>(keeps_bytes_ ? 1 : sizeof(float));
    const int64_t example =
        width_.features * feature + width_.ids * static_cast<int64_t>(sizeof(int64_t));
    Reserve(bytes / std::max<int64_t>(1, example));
  }

  absl::Status Add(std::string_view record) {
    RETURN_IF_ERROR(parser_.Parse(record));
    label_numbers_.clear();
    parser_.AppendFloats(label_, &label_numbers_);
    for (const float number : label_numbers_) {
      RETURN_IF_ERROR(rows_.AddLabel(number, classes_))
          .With("feature \"" + parser_.specs()[label_].name + "\"");
    }
    if (columns_ != nullptr) {
      RETURN_IF_ERROR(AddColumns());
    } else if (keeps_bytes_) {
      const std::string_view bytes = parser_.values(inputs_.front()).bytes.front();
      // As bytes they are copied in one piece, as chars one by one.
      const uint8_t* const first = reinterpret_cast<const uint8_t*>(bytes.data());
      MakeRoom(rows_.pixels, bytes.size());
      rows_.pixels.insert(rows_.pixels.end(), first, first + bytes.size());
    } else {
      for (const size_t input : inputs_) {
        if (width_.ids > 0) {
          AddIds(input);
          continue;
        }
        RETURN_IF_ERROR(AddInput(input)).With("feature \"" + parser_.specs()[input].name + "\"");
      }
    }
    return rows_.CheckSize();
  }

  absl::StatusOr<Dataset> Make(const std::string& name) && {
    PixelScale scale;
    if (keeps_bytes_) scale = {First().normalise->scale, First().normalise->offset};
    ASSIGN_OR_RETURN(Dataset set, std::move(rows_).Make(name, width_, classes_, scale));
    if (columns_ != nullptr) {
      set.set_columns(columns_->shapes());
    } else if (inputs_.size() == 1) {
      set.set_image(ImageOfShape(First().shape));
    }
    if (of_ids_) {
      RETURN_IF_ERROR(set.TakeAsIds());
    }
    return set;
  }

 private:
  const FeatureSpec& First() const { return parser_.specs()[inputs_.front()]; }

  absl::Status AddColumns() {
    source_values_.clear();
    for (const size_t input : inputs_) source_values_.push_back(ValueOf(parser_.values(input)));
    return columns_->Encode(source_values_, &rows_.values, &rows_.ids);
  }

  void AddIds(size_t input) {
    const FeatureSpec& spec = parser_.specs()[input];
    const std::vector<int64_t>& ids = parser_.values(input).ints;
    const size_t end = rows_.ids.size() + static_cast<size_t>(spec.count());
    MakeRoom(rows_.ids, static_cast<size_t>(spec.count()));
    rows_.ids.insert(rows_.ids.end(), ids.begin(), ids.end());
    rows_.ids.resize(end, static_cast<int64_t>(spec.fallback.value_or(0)));
  }

  // Numbers are as a model gets them when they are looked at: a scale can make infinities.
  absl::Status AddInput(size_t input) {
    const FeatureSpec& spec = parser_.specs()[input];
    MakeRoom(rows_.values, static_cast<size_t>(spec.count()));
    const size_t begin = rows_.values.size();
    const size_t end = begin + static_cast<size_t>(spec.count());
    parser_.AppendFloats(input, &rows_.values);
    const Normalise normalise = spec.normalise.value_or(Normalise());
    const float fill = static_cast<float>(spec.fallback.value_or(0));
    rows_.values.resize(end, fill * normalise.scale + normalise.offset);
    return CheckFinite(std::span(rows_.values).subspan(begin));
  }

  ExampleParser parser_;
  const std::shared_ptr<const FeatureColumns> columns_;
  std::vector<SourceValue> source_values_;
  const size_t label_;
  ClassCount classes_;
  std::vector<size_t> inputs_;
  Rows::Width width_;
  bool keeps_bytes_ = false;
  const bool of_ids_;
  Rows rows_;
  std::vector<float> label_numbers_;
};

}  // namespace

bool HasWholeLabel(const RecordDataOptions& options) {
  const FeatureSpec& label = options.features[PlaceOf(options.label, options)];
  return label.kind == FeatureKind::kInt64 || label.raw == RawType::kUint8;
}

absl::StatusOr<RecordData> ReadRecords(FileSystem& files, const std::vector<std::string>& paths,
                                       const RecordDataOptions& options) {
  Collector collector(options);
  int64_t skipped = 0;
  EmptyFiles empty;
  collector.ReserveBytes(SizeOf(files, paths));
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(files, path, options.reader));
    int64_t records = 0;
    for (;; ++records) {
      ASSIGN_OR_RETURN(const std::optional<std::string_view> record, reader->Next());
      if (!record) break;
      RETURN_IF_ERROR(collector.Add(*record)).With(reader->Where());
    }
    if (records + reader->skipped() == 0) empty.Add(path);
    skipped += reader->skipped();
  }
  RETURN_IF_ERROR(empty.Tell(paths.size()));
  ASSIGN_OR_RETURN(Dataset set, std::move(collector).Make("read " + paths.front()));
  return RecordData{std::move(set), skipped};
}

absl::StatusOr<Dataset> CollectRecords(const std::string& name, const RecordsInMemory& records,
                                       const RecordDataOptions& options) {
  Collector collector(options);
  collector.Reserve(records.count);
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> record, records.next());
    if (!record) return std::move(collector).Make(name);
    RETURN_IF_ERROR(collector.Add(*record)).With(records.where());
  }
}

}  // namespace taas
