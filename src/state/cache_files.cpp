#include "state/cache_files.hpp"

#include "base/error.hpp"
#include "base/file.hpp"

#include <algorithm>
#include <exception>
#include <random>
#include <system_error>
#include <vector>

namespace autopack::state {

namespace fs = std::filesystem;

namespace {

/// Looking at all files takes longer than writing one: it is done for one of this many.
constexpr std::uint64_t writes_to_a_look{16};

/// Removes the oldest files until the others are within `limit` bytes.
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
  if (total <= limit) {
    return;
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.time < b.time; });
  for (const File& file : files) {
    if (total <= limit / 2) {
      return;
    }
    fs::remove(file.path, code);
    total -= file.size;
  }
}

}  // namespace

std::optional<std::string> read_quietly(const fs::path& path) {
  try {
    return read_file_if_exists(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void write_quietly(const fs::path& path, std::string_view text, std::uint64_t limit) {
  try {
    write_file(path, text, FileMode::secret);
    if (text.size() > limit / writes_to_a_look || std::random_device{}() % writes_to_a_look == 0) {
      prune(path.parent_path(), limit);
    }
  } catch (const std::exception&) {
    return;  // whatever it is: a build is not worth less for it
  }
}

}  // namespace autopack::state
