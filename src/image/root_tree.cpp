#include "image/root_tree.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "image/archive_reader.hpp"
#include "image/tar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::image {

namespace {

/// OCI image specification, layer.md: names of whiteouts. Names with two prefixes are of AUFS
/// alone.
constexpr std::string_view whiteout_prefix{".wh."};
constexpr std::string_view aufs_prefix{".wh..wh."};
constexpr std::string_view opaque_name{".wh..wh..opq"};

/// The number of links that Linux follows, and its limit for a name.
constexpr int most_followed{40};
constexpr std::size_t longest_name{255};
/// Limit for the components of a path after expanding all its links.
constexpr std::size_t most_components{4096};
/// More directories than any image nests; links may lead to deeper ones than a path can name.
constexpr std::size_t deepest_directory{512};

/// A name in one layer, or in several merged ones.
struct Node {
  std::shared_ptr<RootFile> file{};  ///< null: a whiteout
  bool is_opaque{false};             ///< hides what lower layers have in this directory
  bool is_implied{false};            ///< a directory without an entry of its own
  std::map<std::string, Node, std::less<>> children{};

  bool is_directory() const { return file != nullptr && file->is_directory(); }
};

std::shared_ptr<RootFile> implied_directory() {
  auto made = std::make_shared<RootFile>();
  made->time = default_file_time;
  return made;
}

Node implied() {
  return {.file = implied_directory(), .is_implied = true};
}

/// Puts `lower` below `upper`, which are both directories, as overlayfs does.
void put_below(Node& upper, Node&& lower) {
  if (upper.is_implied && !lower.is_implied) {
    upper.file = std::move(lower.file);
    upper.is_implied = false;
  }
  if (upper.is_opaque) {
    return;
  }
  for (auto& [name, below] : lower.children) {
    const auto there = upper.children.find(name);
    if (there == upper.children.end()) {
      upper.children.emplace(name, std::move(below));
    } else if (there->second.is_directory() && below.is_directory()) {
      put_below(there->second, std::move(below));
    } else {
      // Whatever is below a file or a whiteout is hidden.
      there->second.is_opaque = true;
    }
  }
  upper.is_opaque = lower.is_opaque;
}

/// Reads one layer into a tree, below the merged higher ones.
class LayerReader {
public:
  LayerReader(const Node& higher, const TakeRootFile& take, std::uint64_t& last_number)
      : higher_{higher}, take_{take}, last_number_{last_number} {}

  void add(const ArchiveEntry& entry, const Reader& content) {
    ++entry_;
    const auto path = components(entry.path);
    if (path.empty()) {
      if (entry.type == ArchiveEntry::Type::directory) {
        set_facts(*layer_.file, entry);
        layer_.is_implied = false;
      }
      return;
    }
    const auto& name = path.back();
    if (name == opaque_name) {
      open_parent(path).node().is_opaque = true;
    } else if (name.starts_with(aufs_prefix)) {
      return;
    } else if (name.starts_with(whiteout_prefix)) {
      hide(path, name.substr(whiteout_prefix.size()));
    } else {
      put(entry, path, content);
    }
  }

  /// Reads the layer again for contents that the first reading did not need yet.
  void add_missed(const Reader& content) {
    const auto found = missed_.find(++entry_again_);
    if (found != missed_.end()) {
      take_(*found->second, content);
    }
  }

  bool has_missed() const { return !missed_.empty(); }

  Node take_layer() { return std::move(layer_); }

private:
  /// A directory of the layer, and where it is.
  struct Place {
    std::vector<Node*> nodes{};  ///< from the root to the directory
    std::vector<std::string> path{};

    Node& node() const { return *nodes.back(); }
  };

  /// A file of the layer, and whether its contents were passed on.
  struct Content {
    std::uint64_t entry{0};
    bool is_taken{false};
  };

  static void check_name(const std::string& name) {
    if (name.size() > longest_name) {
      throw Error(ErrorKind::environment,
                  fmt::format("the name `{}...` is too long", printable(name.substr(0, 60))));
    }
  }

