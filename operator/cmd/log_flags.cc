#include "operator/cmd/log_flags.h"

#include "CLI/CLI.hpp"
#include "operator/base/log.h"

namespace taas {
namespace {

LogLevel LevelOf(const std::string& name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warning") return LogLevel::kWarning;
  return name == "error" ? LogLevel::kError : LogLevel::kInfo;
}

}  // namespace

void LogFlags::AddTo(CLI::App* app) {
  app->add_option("--log-format", format, "text (for people) or json (for collectors)")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->envname("TAAS_LOG_FORMAT");
  app->add_option("--log-level", level, "Lines below it are dropped")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str()
      ->envname("TAAS_LOG_LEVEL");
}

void LogFlags::Apply() const {
  SetLogFormat(format == "json" ? LogFormat::kJson : LogFormat::kText);
  SetLogLevel(LevelOf(level));
}

}  // namespace taas
