// --log-format and --log-level of both programs.
//
// Ownership: outlives the app. Threads: one. Errors: those of Parse.
//
//   flags.log.AddTo(app);
//   flags.log.Apply();

#ifndef OPERATOR_CMD_LOG_FLAGS_H_
#define OPERATOR_CMD_LOG_FLAGS_H_

#include <string>

namespace taas {

class Command;

struct LogFlags {
  std::string format = "text";
  std::string level = "info";

  void AddTo(Command& app);
  void Apply() const;
};

}  // namespace taas

#endif  // OPERATOR_CMD_LOG_FLAGS_H_
