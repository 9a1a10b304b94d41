// What the local cluster knows of a new job's volumes before its pods do: a claim that is only
// read, or that holds the files of the data, and has nothing in it. Its directory is made by the
// first pod, so that a forgotten data set shows as "No such file" in a log.
//
// Ownership: values. Threads: any. Errors: none; what cannot be looked at is not spoken of.
//
//   for (const std::string& sentence : EmptyClaims(job, dir_of)) …

#ifndef LOCALKUBE_CLUSTER_JOB_ADVICE_H_
#define LOCALKUBE_CLUSTER_JOB_ADVICE_H_

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace taas::localkube {

// `dir_of` gives the directory of a claim, whether it is there or not. Of a TrainingJob's
// `spec.volumes`; those in a pod template, as of a TFJob, may be anything.
std::vector<std::string> EmptyClaims(
    const nlohmann::json& job, const std::function<std::string(const std::string& claim)>& dir_of);

}  // namespace taas::localkube

#endif  // LOCALKUBE_CLUSTER_JOB_ADVICE_H_
