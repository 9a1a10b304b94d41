// A directory of a test, with files that are written, added to, replaced and removed.
//
// Ownership: removes the directory in the end. Threads: one at a time. Errors: end the program.
//
//   FakeDirectory directory;
//   directory.Write("train/events.out.tfevents.1", bytes);
//   directory.Append("train/events.out.tfevents.1", more);

#ifndef OPERATOR_BASE_FAKE_DIRECTORY_H_
#define OPERATOR_BASE_FAKE_DIRECTORY_H_

#include <string>
#include <string_view>

namespace taas {

class FakeDirectory {
 public:
  FakeDirectory();
  ~FakeDirectory();
  FakeDirectory(const FakeDirectory&) = delete;
  FakeDirectory& operator=(const FakeDirectory&) = delete;

  const std::string& path() const { return path_; }
  // Makes the directories above `name`. An existing file keeps its inode.
  void Write(const std::string& name, std::string_view bytes) const;
  void Append(const std::string& name, std::string_view bytes) const;
  // By a new file that is renamed to this name, as rsync does.
  void Replace(const std::string& name, std::string_view bytes) const;
  void Remove(const std::string& name) const;  // With all that is in it.
  void Link(const std::string& name, const std::string& target) const;

 private:
  std::string path_;
};

}  // namespace taas

#endif  // OPERATOR_BASE_FAKE_DIRECTORY_H_
