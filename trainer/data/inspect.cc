#include "trainer/data/inspect.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/data/csv.h"
#include "trainer/data/example.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"
#include "trainer/data/line_reader.h"
#include "trainer/data/record_file.h"
#include "trainer/formats/file_kind.h"

namespace taas {
namespace {

constexpr size_t kShownValues = 6;
constexpr size_t kShownBytes = 16;
constexpr size_t kShownColumns = 20;
// Beyond so many names the rest is only counted: a file may have a name for each record.
constexpr size_t kFeaturesMax = 1'000;
// A file of some megabytes may hold one record of 2 GiB, packed: it is not taken to be described.
constexpr uint64_t kRecordShownMax = uint64_t{256} << 20;
constexpr uint64_t kCifar10Record = 3'073;
constexpr uint64_t kCifar100Record = 3'074;

std::string Quoted(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes.substr(0, kShownBytes)) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      out.push_back(c);
    } else {
      char hex[8];
      std::snprintf(hex, sizeof(hex), "\\x%02x", static_cast<unsigned char>(c));
      out += hex;
    }
  }
  return out + (bytes.size() > kShownBytes ? "\"…" : "\"");
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

std::string Shape(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : " × ") + std::to_string(size);
  return text;
}

// The first values, as a list.
template <typename Values, typename Text>
std::string Beginning(const Values& values, const Text& text) {
  std::string out;
  for (size_t i = 0; i < std::min<size_t>(values.size(), kShownValues); ++i) {
    out += (i == 0 ? "" : ", ") + text(values[i]);
  }
  return out + (values.size() > kShownValues ? ", …" : "");
}

std::string Beginning(const FeatureValues& values) {
  switch (values.kind) {
    case FeatureKind::kBytes: return Beginning(values.bytes, Quoted);
    case FeatureKind::kFloat: return Beginning(values.floats, Number);
    case FeatureKind::kInt64:
      return Beginning(values.ints, [](int64_t value) { return std::to_string(value); });
    case FeatureKind::kNone: break;
  }
  return "";
}

// What the records of a file say of one feature.
struct FeatureFacts {
  std::set<FeatureKind> kinds;
  int64_t records = 0;
  int64_t count_least = INT64_MAX;
  int64_t count_most = 0;
  int64_t bytes_least = INT64_MAX;  // Of one text.
  int64_t bytes_most = 0;
  std::string first;
};

std::string Span(int64_t least, int64_t most) {
  if (least > most) return "0";
  return least == most ? std::to_string(least)
                       : std::to_string(least) + " to " + std::to_string(most);
}

class RecordFacts {
 public:
  void Add(std::string_view record) {
    ++records_;
    if (!FindFeatures(record, &found_).ok()) {
      ++others_;
      return;
    }
    // Of a name that comes twice the last counts.
    std::map<std::string_view, std::string_view> features;
    for (const ExampleFeature& feature : found_) features[feature.name] = feature.value;
    for (const auto& [name, value] : features) AddFeature(name, value);
  }

  int64_t records() const { return records_; }

  std::string Text() const {
    std::string out;
    if (others_ > 0) {
      out += "  " + std::to_string(others_) + " records are no tf.train.Example\n";
    }
    for (const auto& [name, facts] : features_) out += Line(name, facts);
    if (left_out_) out += "  and more features\n";
    return out;
  }

 private:
  void AddFeature(std::string_view name, std::string_view value) {
    if (!ReadFeature(value, &values_).ok()) {
      ++others_;
      return;
    }
    if (features_.size() >= kFeaturesMax && !features_.contains(name)) {
      left_out_ = true;
      return;
    }
    FeatureFacts& facts = features_[std::string(name)];
    if (facts.records++ == 0) facts.first = Beginning(values_);
    facts.kinds.insert(values_.kind);
    facts.count_least = std::min(facts.count_least, values_.count());
    facts.count_most = std::max(facts.count_most, values_.count());
    for (const std::string_view text : values_.bytes) {
      facts.bytes_least = std::min(facts.bytes_least, std::ssize(text));
      facts.bytes_most = std::max(facts.bytes_most, std::ssize(text));
    }
  }

