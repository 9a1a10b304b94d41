#include "operator/base/fake_directory.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "operator/base/file_system.h"

namespace taas {
namespace {

void Must(bool done, const std::string& what) {
  if (done) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

}  // namespace

FakeDirectory::FakeDirectory() {
  const char* const top = std::getenv("TEST_TMPDIR");
  path_ = std::string(top != nullptr ? top : "/tmp") + "/events.XXXXXX";
  Must(::mkdtemp(path_.data()) != nullptr, "make a directory " + path_);
}

FakeDirectory::~FakeDirectory() { std::filesystem::remove_all(path_); }

void FakeDirectory::Write(const std::string& name, std::string_view bytes) const {
  PosixFileSystem files;
  const std::string path = path_ + "/" + name;
  Must(files.MakeDirs(DirName(path)).ok(), "make the directory of " + path);
  const auto file = files.OpenWrite(path);
  Must(file.ok() && (*file)->Append(bytes).ok(), "write " + path);
}

void FakeDirectory::Append(const std::string& name, std::string_view bytes) const {
  PosixFileSystem files;
  const auto file = files.OpenAppend(path_ + "/" + name);
  Must(file.ok() && (*file)->Append(bytes).ok(), "append to " + name);
}

void FakeDirectory::Replace(const std::string& name, std::string_view bytes) const {
  Write("replacement", bytes);
  PosixFileSystem files;
  Must(files.Rename(path_ + "/replacement", path_ + "/" + name).ok(), "replace " + name);
}

void FakeDirectory::Remove(const std::string& name) const {
  std::filesystem::remove_all(path_ + "/" + name);
}

void FakeDirectory::Link(const std::string& name, const std::string& target) const {
  std::filesystem::create_symlink(target, path_ + "/" + name);
}

}  // namespace taas
