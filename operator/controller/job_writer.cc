#include "operator/controller/job_writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "operator/api/job_codec.h"
#include "operator/base/log.h"
#include "operator/controller/merge_patch.h"
#include "operator/kube/api_path.h"
#include "operator/plan/tfjob_text.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using Kind = WriteResult::Kind;

// A server's work with a patch grows with the object. One of a megabyte took a busy server longer
// than what a request has, each time anew, so that the job never began; hence so much more time for
// it, up to that after which a server gives a request up itself.
constexpr std::chrono::milliseconds kPatienceMax{60'000};
constexpr size_t kBytesPerSecond = 32 << 10;

std::string NameOf(const ObjectMeta& job) { return job.ns + "/" + job.name; }

std::chrono::milliseconds PatienceFor(const Job& job) {
  return std::min(kPatienceMax,
                  HttpRequest{}.timeout + std::chrono::seconds(job.stored_bytes / kBytesPerSecond));
}

// As far as it matters to a patch: what stands there and cannot be read goes.
std::string StoredStatus(const Job& job) {
  if (job.unreadable_status.empty()) return EncodeStatus(job, job.status);
  Log(LogLevel::kWarning, "the job's status cannot be read: it is written anew",
      {{"job", NameOf(job.meta)}});
  return job.unreadable_status;
}

}  // namespace

void JobWriter::PatchLedger(const Job& job, const Ledger& ledger, WriteDone done) {
  const json body = {{"metadata",
                      {{"resourceVersion", job.meta.resource_version},
                       {"annotations", {{std::string(kLedgerAnnotation), EncodeLedger(ledger)}}}}}};
  HttpRequest request{.path = ObjectPath(ResourceOf(job.kind), job.meta.ns, job.meta.name)};
  // A new job's is one of many; of one that is under way it is what its end or a restart waits for.
  request.order = job.ledger.has_value() ? Order::kFirst : Order::kInTurn;
  request.body = RequestBody(body);
  Patch(job, std::move(request), "write the ledger of " + NameOf(job.meta), nullptr,
        std::move(done));
}

void JobWriter::PatchStatus(const Job& job, const JobStatus& status, KeptFields& kept, Order order,
                            WriteDone done) {
  const std::string wanted = EncodeStatus(job, status);
  HttpRequest request{
      .path = SubresourcePath(ResourceOf(job.kind), job.meta.ns, job.meta.name, "status")};
  request.order = order;
  request.body = StatusPatch(StoredStatus(job), wanted, job.meta.resource_version);
  Patch(
      job, std::move(request), "write the status of " + NameOf(job.meta),
      [&kept, wanted](const HttpReply& reply) { kept.Learn(wanted, reply.body); }, std::move(done));
}

void JobWriter::PatchRefusal(const Job& job, const JobStatus& status, KeptFields& kept,
                             WriteDone done) {
  const auto told = [&job](const JobStatus& whole) {
    const json all = json::parse(EncodeStatus(job, whole));
    json part = json::object();
    for (const char* field : {"conditions", "message"}) {
      if (all.contains(field)) part[field] = all[field];
    }
    return RequestBody(part);
  };
  const std::string wanted = told(status);
  HttpRequest request{
      .path = SubresourcePath(ResourceOf(job.kind), job.meta.ns, job.meta.name, "status")};
  request.body = StatusPatch(told(job.status), wanted, job.meta.resource_version);
  Patch(
      job, std::move(request), "write why nothing is done for " + NameOf(job.meta),
      [&kept, wanted](const HttpReply& reply) { kept.Learn(wanted, reply.body); }, std::move(done));
}

// `applied`, if any, sees the answer of a write that was.
void JobWriter::Patch(const Job& job, HttpRequest request, std::string what,
                      std::function<void(const HttpReply& reply)> applied, WriteDone done) {
  request.verb = Verb::kPatch;
  request.content_type = kMergePatch;
  const std::chrono::milliseconds patience = PatienceFor(job);
  request.timeout = patience;
  api_.Write(std::move(request),
             {.what = what,
              .meaning = {.missing = ApiWriter::Meaning::Next::kReplan},
              .take =
                  [this, kind = job.kind, applied = std::move(applied)](const HttpReply& reply) {
                    if (!view_.ObserveJob(kind, reply.body).ok()) return false;
                    if (applied != nullptr) applied(reply);
                    return true;
                  },
              .read_back = [this, meta = job.meta, kind = job.kind, patience, what,
                            done] { ReadJobBack(meta, kind, patience, what, done); },
              .done = done});
}

// After a conflict or a lost reply the job as it is now decides what is left to be done.
void JobWriter::ReadJobBack(const ObjectMeta& job, JobKind kind,
                            std::chrono::milliseconds patience, const std::string& what,
                            const WriteDone& done) {
  api_.Read({.path = ObjectPath(ResourceOf(kind), job.ns, job.name), .timeout = patience}, what,
            done, [this, kind, what, done](const HttpReply* found) {
              if (found != nullptr) {
                const absl::Status read = view_.ObserveJob(kind, found->body);
                if (!read.ok()) {
                  return done({.kind = Kind::kRefused,
                               .message = what + ": " + std::string(read.message())});
                }
              }
              done({.kind = Kind::kReplan, .message = what});
            });
}

void JobWriter::PatchMessage(const ObjectMeta& job, JobKind kind, const std::string& message) {
  PatchFlaw(job, kind, {{"message", message}});
}

void JobWriter::PatchInvalid(const ObjectMeta& job, JobKind kind, const std::string& message) {
  const std::string time = FormatRfc3339(clock_.WallNow());
  const json condition = {
      {"type", "Failed"},   {"status", "True"},       {"reason", kFailedValidation},
      {"message", message}, {"lastUpdateTime", time}, {"lastTransitionTime", time}};
  PatchFlaw(job, kind,
            {{"state", "Failed"}, {"conditions", json::array({condition})}, {"message", message}});
}

void JobWriter::PatchFlaw(const ObjectMeta& job, JobKind kind, const json& status) {
  HttpRequest request{.verb = Verb::kPatch,
                      .path = SubresourcePath(ResourceOf(kind), job.ns, job.name, "status")};
  request.body =
      RequestBody({{"metadata", {{"resourceVersion", job.resource_version}}}, {"status", status}});
  request.content_type = kMergePatch;
  api_.Send(std::move(request), [job](absl::StatusOr<HttpReply> reply) {
    const Answer answer = Classify(reply);
    if (answer == Answer::kDone || answer == Answer::kMissing) return;
    Log(LogLevel::kWarning, Cause(reply, "write what is wrong with the job"),
        {{"job", NameOf(job)}});
  });
}

}  // namespace taas
