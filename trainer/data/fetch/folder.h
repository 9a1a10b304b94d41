// A folder with a data set: how it is filled, and what says that it is complete.
//
// `source.txt` is written last, and its first line says where the data comes from: a folder that
// has it and all files is complete, and one that was interrupted is filled anew. What a network
// gives is known by its SHA-256; where there is none the set is made from a seed, so that the
// examples run anywhere, and say on what.
//
// Ownership: borrows the FileSystem. Threads: one per target folder. Errors: the FileSystem's.
//
//   ASSIGN_OR_RETURN(Fetched set, FetchSet(files, {.target = dir}, {.name = "CIFAR-10", …}));

#ifndef TRAINER_DATA_FETCH_FOLDER_H_
#define TRAINER_DATA_FETCH_FOLDER_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

struct FetchOptions {
  using Download = std::function<absl::StatusOr<std::string>(const std::string& url)>;

  std::string target;
  // Of MNIST: with the four classic files (train-images-idx3-ubyte.gz, …), or with the two t10k
  // ones, of which the first nine tenths become training data. Empty: not given.
  std::string data_dir = "";
  // Null: no download is tried.
  Download download = nullptr;
  // Told what happens, one sentence each.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct Fetched {
  std::string source;
  bool was_complete = false;
};

// What will stand in a folder.
struct FolderContent {
  std::vector<std::pair<std::string, std::string>> files;  // Name, content.
  std::string source;
};

absl::Status LayOut(FileSystem& files, const std::string& target, const FolderContent& content);

// The source of a folder that has all these files and is complete; nothing if it is not.
absl::StatusOr<std::optional<std::string>> SourceIfComplete(FileSystem& files,
                                                            const std::string& target,
                                                            std::span<const std::string> names);

// A file that others have published, by its SHA-256 in lower-case hexadecimal.
struct Published {
  std::string name;
  std::string sha256;
};

// From the first of the mirrors (folders, with a "/" at the end) that has it, beginning with
// `*mirror`: one that failed once is not asked again for the next file. Errors: Unavailable, with
// what each of them said.
absl::StatusOr<std::string> DownloadFrom(std::span<const std::string> mirrors,
                                         const Published& file, const FetchOptions& options,
                                         size_t* mirror);

// A set that is one published file, or is made.
struct SetSource {
  std::string name;                // Its name: "CIFAR-10".
  std::vector<std::string> files;  // That it lays out.
  std::vector<std::string> mirrors{};
  Published published{};           // No name: the set is always made.
  // Makes the files out of the published one.
  std::function<absl::StatusOr<FolderContent>(std::string content)> unpack = nullptr;
  std::function<absl::StatusOr<FolderContent>()> make;
};

absl::StatusOr<Fetched> FetchSet(FileSystem& files, const FetchOptions& options,
                                 const SetSource& source);

std::string Sha256Hex(std::string_view data);

}  // namespace taas

#endif  // TRAINER_DATA_FETCH_FOLDER_H_
