#include "operator/cmd/log_flags.h"

#include "operator/base/command_line.h"
#include "operator/base/log.h"

namespace taas {
namespace {

LogLevel LevelOf(const std::string& name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warning") return LogLevel::kWarning;
  return name == "error" ? LogLevel::kError : LogLevel::kInfo;
}

}  // namespace

void LogFlags::AddTo(Command& app) {
  app.AddOption("--log-format", &format, "text (for people) or json (for collectors)")
      .OneOf({"text", "json"})
      .ShowDefault()
      .FromEnv("TAAS_LOG_FORMAT");
  app.AddOption("--log-level", &level, "Lines below it are dropped")
      .OneOf({"debug", "info", "warning", "error"})
      .ShowDefault()
      .FromEnv("TAAS_LOG_LEVEL");
}

void LogFlags::Apply() const {
  SetLogFormat(format == "json" ? LogFormat::kJson : LogFormat::kText);
  SetLogLevel(LevelOf(level));
}

}  // namespace taas