  static std::vector<std::string> components(std::string_view path) {
    std::vector<std::string> parts;
    for (auto& part : split(path, '/')) {
      if (part == "..") {
        throw Error(ErrorKind::environment,
                    fmt::format("the path `{}` leads out of it", printable(path)));
      }
      check_name(part);
      if (!part.empty() && part != ".") {
        parts.push_back(std::move(part));
      }
    }
    return parts;
  }

  static std::uint32_t id_of(std::int64_t id) {
    return id < 0 || id > std::numeric_limits<std::uint32_t>::max()
               ? 0U
               : static_cast<std::uint32_t>(id);
  }

  /// True for attributes that mean the same on every machine. Those of overlayfs and of security
  /// modules would change what the machine makes of the files.
  static bool is_portable(const std::string& name) {
    return name == "security.capability" ||
           (name.starts_with("user.") && !name.starts_with("user.overlay."));
  }

  static void set_facts(RootFile& file, const ArchiveEntry& entry) {
    constexpr unsigned permissions{07777};
    file.mode = (file.mode & S_IFMT) | (entry.mode & permissions);
    file.user = id_of(entry.user);
    file.group = id_of(entry.group);
    file.time = entry.time;
    file.attributes.clear();
    for (const auto& [name, value] : entry.attributes) {
      if (is_portable(name)) {
        file.attributes.emplace(name, value);
      }
    }
  }

  /// Returns the directory at `path`, which it makes if necessary. Links lead to places in the
  /// layer, as in a changed root.
  Place open(const std::vector<std::string>& path) {
    std::vector<std::string> rest{path.rbegin(), path.rend()};
    Place at{{&layer_}, {}};
    int links = 0;
    for (std::size_t step = 0; !rest.empty(); ++step) {
      const std::string name = std::move(rest.back());
      rest.pop_back();
      if (step == most_components) {
        throw Error(ErrorKind::environment, "it has too many symbolic links");
      }
      if (name.empty() || name == ".") {
        continue;
      }
      if (name == "..") {
        if (!at.path.empty()) {
          at.path.pop_back();
          at.nodes.pop_back();
        }
        continue;
      }
      check_name(name);
      auto& next = at.node().children.try_emplace(name, implied()).first->second;
      if (next.file == nullptr) {  // hidden by an earlier entry
        next = implied();
        next.is_opaque = true;
      }
      if (S_ISLNK(next.file->mode)) {
        if (++links > most_followed) {
          throw Error(ErrorKind::environment, "its symbolic links form a loop");
        }
        const auto target = split(next.file->target, '/');
        if (next.file->target.starts_with('/')) {
          at = {{&layer_}, {}};
        }
        rest.insert(rest.end(), target.rbegin(), target.rend());
        continue;
      }
      if (!next.is_directory()) {
        throw Error(ErrorKind::environment,
                    fmt::format("`{}` is a file and a directory", printable(join(path, "/"))));
      }
      at.nodes.push_back(&next);
      at.path.push_back(name);
      if (at.path.size() > deepest_directory) {
        throw Error(ErrorKind::environment, "its directories nest too deeply");
      }
    }
    return at;
  }

  /// Returns the directory that contains `path`.
  Place open_parent(const std::vector<std::string>& path) {
    return open({path.begin(), path.end() - 1});
  }

  /// Hides a file of lower layers; a directory of this layer by that name hides only its contents.
  void hide(const std::vector<std::string>& path, const std::string& name) {
    if (name.empty() || name == "." || name == "..") {
      throw Error(ErrorKind::environment, "it removes a file without a name");
    }
    const auto parent = open_parent(path);
    auto& node = parent.node().children.try_emplace(name).first->second;
    node.is_opaque = true;
  }

  void put(const ArchiveEntry& entry, const std::vector<std::string>& path, const Reader& content) {
    const auto parent = open_parent(path);
    switch (entry.type) {
      case ArchiveEntry::Type::directory: put_directory(entry, parent, path.back()); return;
      case ArchiveEntry::Type::file: put_file(entry, parent, path.back(), content); return;
      case ArchiveEntry::Type::symlink:
        replace(parent, path.back(), S_IFLNK, entry)->target = entry.link;
        return;
      case ArchiveEntry::Type::hard_link: put_hard_link(entry, path); return;
      case ArchiveEntry::Type::other: put_special(entry, parent, path.back()); return;
    }
  }

