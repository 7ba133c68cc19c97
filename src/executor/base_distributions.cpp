#include "executor/base_distributions.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>

namespace autopack::executor {

namespace {

/// PEP 440: `==1.0` matches `1.0+cu118`; `==1.0+cu118` matches only itself.
bool satisfies(const InstalledDistribution& distribution, const python::Version& wanted) {
  const auto version = python::Version::parse(distribution.version.value_or(""));
  return version && (wanted.local.empty() ? version->without_local() : *version) == wanted;
}

bool is_installed_to(const python::Scheme& scheme, const std::string& directory) {
  return directory == scheme.purelib || directory == scheme.platlib;
}

/// Returns true if Python searches `directory` before the directories of `scheme`.
bool comes_before(const PythonFacts& facts,
                  const python::Scheme& scheme,
                  const std::string& directory) {
  for (const auto& each : facts.search_path) {
    if (each == directory) {
      return !is_installed_to(scheme, each);
    }
    if (is_installed_to(scheme, each)) {
      return false;
    }
  }
  return false;
}

std::string named(const InstalledDistribution& distribution) {
  return fmt::format("`{} {}`", printable(distribution.name),
                     printable(distribution.version.value_or("")));
}

/// Decides about one name.
class Decision {
public:
  Decision(const image::BaseFacts& base,
           const PythonFacts& facts,
           const WantedDistribution& wanted,
           GpuLibraries libraries)
      : base_{base}, facts_{facts}, wanted_{wanted}, libraries_{libraries} {}

  BaseDecision make() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < facts_.installed.size(); ++i) {
      if (facts_.installed[i].name == wanted_.name) {
        all.push_back(i);
      }
    }
    if (all.empty()) {
      return decided(BaseDecision::Action::install, {});
    }
    const auto& first = facts_.installed[all.front()];
    if (!wanted_.anew && satisfies(first, wanted_.version)) {
      return decided(BaseDecision::Action::keep, {all.front()});
    }
    if (base_.cuda_version && libraries_ == GpuLibraries::kept && belongs_to_gpu(wanted_.name)) {
      return decided(BaseDecision::Action::keep_for_gpu, {all.front()},
                     fmt::format("the image's {} belongs to its CUDA {}", named(first),
                                 printable(*base_.cuda_version)));
    }
    return make_room(all);
  }

private:
  /// Makes room for a version other than the one that is imported now.
  BaseDecision make_room(const std::vector<std::size_t>& all) const {
    const auto& scheme = facts_.interpreter->scheme;
    std::vector<std::size_t> gone;
    for (const std::size_t place : all) {
      const auto& there = facts_.installed[place];
      if (comes_before(facts_, scheme, there.directory)) {
        return decided(BaseDecision::Action::refuse, {place},
                       fmt::format("the image's {} in `{}` would be imported instead", named(there),
                                   printable(there.directory)));
      }
      if (!is_installed_to(scheme, there.directory)) {
        continue;
      }
      if (there.kept_by) {
        return decided(BaseDecision::Action::refuse, {place},
                       fmt::format("the image's {} cannot be replaced: {}", named(there),
                                   printable(*there.kept_by)));
      }
      gone.push_back(place);
    }
    if (!gone.empty()) {
      return decided(BaseDecision::Action::replace, std::move(gone));
    }
    const auto& there = facts_.installed[all.front()];
    return decided(BaseDecision::Action::install, {all.front()},
                   fmt::format("the image's {} stays in `{}`, and is ignored", named(there),
                               printable(there.directory)));
  }

  BaseDecision decided(BaseDecision::Action action,
                       std::vector<std::size_t> installed,
                       std::optional<std::string> reason = {}) const {
    return {.name = wanted_.name,
            .action = action,
            .installed = std::move(installed),
            .reason = std::move(reason)};
  }

  const image::BaseFacts& base_;
  const PythonFacts& facts_;
  const WantedDistribution& wanted_;
  GpuLibraries libraries_;
};

}  // namespace

