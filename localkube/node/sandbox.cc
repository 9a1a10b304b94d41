#include "localkube/node/sandbox.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "operator/base/status.h"

namespace taas::localkube {
namespace {

bool IsBelow(const std::string& path, const std::string& dir) {
  return path.size() > dir.size() && path.compare(0, dir.size(), dir) == 0 &&
         (dir == "/" || path[dir.size()] == '/');
}

bool Exists(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

// Shows `path` of the machine in the sandbox. A directory below which a mount point is missing is
// rebuilt in memory, entry by entry, because bubblewrap would otherwise create the mount point on
// the machine's disk.
absl::Status Show(FileSystem& disk, const std::string& path, const std::vector<RunMount>& mounts,
                  std::vector<std::string>* argv) {
  const bool is_target = std::any_of(mounts.begin(), mounts.end(),
                                     [&](const RunMount& m) { return m.target == path; });
  if (is_target) return absl::OkStatus();  // Hidden by the mount anyway.
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return absl::OkStatus();  // Went away meanwhile.
  if (S_ISLNK(info.st_mode)) {
    std::string target(static_cast<size_t>(info.st_size) + 1, '\0');
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size < 0) return ErrnoToStatus(errno, "readlink", path);
    target.resize(static_cast<size_t>(size));
    argv->insert(argv->end(), {"--symlink", target, path});
    return absl::OkStatus();
  }
  const bool rebuild =
      path == "/" || std::any_of(mounts.begin(), mounts.end(), [&](const RunMount& m) {
        return IsBelow(m.target, path) && !Exists(m.target);
      });
  if (path == "/proc") {
    argv->insert(argv->end(), {"--proc", path});
  } else if (path == "/dev") {
    argv->insert(argv->end(), {"--dev-bind", path, path});
  } else if (!rebuild || !S_ISDIR(info.st_mode)) {
    argv->insert(argv->end(), {"--bind", path, path});
  } else {
    argv->insert(argv->end(), {path == "/" ? "--tmpfs" : "--dir", path});
    ASSIGN_OR_RETURN(const std::vector<std::string> names, disk.List(path));
    for (const std::string& name : names) {
      RETURN_IF_ERROR(Show(disk, (path == "/" ? "" : path) + "/" + name, mounts, argv));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SandboxCommand(const RunSpec& spec, int info_fd) {
  // A process that escapes into a session of its own ends with the namespace, and the namespace
  // with the shim. The new session lets signals reach the process but not bubblewrap, which reports
  // its exit code.
  std::vector<std::string> argv = {kBubblewrap, "--die-with-parent", "--new-session",
                                   "--unshare-pid"};
  if (info_fd >= 0) argv.insert(argv.end(), {"--info-fd", std::to_string(info_fd)});
  PosixFileSystem disk;
  RETURN_IF_ERROR(Show(disk, "/", spec.mounts, &argv));
  // Outer mount points first, whatever the order of the manifest.
  std::vector<RunMount> mounts = spec.mounts;
  std::stable_sort(mounts.begin(), mounts.end(), [](const RunMount& a, const RunMount& b) {
    return a.target.size() < b.target.size();
  });
  for (const RunMount& mount : mounts) {
    argv.insert(argv.end(), {mount.read_only ? "--ro-bind" : "--bind", mount.source, mount.target});
  }
  argv.insert(argv.end(), {"--chdir", spec.cwd, "--"});
  argv.insert(argv.end(), spec.argv.begin(), spec.argv.end());
  return argv;
}

bool SandboxWorks() {
  RunSpec spec;
  spec.argv = {"/bin/true"};
  spec.mounts = {{"/usr", "/taas-probe/usr", true}};
  const absl::StatusOr<std::vector<std::string>> argv = SandboxCommand(spec, -1);
  if (!argv.ok()) return false;
  std::vector<char*> pointers;
  for (const std::string& arg : *argv) pointers.push_back(const_cast<char*>(arg.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int fd : {0, 1, 2}) {
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  char path[] = "PATH=/usr/bin:/bin";
  char* env[] = {path, nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, kBubblewrap, &actions, nullptr, pointers.data(), env);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace taas::localkube
