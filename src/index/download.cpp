#include "index/download.hpp"

#include "base/file.hpp"
#include "base/new_file.hpp"
#include "base/own_file.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "base/url.hpp"
#include "index/file_names.hpp"
#include "index/minimum_speed.hpp"
#include "index/verifier.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

namespace autopack::index {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds between_looks{50};

[[noreturn]] void throw_unusable(const fs::path& path, int code) {
  throw Error(ErrorKind::environment, fmt::format("cannot write `{}`", printable(path.string())))
      .cause(std::strerror(code));
}

FileDescriptor open_file(const fs::path& path) {
  constexpr int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  FileDescriptor file{::open(path.c_str(), flags, 0600)};
  if (!file && errno == ENOENT) {
    create_own_directories(path.parent_path());
    file = FileDescriptor{::open(path.c_str(), flags, 0600)};
  }
  if (!file) {
    throw_unusable(path, errno);
  }
  return file;
}

/// Returns whether `file` still has this name: its last holder may have moved it away.
bool is_at(const FileDescriptor& file, const fs::path& path) {
  struct stat opened {};

  struct stat named {};

  return ::fstat(file.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

std::uint64_t size_of(const FileDescriptor& file) {
  struct stat status {};

  return ::fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

PartialFile::PartialFile(fs::path path, FileDescriptor file, bool is_shared)
    : path_{std::move(path)},
      file_{std::move(file)},
      is_shared_{is_shared},
      size_{size_of(file_)} {}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_{std::exchange(other.path_, {})},
      file_{std::move(other.file_)},
      is_shared_{other.is_shared_},
      size_{other.size_} {}

PartialFile::~PartialFile() {
  if (!path_.empty() && (!is_shared_ || size_ == 0)) {
    ::unlink(path_.c_str());
  }
}

std::optional<PartialFile> PartialFile::take(const fs::path& path,
                                             const std::function<bool()>& is_done,
                                             const Patience& patience) {
  std::uint64_t seen = 0;
  std::chrono::milliseconds waited{0};
  for (;;) {
    FileDescriptor file = open_file(path);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      std::optional<PartialFile> held;
      if (is_at(file, path)) {
        held.emplace(PartialFile{path, std::move(file), true});
      }
      if (is_done()) {
        return std::nullopt;
      }
      if (held) {
        return held;
      }
      continue;
    }
    const bool is_held = errno == EWOULDBLOCK || errno == EINTR;
    const auto size = size_of(file);
    waited = size == seen ? waited + between_looks : std::chrono::milliseconds{0};
    seen = size;
    if (!is_held || waited > patience.time) {
      const fs::path own = name_underway(path);
      return PartialFile{own, open_file(own), false};
    }
    sleep_unless_cancelled(between_looks, patience.cancellation);
    if (is_done()) {
      return std::nullopt;
    }
  }
}

void PartialFile::read(const std::function<void(std::string_view)>& sink) const {
  std::array<char, 65536> buffer{};
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(file_.get(), buffer.data(), buffer.size(), at);
    if (count < 0 && errno != EINTR) {
      throw_unusable(path_, errno);
    }
    if (count == 0) {
      return;
    }
    if (count > 0) {
      sink({buffer.data(), static_cast<std::size_t>(count)});
      at += count;
    }
  }
}

void PartialFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      throw_unusable(path_, errno);
    }
    const auto written = static_cast<std::size_t>(count < 0 ? 0 : count);
    bytes.remove_prefix(written);
    size_ += written;
  }
}

void PartialFile::clear() {
  if (::ftruncate(file_.get(), 0) != 0) {
    throw_unusable(path_, errno);
  }
  size_ = 0;
}

void PartialFile::commit(const fs::path& path) {
  create_own_directories(path.parent_path());
  if (::rename(path_.c_str(), path.c_str()) != 0) {
    throw_unusable(path, errno);
  }
  path_.clear();
}

namespace {

/// Broken connections do not end the download as long as every few of them transfer this much.
constexpr std::uint64_t headway{1U << 20U};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc{} && stop == end ? std::optional{value} : std::nullopt;
}

/// Parses `bytes FIRST-LAST/TOTAL` (RFC 9110 section 14.4).
struct ContentRange {
  std::uint64_t first{0};
  std::optional<std::uint64_t> total{};

  static std::optional<ContentRange> parse(std::string_view text) {
    const auto dash = text.find('-');
    const auto slash = text.find('/');
    if (!to_lower(text.substr(0, 6)).starts_with("bytes ") || dash == std::string_view::npos ||
        slash == std::string_view::npos || slash < dash) {
      return std::nullopt;
    }
    const auto first = number(text.substr(6, dash - 6));
    return first ? std::optional{ContentRange{*first, number(text.substr(slash + 1))}}
                 : std::nullopt;
  }
};

/// The download of one file.
class Fetch {
public:
  Fetch(const Access& access,
        const Download& what,
        std::uint64_t largest,
        PartialFile& file,
        const DownloadProgress& progress)
      : access_{access}, what_{what}, largest_{largest}, file_{file}, progress_{progress} {}