bool belongs_to_gpu(std::string_view name) {
  static constexpr std::array names{"torch",
                                    "torchvision",
                                    "torchaudio",
                                    "torchtext",
                                    "triton",
                                    "pytorch-triton",
                                    "tensorflow",
                                    "keras",
                                    "tensorboard",
                                    "jax",
                                    "jaxlib",
                                    "tensorflow-gpu",
                                    "tensorflow-io-gcs-filesystem",
                                    "tensorflow-estimator",
                                    "xformers",
                                    "flash-attn",
                                    "apex",
                                    "transformer-engine"};
  static constexpr std::array beginnings{"nvidia-", "jax-cuda", "cupy-cuda"};
  return contains(names, name) || std::ranges::any_of(beginnings, [&](const char* beginning) {
           return name.starts_with(beginning);
         });
}

std::vector<BaseDecision> decide_on_base(const image::BaseFacts& base,
                                         const PythonFacts& facts,
                                         const std::vector<WantedDistribution>& wanted,
                                         GpuLibraries libraries) {
  std::vector<BaseDecision> decisions;
  decisions.reserve(wanted.size());
  for (const auto& each : wanted) {
    decisions.push_back(Decision{base, facts, each, libraries}.make());
  }
  return decisions;
}

namespace {

constexpr std::size_t most_directories{100};

std::string absolute(const std::string& directory, const std::string& path) {
  return (std::filesystem::path{directory} / path).lexically_normal().string();
}

/// Returns true if an installation with `scheme` may have written `path`.
bool is_in(const python::Scheme& scheme, const std::string& path) {
  const auto directories = {&scheme.purelib, &scheme.platlib, &scheme.scripts, &scheme.headers,
                            &scheme.data};
  return std::ranges::any_of(
      directories, [&](const auto* directory) { return path.starts_with(*directory + "/"); });
}

/// The distributions in one directory of sys.path.
class Directory {
public:
  Directory(ImageView& view, std::string path, const python::Scheme& scheme)
      : view_{view},
        path_{std::move(path)},
        scheme_{scheme},
        is_installed_to_{path_ == scheme.purelib || path_ == scheme.platlib} {
    for (auto& below : view.excerpts_below(path_)) {
      (below.ends_with(".pyc") ? compiled_ : paths_).insert(std::move(below));
    }
  }

  bool is_empty() const { return paths_.empty() && compiled_.empty(); }

  void find(FoundDistributions& found) const {
    for (const auto& path : paths_) {
      const auto parts = split(std::string_view{path}.substr(path_.size() + 1), '/');
      const auto& first = parts.front();
      if (parts.size() == 2 && first.ends_with(".dist-info") && parts[1] == "METADATA") {
        add(found, first, path, wheel_files(first));
      } else if (parts.size() == 2 && first.ends_with(".egg-info") && parts[1] == "PKG-INFO") {
        add(found, first, path, egg_files(first));
      } else if (parts.size() == 1 && first.ends_with(".egg-info")) {
        add(found, first, path, {.kept_by = "it was installed by distutils"});
      } else if (parts.size() == 3 && first.ends_with(".egg") && parts[2] == "PKG-INFO") {
        add(found, first, path, {.kept_by = "it is an egg"});
      } else if (parts.size() == 1 && first.ends_with(".egg-link")) {
        add_linked(found, first, path);
      }
    }
  }

  /// Returns the directories that its `.pth` files name.
  std::vector<std::string> named() const {
    std::vector<std::string> directories;
    for (const auto& path : paths_) {
      if (!path.ends_with(".pth") || path.find('/', path_.size() + 1) != std::string::npos) {
        continue;
      }
      for (const auto& line : split(view_.excerpt(path).value_or(""), '\n')) {
        const std::string text{trim(line)};
        const bool is_code = text.starts_with("import ") || text.starts_with("import\t");
        if (!text.empty() && !text.starts_with('#') && !is_code) {
          directories.push_back(absolute(path_, text));
        }
      }
    }
    return directories;
  }

private:
  /// The files of a distribution, or why it cannot be removed.
  struct Files {
    std::optional<std::string> kept_by{};
    std::vector<std::string> paths{};
  };

