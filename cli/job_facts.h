// What the commands say of a job besides its status: whether it learns texts, and what became of a
// pod that is gone.
//
// Ownership: values. Threads: any. Errors: none; "" and nothing where it is not known.
//
//   if (LearnsTexts(job)) io.err << "`taas generate " << job.meta.name << "`\n";
//   io.err << LastEndText(job, Role::kWorker, 0, now);

#ifndef CLI_JOB_FACTS_H_
#define CLI_JOB_FACTS_H_

#include <optional>
#include <string>

#include "operator/api/job.h"
#include "operator/base/clock.h"

namespace taas {

// Of the bundled trainer, data.format text: the model is one of language.
bool LearnsTexts(const Job& job);
// e to its loss, of such a job.
std::optional<double> PerplexityOf(const Job& job, const Evaluation& evaluation);

// "worker-0 ran out of memory 6 times (limit 1Gi), last 40s ago", where that is the newest restart.
std::string OutOfMemoryText(const Job& job, Clock::WallTime now);

// "worker-0 ended 12s ago (outOfMemory, exit code 137); its next pod comes in 8 s", of the newest
// restart among those that are wanted; no role: of any.
std::string LastEndText(const Job& job, std::optional<Role> role, int index, Clock::WallTime now);

}  // namespace taas

#endif  // CLI_JOB_FACTS_H_
