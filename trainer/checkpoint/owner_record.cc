#include "trainer/checkpoint/owner_record.h"

#include <chrono>

#include "third_party/json.h"

namespace taas {

using nlohmann::json;

std::string EncodeOwnerRecord(const OwnerRecord& record) {
  return json{{"job", record.owner.job},
              {"uid", record.owner.uid},
              {"attempt", record.owner.attempt},
              {"pod", record.owner.pod},
              {"start", record.owner.start},
              {"renewed", FormatRfc3339Micro(record.renewed)},
              {"released", record.released}}
             .dump(-1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

absl::StatusOr<OwnerRecord> ParseOwnerRecord(const std::string& text) {
  try {
    const json value = json::parse(text);
    OwnerRecord record;
    record.owner.job = value.at("job").get<std::string>();
    record.owner.uid = value.at("uid").get<std::string>();
    record.owner.attempt = value.at("attempt").get<int64_t>();
    record.owner.pod = value.at("pod").get<int64_t>();
    record.owner.start = value.at("start").get<std::string>();
    record.released = value.at("released").get<bool>();
    if (ParseRfc3339(value.at("renewed").get<std::string>(), &record.renewed)) return record;
    return absl::DataLossError("owner record: `renewed` is no time");
  } catch (const json::exception& error) {
    return absl::DataLossError(std::string("owner record: ") + error.what());
  }
}

bool SameProcess(const CheckpointOwner& a, const CheckpointOwner& b) {
  return a.uid == b.uid && a.attempt == b.attempt && a.pod == b.pod && a.start == b.start;
}

std::string DescribeOwner(const CheckpointOwner& owner) {
  return "job " + (owner.job.empty() ? "(unnamed)" : owner.job) + " (uid " + owner.uid +
         ", attempt " + std::to_string(owner.attempt) + ", pod " + std::to_string(owner.pod) + ")";
}

absl::Status MayClaim(const OwnerRecord& there, const CheckpointOwner& me, Clock::WallTime now,
                      Clock::Duration lease) {
  if (there.owner.uid == me.uid) {
    const bool late = me.attempt != there.owner.attempt ? me.attempt < there.owner.attempt
                                                        : me.pod < there.owner.pod;
    if (!late) return absl::OkStatus();
    return absl::FailedPreconditionError("it belongs to " + DescribeOwner(there.owner) +
                                         "; this process is attempt " +
                                         std::to_string(me.attempt) + ", pod " +
                                         std::to_string(me.pod) + ", and must not write there");
  }
  // Clocks of two machines differ, so a sign from the near future is a sign of life too.
  const auto since = now - there.renewed;
  const auto age = since < Clock::Duration(0) ? -since : since;
  if (there.released || age >= lease) return absl::OkStatus();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  return absl::AbortedError("it is in use by another job, " + DescribeOwner(there.owner) +
                                ", which gave a sign of life " + std::to_string(seconds) +
                                " s ago; give each job a directory of its own");
}

}  // namespace taas
