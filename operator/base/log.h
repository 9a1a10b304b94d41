// Structured log lines on stderr: a sentence and fields, as text or as JSON.
//
// Library code logs through these functions and never writes to stdout or stderr itself. Secrets
// never go into a field; a caller passes names, not contents.
//
// Ownership: process-wide sink, set once in main. Threads: any. Errors: none.
//
//   Log(LogLevel::kInfo, "pod created", {{"job", "ns/mnist"}, {"pod", name}});

#ifndef OPERATOR_BASE_LOG_H_
#define OPERATOR_BASE_LOG_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace taas {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

using LogField = std::pair<std::string_view, std::string>;

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

// Lines below `level` are dropped. Default: info, text, to stderr.
void SetLogLevel(LogLevel level);
void SetLogFormat(LogFormat format);
// Sends lines to `path` instead of stderr; for a process that leaves its terminal.
void SetLogFile(const std::string& path);

// The line that Log would write, without time and level prefix handling of the sink. For tests.
std::string FormatLogFields(std::initializer_list<LogField> fields);

}  // namespace taas

#endif  // OPERATOR_BASE_LOG_H_