  /// Puts a new file in place of what an earlier entry put there.
  static std::shared_ptr<RootFile> replace(const Place& parent,
                                           const std::string& name,
                                           unsigned type,
                                           const ArchiveEntry& entry) {
    auto file = std::make_shared<RootFile>();
    file->mode = type;
    set_facts(*file, entry);
    parent.node().children.insert_or_assign(name, Node{.file = file});
    return file;
  }

  static void put_directory(const ArchiveEntry& entry,
                            const Place& parent,
                            const std::string& name) {
    auto& node = parent.node().children[name];
    if (!node.is_directory()) {
      // A whiteout by this name came before it.
      node = {.file = implied_directory(), .is_opaque = node.file == nullptr && node.is_opaque};
    }
    node.is_implied = false;
    set_facts(*node.file, entry);
  }

  void put_file(const ArchiveEntry& entry,
                const Place& parent,
                const std::string& name,
                const Reader& content) {
    const auto file = replace(parent, name, S_IFREG, entry);
    file->size = entry.size;
    file->number = ++last_number_;
    auto& state = contents_[file->number];
    state.entry = entry_;
    if (is_visible(parent.path, name)) {
      state.is_taken = true;
      take_(*file, content);
    }
  }

  /// The target is an earlier file of this layer, and may itself be a symbolic link.
  void put_hard_link(const ArchiveEntry& entry, const std::vector<std::string>& path) {
    const auto target = components(entry.link);
    if (target.empty() || target == path) {
      return;
    }
    const auto from = open_parent(target);
    const auto found = from.node().children.find(target.back());
    if (found == from.node().children.end() || found->second.file == nullptr ||
        found->second.is_directory()) {
      throw Error(ErrorKind::environment,
                  fmt::format("`{}` is a hard link to `{}`, which is not a file of this layer",
                              printable(entry.path), printable(entry.link)));
    }
    const auto file = found->second.file;
    const auto parent = open_parent(path);
    parent.node().children.insert_or_assign(path.back(), Node{.file = file});
    const auto state = contents_.find(file->number);
    if (file->is_regular() && state != contents_.end() && !state->second.is_taken &&
        is_visible(parent.path, path.back())) {
      state->second.is_taken = true;
      missed_.emplace(state->second.entry, file);
    }
  }

  static void put_special(const ArchiveEntry& entry, const Place& parent, const std::string& name) {
    if (entry.special == 0) {
      return;
    }
    const auto file = replace(parent, name, entry.special, entry);
    file->device_major = static_cast<unsigned>(entry.device_major);
    file->device_minor = static_cast<unsigned>(entry.device_minor);
    // A device 0:0 is a whiteout of overlayfs.
    if (entry.special == S_IFCHR && file->device_major == 0 && file->device_minor == 0) {
      parent.node().children.erase(name);
    }
  }

  /// True if no higher layer hides the file `name` of `directory`.
  bool is_visible(const std::vector<std::string>& directory, const std::string& name) const {
    const Node* node = &higher_;
    for (const auto& part : directory) {
      if (node->is_opaque) {
        return false;
      }
      const auto found = node->children.find(part);
      if (found == node->children.end()) {
        return true;
      }
      node = &found->second;
      if (!node->is_directory()) {
        return false;
      }
    }
    return !node->is_opaque && !node->children.contains(name);
  }

  const Node& higher_;
  const TakeRootFile& take_;
  std::uint64_t& last_number_;
  std::uint64_t entry_{0};
  std::uint64_t entry_again_{0};
  Node layer_{implied()};
  std::map<std::uint64_t, Content> contents_{};                  ///< by number of the file
  std::map<std::uint64_t, std::shared_ptr<RootFile>> missed_{};  ///< by entry
};

/// Counts what the layers contain.
class Count {
public:
  explicit Count(const RootLimits& limits) : limits_{limits} {}

