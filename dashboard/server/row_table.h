// All rows of the table of jobs, and what has changed in it since some moment.
//
// Every change of a row gets the next number; a tab that has seen everything up to a number gets
// what came after it, once per row however often the row has changed. Numbers go with an epoch, a
// random text per process: those of an earlier process mean nothing here, and the tab gets all.
//
// Ownership: keeps each row's text once, shared. Threads: one. Errors: none.
//
//   table.Put(key, {.uid = uid, .ns = ns, .kind = kind}, text);
//   const std::string event = table.Since(number, *sight);

#ifndef DASHBOARD_SERVER_ROW_TABLE_H_
#define DASHBOARD_SERVER_ROW_TABLE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "dashboard/server/sight.h"
#include "operator/api/job.h"

namespace taas::dashboard {

class RowTable {
 public:
  // Of jobs that are gone, 150 bytes each: a tab that was away for longer than these gets the whole
  // table.
  static constexpr size_t kTombsMax = 1'000;

  struct Place {
    std::string uid;
    std::string ns;
    JobKind kind = JobKind::kTrainingJob;
  };

  explicit RowTable(std::string epoch) : epoch_(std::move(epoch)) {}

  // False: it is there already and the same.
  bool Put(const std::string& key, Place place, const std::string& text);
  void Remove(const std::string& key);
  size_t size() const { return rows_.size(); }
  // Where there are jobs, and how many; `namespaces_version` counts the times that one was added.
  const std::map<std::string, size_t>& namespaces() const { return namespaces_; }
  uint64_t namespaces_version() const { return namespaces_version_; }
  uint64_t last() const { return last_; }

  // "EPOCH-NUMBER", for the id of an event.
  std::string CursorOf(uint64_t number) const { return epoch_ + "-" + std::to_string(number); }
  // 0: it is not of this epoch, or no cursor at all, so nothing is known.
  uint64_t NumberOf(std::string_view cursor) const;

  // A JobsEvent of dashboard/web for who has seen everything up to `number`; empty: nothing is new.
  // 0, or a number that is too old: the whole table.
  std::string Since(uint64_t number, const Sight& sight) const;
  // A JobList.
  std::string All(const Sight& sight) const;

 private:
  struct Row {
    Place place;
    std::string text;
    uint64_t number = 0;
  };
  struct Tomb {
    Place place;
    uint64_t number = 0;
  };

  std::string Rows(const Sight& sight) const;

  const std::string epoch_;
  uint64_t last_ = 1;  // So that who has seen an empty table has seen something.
  uint64_t forgotten_ = 0;  // The number of the last tomb that was dropped.
  std::map<std::string, Row> rows_;
  std::map<uint64_t, const Row*> by_number_;
  std::map<std::string, size_t> namespaces_;
  uint64_t namespaces_version_ = 0;
  std::deque<Tomb> tombs_;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_ROW_TABLE_H_
