#include "trainer/cmd/devices_command.h"

#include <cstdio>
#include <optional>
#include <string>

#include "operator/base/command_line.h"
#include "trainer/cuda/found.h"
#include "trainer/retry/error_policy.h"

namespace taas {

int RunDevicesCommand(int argc, char** argv) {
  CommandLine app({.name = "taas-trainer devices",
                   .about = "Shows which NVIDIA GPUs this machine has, its driver and libraries, "
                            "and why what is missing cannot be used."});
  std::string format = "text";
  app.AddOption("--format", &format, "text or json").OneOf({"text", "json"}).ShowDefault();
  bool check = false;
  app.AddFlag("--check", &check,
              "compute on each GPU, and say how fast it is; the exit code is 3 unless all that "
              "there are compute right");
  const std::optional<int> ended = app.Parse(argc, argv);
  if (ended) return *ended;
  cuda::Found found = cuda::Find();
  if (check) cuda::Check(&found);
  std::fputs((format == "json" ? JsonOf(found) : TextOf(found)).c_str(), stdout);
  return !check || found.AreRight() ? kExitDone : kExitBadNode;
}

}  // namespace taas
