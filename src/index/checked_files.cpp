#include "index/checked_files.hpp"

#include "base/digest.hpp"
#include "base/own_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace autopack::index {

namespace {

constexpr std::size_t read_at_once{std::size_t{1} << 20U};

/// Returns the SHA-256 of the rest of `file` in hexadecimal digits, or nothing if it cannot be
/// read.
std::optional<std::string> hash_of(const FileDescriptor& file, const Cancellation* cancellation) {
  Sha256 hash;
  std::vector<char> buffer(read_at_once);
  for (;;) {
    if (cancellation != nullptr) {
      cancellation->throw_if_requested();
    }
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count == 0) {
      return hash.finish().hex();
    }
    if (count < 0 && errno != EINTR) {
      return std::nullopt;
    }
    hash.update({buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0});
  }
}

}  // namespace

std::optional<CheckedFiles::Identity> CheckedFiles::identity_of(const std::filesystem::path& path) {
  struct stat facts = {};

  return ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode)
             ? std::optional{Identity{facts.st_dev, facts.st_ino, facts.st_size}}
             : std::nullopt;
}

std::shared_ptr<CheckedFiles::Checked> CheckedFiles::entry(const std::filesystem::path& path) {
  const std::scoped_lock lock{mutex_};
  auto& entry = files_[path.string()];
  entry = entry ? entry : std::make_shared<Checked>();
  return entry;
}

bool CheckedFiles::holds(const std::filesystem::path& path,
                         const std::string& sha256,
                         std::uint64_t size) {
  const auto identity = identity_of(path);
  if (!identity || static_cast<std::uint64_t>(identity->size) != size) {
    return false;
  }
  const auto known = entry(path);
  const std::scoped_lock lock{known->mutex};
  if (known->identity == identity) {
    return true;
  }
  const FileDescriptor file = open_own_file(path);
  if (!file || hash_of(file, cancellation_) != sha256) {
    return false;
  }
  known->identity = identity;
  return true;
}

void CheckedFiles::add(const std::filesystem::path& path) {
  const auto known = entry(path);
  const std::scoped_lock lock{known->mutex};
  known->identity = identity_of(path);
}

}  // namespace autopack::index
