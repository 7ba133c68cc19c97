#include "index/wheel_cache.hpp"

#include "base/digest.hpp"
#include "base/new_file.hpp"
#include "base/own_file.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
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

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::hours left_alone{1};
/// For interrupted downloads that nobody continued.
constexpr std::chrono::hours oldest_partial{24 * 7};
constexpr auto partial_directory = "underway";

bool is_sha256(std::string_view text) {
  return Digest::parse(fmt::format("sha256:{}", text)).has_value();
}

/// Returns the size in the name of a cached file, or nothing for a foreign file.
std::optional<std::uint64_t> size_in(std::string_view name) {
  if (name.size() < 66 || name[64] != '-' || !is_sha256(name.substr(0, 64))) {
    return std::nullopt;
  }
  std::uint64_t size = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, code] = std::from_chars(name.data() + 65, end, size);
  return code == std::errc{} && stop == end ? std::optional{size} : std::nullopt;
}

/// Returns the file as its name describes it, or nothing if its size differs. Marks it as used.
std::optional<CachedFile> named_file(const fs::path& path) {
  const std::string name = path.filename().string();
  std::error_code code;
  const auto size = fs::file_size(path, code);
  if (code || size_in(name) != size) {
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), code);
  return CachedFile{.path = path, .sha256 = name.substr(0, 64), .size = size};
}

/// Adds up the progress of several downloads.
class Totals {
public:
  Totals(const Progress& progress, const std::vector<Download>& downloads)
      : progress_{progress}, parts_(downloads.size()) {
    for (std::size_t i = 0; i < downloads.size(); ++i) {
      parts_[i].total = downloads[i].size.value_or(0);
    }
  }

  /// Excludes a file that needs no download.
  void leave_out(std::size_t index) { parts_[index] = {}; }

  void set(std::size_t index, std::uint64_t done, std::optional<std::uint64_t> total) {
    if (!progress_) {
      return;
    }
    const std::scoped_lock lock{mutex_};
    parts_[index] = {done, total.value_or(done)};
    Part sum;
    for (const auto& part : parts_) {
      sum.done += part.done;
      sum.total += part.total;
    }
    progress_(sum.done, sum.total);
  }

private:
  struct Part {
    std::uint64_t done{0};
    std::uint64_t total{0};
  };

  const Progress& progress_;
  std::mutex mutex_{};
  std::vector<Part> parts_;
};

struct OldFile {
  fs::path path{};
  fs::file_time_type used{};
  std::uint64_t size{0};
};

/// Returns all files below `directory`; ignores those that vanish meanwhile.
std::vector<OldFile> files_below(const fs::path& directory) {
  std::vector<OldFile> files;
  std::error_code code;
  for (fs::recursive_directory_iterator entry{directory, code};
       !code && entry != fs::recursive_directory_iterator{}; entry.increment(code)) {
    std::error_code gone;
    if (entry->is_regular_file(gone)) {
      OldFile file{.path = entry->path(), .used = entry->last_write_time(gone)};
      file.size = gone ? 0 : entry->file_size(gone);
      if (!gone) {
        files.push_back(std::move(file));
      }
    }
  }
  std::ranges::sort(files, [](const OldFile& a, const OldFile& b) { return a.used < b.used; });
  return files;
}

}  // namespace

WheelCache::WheelCache(const Access& access, WheelCacheOptions options)
    : access_{access},
      options_{std::move(options)},
      checked_{std::make_unique<CheckedFiles>(access.cancellation())} {}

fs::path WheelCache::path_of(const std::string& sha256, std::uint64_t size) const {
  return options_.directory / sha256.substr(0, 2) / fmt::format("{}-{}", sha256, size);
}

std::optional<CachedFile> WheelCache::named(const std::string& sha256) const {
  if (!is_sha256(sha256)) {
    return std::nullopt;
  }
  std::error_code code;
  for (fs::directory_iterator entry{options_.directory / sha256.substr(0, 2), code};
       !code && entry != fs::directory_iterator{}; entry.increment(code)) {
    if (entry->path().filename().string().starts_with(sha256 + "-")) {
      if (auto file = named_file(entry->path())) {
        return file;
      }
    }
  }
  return std::nullopt;
}

std::optional<CachedFile> WheelCache::named(const Download& what) const {
  for (const auto& hash : what.hashes) {
    if (hash.algorithm != "sha256" || !is_sha256(hash.hex)) {
      continue;
    }
    auto file = what.size ? named_file(path_of(hash.hex, *what.size)) : named(hash.hex);
    if (file) {
      return file;
    }
  }
  return std::nullopt;
}