  std::string Line(const std::string& name, const FeatureFacts& facts) const {
    std::string kinds;
    for (const FeatureKind kind : facts.kinds) {
      kinds += std::string(kinds.empty() ? "" : " or ") + NameOf(kind);
    }
    std::string line = "  " + name + ": " + kinds + ", " +
                       Span(facts.count_least, facts.count_most) +
                       (facts.count_most == 1 ? " value" : " values");
    if (facts.kinds.contains(FeatureKind::kBytes)) {
      line += " of " + Span(facts.bytes_least, facts.bytes_most) + " bytes";
    }
    if (facts.records < records_) line += ", in " + std::to_string(facts.records) + " records";
    return line + "; the first: " + facts.first + "\n";
  }

  int64_t records_ = 0;
  int64_t others_ = 0;
  bool left_out_ = false;
  std::map<std::string, FeatureFacts, std::less<>> features_;
  std::vector<ExampleFeature> found_;
  FeatureValues values_;
};

// Of who looks at a file without knowing what it is.
absl::StatusOr<std::unique_ptr<RecordReader>> OpenRecords(FileSystem& files,
                                                          const std::string& path, bool skip_bad) {
  return RecordReader::Open(files, path,
                            {.skip_bad = skip_bad, .record_bytes_max = kRecordShownMax});
}

// The first sentence about what is wrong, if anything is.
std::string FirstDamage(FileSystem& files, const std::string& path) {
  const auto reader = OpenRecords(files, path, /*skip_bad=*/false);
  if (!reader.ok()) return std::string(reader.status().message());
  for (;;) {
    const auto record = (*reader)->Next();
    if (!record.ok()) return std::string(record.status().message());
    if (!*record) return "";
  }
}

absl::StatusOr<Inspection> InspectRecords(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto reader, OpenRecords(files, path, /*skip_bad=*/true));
  RecordFacts facts;
  absl::Status end;
  for (;;) {
    const auto record = reader->Next();
    end = record.status();
    if (!record.ok() || !*record) break;
    facts.Add(**record);
  }
  Inspection out;
  out.damaged = !end.ok() || reader->skipped() > 0;
  out.text = path + ": TFRecord, " + std::string(reader->framing()) + ", " +
             std::to_string(facts.records()) + " records, " +
             (out.damaged ? std::to_string(reader->skipped()) + " damaged" : "checksums right") +
             "\n";
  if (out.damaged) out.text += "  " + FirstDamage(files, path) + "\n";
  out.text += facts.Text();
  return out;
}

const char* NameOf(IdxType type) {
  switch (type) {
    case IdxType::kUint8: return "uint8";
    case IdxType::kInt8: return "int8";
    case IdxType::kInt16: return "int16";
    case IdxType::kInt32: return "int32";
    case IdxType::kFloat32: return "float32";
    case IdxType::kFloat64: return "float64";
  }
  return "";
}

absl::StatusOr<Inspection> InspectIdx(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(IdxArray array, ReadIdx(files, path));
  std::string text = path + ": IDX, " + NameOf(array.type) + ", " + Shape(array.shape) + "\n";
  // No more than are shown, and one by which it is seen that there are more.
  const int64_t element = std::ssize(array.bytes) / std::max<int64_t>(1, array.count());
  array.bytes.resize(std::min<size_t>(array.bytes.size(), element * (kShownValues + 1)));
  return Inspection{text + "  the first: " + Beginning(array.Numbers<float>(), Number) + "\n"};
}

absl::StatusOr<Inspection> InspectCsv(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto lines, LineReader::Open(files, path, kCsvLineBytesMax));
  std::vector<std::string> names, first;
  int64_t count = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const auto line, lines->Next());
    if (!line) break;
    if (line->empty()) continue;
    if (++count <= 2 && !SplitCsvLine(*line, ',', count == 1 ? &names : &first)) {
      return absl::InvalidArgumentError("read " + path + ": line " +
                                        std::to_string(lines->number()) +
                                        ": a quote is not closed");
    }
  }
  std::string text = path + ": CSV, " + std::to_string(count) + " lines, " +
                     std::to_string(names.size()) + " columns\n";
  for (size_t i = 0; i < std::min(names.size(), kShownColumns); ++i) {
    text += "  " + names[i] + (i < first.size() ? ": the first: " + first[i] : "") + "\n";
  }
  return Inspection{text + (names.size() > kShownColumns ? "  …\n" : "")};
}

