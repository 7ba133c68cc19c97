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

/// Why an image cannot contain an entry of type `other`.
struct Obstacle {
  std::string_view what{};  ///< "fifo", "socket", "device"; git's own with an article
  std::optional<std::string_view> remedy{};  ///< for someone who needs it; absent: exclude it
};

/// A name in a tree. Paths are relative to the root, `/`-separated, in the bytes of the file
/// system, without `.`, `..` or a trailing slash; the root itself is "".
struct Entry {
  std::string path{};
  EntryType type{EntryType::file};
  bool executable{false};     ///< the owner's execute bit
  std::uint64_t size{0};      ///< bytes; 0 unless a file
  std::string link_target{};  ///< verbatim; empty unless a symlink
  std::uint64_t inode{0};     ///< for caches, with both times; 0 if the tree has none
  std::int64_t ctime_ns{0};
  std::int64_t mtime_ns{0};               ///< for caches only, never for an image
  const Obstacle* obstacle{nullptr};      ///< static; null unless other
  std::optional<std::string> identity{};  ///< same identity, same contents, whatever the path

  bool operator==(const Entry&) const = default;
};

/// A read-only tree of files: a working directory, git's index, a commit. Untrusted: find, list and
/// read never follow symbolic links.
class Tree {
public:
  virtual ~Tree() = default;
  /// Returns the entry at `path`; nothing if it does not exist.
  virtual std::optional<Entry> find(std::string_view path) const = 0;
  /// Returns the children of the directory `path`, sorted by bytes; empty if it is not a directory.
  virtual std::vector<Entry> list(std::string_view path) const = 0;
  /// Returns the whole contents of a regular file. Throws Error(project) if it is not one, or
  /// unreadable.
  virtual std::string read(std::string_view path) const = 0;
  /// Passes on the contents in pieces of bounded size, in order.
  virtual void stream(std::string_view path,
                      const std::function<void(std::string_view bytes)>& take) const = 0;
  /// Returns its place for messages: a directory's path, `the index of ...`.
  virtual std::string describe() const = 0;

  /// Whether several threads may call list at once, while another one reads.
  virtual bool lists_in_threads() const { return false; }
};

/// Returns the current directory `root`. Throws Error(usage) if it is not a directory.
std::unique_ptr<Tree> make_disk_tree(const std::filesystem::path& root);

/// Returns `tree` with the file `path`, which it lacks, in one of its directories.
std::shared_ptr<const Tree> with_file(std::shared_ptr<const Tree> tree,
                                      std::string path,
                                      std::string text);

/// Calls `visit` for every entry below `path` in tree order (a directory before its contents),
/// including directories; descends while `enter(entry)` returns true. May call `enter` twice, the
/// first time to list directories ahead.
void walk(const Tree& tree,
          std::string_view path,
          const std::function<bool(const Entry& directory)>& enter,
          const std::function<void(Entry&& entry)>& visit);

/// Returns `path` relative and normalised: `./a//b/../c` is `a/c`. Returns nothing if it leaves the
/// root or is absolute.
std::optional<std::string> normalise(std::string_view path);

}  // namespace autopack::source
