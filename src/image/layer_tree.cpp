#include "image/layer_tree.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "image/archive_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::image {

namespace {

/// OCI image specification, layer.md: names of whiteouts.
constexpr std::string_view whiteout{".wh."};
constexpr std::string_view opaque{".wh..wh..opq"};

/// The number of links that Linux follows.
constexpr int most_links{40};
/// Limit for the components of a path after expanding all its links.
constexpr std::size_t most_steps{4096};
/// Ten times the names of programs and links in the largest images.
constexpr std::size_t most_remembered{std::size_t{64} << 20U};

bool describes_programs(const ArchiveEntry& entry, const std::string& path) {
  return entry.type == ArchiveEntry::Type::symlink || (entry.mode & 0111U) != 0 ||
         path.ends_with("/pip/__init__.py") || path.ends_with("/pyvenv.cfg") ||
         path == "pyvenv.cfg";
}

}  // namespace

void LayerTree::erase_below(Nodes& nodes, const std::string& path) {
  const std::string prefix = path.empty() ? "" : path + "/";
  auto first = nodes.lower_bound(prefix);
  auto last = first;
  while (last != nodes.end() && last->first.starts_with(prefix)) {
    ++last;
  }
  nodes.erase(first, last);
}

/// Makes sure that `path` and its parents can be directories.
void LayerTree::erase_above(Nodes& nodes, const std::string& path) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string directory = path.substr(0, slash);
    const auto first = nodes.lower_bound(directory);
    if (first == nodes.end() || !first->first.starts_with(directory)) {
      return;  // nothing is known below it either
    }
    if (first->first == directory && !first->second.is_directory) {
      nodes.erase(first);
    }
  }
}

/// The changes of one layer. Deletions apply before additions, whatever their order in the tar.
class LayerTree::Changes {
public:
  Changes(Nodes& lower, const ExcerptTakers& takers, std::string what)
      : lower_{lower}, takers_{takers}, what_{std::move(what)} {}

  void take(const ArchiveEntry& entry, const std::string& directory, const Reader& content) {
    const std::string path = directory + normal_path(entry.path);
    if (path.empty()) {
      return;
    }
    const auto slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (parent != last_parent_) {
      erase_above(lower_, path);
      last_parent_ = parent;
    }
    if (name == opaque) {
      erase_below(lower_, parent);
    } else if (name.starts_with(whiteout)) {
      replace(parent.empty() ? name.substr(whiteout.size())
                             : parent + "/" + name.substr(whiteout.size()));
    } else if (entry.type == ArchiveEntry::Type::directory) {
      take_directory(entry, path);
    } else {
      replace(path);
      added_.erase(path);
      take_file(entry, path, directory, content);
    }
  }

  void finish() { lower_.merge(added_); }

private:
  void take_directory(const ArchiveEntry& entry, const std::string& path) {
    const auto there = lower_.find(path);
    if (there != lower_.end() && there->second.is_directory) {
      return;
    }
    lower_.erase(path);
    if (auto excerpt = excerpt_from(entry, path, {})) {
      remember(path, {.excerpt = std::move(excerpt), .is_directory = true});
    }
  }

  void take_file(const ArchiveEntry& entry,
                 const std::string& path,
                 const std::string& directory,
                 const Reader& content) {
    if (entry.type == ArchiveEntry::Type::symlink) {
      remember(path, {.target = non_empty(entry.link)});
      return;
    }
    auto excerpt = entry.type == ArchiveEntry::Type::hard_link
                       ? excerpt_of(directory + normal_path(entry.link))
                       : excerpt_from(entry, path, content);
    if (excerpt || describes_programs(entry, path)) {
      remember(path, {.excerpt = std::move(excerpt)});
    }
  }

  std::optional<std::string> excerpt_from(ArchiveEntry entry,
                                          const std::string& path,
                                          const Reader& content) {
    entry.path = path;
    const auto read = [&](char* buffer, std::size_t size) {
      return content ? content(buffer, size) : 0;
    };
    auto excerpt = takers_.take ? takers_.take(entry, bounded(read)) : std::nullopt;
    return excerpt || !takers_.besides ? excerpt : takers_.besides(entry, read);
  }

  /// Returns `content`, which throws once too much was read.
  Reader bounded(Reader content) {
    return [this, content = std::move(content)](char* buffer, std::size_t size) {
      const std::size_t count = content(buffer, size);
      read_ += count;
      if (read_ > takers_.most_read) {
        throw too_much(
            fmt::format("more than {} would have to be read", human_size(takers_.most_read)));
      }
      return count;
    };
  }

  /// Returns the excerpt of the target of a hard link.
  std::optional<std::string> excerpt_of(const std::string& path) const {
    if (const auto found = added_.find(path); found != added_.end()) {
      return found->second.excerpt;
    }
    const auto found = lower_.find(path);
    return found == lower_.end() ? std::nullopt : found->second.excerpt;
  }

