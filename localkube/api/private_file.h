// Files that nobody but their owner may read: keys, tokens, kubeconfigs.
//
// Ownership: none. Threads: any. Errors: as FileSystem's: the call, the path and the cause.
//
//   RETURN_IF_ERROR(MakePrivateDir(dir));
//   RETURN_IF_ERROR(WritePrivateFile(dir + "/token", token));

#ifndef LOCALKUBE_API_PRIVATE_FILE_H_
#define LOCALKUBE_API_PRIVATE_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace taas::localkube {

// 0700; parents as they come.
absl::Status MakePrivateDir(const std::string& dir);
// 0600, replaced in one step and on the disk when it returns. At no time can others read it.
absl::Status WritePrivateFile(const std::string& path, std::string_view text);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_PRIVATE_FILE_H_
