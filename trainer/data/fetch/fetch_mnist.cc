#include "trainer/data/fetch/fetch_mnist.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/data/generated/digits.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"

namespace taas {
namespace {

struct ClassicFile {
  const char* name;
  const char* sha256;
  const char* target;
};

// Smallest first: without a network the first one already fails.
constexpr ClassicFile kTestLabels = {
    "t10k-labels-idx1-ubyte.gz",
    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6", "test-labels.gz"};
constexpr ClassicFile kTestImages = {
    "t10k-images-idx3-ubyte.gz",
    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6", "test-images.gz"};
constexpr ClassicFile kTrainLabels = {
    "train-labels-idx1-ubyte.gz",
    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c", "train-labels.gz"};
constexpr ClassicFile kTrainImages = {
    "train-images-idx3-ubyte.gz",
    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609", "train-images.gz"};
constexpr std::array kClassicFiles = {kTestLabels, kTrainLabels, kTestImages, kTrainImages};

const std::vector<std::string>& Mirrors() {
  static const std::vector<std::string> kMirrors = {
      "https://ossci-datasets.s3.amazonaws.com/mnist/",
      "https://storage.googleapis.com/cvdf-datasets/mnist/"};
  return kMirrors;
}

constexpr uint64_t kDigitSeed = 1;
constexpr int64_t kDigitTrain = 9'000;  // As many as a data directory with the t10k files gives.
constexpr int64_t kDigitTest = 1'000;

std::string GzipIdx(std::vector<int64_t> shape, std::string_view bytes) {
  return GzipCompress(EncodeIdx(shape, bytes));
}

// Rows [begin, end) of an array as a file.
std::string GzipRows(const IdxArray& array, int64_t begin, int64_t end) {
  std::vector<int64_t> shape = array.shape;
  const int64_t row = array.count() / shape[0];
  shape[0] = end - begin;
  const std::string_view all(reinterpret_cast<const char*>(array.bytes.data()),
                             array.bytes.size());
  return GzipIdx(shape, all.substr(static_cast<size_t>(begin * row),
                                   static_cast<size_t>((end - begin) * row)));
}

absl::StatusOr<bool> AllThere(FileSystem& files, const std::string& dir,
                              std::initializer_list<const char*> names) {
  for (const char* name : names) {
    ASSIGN_OR_RETURN(const bool there, files.Exists(dir + "/" + name));
    if (!there) return false;
  }
  return true;
}

// "MNIST" only for what everybody calls so. Copies were compressed again and again, so what counts
// is the content.
absl::StatusOr<std::string> NameOfFiles(FileSystem& files, const std::string& dir) {
  constexpr std::pair<const char*, const char*> kContents[] = {
      {kTestLabels.name, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
      {kTestImages.name, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"}};
  for (const auto& [name, sha256] : kContents) {
    ASSIGN_OR_RETURN(const std::string content, GunzipFile(files, dir + "/" + name));
    if (Sha256Hex(content) != sha256) return std::string("IDX files");
  }
  return std::string("MNIST");
}

absl::StatusOr<std::string> SourceOfDirectory(FileSystem& files, const std::string& dir,
                                              bool all_four) {
  ASSIGN_OR_RETURN(const std::string name, NameOfFiles(files, dir));
  return all_four ? name + " of " + dir
                  : name + " of " + dir + ": the t10k files, first nine tenths to train";
}

absl::StatusOr<FolderContent> SplitTestFiles(FileSystem& files, const std::string& dir) {
  ASSIGN_OR_RETURN(const IdxArray images, ReadIdx(files, dir + "/" + kTestImages.name));
  ASSIGN_OR_RETURN(const IdxArray labels, ReadIdx(files, dir + "/" + kTestLabels.name));
  const int64_t count = images.shape[0];
  if (labels.shape[0] != count || count < 2 || images.type != IdxType::kUint8 ||
      labels.type != IdxType::kUint8) {
    return absl::InvalidArgumentError("split " + dir + "/" + kTestImages.name + ": want at least " +
                                      "two images of bytes and as many labels, got " +
                                      std::to_string(count) + " and " +
                                      std::to_string(labels.shape[0]));
  }
  const int64_t train = count * 9 / 10;
  return FolderContent{{{kTrainImages.target, GzipRows(images, 0, train)},
               {kTrainLabels.target, GzipRows(labels, 0, train)},
               {kTestImages.target, GzipRows(images, train, count)},
               {kTestLabels.target, GzipRows(labels, train, count)}},
              ""};
}

absl::StatusOr<FolderContent> CopyClassicFiles(FileSystem& files, const std::string& dir) {
  FolderContent laid;
  for (const ClassicFile& file : kClassicFiles) {
    ASSIGN_OR_RETURN(std::string content, files.ReadAll(dir + "/" + file.name));
    laid.files.emplace_back(file.target, std::move(content));
  }
  return laid;
}

absl::StatusOr<FolderContent> Download(const FetchOptions& options) {
  FolderContent laid{{}, "MNIST, downloaded"};
  size_t mirror = 0;
  for (const ClassicFile& file : kClassicFiles) {
    ASSIGN_OR_RETURN(std::string content, DownloadFrom(Mirrors(), {file.name, file.sha256},
                                                       options, &mirror));
    options.progress(std::string("downloaded ") + file.name);
    laid.files.emplace_back(file.target, std::move(content));
  }
  return laid;
}

FolderContent Draw() {
  FolderContent laid{{},
            "generated digits (no MNIST): " + std::to_string(kDigitTrain) + " to train, " +
                std::to_string(kDigitTest) + " to test, seed " + std::to_string(kDigitSeed)};
  const auto add = [&](const ClassicFile& images, const ClassicFile& labels, int64_t first,
                       int64_t count) {
    const DigitImages digits =
        DrawDigits({.seed = kDigitSeed, .first = first, .count = count});
    const auto text = [](const std::vector<uint8_t>& bytes) {
      return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    laid.files.emplace_back(images.target,
                            GzipIdx({count, kDigitSide, kDigitSide}, text(digits.pixels)));
    laid.files.emplace_back(labels.target, GzipIdx({count}, text(digits.labels)));
  };
  add(kTrainImages, kTrainLabels, 0, kDigitTrain);
  add(kTestImages, kTestLabels, kDigitTrain, kDigitTest);
  return laid;
}

FolderContent DownloadOrDraw(const FetchOptions& options) {
  if (!options.download) return Draw();
  absl::StatusOr<FolderContent> laid = Download(options);
  if (laid.ok()) return *std::move(laid);
  options.progress("MNIST cannot be downloaded (" + std::string(laid.status().message()) +
                   "): digits are generated instead");
  return Draw();
}

const std::vector<std::string>& Targets() {
  static const std::vector<std::string> kTargets = {kTrainImages.target, kTrainLabels.target,
                                                    kTestImages.target, kTestLabels.target};
  return kTargets;
}

}  // namespace

absl::StatusOr<Fetched> FetchMnist(FileSystem& files, const FetchOptions& options) {
  RETURN_IF_ERROR(files.MakeDirs(options.target));
  ASSIGN_OR_RETURN(const auto there, SourceIfComplete(files, options.target, Targets()));
  if (options.data_dir.empty()) {
    if (there.has_value()) return Fetched{*there, true};
    const FolderContent laid = DownloadOrDraw(options);
    RETURN_IF_ERROR(LayOut(files, options.target, laid));
    return Fetched{laid.source, false};
  }
  const std::string& dir = options.data_dir;
  ASSIGN_OR_RETURN(const bool test_files,
                   AllThere(files, dir, {kTestImages.name, kTestLabels.name}));
  ASSIGN_OR_RETURN(const bool train_files,
                   AllThere(files, dir, {kTrainImages.name, kTrainLabels.name}));
  if (!test_files) {
    return absl::InvalidArgumentError("use data directory " + dir + ": it has no " +
                                      kTestImages.name + " and " + kTestLabels.name);
  }
  ASSIGN_OR_RETURN(const std::string source, SourceOfDirectory(files, dir, train_files));
  if (there == source) return Fetched{source, true};
  ASSIGN_OR_RETURN(FolderContent laid, train_files ? CopyClassicFiles(files, dir)
                                          : SplitTestFiles(files, dir));
  laid.source = source;
  RETURN_IF_ERROR(LayOut(files, options.target, laid));
  return Fetched{source, false};
}

}  // namespace taas