  void add(const ArchiveEntry& entry) {
    text_ += entry.path.size() + entry.link.size();
    for (const auto& [name, value] : entry.attributes) {
      text_ += name.size() + value.size();
    }
    if (++entries_ > limits_.entries) {
      throw Error(ErrorKind::environment,
                  fmt::format("the image has more than {} entries", limits_.entries));
    }
    if (text_ > limits_.text) {
      throw Error(ErrorKind::environment, fmt::format("the names of its files need more than {}",
                                                      human_size(limits_.text)));
    }
    if (entry.type == ArchiveEntry::Type::file &&
        entry.size > limits_.bytes - std::min(bytes_, limits_.bytes)) {
      throw Error(ErrorKind::environment, fmt::format("the files of the image have more than {}",
                                                      human_size(limits_.bytes)));
    }
    bytes_ += entry.type == ArchiveEntry::Type::file ? entry.size : 0;
  }

private:
  const RootLimits& limits_;
  std::uint64_t entries_{0};
  std::uint64_t text_{0};
  std::uint64_t bytes_{0};
};

/// Passes on exactly as many bytes as the header of `entry` has.
Reader complete(const ArchiveEntry& entry, const Reader& content) {
  return [&, left = entry.size](char* buffer, std::size_t size) mutable {
    const std::size_t count = content(buffer, size);
    if (count > left || (count == 0 && left != 0)) {
      throw Error(ErrorKind::environment, fmt::format("`{}` ends early", printable(entry.path)));
    }
    left -= count;
    return count;
  };
}

/// Moves the visible files of `node` into its RootFile.
void finish(Node& node) {
  for (auto& [name, child] : node.children) {
    if (child.file == nullptr) {
      continue;
    }
    finish(child);
    if (!child.is_directory()) {
      ++child.file->links;
    }
    node.file->children.emplace(name, std::move(child.file));
  }
  node.children.clear();
}

}  // namespace

std::shared_ptr<RootFile> merge_layers(const Source& source,
                                       const TakeRootFile& take,
                                       const RootLimits& limits) {
  const auto plain = check_layers(source);
  Node merged = implied();
  Count count{limits};
  std::uint64_t last_number = 0;
  std::set<Digest> done;
  for (std::size_t i = plain.size(); i-- > 0;) {
    if (!done.insert(plain[i]).second) {
      continue;  // only the highest of equal layers matters
    }
    const auto& layer = source.manifest.layers[i];
    const auto what = fmt::format("layer `{}` of `{}`", layer.digest.str(), printable(source.name));
    LayerReader reader{merged, take, last_number};
    const auto found = read_contents(
        source.open(layer), what, [&](const ArchiveEntry& entry, const Reader& bytes) {
          with_context(fmt::format("{} cannot be unpacked", what), [&] {
            count.add(entry);
            reader.add(entry, complete(entry, bytes));
          });
        });
    if (found != plain[i]) {
      throw broken_image(
          source, fmt::format("layer `{}` decompresses to `{}`, but its configuration has `{}`",
                              layer.digest.str(), found.str(), plain[i].str()));
    }
    if (reader.has_missed()) {
      read_contents(source.open(layer), what, [&](const ArchiveEntry& entry, const Reader& bytes) {
        reader.add_missed(complete(entry, bytes));
      });
    }
    put_below(merged, reader.take_layer());
  }
  finish(merged);
  return std::move(merged.file);
}

std::shared_ptr<const RootFile> find_in_root(const std::shared_ptr<const RootFile>& root,
                                             const std::string& path) {
  std::vector<std::shared_ptr<const RootFile>> at{root};
  auto rest = split(path, '/');
  std::ranges::reverse(rest);
  int links = 0;
  for (std::size_t step = 0; !rest.empty(); ++step) {
    const std::string name = std::move(rest.back());
    rest.pop_back();
    if (name.empty() || name == ".") {
      continue;
    }
    if (name == "..") {
      at.resize(std::max<std::size_t>(at.size() - 1, 1));
      continue;
    }
    const auto found = at.back()->children.find(name);
    if (found == at.back()->children.end() || step == most_components) {
      return nullptr;
    }
    if (!S_ISLNK(found->second->mode)) {
      at.push_back(found->second);
      continue;
    }
    if (++links > most_followed) {
      return nullptr;
    }
    if (found->second->target.starts_with('/')) {
      at.resize(1);
    }
    const auto target = split(found->second->target, '/');
    rest.insert(rest.end(), target.rbegin(), target.rend());
  }
  return at.back();
}

}  // namespace autopack::image
