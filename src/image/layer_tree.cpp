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

/// As many links as Linux follows.
constexpr int most_links{40};
/// Of a path with all the links on its way in it.
constexpr std::size_t most_steps{4096};
/// All names of programs and links of the largest images are a tenth of it.
constexpr std::size_t most_remembered{std::size_t{64} << 20U};

using Nodes = std::map<std::string, std::string>;

void erase_below(Nodes& nodes, const std::string& path) {
  const std::string prefix = path.empty() ? "" : path + "/";
  auto first = nodes.lower_bound(prefix);
  auto last = first;
  while (last != nodes.end() && last->first.starts_with(prefix)) {
    ++last;
  }
  nodes.erase(first, last);
}

/// Makes sure that `path` and what is above it can be directories.
void erase_above(Nodes& nodes, const std::string& path) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string directory = path.substr(0, slash);
    const auto first = nodes.lower_bound(directory);
    if (first == nodes.end() || !first->first.starts_with(directory)) {
      return;  // then nothing is known below it either
    }
    if (first->first == directory) {
      nodes.erase(first);
    }
  }
}

bool tells_of_programs(const ArchiveEntry& entry, const std::string& path) {
  return entry.type == ArchiveEntry::Type::symlink || (entry.mode & 0111U) != 0 ||
         path.ends_with("/pip/__init__.py") || path.ends_with("/pyvenv.cfg") ||
         path == "pyvenv.cfg";
}

}  // namespace

/// One layer's changes: deletions come before additions, wherever they stand in the tar.
class LayerTree::Changes {
public:
  Changes(Nodes& lower, std::string what) : lower_{lower}, what_{std::move(what)} {}

  void take(const ArchiveEntry& entry) {
    const std::string path = normal_path(entry.path);
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
      lower_.erase(path);
    } else {
      replace(path);
      added_.erase(path);
      if (tells_of_programs(entry, path)) {
        remember(path, entry.type == ArchiveEntry::Type::symlink ? entry.link : "");
      }
    }
  }

  void finish() { lower_.merge(added_); }

private:
  void remember(const std::string& path, const std::string& target) {
    remembered_ += path.size() + target.size();
    if (remembered_ > most_remembered) {
      throw Error(ErrorKind::environment, fmt::format("{} cannot be looked through", what_))
          .cause(fmt::format("its programs and links have names of more than {}",
                             human_size(most_remembered)));
    }
    added_[path] = target;
  }

  void replace(const std::string& path) {
    lower_.erase(path);
    erase_below(lower_, path);
  }

  Nodes& lower_;
  std::string what_;
  std::size_t remembered_{0};
  Nodes added_;
  std::string last_parent_;
};

Digest LayerTree::add(const Reader& layer, const std::string& what) {
  Changes changes{nodes_, what};
  Digest plain = read_archive(layer, what, [&](const ArchiveEntry& entry) { changes.take(entry); });
  changes.finish();
  return plain;
}

/// `path` with the links on its way followed, the link at its end only with `last`; a path that
/// leads in circles stays as it is.
std::string LayerTree::resolve(const std::string& path, bool last) const {
  std::vector<std::string> rest = split(path, '/');
  std::reverse(rest.begin(), rest.end());
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
    const bool follow = node != nodes_.end() && !node->second.empty() && (last || !rest.empty());
    if (!follow || ++links > most_links) {
      done = next;
      continue;
    }
    if (node->second.starts_with('/')) {
      done.clear();
    }
    const auto target = split(node->second, '/');
    rest.insert(rest.end(), target.rbegin(), target.rend());
  }
  return done;
}

std::map<std::string, std::string> LayerTree::look(const std::vector<std::string>& paths) const {
  std::map<std::string, std::string> found;
  for (const auto& path : paths) {
    const auto node = nodes_.find(resolve(path, false));
    if (node != nodes_.end()) {
      found[path] = node->second.empty() ? "" : "/" + resolve(path, true);
    }
  }
  return found;
}

LayerTree read_layers(const Source& source) {
  const auto diff_ids = check_layers(source);
  const auto& layers = source.manifest.layers;
  LayerTree tree;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool repeated = i > 0 && layers[i - 1].digest == layers[i].digest;
    if (repeated && diff_ids[i - 1] == diff_ids[i]) {
      continue;  // twice on top of itself is once
    }
    const Digest plain =
        tree.add(source.open(layers[i]),
                 fmt::format("layer `{}` of `{}`", layers[i].digest.str(), printable(source.name)));
    if (plain != diff_ids[i]) {
      throw broken_image(source,
                         fmt::format("layer `{}` is `{}` unpacked, its configuration says "
                                     "`{}`",
                                     layers[i].digest.str(), plain.str(), diff_ids[i].str()));
    }
  }
  return tree;
}

}  // namespace autopack::image
