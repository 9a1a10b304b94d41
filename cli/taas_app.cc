#include "cli/taas_app.h"

#include <algorithm>
#include <ostream>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"

namespace taas {

int RunTaas(std::vector<std::string> arguments, const CommandIo& io, const MoreCommands& more) {
  int exit_code = kExitOk;
  CLI::App app("Training jobs on Kubernetes or on this machine", "taas");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 timed out.\n"
      "`taas data` is `taas-trainer data`: see `taas data --help`.");
  AddJobCommands(app, io, &exit_code);
  app.add_subcommand("version", "Print the version")->callback([&io] {
    io.out << "taas " << kVersion << "\n";
  });
  if (more != nullptr) more(app, &exit_code);
  try {
    std::reverse(arguments.begin(), arguments.end());  // As CLI11 takes a vector.
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& e) {
    const bool is_help = e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    app.exit(e, io.out, io.err);
    return is_help ? kExitOk : kExitUsage;
  }
  return exit_code;
}

}  // namespace taas
