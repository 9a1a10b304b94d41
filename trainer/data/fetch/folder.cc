#include "trainer/data/fetch/folder.h"

#include <openssl/evp.h>
#include <unistd.h>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {
namespace {

constexpr char kSourceFile[] = "source.txt";

absl::StatusOr<FolderContent> Downloaded(const FetchOptions& options, const SetSource& source) {
  size_t mirror = 0;
  ASSIGN_OR_RETURN(std::string content,
                   DownloadFrom(source.mirrors, source.published, options, &mirror));
  options.progress("downloaded " + source.published.name);
  ASSIGN_OR_RETURN(FolderContent folder, source.unpack(std::move(content)));
  folder.source = source.name + ", downloaded";
  return folder;
}

absl::StatusOr<FolderContent> DownloadedOrMade(const FetchOptions& options,
                                               const SetSource& source) {
  if (source.published.name.empty() || !options.download) return source.make();
  absl::StatusOr<FolderContent> downloaded = Downloaded(options, source);
  if (downloaded.ok()) return downloaded;
  ASSIGN_OR_RETURN(FolderContent made, source.make());
  options.progress(source.name + " cannot be downloaded (" +
                   std::string(downloaded.status().message()) + "): instead there is " +
                   made.source);
  return made;
}

}  // namespace

absl::Status LayOut(FileSystem& files, const std::string& target, const FolderContent& content) {
  // From here on the folder is not complete until the end.
  RETURN_IF_ERROR(files.Remove(target + "/" + kSourceFile));
  const std::string temporary = target + "/.fetch-" + std::to_string(::getpid());
  RETURN_IF_ERROR(files.RemoveAll(temporary));
  RETURN_IF_ERROR(files.MakeDirs(temporary));
  for (const auto& [name, text] : content.files) {
    RETURN_IF_ERROR(files.WriteAtomically(temporary + "/" + name, text));
  }
  for (const auto& [name, text] : content.files) {
    RETURN_IF_ERROR(files.Rename(temporary + "/" + name, target + "/" + name));
  }
  RETURN_IF_ERROR(files.SyncDir(target));
  RETURN_IF_ERROR(files.RemoveAll(temporary));
  return files.WriteAtomically(target + "/" + kSourceFile, content.source + "\n");
}

absl::StatusOr<std::optional<std::string>> SourceIfComplete(FileSystem& files,
                                                            const std::string& target,
                                                            std::span<const std::string> names) {
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const bool there, files.Exists(target + "/" + name));
    if (!there) return std::optional<std::string>();
  }
  ASSIGN_OR_RETURN(const bool complete, files.Exists(target + "/" + kSourceFile));
  if (!complete) return std::optional<std::string>();
  ASSIGN_OR_RETURN(const std::string text, files.ReadAll(target + "/" + kSourceFile));
  return std::optional<std::string>(text.substr(0, text.find('\n')));
}

absl::StatusOr<std::string> DownloadFrom(std::span<const std::string> mirrors,
                                         const Published& file, const FetchOptions& options,
                                         size_t* mirror) {
  std::string errors;
  for (; *mirror < mirrors.size(); ++*mirror) {
    const std::string url = mirrors[*mirror] + file.name;
    absl::StatusOr<std::string> content = options.download(url);
    if (content.ok()) {
      const std::string sha256 = Sha256Hex(*content);
      if (sha256 == file.sha256) return content;
      content = absl::DataLossError("get " + url + ": SHA-256 is " + sha256 + ", want " +
                                    file.sha256);
    }
    errors += (errors.empty() ? "" : "; ") + std::string(content.status().message());
  }
  return absl::UnavailableError(errors);
}

absl::StatusOr<Fetched> FetchSet(FileSystem& files, const FetchOptions& options,
                                 const SetSource& source) {
  RETURN_IF_ERROR(files.MakeDirs(options.target));
  ASSIGN_OR_RETURN(const auto there, SourceIfComplete(files, options.target, source.files));
  if (there.has_value()) return Fetched{*there, true};
  ASSIGN_OR_RETURN(const FolderContent content, DownloadedOrMade(options, source));
  RETURN_IF_ERROR(LayOut(files, options.target, content));
  return Fetched{content.source, false};
}

std::string Sha256Hex(std::string_view data) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  CHECK(EVP_Digest(data.data(), data.size(), digest, &size, EVP_sha256(), nullptr) == 1)
      << "OpenSSL has SHA-256";
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4];
    hex += "0123456789abcdef"[digest[i] & 15];
  }
  return hex;
}

}  // namespace taas
