// Objects as rows of a table: what `kubectl get` prints without -o.
//
// The built-in kinds have kubectl's usual columns; a custom kind has those of its CRD.
//
// Ownership: values. Threads: any. Errors: none; what an object lacks is an empty cell.
//
//   json table = MakeTable(kind, objects, now, {.resource_version = "7"});

#ifndef LOCALKUBE_API_TABLES_H_
#define LOCALKUBE_API_TABLES_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "localkube/api/kinds.h"
#include "operator/base/clock.h"

namespace taas::localkube {

// What a row carries of its object (?includeObject=).
enum class IncludeObject { kNone, kMetadata, kObject };

nlohmann::json TableColumns(const Kind& kind);
nlohmann::json TableRow(const Kind& kind, const nlohmann::json& object, Clock::WallTime now,
                        IncludeObject include);
// A Table without rows; `metadata` is that of the list.
nlohmann::json EmptyTable(const Kind& kind, nlohmann::json metadata);

// "5m12s", as kubectl writes ages; "<unknown>" if `created` is not a time.
std::string Age(const std::string& created, Clock::WallTime now);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_TABLES_H_
