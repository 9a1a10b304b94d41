#include "operator/base/log.h"

#include <atomic>
#include <memory>
#include <mutex>

#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/basic_file_sink.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"
#include "third_party/json.h"

namespace taas {
namespace {

constexpr char kTextPattern[] = "%Y-%m-%dT%H:%M:%S.%eZ %L %v";
constexpr char kJsonPattern[] = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";

std::atomic<LogFormat> format{LogFormat::kText};

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

void SetPattern(spdlog::logger& logger) {
  const char* pattern = format == LogFormat::kJson ? kJsonPattern : kTextPattern;
  logger.set_formatter(
      std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
}

std::shared_ptr<spdlog::logger>& Sink() {
  static auto sink = [] {
    auto logger =
        std::make_shared<spdlog::logger>("taas", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    SetPattern(*logger);
    return logger;
  }();
  return sink;
}

std::string Json(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  spdlog::logger& logger = *Sink();
  if (!logger.should_log(ToSpdlog(level))) return;
  std::string line;
  if (format == LogFormat::kJson) {
    line = "\"message\":" + Json(message);
    for (const auto& [name, value] : fields) line += "," + Json(name) + ":" + Json(value);
  } else {
    line = std::string(message) + FormatLogFields(fields);
  }
  logger.log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
  logger.flush();
}

void SetLogLevel(LogLevel level) { Sink()->set_level(ToSpdlog(level)); }

void SetLogFormat(LogFormat new_format) {
  format = new_format;
  SetPattern(*Sink());
}

void SetLogFile(const std::string& path) {
  auto logger = std::make_shared<spdlog::logger>(
      "taas", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path));
  logger->set_level(Sink()->level());
  SetPattern(*logger);
  Sink() = std::move(logger);
}

std::string FormatLogFields(std::initializer_list<LogField> fields) {
  std::string line;
  for (const auto& [name, value] : fields) {
    const bool bare = !value.empty() && value.find_first_of(" \t\n\"=\\") == std::string::npos;
    line += " " + std::string(name) + "=" + (bare ? value : Json(value));
  }
  return line;
}

}  // namespace taas
