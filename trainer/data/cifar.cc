#include "trainer/data/cifar.h"

#include <array>
#include <cstdint>
#include <utility>

#include "operator/base/status.h"
#include "trainer/data/gzip.h"
#include "trainer/data/rows.h"

namespace taas {
namespace {

constexpr ImageShape kImage{.height = 32, .width = 32, .channels = 3};
constexpr size_t kPlane = 32 * 32;
constexpr size_t kPixels = 3 * kPlane;

struct Layout {
  size_t label_bytes;  // Before the image.
  size_t label;        // Which of them is the one that is asked for.
  int32_t classes;
};

Layout LayoutOf(CifarLabels labels) {
  switch (labels) {
    case CifarLabels::kTen: return {1, 0, 10};
    case CifarLabels::kCoarse: return {2, 0, 20};
    case CifarLabels::kFine: break;
  }
  return {2, 1, 100};
}

void AppendImage(const uint8_t* planes, std::vector<uint8_t>* out) {
  for (size_t i = 0; i < kPlane; ++i) {
    for (size_t channel = 0; channel < 3; ++channel) out->push_back(planes[channel * kPlane + i]);
  }
}

absl::Status ReadFile(FileSystem& files, const std::string& path, const Layout& layout,
                      Rows* rows) {
  ASSIGN_OR_RETURN(const auto reader, GzipReader::Open(files, path));
  std::array<uint8_t, 2 + kPixels> memory;
  const std::span<uint8_t> record(memory.data(), layout.label_bytes + kPixels);
  for (int64_t number = 0;; ++number) {
    const auto where = [&] { return "read " + path + ": record " + std::to_string(number); };
    ASSIGN_OR_RETURN(const size_t got, reader->Read(record));
    if (got == 0 && number > 0) return absl::OkStatus();
    if (got < record.size()) {
      return absl::DataLossError(where() + ": the file is truncated, or none of CIFAR: it has " +
                                 std::to_string(got) + " of " + std::to_string(record.size()) +
                                 " bytes");
    }
    RETURN_IF_ERROR(rows->AddLabel(record[layout.label], layout.classes)).With(where());
    AppendImage(record.data() + layout.label_bytes, &rows->pixels);
    RETURN_IF_ERROR(rows->CheckSize()).With(where());
  }
}

}  // namespace

absl::StatusOr<Dataset> ReadCifar(FileSystem& files, const std::vector<std::string>& paths,
                                  CifarLabels labels) {
  const Layout layout = LayoutOf(labels);
  Rows rows;
  for (const std::string& path : paths) {
    RETURN_IF_ERROR(ReadFile(files, path, layout, &rows));
  }
  ASSIGN_OR_RETURN(Dataset set, std::move(rows).Make("read " + paths.front(), kPixels,
                                                     layout.classes));
  set.set_image(kImage);
  return set;
}

}  // namespace taas