// Bytes of the file after decompression, the first of them, and how many ends of lines there are.
struct Content {
  uint64_t size = 0;
  std::vector<uint8_t> first;
  int64_t lines = 0;
};

absl::StatusOr<Content> ReadContent(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto reader, GzipReader::Open(files, path));
  Content content;
  std::vector<uint8_t> part(1 << 20);
  for (;;) {
    ASSIGN_OR_RETURN(const size_t got, reader->Read(part));
    if (content.size == 0) {
      content.first.assign(part.begin(),
                           part.begin() + std::min<std::ptrdiff_t>(got, kKindBytes));
    }
    content.size += got;
    content.lines += std::count(part.begin(), part.begin() + static_cast<ptrdiff_t>(got), '\n');
    if (got < part.size()) return content;
  }
}

absl::StatusOr<Inspection> InspectBytes(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const Content content, ReadContent(files, path));
  const auto cifar = [&](const char* name, uint64_t record, size_t labels) {
    std::string text = path + ": " + name + ", " + std::to_string(content.size / record) +
                       " records, images of 32 × 32 × 3\n  the first label: " +
                       std::to_string(content.first[0]);
    if (labels == 2) text += " (coarse), " + std::to_string(content.first[1]) + " (fine)";
    return Inspection{text + "\n"};
  };
  if (content.size > 0 && content.size % kCifar10Record == 0 && content.first[0] < 10) {
    return cifar("CIFAR-10", kCifar10Record, 1);
  }
  if (content.size > 0 && content.size % kCifar100Record == 0 && content.first[0] < 20) {
    return cifar("CIFAR-100", kCifar100Record, 2);
  }
  const std::string_view first(reinterpret_cast<const char*>(content.first.data()),
                               content.first.size());
  if (KindOf(first).kind == FileKind::kText) {
    const size_t end = std::min(first.find_first_of("\r\n"), first.size());
    return Inspection{path + ": text, " + std::to_string(content.size) + " bytes, " +
                      std::to_string(content.lines) +
                      " ends of lines\n  the first line: " + Quoted(first.substr(0, end)) +
                      "\n  a language model trains on it as data of format text\n"};
  }
  return Inspection{.text = path + ": no format that is known, " + std::to_string(content.size) +
                            " bytes" + KindNote(first, FileKind::kUnknown) +
                            "\n  the first: " + Quoted(first) + "\n",
                    .known = false};
}

bool HasExtension(std::string_view path, std::string_view extension) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path.ends_with(extension);
}

bool BeginsAsRecords(FileSystem& files, const std::string& path) {
  const auto reader = OpenRecords(files, path, /*skip_bad=*/true);
  if (!reader.ok()) return false;
  const auto record = (*reader)->Next();
  // Also if its first record is damaged: the checksum of a length is no chance.
  return absl::IsResourceExhausted(record.status()) ||
         (record.ok() && (record->has_value() || (*reader)->record() > 0));
}

bool BeginsAsIdx(FileSystem& files, const std::string& path) {
  const auto reader = GzipReader::Open(files, path);
  uint8_t magic[4] = {};
  return reader.ok() && (*reader)->Read(magic).value_or(0) == sizeof(magic) && magic[0] == 0 &&
         magic[1] == 0 && magic[2] >= 0x08 && magic[2] <= 0x0e && magic[3] >= 1 && magic[3] <= 8;
}

}  // namespace

absl::StatusOr<Inspection> InspectFile(FileSystem& files, const std::string& path) {
  RETURN_IF_ERROR(files.OpenRead(path).status());
  if (BeginsAsRecords(files, path) || HasExtension(path, ".tfrecord")) {
    return InspectRecords(files, path);
  }
  if (HasExtension(path, ".csv")) return InspectCsv(files, path);
  if (BeginsAsIdx(files, path)) return InspectIdx(files, path);
  return InspectBytes(files, path);
}

}  // namespace taas
