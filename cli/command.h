// What all verbs of `taas` share: where text goes, which cluster is meant, how errors are told.
//
// Ownership: `io` outlives the app and every callback made with it. Threads: one. Errors: Report
// prints the sentence on io.err and gives the exit code (exit_code.h).
//
//   AddClusterFlags(verb, &flags->cluster);
//   verb.OnRun([&io, flags, exit_code] { *exit_code = Report(io, Run(io, *flags)); });

#ifndef CLI_COMMAND_H_
#define CLI_COMMAND_H_

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/api_client.h"
#include "operator/base/command_line.h"
#include "operator/kube/kubeconfig.h"

namespace taas {

struct CommandIo {
  std::ostream& out;   // Data.
  std::ostream& err;   // Everything else.
  Getenv env;
  bool color = false;  // `out` is a terminal and $NO_COLOR is not set.
  // What programs wrote, byte for byte, which `out` and `err` do not pass on (RunTaas sets it).
  // Null: `out` does.
  std::ostream* raw = nullptr;
  // Where a claim of the cluster that this kubeconfig names is on this machine; empty: elsewhere.
  // Null: that is not known of any.
  std::function<std::string(const std::string& kubeconfig, const std::string& ns,
                            const std::string& claim)>
      claim_folder = nullptr;
};

struct ClusterFlags {
  std::string kubeconfig, context, ns;
};
void AddClusterFlags(Command& verb, ClusterFlags* flags);

// Connects, and makes the namespace a definite one.
absl::StatusOr<std::unique_ptr<ApiClient>> Connect(const CommandIo& io, ClusterFlags* flags);

int Report(const CommandIo& io, const absl::Status& status);

// "90", "90s", "5m", "2h", "1d", "1h30m"; nothing for anything else and for more than a year.
std::optional<std::chrono::seconds> ParseDuration(const std::string& text);
// Makes a flag refuse what ParseDuration does not know.
void CheckIsDuration(Option option);

// `json` as indented JSON or as YAML.
absl::Status PrintObject(const CommandIo& io, const std::string& json, const std::string& output);

}  // namespace taas

#endif  // CLI_COMMAND_H_
