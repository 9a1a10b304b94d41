#include "trainer/data/cifar.h"

#include <array>
#include <cstdint>
#include <utility>

#include "operator/base/status.h"
#include "trainer/data/empty_files.h"
#include "trainer/data/foreign_file.h"
#include "trainer/data/gzip.h"
#include "trainer/data/rows.h"
#include "trainer/formats/file_kind.h"

namespace taas {
namespace {

constexpr size_t kChannels = 3;
constexpr size_t kPlane = 32 * 32;
constexpr size_t kPixels = kChannels * kPlane;
constexpr size_t kLabelsMax = 2;

constexpr int32_t kTen[] = {10};
constexpr int32_t kHundred[] = {20, 100};

// Of the labels of a record the one that is asked for.
size_t LabelOf(CifarLabels labels) { return labels == CifarLabels::kFine ? 1 : 0; }

}  // namespace

std::span<const int32_t> CifarClasses(CifarFormat format) {
  return format == CifarFormat::kTen ? std::span<const int32_t>(kTen) : kHundred;
}

absl::Status EachCifarRecord(FileSystem& files, const std::string& path, CifarFormat format,
                             absl::FunctionRef<absl::Status(const CifarRecord&)> visit) {
  ASSIGN_OR_RETURN(const auto reader, GzipReader::Open(files, path));
  const size_t labels = CifarClasses(format).size();
  std::array<uint8_t, kLabelsMax + kPixels> memory;
  const std::span<uint8_t> record(memory.data(), labels + kPixels);
  std::array<uint8_t, kPixels> pixels;
  for (int64_t number = 0;; ++number) {
    const auto where = [&] { return "read " + path + ": record " + std::to_string(number); };
    ASSIGN_OR_RETURN(const size_t got, reader->Read(record));
    if (got == 0) return absl::OkStatus();
    if (got < record.size()) {
      return absl::DataLossError(where() + ": the file is truncated, or none of CIFAR: it has " +
                                 std::to_string(got) + " of " + std::to_string(record.size()) +
                                 " bytes");
    }
    const std::span<const uint8_t> planes = record.subspan(labels);
    for (size_t i = 0; i < kPixels; ++i) pixels[i] = planes[i % kChannels * kPlane + i / kChannels];
    RETURN_IF_ERROR(visit({record.first(labels), pixels})).With(where());
  }
}

void AppendCifarRecord(const CifarRecord& record, std::string* out) {
  out->append(record.labels.begin(), record.labels.end());
  for (size_t channel = 0; channel < kChannels; ++channel) {
    for (size_t i = 0; i < kPlane; ++i) {
      out->push_back(static_cast<char>(record.pixels[i * kChannels + channel]));
    }
  }
}

absl::StatusOr<Dataset> ReadCifar(FileSystem& files, const std::vector<std::string>& paths,
                                  CifarLabels labels) {
  const CifarFormat format =
      labels == CifarLabels::kTen ? CifarFormat::kTen : CifarFormat::kHundred;
  const size_t label = LabelOf(labels);
  const int32_t classes = CifarClasses(format)[label];
  Rows rows;
  EmptyFiles empty;
  for (const std::string& path : paths) {
    const size_t before = rows.labels.size();
    const auto add = [&](const CifarRecord& record) -> absl::Status {
      RETURN_IF_ERROR(rows.AddLabel(record.labels[label], classes));
      rows.pixels.insert(rows.pixels.end(), record.pixels.begin(), record.pixels.end());
      return rows.CheckSize();
    };
    RETURN_IF_ERROR(
        NameForeign(files, path, FileKind::kUnknown, EachCifarRecord(files, path, format, add)));
    if (rows.labels.size() == before) empty.Add(path);
  }
  RETURN_IF_ERROR(empty.Tell(paths.size()));
  ASSIGN_OR_RETURN(Dataset set, std::move(rows).Make("read " + paths.front(), {kPixels}, classes));
  set.set_image(kCifarImage);
  return set;
}

}  // namespace taas
