#include "google/token_cache.hpp"

#include "base/descriptor.hpp"
#include "base/digest.hpp"
#include "base/json.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <random>

namespace autopack::google {

using nlohmann::json;

namespace {

constexpr std::size_t longest_file = 65536;

bool is_private(int descriptor, mode_t kind) {
  struct stat facts = {};

  return ::fstat(descriptor, &facts) == 0 && (facts.st_mode & S_IFMT) == kind &&
         facts.st_uid == ::geteuid() && (facts.st_mode & 077U) == 0;
}

/// Opens the directory without following a link; returns nothing unless only the user can access
/// it.
FileDescriptor open_directory(const std::filesystem::path& path) {
  FileDescriptor directory{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  return directory && is_private(directory.get(), S_IFDIR) ? std::move(directory)
                                                           : FileDescriptor{-1};
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (text.size() < longest_file) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      return false;
    }
    text.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return true;
}

}  // namespace

std::optional<std::filesystem::path> TokenCache::file_of(const std::string& identity) const {
  return directory_ ? std::optional{*directory_ / sha256(identity).hex()} : std::nullopt;
}

std::optional<AccessToken> TokenCache::read(const std::string& identity) const {
  const auto path = file_of(identity);
  if (!path) {
    return std::nullopt;
  }
  const auto directory = open_directory(path->parent_path());
  if (!directory) {
    return std::nullopt;
  }
  const FileDescriptor file{::openat(directory.get(), path->filename().c_str(),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file || !is_private(file.get(), S_IFREG)) {
    return std::nullopt;
  }
  const auto content = parse_json(read_all(file.get()));
  if (!content.is_object() || !content.contains("access_token") ||
      !content["access_token"].is_string() || !content.contains("expires_at") ||
      !content["expires_at"].is_number_integer()) {
    return std::nullopt;
  }
  return AccessToken{.token = Secret{content["access_token"].get<std::string>()},
                     .expires_at = content["expires_at"].get<std::int64_t>()};
}

void TokenCache::write(const std::string& identity, const AccessToken& token) const {
  const auto path = file_of(identity);
  if (!path || token.expires_at == 0) {
    return;
  }
  const auto place = path->parent_path();
  std::error_code ignored;
  std::filesystem::create_directories(place.parent_path(), ignored);
  ::mkdir(place.c_str(), 0700);
  const auto directory = open_directory(place);
  if (!directory) {
    return;
  }
  const auto temporary = fmt::format(".{}.{:08x}", ::getpid(), std::random_device{}());
  FileDescriptor file{::openat(directory.get(), temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!file) {
    return;
  }
  // some file systems give every file the same mode
  const bool written = is_private(file.get(), S_IFREG) &&
                       write_all(file.get(), write_json(json{{"access_token", token.token.reveal()},
                                                             {"expires_at", token.expires_at}})) &&
                       file.close() == 0;
  if (!written || ::renameat(directory.get(), temporary.c_str(), directory.get(),
                             path->filename().c_str()) != 0) {
    ::unlinkat(directory.get(), temporary.c_str(), 0);
  }
}

void TokenCache::erase(const std::string& identity) const {
  if (const auto path = file_of(identity)) {
    ::unlink(path->c_str());
  }
}

}  // namespace autopack::google