  void remember(const std::string& path, Node node) {
    remembered_ += path.size() + node.target.value_or("").size() + node.excerpt.value_or("").size();
    if (remembered_ > most_remembered) {
      throw too_much(
          fmt::format("the facts about it need more than {}", human_size(most_remembered)));
    }
    added_[path] = std::move(node);
  }

  Error too_much(const std::string& why) const {
    return std::move(
        Error(ErrorKind::environment, fmt::format("{} cannot be searched", what_)).cause(why));
  }

  void replace(const std::string& path) {
    lower_.erase(path);
    erase_below(lower_, path);
  }

  Nodes& lower_;
  const ExcerptTakers& takers_;
  std::string what_;
  std::size_t remembered_{0};
  std::uint64_t read_{0};
  Nodes added_;
  std::string last_parent_;
};

Digest LayerTree::add(const Reader& layer, const std::string& what) {
  Changes changes{nodes_, takers_, what};
  Digest plain = read_contents(layer, what, [&](const ArchiveEntry& entry, const Reader& content) {
    changes.take(entry, "", content);
  });
  changes.finish();
  return plain;
}

void LayerTree::add_into(const std::string& directory, const Reader& tar, const std::string& what) {
  Changes changes{nodes_, takers_, what};
  const std::string inside = normal_path(directory);
  read_plain_contents(tar, what, [&](const ArchiveEntry& entry, const Reader& content) {
    changes.take(entry, inside.empty() ? "" : inside + "/", content);
  });
  changes.finish();
}

/// Returns `path` with all links followed, the last component's only if `last` is set. Returns a
/// path that leads in circles unchanged.
std::string LayerTree::resolve(const std::string& path, bool last) const {
  std::vector<std::string> rest = split(path, '/');
  std::ranges::reverse(rest);
  std::string done;
  int links = 0;
  for (std::size_t step = 0; !rest.empty(); ++step) {
    if (step == most_steps || done.size() > most_steps) {
      return path;
    }
    const std::string name = std::move(rest.back());
    rest.pop_back();
    if (name.empty() || name == ".") {
      continue;
    }
    if (name == "..") {
      done.resize(done.rfind('/') == std::string::npos ? 0 : done.rfind('/'));
      continue;
    }
    const std::string next = done.empty() ? name : done + "/" + name;
    const auto node = nodes_.find(next);
    const bool follow = node != nodes_.end() && node->second.target && (last || !rest.empty());
    if (!follow || ++links > most_links) {
      done = next;
      continue;
    }
    const std::string& to = *node->second.target;
    if (to.starts_with('/')) {
      done.clear();
    }
    const auto target = split(to, '/');
    rest.insert(rest.end(), target.rbegin(), target.rend());
  }
  return done;
}

std::map<std::string, std::optional<std::string>> LayerTree::look(
    const std::vector<std::string>& paths) const {
  std::map<std::string, std::optional<std::string>> found;
  for (const auto& path : paths) {
    const auto node = nodes_.find(resolve(path, false));
    if (node != nodes_.end()) {
      found[path] = node->second.target ? std::optional{"/" + resolve(path, true)} : std::nullopt;
    }
  }
  return found;
}

std::optional<std::string> LayerTree::excerpt(const std::string& path) const {
  const auto node = nodes_.find(resolve(path, true));
  return node == nodes_.end() ? std::nullopt : node->second.excerpt;
}

bool LayerTree::holds_below(const std::string& directory) const {
  const std::string prefix = resolve(directory, true) + "/";
  const auto node = nodes_.lower_bound(prefix);
  return node != nodes_.end() && node->first.starts_with(prefix);
}

std::vector<std::string> LayerTree::excerpts_below(const std::string& directory) const {
  const auto resolved = resolve(directory, true);
  const std::string prefix = resolved.empty() ? "" : resolved + "/";
  std::vector<std::string> paths;
  for (auto node = nodes_.lower_bound(prefix);
       node != nodes_.end() && node->first.starts_with(prefix); ++node) {
    if (node->second.excerpt) {
      paths.push_back("/" + node->first);
    }
  }
  return paths;
}

LayerTree read_layers(const Source& source, TakeExcerpt take, TakeExcerpt take_besides) {
  const auto diff_ids = check_layers(source);
  const auto& layers = source.manifest.layers;
  LayerTree tree{std::move(take), std::move(take_besides)};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool repeated = i > 0 && layers[i - 1].digest == layers[i].digest;
    if (repeated && diff_ids[i - 1] == diff_ids[i]) {
      continue;  // applying a layer twice in a row changes nothing
    }
    const Digest plain =
        tree.add(source.open(layers[i]),
                 fmt::format("layer `{}` of `{}`", layers[i].digest.str(), printable(source.name)));
    if (plain != diff_ids[i]) {
      throw broken_image(
          source, fmt::format("layer `{}` decompresses to `{}`, but its configuration has `{}`",
                              layers[i].digest.str(), plain.str(), diff_ids[i].str()));
    }
  }
  return tree;
}

}  // namespace autopack::image