std::optional<CachedFile> WheelCache::checked(std::optional<CachedFile> file) const {
  if (!file || checked_->holds(file->path, file->sha256, file->size)) {
    return file;
  }
  access_.detail(fmt::format("`{}` in the cache is damaged, or not only yours: ignoring it",
                             file->path.string()));
  std::error_code ignored;
  fs::remove(file->path, ignored);
  return std::nullopt;
}

bool WheelCache::has(const std::string& sha256) const {
  return named(sha256).has_value();
}

std::optional<CachedFile> WheelCache::find(const std::string& sha256) const {
  return checked(named(sha256));
}

std::optional<CachedFile> WheelCache::find(const Download& what) const {
  return checked(named(what));
}

CachedFile WheelCache::get(const Download& what, const Progress& progress) {
  return std::move(get_all({what}, progress).front());
}

std::vector<CachedFile> WheelCache::get_all(
    const std::vector<Download>& downloads,
    const Progress& progress,
    const std::function<void(std::size_t index, const CachedFile&)>& arrived) {
  std::vector<CachedFile> files(downloads.size());
  std::vector<std::size_t> missing;
  std::mutex mutex;
  const auto arrive = [&](std::size_t index, CachedFile file) {
    files[index] = std::move(file);
    if (arrived) {
      const std::scoped_lock lock{mutex};
      arrived(index, files[index]);
    }
  };
  Totals totals{progress, downloads};
  std::vector<std::optional<CachedFile>> known(downloads.size());
  in_parallel(known.size(), std::max(1U, std::thread::hardware_concurrency()),
              [&](std::size_t i) { known[i] = find(downloads[i]); });
  for (std::size_t i = 0; i < downloads.size(); ++i) {
    if (known[i]) {
      totals.leave_out(i);
      arrive(i, std::move(*known[i]));
    } else {
      missing.push_back(i);
    }
  }
  in_parallel(missing.size(), options_.connections, [&](std::size_t i, const Stop& stop) {
    const std::size_t index = missing[i];
    const auto report = [&](std::uint64_t done, std::optional<std::uint64_t> total) {
      stop.throw_if_requested();
      totals.set(index, done, total);
    };
    auto file = bring(downloads[index], report);
    report(file.size, file.size);
    arrive(index, std::move(file));
  });
  if (!missing.empty()) {
    prune();
  }
  return files;
}

CachedFile WheelCache::bring(const Download& what, const DownloadProgress& progress) {
  std::string key = Location::parse(what.url).url;
  for (const auto& hash : what.hashes) {
    key += fmt::format("\n{}:{}", hash.algorithm, hash.hex);
  }
  std::optional<CachedFile> known;
  auto file = PartialFile::take(
      options_.directory / partial_directory / sha256(key).hex(),
      [&] {
        known = find(what);
        return known.has_value();
      },
      {.time = 2 * access_.settings().timeout, .cancellation = access_.cancellation()});
  if (!file) {
    return std::move(*known);
  }
  const std::string digits = fetch(access_, what, options_.largest, *file, progress);
  const fs::path path = path_of(digits, file->size());
  file->commit(path);
  checked_->add(path);
  return {.path = path, .sha256 = digits, .size = file->size()};
}

CachedFile WheelCache::add(const std::function<void(const Take& out)>& write) const {
  const fs::path underway = options_.directory / partial_directory / "added";
  sweep_leftovers(underway);
  NewFile file{underway, FileMode::secret};
  Sha256 hash;
  std::uint64_t size = 0;
  write([&](std::string_view bytes) {
    if (access_.cancellation() != nullptr) {
      access_.cancellation()->throw_if_requested();
    }
    file.write(bytes);
    hash.update(bytes);
    size += bytes.size();
  });
  const std::string digits = hash.finish().hex();
  const fs::path path = path_of(digits, size);
  file.commit_as(path);
  checked_->add(path);
  return {.path = path, .sha256 = digits, .size = size};
}

void WheelCache::forget(const std::string& sha256) const {
  if (const auto file = named(sha256)) {
    std::error_code ignored;
    fs::remove(file->path, ignored);
  }
}

void WheelCache::prune() const {
  const auto now = fs::file_time_type::clock::now();
  auto files = files_below(options_.directory);
  std::uint64_t total = 0;
  for (const auto& file : files) {
    total += file.size;
  }
  std::error_code ignored;
  for (const auto& file : files) {
    const bool is_partial = file.path.parent_path().filename() == partial_directory;
    const auto age = now - file.used;
    const bool is_old = age > (is_partial ? oldest_partial : options_.oldest);
    if (is_old || (total > options_.limit && age > left_alone)) {
      fs::remove(file.path, ignored);
      total -= file.size;
    }
  }
}

}  // namespace autopack::index
