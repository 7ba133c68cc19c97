#include "state/file_hashes.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "source/secrets.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>

namespace autopack::state {

namespace {

constexpr std::int64_t race_ns = 2'000'000'000;
/// The last characters are the version of the format.
constexpr std::array<char, 16> magic{'a', 'u', 't', 'o', 'p', 'a', 'c', 'k',
                                     '-', 'h', 'a', 's', 'h', '-', '0', '2'};

using Bytes32 = std::array<char, 32>;

Bytes32 to_bytes(const Digest& digest) {
  const std::string hex = digest.hex();
  Bytes32 bytes{};
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes.at(i) = static_cast<char>(value(hex[2 * i]) * 16 + value(hex[2 * i + 1]));
  }
  return bytes;
}

Digest to_digest(const Bytes32& bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "sha256:";
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4U];
    text += digits[static_cast<unsigned char>(c) & 15U];
  }
  return *Digest::parse(text);
}

/// Reads the file once for both.
FileFacts read(const source::Tree& tree, const source::Entry& entry) {
  Sha256 sha;
  source::SecretScan scan{entry.path, source::SecretScan::Detail::whether};
  tree.stream(entry.path, [&](std::string_view bytes) {
    sha.update(bytes);
    scan.feed(bytes);
  });
  return {.digest = sha.finish(), .cleared = scan.finish().empty()};
}

}  // namespace

/// As it stands in the file. The path is known by its digest, so that records have one size.
struct FileHashes::Record {
  Bytes32 path{};
  Bytes32 content{};
  std::uint64_t size{0};
  std::int64_t mtime_ns{0};
  std::int64_t ctime_ns{0};
  std::uint64_t inode{0};
  std::uint64_t cleared{0};  ///< source::secret_rules_version that found nothing; 0: none did

  bool same_state(const Record& other) const {
    return size == other.size && mtime_ns == other.mtime_ns && ctime_ns == other.ctime_ns &&
           inode == other.inode;
  }
};

/// The file, mapped: magic, then the records sorted by path.
class FileHashes::Table {
public:
  explicit Table(const std::filesystem::path& file) {
    const Descriptor descriptor{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};

    struct stat status = {};

    if (!descriptor || ::fstat(descriptor.get(), &status) != 0 ||
        status.st_size < static_cast<off_t>(magic.size())) {
      return;
    }
    size_ = static_cast<std::size_t>(status.st_size);
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
    if (mapped == MAP_FAILED) {
      size_ = 0;
      return;
    }
    bytes_ = static_cast<const char*>(mapped);
    if (std::memcmp(bytes_, magic.data(), magic.size()) == 0 &&
        (size_ - magic.size()) % sizeof(Record) == 0) {
      records_ = {reinterpret_cast<const Record*>(bytes_ + magic.size()),
                  (size_ - magic.size()) / sizeof(Record)};
    }
  }

  ~Table() {
    if (bytes_ != nullptr) {
      ::munmap(const_cast<char*>(bytes_), size_);
    }
  }

  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const Record* find(const Bytes32& path) const {
    const auto found =
        std::lower_bound(records_.begin(), records_.end(), path,
                         [](const Record& record, const Bytes32& p) { return record.path < p; });
    return found != records_.end() && found->path == path ? &*found : nullptr;
  }

  std::size_t count() const { return records_.size(); }

private:
  const char* bytes_{nullptr};
  std::size_t size_{0};
  std::span<const Record> records_{};
};

FileHashes::FileHashes(std::filesystem::path file)
    : file_{std::move(file)},
      old_{std::make_unique<Table>(file_)},
      now_ns_{std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::system_clock::now().time_since_epoch())
                  .count()} {}

FileHashes::~FileHashes() = default;

bool FileHashes::may_be_kept(const source::Entry& entry) const {
  return !entry.identity.empty() || std::max(entry.mtime_ns, entry.ctime_ns) + race_ns < now_ns_;
}

FileFacts FileHashes::of(const source::Tree& tree, const source::Entry& entry) {
  if (entry.inode == 0 && entry.identity.empty()) {
    return read(tree, entry);
  }
  const std::string& where = entry.identity.empty() ? tree.describe() : entry.identity;
  Record record{.path = to_bytes(sha256(where + '\0' + entry.path)),
                .size = entry.size,
                .mtime_ns = entry.mtime_ns,
                .ctime_ns = entry.ctime_ns,
                .inode = entry.inode};
  const Record* known = old_->find(record.path);
  if (known != nullptr && known->same_state(record) &&
      (known->cleared == source::secret_rules_version || known->cleared == 0)) {
    fresh_.push_back(*known);
    return {.digest = to_digest(known->content),
            .cleared = known->cleared == source::secret_rules_version};
  }
  FileFacts facts = read(tree, entry);
  changed_ = true;
  if (may_be_kept(entry)) {
    record.content = to_bytes(facts.digest);
    record.cleared = facts.cleared ? source::secret_rules_version : 0;
    fresh_.push_back(record);
  }
  return facts;
}

void FileHashes::save() {
  if (!changed_ && fresh_.size() == old_->count()) {
    return;
  }
  std::sort(fresh_.begin(), fresh_.end(),
            [](const Record& a, const Record& b) { return a.path < b.path; });
  fresh_.erase(std::unique(fresh_.begin(), fresh_.end(),
                           [](const Record& a, const Record& b) { return a.path == b.path; }),
               fresh_.end());
  std::string text(magic.data(), magic.size());
  text.append(reinterpret_cast<const char*>(fresh_.data()), fresh_.size() * sizeof(Record));
  try {
    write_file(file_, text, FileMode::secret);
  } catch (const Error&) {
    // A cache that cannot be written costs time, nothing else.
  }
  changed_ = false;
}

}  // namespace autopack::state