  std::string run() {
    if (what_.size.value_or(0) > largest_) {
      throw wrong(
          fmt::format("it has {}; the limit is {}", human_size(*what_.size), human_size(largest_)));
    }
    bool resumed = file_.size() > 0;
    if (const auto url = Url::parse(what_.url);
        what_.hashes.empty() && url && !access_.is_secure(*url)) {
      throw wrong("it has no hash, and its URL is not https")
          .hint(fmt::format("to trust the host, add `--trusted-host={}` to the requirements file",
                            url->host));
    }
    // Without a hash, nothing shows that the existing bytes belong to this file.
    if (resumed && what_.hashes.empty()) {
      file_.clear();
      resumed = false;
    }
    start();
    try {
      bring();
      return check();
    } catch (const Mismatch&) {
      if (!resumed) {
        throw;
      }
    }
    restart();
    bring();
    return check();
  }

private:
  /// The file is not the requested one. None of it is kept.
  class Mismatch : public Error {
  public:
    explicit Mismatch(Error error) : Error{std::move(error)} {}
  };

  Error wrong(const std::string& cause) const {
    return Error(ErrorKind::remote, fmt::format("`{}` was not downloaded", printable(what_.name)))
        .cause(printable(redact_url(what_.url)))
        .cause(cause);
  }

  [[noreturn]] void refuse(const std::string& cause) {
    file_.clear();
    throw Mismatch{
        wrong(cause).hint("if it was replaced on purpose, make the lock again; otherwise inform "
                          "the owner of the index")};
  }

  /// Hashes the existing bytes.
  void start() {
    verifier_ = Verifier{what_.hashes};
    file_.read([this](std::string_view bytes) {
      stop_if_requested();
      verifier_.update(bytes);
    });
    report();
  }

  void restart() {
    file_.clear();
    start();
  }

  void bring() {
    if (const auto path = local_path(what_.url)) {
      copy(*path);
      return;
    }
    for (;;) {
      const std::uint64_t before = file_.size();
      try {
        request_all();
        return;
      } catch (const http::TransportError&) {
        if (file_.size() < before + headway) {
          throw;
        }
      }
    }
  }

  void request_all() {
    auto response = ask();
    if (response.status == 416) {
      // The existing bytes reach beyond the end of the file.
      restart();
      response = ask();
    }
    if (!response.ok()) {
      throw Access::refusal(last_, response);
    }
    if (!has_head_) {
      on_head(response);  // the body is empty
    }
  }

  http::Response ask() {
    return access_.send([this] {
      if (file_.size() > 0 && what_.hashes.empty() && !etag_) {
        restart();
      }
      auto request =
          access_.request(fmt::format("download `{}`", printable(what_.name)), what_.url);
      if (file_.size() > 0) {
        request.headers.push_back({"Range", fmt::format("bytes={}-", file_.size())});
      }
      if (file_.size() > 0 && etag_) {
        request.headers.push_back({"If-Range", *etag_});
      }
      has_head_ = false;
      request.on_head = [this](const http::Response& head) { on_head(head); };
      request.on_data = [this, speed = MinimumSpeed{request.what}](std::string_view bytes) mutable {
        speed.add(bytes.size());
        take(bytes);
      };
      last_ = request;
      return request;
    });
  }

  void on_head(const http::Response& head) {
    has_head_ = true;
    const auto range = ContentRange::parse(head.header("content-range").value_or(""));
    if (head.status != 206 && file_.size() > 0) {
      restart();
    }
    if (head.status == 206 && (!range || range->first != file_.size())) {
      refuse("the server sent another part of the file than requested");
    }
    const auto length = number(head.header("content-length").value_or(""));
    total_ = range ? range->total : length;
    etag_ = head.header("etag");
    if (etag_ && !etag_->starts_with('"')) {
      etag_.reset();
    }
    const auto expected = what_.size.value_or(total_.value_or(0));
    if (total_.value_or(expected) != expected) {
      refuse(fmt::format("the server's file has {} bytes, not {}", *total_, expected));
    }
    if (expected > largest_) {
      refuse(fmt::format("it has {}; the limit is {}", human_size(expected), human_size(largest_)));
    }
    report();
  }

  void take(std::string_view bytes) {
    const auto most = what_.size.value_or(largest_);
    if (bytes.size() > most - std::min(most, file_.size())) {
      refuse(fmt::format("the server sends more than {} bytes", most));
    }
    file_.append(bytes);
    verifier_.update(bytes);
    report();
  }

  void copy(const std::filesystem::path& path) {
    restart();
    read_in_pieces(path, [this](std::string_view bytes) {
      stop_if_requested();
      take(bytes);
    });
  }

  void stop_if_requested() const {
    if (access_.cancellation() != nullptr) {
      access_.cancellation()->throw_if_requested();
    }
  }

  std::string check() {
    if (what_.size && file_.size() != *what_.size) {
      refuse(fmt::format("it has {} bytes, not {}", file_.size(), *what_.size));
    }
    if (const auto fault = verifier_.finish()) {
      refuse(*fault);
    }
    return verifier_.sha256();
  }

  void report() const {
    if (progress_) {
      progress_(file_.size(), what_.size ? what_.size : total_);
    }
  }

  const Access& access_;
  const Download& what_;
  std::uint64_t largest_;
  PartialFile& file_;
  const DownloadProgress& progress_;
  Verifier verifier_{{}};
  http::Request last_{};
  std::optional<std::string> etag_{};  ///< a strong one
  std::optional<std::uint64_t> total_{};
  bool has_head_{false};
};

}  // namespace

std::string fetch(const Access& access,
                  const Download& what,
                  std::uint64_t largest,
                  PartialFile& file,
                  const DownloadProgress& progress) {
  return Fetch{access, what, largest, file, progress}.run();
}

}  // namespace autopack::index
