#include "state/file_hashes.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/own_file.hpp"
#include "base/report.hpp"
#include "source/secrets.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <span>

namespace autopack::state {

namespace {

constexpr std::uint32_t records_let_go = 8192;
/// For a few edited files, a linear search is faster than sorting the table.
constexpr std::uint32_t searches_without_order = 4;
constexpr off_t largest_table = off_t{1} << 30U;
constexpr std::size_t written_at_once = 65536;
constexpr std::int64_t race_ns = 2'000'000'000;
/// The last characters are the format's version.
constexpr std::array<char, 16> magic{'a', 'u', 't', 'o', 'p', 'a', 'c', 'k',
                                     '-', 'h', 'a', 's', 'h', '-', '0', '3'};

/// A path and its tree. Two hashes of 64 bits: for a mix-up, inode, size and times would have to be
/// equal, too.
using Key = std::array<std::uint64_t, 2>;

/// These records differ only in their identity, and the author of the commit controls it.
Key key_by_identity(std::string_view path, std::string_view identity) {
  Sha256 hash;
  hash.update(identity);
  hash.update({"\0", 1});
  hash.update(path);
  const auto digest = hash.finish_bytes();
  Key key{};
  std::memcpy(key.data(), digest.data(), sizeof key);
  return key;
}

}  // namespace

/// The layout in the file.
struct FileHashes::Record {
  Key key{};
  ContentHash::Bytes content{};
  std::uint64_t size{0};
  std::int64_t mtime_ns{0};
  std::int64_t ctime_ns{0};
  std::uint64_t inode{0};
  /// the source::secret_rules_version that found nothing; 0: there is none
  std::uint64_t cleared{0};

  bool same_state(const Record& other) const {
    return size == other.size && mtime_ns == other.mtime_ns && ctime_ns == other.ctime_ns &&
           inode == other.inode;
  }
};

/// The mapped file: magic, then the records in the order of the requests.
class FileHashes::Table {
public:
  explicit Table(const std::filesystem::path& file) {
    const FileDescriptor descriptor = open_own_file(file);

    struct stat status = {};

    if (!descriptor || ::fstat(descriptor.get(), &status) != 0 || status.st_size > largest_table ||
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

  /// Returns the index of `key`, or nothing.
  std::optional<std::uint32_t> find(const Key& key) {
    if (next_ >= records_.size() || records_[next_].key != key) {
      const auto found = ++searches_ > searches_without_order ? search_sorted(key) : search(key);
      if (!found) {
        return std::nullopt;
      }
      next_ = *found;
    }
    if (next_ % records_let_go == 0) {
      // Drop the pages to leave the memory to the plan; they are read again from the file if
      // needed.
      ::madvise(const_cast<char*>(bytes_), size_, MADV_DONTNEED);
    }
    return next_++;
  }

  const Record& at(std::uint32_t place) const { return records_[place]; }

  std::uint32_t count() const { return static_cast<std::uint32_t>(records_.size()); }

private:
  std::optional<std::uint32_t> search(const Key& key) const {
    const auto found =
        std::ranges::find_if(records_, [&](const Record& record) { return record.key == key; });
    if (found == records_.end()) {
      return std::nullopt;
    }
    return static_cast<std::uint32_t>(found - records_.begin());
  }

  std::optional<std::uint32_t> search_sorted(const Key& key) {
    sort();
    const auto found = std::lower_bound(
        sorted_.begin(), sorted_.end(), key,
        [this](std::uint32_t place, const Key& k) { return records_[place].key < k; });
    if (found == sorted_.end() || records_[*found].key != key) {
      return std::nullopt;
    }
    return *found;
  }

  void sort() {
    if (sorted_.empty()) {
      sorted_.resize(records_.size());
      std::iota(sorted_.begin(), sorted_.end(), 0U);
      std::ranges::sort(sorted_, [this](std::uint32_t a, std::uint32_t b) {
        return records_[a].key < records_[b].key;
      });
    }
  }

  const char* bytes_{nullptr};
  std::size_t size_{0};
  std::span<const Record> records_{};
  std::uint32_t next_{0};  ///< the most likely position of the next file
  std::uint32_t searches_{0};
  std::vector<std::uint32_t> sorted_{};
};

FileHashes::FileHashes(std::filesystem::path file, const Cancellation* cancellation)
    : file_{std::move(file)},
      cancellation_{cancellation},
      old_{std::make_unique<Table>(file_)},
      now_ns_{std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::system_clock::now().time_since_epoch())
                  .count()} {}

FileHashes::~FileHashes() = default;

bool FileHashes::may_be_kept(const source::Entry& entry) const {
  return entry.identity || std::max(entry.mtime_ns, entry.ctime_ns) + race_ns < now_ns_;
}

std::uint64_t FileHashes::place_of(const source::Tree& tree) {
  if (tree_ != &tree) {
    tree_ = &tree;
    place_ = std::hash<std::string>{}(tree.describe());
  }
  return place_;
}

/// Reads the file once for both.
FileFacts FileHashes::read(const source::Tree& tree, std::string_view path) const {
  Sha256 sha;
  source::SecretScan scan{std::string{path}, source::SecretScan::Detail::whether};
  tree.stream(path, [&](std::string_view bytes) {
    if (cancellation_ != nullptr) {
      cancellation_->throw_if_requested();
    }
    sha.update(bytes);
    scan.feed(bytes);
  });
  return {.content = ContentHash{sha.finish_bytes()}, .cleared = scan.finish().empty()};
}

FileFacts FileHashes::of(const source::Tree& tree,
                         std::string_view path,
                         const source::Entry& entry) {
  if (entry.inode == 0 && !entry.identity) {
    return read(tree, path);
  }
  Record record{.key = entry.identity ? key_by_identity(path, *entry.identity)
                                      : Key{std::hash<std::string_view>{}(path), place_of(tree)},
                .size = entry.size,
                .mtime_ns = entry.mtime_ns,
                .ctime_ns = entry.ctime_ns,
                .inode = entry.inode};
  const auto place = old_->find(record.key);
  if (place) {
    const Record& known = old_->at(*place);
    if (known.same_state(record) &&
        (known.cleared == source::secret_rules_version || known.cleared == 0)) {
      asked_.push_back(*place);
      return {.content = ContentHash{known.content},
              .cleared = known.cleared == source::secret_rules_version};
    }
  }
  FileFacts facts = read(tree, path);
  if (may_be_kept(entry)) {
    record.content = facts.content.bytes();
    record.cleared = facts.cleared ? source::secret_rules_version : 0;
    asked_.push_back(old_->count() + static_cast<std::uint32_t>(fresh_.size()));
    fresh_.push_back(record);
  } else if (place) {
    asked_.push_back(*place);  // harmless, and saves writing the table
  }
  return facts;
}

std::size_t FileHashes::count() const {
  return old_->count();
}

void FileHashes::save() {
  if (fresh_.empty() && asked_.size() == old_->count()) {
    return;
  }
  try {
    NewFile file{file_, FileMode::secret};
    std::string text(magic.data(), magic.size());
    for (const std::uint32_t place : asked_) {
      const Record& record =
          place < old_->count() ? old_->at(place) : fresh_.at(place - old_->count());
      text.append(reinterpret_cast<const char*>(&record), sizeof record);
      if (text.size() > written_at_once) {
        file.write(text);
        text.clear();
      }
    }
    file.write(text);
    file.commit();
  } catch (const Error&) {
    // Without a cache, runs are only slower.
  }
}

}  // namespace autopack::state
