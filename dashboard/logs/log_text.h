// Lines and notes of logs as they go to the browser: LogRecord of dashboard/web, or plain text.
//
// Pure. Ownership: values. Threads: any. Errors: none; what is no UTF-8 is replaced.
//
//   AppendLogRecord({.replica = "worker-0", .entry = entry}, &out);   // {"t":…,"r":…,"l":…}\n

#ifndef DASHBOARD_LOGS_LOG_TEXT_H_
#define DASHBOARD_LOGS_LOG_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "dashboard/logs/log_merge.h"

namespace taas::dashboard {

struct LogRecord {
  std::string_view replica;  // Empty: it is about all of them.
  int32_t pod_number = 0;
  const LogEntry& entry;  // For as long as the call.
};
// One line of NDJSON.
void AppendLogRecord(const LogRecord& record, std::string* out);
// "TIME REPLICA TEXT"; a note begins with "#".
void AppendLogText(const LogRecord& record, std::string* out);

// In quotes.
void AppendJsonText(std::string_view text, std::string* out);
// Letters, digits, "-", "_" and "."; all else becomes "_".
std::string SafeFileName(std::string_view name);

}  // namespace taas::dashboard

#endif  // DASHBOARD_LOGS_LOG_TEXT_H_
