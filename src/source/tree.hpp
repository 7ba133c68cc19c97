#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

enum class EntryType : std::uint8_t { file, directory, symlink, other };

/// Why no image takes an entry of type `other`.
struct Obstacle {
  std::string_view what{};  ///< "fifo", "socket", "device"; for git's own with an article
  std::optional<std::string_view> remedy{};  ///< what to do when it is needed; none: leave it out
};

/// One name in a tree. Paths are relative to the root, `/`-separated, bytes as the file system has
/// them, without `.`, `..` or a trailing slash; the root itself is "".
struct Entry {
  std::string path{};
  EntryType type{EntryType::file};
  bool executable{false};     ///< the owner's execute bit
  std::uint64_t size{0};      ///< bytes; 0 unless a file
  std::string link_target{};  ///< verbatim; empty unless a symlink
  std::uint64_t inode{0};     ///< for caches, with both times; 0 when the tree has none
  std::int64_t ctime_ns{0};
  std::int64_t mtime_ns{0};               ///< for caches only, never for an image
  const Obstacle* obstacle{nullptr};      ///< of the program; null unless other
  std::optional<std::string> identity{};  ///< same identity, same contents, whatever the path

  bool operator==(const Entry&) const = default;
};

/// A read-only tree of files: a working directory, git's index, a commit. Untrusted: symbolic links
/// are never followed by find, list or read.
class Tree {
public:
  virtual ~Tree() = default;
  /// The entry at `path`; none when it does not exist.
  virtual std::optional<Entry> find(std::string_view path) const = 0;
  /// Children of the directory `path`, sorted by bytes; empty when it is not a directory.
  virtual std::vector<Entry> list(std::string_view path) const = 0;
  /// Whole contents of a regular file. Throws Error(project) when it is none or unreadable.
  virtual std::string read(std::string_view path) const = 0;
  /// Contents in pieces of bounded size, in order.
  virtual void stream(std::string_view path,
                      const std::function<void(std::string_view bytes)>& take) const = 0;
  /// Where it is, for messages: a directory's path, `the index of ...`.
  virtual std::string describe() const = 0;

  /// Whether several threads may call list at once, beside one that reads.
  virtual bool lists_in_threads() const { return false; }
};

/// The directory `root` as it is now. Throws Error(usage) when it is not a directory.
std::unique_ptr<Tree> make_disk_tree(const std::filesystem::path& root);

/// Every entry below `path` in tree order (a directory before what is in it), while `enter(entry)`
/// says yes for directories; `visit` is called for each entry, directories included. `enter` may be
/// asked twice, the first time to list directories ahead.
void walk(const Tree& tree,
          std::string_view path,
          const std::function<bool(const Entry& directory)>& enter,
          const std::function<void(Entry&& entry)>& visit);

/// `path` made relative and normal: `./a//b/../c` is `a/c`. None when it leaves the root or is
/// absolute.
std::optional<std::string> normalise(std::string_view path);

}  // namespace autopack::source
