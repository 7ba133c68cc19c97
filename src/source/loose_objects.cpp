#include "source/loose_objects.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/zlib.hpp"
#include "source/git_repository.hpp"

#include <fmt/format.h>
#include <git2/sys/odb_backend.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::source {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece{65536};
constexpr std::size_t longest_header{32};
constexpr std::uint64_t largest_object{std::uint64_t{1} << 62U};
constexpr int before_all_others{100};
constexpr int most_alternates{5};

/// Returns the size of an object including its header, from the header `blob 12\0`; nothing if
/// `bytes` does not begin with a header.
std::optional<std::uint64_t> said_size(std::string_view bytes) {
  const auto end = bytes.find('\0');
  for (const std::string_view kind : {"blob ", "tree ", "commit ", "tag "}) {
    if (end == std::string_view::npos || !bytes.starts_with(kind)) {
      continue;
    }
    std::uint64_t size = 0;
    const auto number = bytes.substr(kind.size(), end - kind.size());
    const auto [stop, code] = std::from_chars(number.begin(), number.end(), size);
    const bool whole = code == std::errc{} && stop == number.end() && size < largest_object;
    return whole ? std::optional{end + 1 + size} : std::nullopt;
  }
  return std::nullopt;
}

/// Returns whether the compressed data in `path` is complete and has the size in its header:
/// otherwise libgit2 1.5 writes out of bounds. Returns true for a missing file.
bool is_whole(const fs::path& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) {
    return !fs::exists(fs::symlink_status(path, code));
  }
  std::ifstream file{path, std::ios::binary};
  z_stream stream = {};
  if (zlib().init(&stream, Zlib::zlib_format, ZLIB_VERSION, sizeof stream) != Z_OK) {
    return false;
  }
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> owner{&stream, zlib().end};
  std::vector<char> in(piece);
  std::vector<char> out(piece);
  std::string head;
  std::optional<std::uint64_t> wanted;
  std::uint64_t size = 0;
  int status = Z_OK;
  while (status == Z_OK || status == Z_BUF_ERROR) {
    if (stream.avail_in == 0) {
      file.read(in.data(), static_cast<std::streamsize>(in.size()));
      stream.next_in = reinterpret_cast<Bytef*>(in.data());
      stream.avail_in = static_cast<uInt>(file.gcount());
      if (stream.avail_in == 0) {
        return false;
      }
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    status = zlib().inflate(&stream, Z_NO_FLUSH);
    const std::size_t count = out.size() - stream.avail_out;
    size += count;
    head.append(out.data(), std::min(count, longest_header - head.size()));
    wanted = wanted ? wanted : said_size(head);
    if (wanted ? size > *wanted : head.size() == longest_header) {
      return false;
    }
  }
  return status == Z_STREAM_END && size == wanted;
}

/// Adds `objects` and the directories in its `info/alternates`, each once.
void add_directories(const fs::path& objects, int depth, std::set<fs::path>& all) {
  std::error_code code;
  const fs::path place = fs::canonical(objects, code);
  if (code || !all.insert(place).second) {
    return;
  }
  std::optional<std::string> text;
  try {
    text =
        depth < most_alternates ? read_file_if_exists(place / "info" / "alternates") : std::nullopt;
  } catch (const Error&) {
    return;  // libgit2 reports it
  }
  for (const auto& line : split(text.value_or(""), '\n')) {
    if (!line.empty() && !line.starts_with('#')) {
      add_directories(place / line, depth + 1, all);
    }
  }
}

/// Contains no objects: returns "not here", so that the next backend is used, or the search ends.
class Guard final : public git_odb_backend {
public:
  explicit Guard(const fs::path& objects) : git_odb_backend{} {
    version = GIT_ODB_BACKEND_VERSION;
    add_directories(objects, 0, directories_);
    read = [](void**, std::size_t*, git_object_t*, git_odb_backend* self, const git_oid* id) {
      return static_cast<Guard*>(self)->check(hex(*id));
    };
    read_header = [](std::size_t*, git_object_t*, git_odb_backend* self, const git_oid* id) {
      return static_cast<Guard*>(self)->check(hex(*id));
    };
    read_prefix = [](git_oid*, void**, std::size_t*, git_object_t*, git_odb_backend* self,
                     const git_oid* id, std::size_t length) {
      return static_cast<Guard*>(self)->check_all(hex(*id).substr(0, length));
    };
    free = [](git_odb_backend* self) { delete static_cast<Guard*>(self); };
  }

private:
  int check(const std::string& id) noexcept;
  int check_all(const std::string& prefix) noexcept;

  std::set<fs::path> directories_{};
  std::set<std::string> whole_{};
};

int Guard::check(const std::string& id) noexcept {
  try {
    if (whole_.contains(id)) {
      return GIT_ENOTFOUND;
    }
    for (const auto& directory : directories_) {
      const fs::path file = directory / id.substr(0, 2) / id.substr(2);
      if (!is_whole(file)) {
        const std::string why = fmt::format(
            "the object `{}` is damaged: `git fsck` tells what is lost", printable(file.string()));
        git().error_set_str(GIT_ERROR_ODB, why.c_str());
        return GIT_ERROR;
      }
    }
    whole_.insert(id);
    return GIT_ENOTFOUND;
  } catch (const std::exception& error) {
    git().error_set_str(GIT_ERROR_ODB, error.what());
    return GIT_ERROR;
  }
}

int Guard::check_all(const std::string& prefix) noexcept {
  try {
    for (const auto& directory : directories_) {
      const std::string folder = prefix.substr(0, 2);
      std::error_code code;
      for (fs::directory_iterator entry{directory / folder, code}, end; !code && entry != end;
           entry.increment(code)) {
        const std::string id = folder + entry->path().filename().string();
        const int answer =
            id.size() == GIT_OID_HEXSZ && id.starts_with(prefix) ? check(id) : GIT_ENOTFOUND;
        if (answer != GIT_ENOTFOUND) {
          return answer;
        }
      }
    }
    return GIT_ENOTFOUND;
  } catch (const std::exception& error) {
    git().error_set_str(GIT_ERROR_ODB, error.what());
    return GIT_ERROR;
  }
}

}  // namespace

void guard_loose_objects(git_repository* repository) {
  git_odb* database = nullptr;
  if (git().repository_odb(&database, repository) != 0) {
    throw Error(ErrorKind::environment, "git's objects cannot be read").cause(git_reason());
  }
  const std::unique_ptr<git_odb, decltype(git().odb_free)> owner{database, git().odb_free};
  auto guard =
      std::make_unique<Guard>(fs::path{git().repository_commondir(repository)} / "objects");
  if (git().odb_add_backend(database, guard.get(), before_all_others) != 0) {
    throw Error(ErrorKind::environment, "git's objects cannot be read").cause(git_reason());
  }
  static_cast<void>(guard.release());
}

}  // namespace autopack::source