  void add(FoundDistributions& found,
           const std::string& marker,
           const std::string& metadata,
           Files files) const {
    auto lines = split(view_.excerpt(metadata).value_or(""), '\n');
    lines.resize(std::max<std::size_t>(lines.size(), 2));
    if (lines[0].empty()) {  // the directory's name contains both
      const auto end = marker.rfind('.');
      const auto dash = marker.find('-');
      lines[0] = marker.substr(0, std::min(dash, end));
      lines[1] = dash < end ? marker.substr(dash + 1, end - dash - 1) : "";
    }
    const auto installer = view_.excerpt(path_ + "/" + marker + "/INSTALLER");
    if (!is_installed_to_) {
      files = {.kept_by = "it is in `" + path_ + "`"};
    }
    found.installed.push_back({.name = python::normalise_name(lines[0]),
                               .version = non_empty(lines[1]),
                               .directory = path_,
                               .installer = non_empty(installer.value_or("")),
                               .kept_by = std::move(files.kept_by)});
    found.files.push_back(std::move(files.paths));
    found.requirements.emplace_back(lines.begin() + 2, lines.end());
  }

  /// Adds a project in development mode: the first line is its directory.
  void add_linked(FoundDistributions& found,
                  const std::string& marker,
                  const std::string& path) const {
    const std::string name = marker.substr(0, marker.rfind('.'));
    const auto lines = split(view_.excerpt(path).value_or(""), '\n');
    const std::string metadata =
        absolute(path_, std::string{trim(lines.front())}) + "/" + name + ".egg-info/PKG-INFO";
    add(found, marker, metadata, {.kept_by = "it is linked to a directory of sources"});
  }

  Files wheel_files(const std::string& marker) const {
    const auto record = view_.excerpt(path_ + "/" + marker + "/RECORD");
    if (!record || record->empty()) {
      return {.kept_by = "it has no RECORD of its files"};
    }
    return {.paths = listed(*record, path_)};
  }

  Files egg_files(const std::string& marker) const {
    const std::string directory = path_ + "/" + marker;
    const auto list = view_.excerpt(directory + "/installed-files.txt");
    if (!list || list->empty()) {
      return {.kept_by = "it has no list of its files"};
    }
    auto paths = listed(*list, directory);
    for (const auto& path : paths_) {
      if (path.starts_with(directory + "/")) {
        paths.push_back(path);
      }
    }
    return {.paths = sorted(std::move(paths))};
  }

  static std::vector<std::string> sorted(std::vector<std::string> paths) {
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
  }

  /// Returns the lines of `list`, relative to `directory`, that an installation may have written,
  /// and their compiled files.
  std::vector<std::string> listed(const std::string& list, const std::string& directory) const {
    std::vector<std::string> paths;
    for (const auto& line : split(list, '\n')) {
      auto path = line.empty() ? std::string{} : absolute(directory, line);
      if (!is_in(scheme_, path)) {
        continue;
      }
      if (path.ends_with(".py")) {
        add_compiled(path, paths);
      }
      paths.push_back(std::move(path));
    }
    return sorted(std::move(paths));
  }

  /// PEP 3147: `a/b.py` is compiled to `a/__pycache__/b.cpython-311.pyc`.
  void add_compiled(const std::string& source, std::vector<std::string>& paths) const {
    const auto slash = source.rfind('/');
    const std::string begin = source.substr(0, slash) + "/__pycache__/" +
                              source.substr(slash + 1, source.size() - slash - 3);
    for (auto file = compiled_.lower_bound(begin);
         file != compiled_.end() && file->starts_with(begin); ++file) {
      paths.push_back(*file);
    }
  }

  ImageView& view_;
  std::string path_;
  const python::Scheme& scheme_;
  bool is_installed_to_;
  std::set<std::string> paths_;
  std::set<std::string> compiled_;
};

}  // namespace

FoundDistributions find_distributions(ImageView& view,
                                      const std::vector<std::string>& search_path,
                                      const std::vector<std::string>& site_directories,
                                      const python::Scheme& scheme) {
  FoundDistributions found;
  std::set<std::string> looked_into;
  const auto look_into = [&](const std::string& path) -> std::vector<std::string> {
    if (path == "/" || looked_into.size() == most_directories || !looked_into.insert(path).second) {
      return {};
    }
    const Directory directory{view, path, scheme};
    if (directory.is_empty() && view.look({path}).empty()) {
      return {};
    }
    directory.find(found);
    found.search_path.push_back(path);
    return directory.named();
  };
  for (const auto& path : search_path) {
    const auto named = look_into(path);
    const bool counts = contains(site_directories, path);
    for (const auto& other : counts ? named : std::vector<std::string>{}) {
      look_into(without_links(view, other));
    }
  }
  return found;
}

}  // namespace autopack::executor
