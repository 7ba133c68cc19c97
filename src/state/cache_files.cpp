#include "state/cache_files.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/own_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <map>
#include <mutex>
#include <random>
#include <system_error>
#include <vector>

namespace autopack::state {

namespace fs = std::filesystem;

namespace {

/// Listing all files takes longer than writing one: until it has listed a directory once, a process
/// does so after one of this many writes.
constexpr std::uint64_t writes_to_a_look{16};

/// Limit for one directory, whatever the size of its files.
constexpr std::size_t most_files{50'000};

/// Decides when this process lists a directory again: listing many files is worth it only after
/// many writes. This state is global in the process, because caches are copied and created again.
class Looks {
public:
  /// True if the directory should be listed after this write.
  bool is_due(const std::string& directory) {
    const std::scoped_lock lock{mutex_};
    const auto left = left_.find(directory);
    if (left == left_.end()) {
      return std::random_device{}() % writes_to_a_look == 0;
    }
    left->second -= left->second > 0 ? 1U : 0U;
    return left->second == 0;
  }

  void note(const std::string& directory, std::size_t files) {
    const std::scoped_lock lock{mutex_};
    left_[directory] = std::max<std::size_t>(writes_to_a_look, files / 4);
  }

private:
  std::mutex mutex_{};
  std::map<std::string, std::size_t> left_{};  ///< number of writes until it is listed again
};

Looks& looks() {
  static Looks all;
  return all;
}

/// If there are more than `limit` bytes or too many files, removes the oldest files until half of
/// the limit is left.
void prune(const fs::path& directory, std::uint64_t limit) {
  struct File {
    fs::path path;
    fs::file_time_type time;
    std::uint64_t size;
  };

  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code code;
  for (fs::directory_iterator entry{directory, code}; !code && entry != fs::directory_iterator{};
       entry.increment(code)) {
    std::error_code gone;
    const auto size = entry->file_size(gone);
    if (!gone) {
      files.push_back({entry->path(), entry->last_write_time(gone), size});
      total += size;
    }
  }
  looks().note(directory.string(), files.size());
  if (total <= limit && files.size() <= most_files) {
    return;
  }
  std::ranges::sort(files, [](const File& a, const File& b) { return a.time < b.time; });
  std::size_t count = files.size();
  const std::uint64_t bytes_kept = total > limit ? limit / 2 : limit;
  const std::size_t files_kept = count > most_files ? most_files / 2 : most_files;
  for (const File& file : files) {
    if (total <= bytes_kept && count <= files_kept) {
      return;
    }
    fs::remove(file.path, code);
    total -= file.size;
    --count;
  }
}

}  // namespace

std::optional<std::string> read_quietly(const fs::path& path) {
  const FileDescriptor file = open_own_file(path);
  std::string text;
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  while (file && text.size() <= largest_text) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count == 0) {
      return text;
    }
    if (count < 0 && errno != EINTR) {
      return std::nullopt;
    }
    text.append(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return std::nullopt;
}

void write_quietly(const fs::path& path, std::string_view text, std::uint64_t limit) {
  try {
    write_file(path, text, FileMode::secret);
    const auto directory = path.parent_path();
    if (looks().is_due(directory.string()) || text.size() > limit / writes_to_a_look) {
      prune(directory, limit);
    }
  } catch (const std::exception&) {
    return;  // ignores every error: the build matters more
  }
}

}  // namespace autopack::state
