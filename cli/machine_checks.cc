#include "cli/machine_checks.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace taas {
namespace {

using Level = Finding::Level;

// Logs, checkpoints and the store of a day's work; below it a job may stop half-way.
constexpr double kFreeGib = 2;
// Each replica has two pipes, two sockets a peer and a watch: 256 replicas fit.
constexpr rlim_t kOpenFiles = 4096;

Finding CheckBubblewrap(const std::string& program) {
  const std::string todo =
      "install bubblewrap; without it only the bundled trainer can have volumes";
  if (::access(program.c_str(), X_OK) != 0) {
    return {Level::kWarn, "bubblewrap", program + " is not there", todo};
  }
  // What a pod with a volume does: a private view of the file system, as this user.
  const char* argv[] = {program.c_str(), "--dev-bind", "/", "/", "/bin/true", nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, program.c_str(), &files, nullptr,
                                   const_cast<char* const*>(argv), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = -1;
  while (failed == 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (failed == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return {Level::kOk, "bubblewrap", program + " makes private mounts", ""};
  }
  return {Level::kWarn, "bubblewrap", "this kernel refuses private mounts to this user",
          "allow user namespaces; without them only the bundled trainer can have volumes"};
}

Finding CheckTrainer(const std::string& program) {
  if (::access(program.c_str(), X_OK) == 0) return {Level::kOk, "trainer", program, ""};
  return {Level::kWarn, "trainer", program + " cannot be run",
          "install taas-trainer beside taas, or give `taas local` --trainer PATH"};
}

Finding CheckDisk(const std::string& dir) {
  std::filesystem::path at = dir;
  std::error_code error;
  while (!std::filesystem::exists(at, error) && at.has_relative_path()) at = at.parent_path();
  struct statvfs disk {};
  if (::statvfs(at.c_str(), &disk) != 0) {
    return {Level::kWarn, "disk", "the space below " + dir + " cannot be told",
            "give `taas local` --dir on another disk"};
  }
  const double free_gib = static_cast<double>(disk.f_bavail) *
                          static_cast<double>(disk.f_frsize) / (1024.0 * 1024 * 1024);
  char text[64];
  std::snprintf(text, sizeof text, "%.1f GiB free below ", free_gib);
  const bool enough = free_gib >= kFreeGib && ::access(at.c_str(), W_OK) == 0;
  if (enough) return {Level::kOk, "disk", text + at.string(), ""};
  return {Level::kWarn, "disk", text + at.string() + (free_gib < kFreeGib ? "" : ", not writable"),
          "make room, or give `taas local` --dir on another disk"};
}

Finding CheckPorts() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound =
      fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(fd, 1) == 0;
  if (fd >= 0) ::close(fd);
  if (bound) return {Level::kOk, "ports", "127.0.0.1 has free ports", ""};
  return {Level::kWarn, "ports", "no port of 127.0.0.1 can be taken",
          "bring the interface lo up, or end what holds all ports"};
}

Finding CheckOpenFiles() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::string text = std::to_string(limit.rlim_max) + " open files are allowed";
  if (limit.rlim_max >= kOpenFiles) return {Level::kOk, "open files", text, ""};
  return {Level::kWarn, "open files", text,
          "raise it (ulimit -Hn " + std::to_string(kOpenFiles) + ") for jobs of many replicas"};
}

}  // namespace

std::vector<Finding> CheckMachine(const Machine& machine) {
  return {CheckTrainer(machine.trainer), CheckBubblewrap(machine.bubblewrap),
          CheckDisk(machine.dir), CheckPorts(), CheckOpenFiles()};
}

}  // namespace taas
