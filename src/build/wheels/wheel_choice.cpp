#include "build/wheels/wheel_choice.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/new_file.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "build/wheels/built_wheels.hpp"
#include "build/wheels/chosen_file.hpp"
#include "build/wheels/direct_url.hpp"
#include "build/wheels/index_failure.hpp"
#include "build/wheels/local_files.hpp"
#include "build/wheels/package_index.hpp"
#include "build/wheels/remembered_wheels.hpp"
#include "build/wheels/sources_of_set.hpp"
#include "build/wheels/wheel_source.hpp"
#include "image/tar.hpp"
#include "index/wheel_cache.hpp"
#include "lock/locked_set.hpp"
#include "lock/merge.hpp"
#include "lock/select.hpp"
#include "packaging/packaging.hpp"
#include "python/interpreter.hpp"
#include "python/tags.hpp"
#include "python/wheel_name.hpp"
#include "services/services.hpp"
#include "wheel/texts.hpp"
#include "wheel/wheel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace autopack::build {

namespace {

/// A set, and the selected file of each of its packages.
struct ChosenSet {
  const lock::LockedSet& set;
  std::vector<ChosenFile> files{};  ///< in the order of the set
  /// By position, files whose metadata the index provides; just received from the index.
  const std::map<std::size_t, index::Candidate>& offered;
  const python::Interpreter& interpreter;
  /// Identifies the parts of the interpreter that affect a choice.
  const std::string& target;
};

constexpr std::size_t connections{4};

/// Finds the requirements of wheels.
class Needs {
public:
  Needs(Services& services,
        PackageIndex& index,
        const std::map<std::size_t, index::Candidate>& offered,
        RememberedWheels remembered)
      : services_{services}, index_{index}, offered_{offered}, remembered_{std::move(remembered)} {}

  /// Returns those of `file` at `place`; nothing if it is not cached and `may_be_unknown`.
  std::optional<std::vector<std::string>> of(std::size_t place,
                                             const ChosenFile& file,
                                             bool may_be_unknown) const {
    if (auto known = cached_needs(services_, file.digest)) {
      return known;
    }
    auto wheel = index_.wheels().find(file.digest.hex());
    if (!wheel && may_be_unknown) {
      return std::nullopt;
    }
    if (const auto remembered = remembered_.find(file.digest);
        !wheel && remembered != remembered_.end() && remembered->second.needs) {
      return remembered->second.needs;
    }
    const auto metadata = wheel ? std::nullopt : published_metadata(place);
    if (!wheel && !metadata) {
      wheel = index_.wheels().get(file.download());
    }
    auto lines = metadata ? wheel::read_metadata(*metadata).requires_dist
                          : wheel::Wheel::open(wheel->path, file.name).metadata().requires_dist;
    cache_needs(services_, file.digest, lines);
    return lines;
  }

private:
  std::optional<std::string> published_metadata(std::size_t place) const {
    const auto found = offered_.find(place);
    return found != offered_.end() ? index_.client().metadata(found->second) : std::nullopt;
  }

  Services& services_;
  PackageIndex& index_;
  const std::map<std::size_t, index::Candidate>& offered_;
  RememberedWheels remembered_;
};

/// Returns the dependencies that a set lacks according to the metadata of its wheels, in words;
/// nothing if it is complete. For a set that claims to be complete, reads only cached wheels, else
/// all. Does not fetch a wheel whose metadata the index provides.
std::optional<std::string> missing_from(Services& services,
                                        PackageIndex& index,
                                        const ChosenSet& chosen) {
  const auto& set = chosen.set;
  const auto& files = chosen.files;
  Sha256 hash;
  hash.update(chosen.target);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& package = set.packages[i];
    hash.update(
        fmt::format("{} {} {}\n", package.name, files[i].digest.hex(), join(package.extras, ",")));
  }
  const std::string name = "complete " + hash.finish().hex();
  if (services.wheel_records.get(name)) {
    return std::nullopt;
  }
  std::map<std::string, lock::Needs> needs;
  bool all_seen = true;
  const Needs asked{services, index, chosen.offered,
                    set.is_complete ? RememberedWheels{} : remembered_wheels(services)};
  std::vector<std::optional<std::vector<std::string>>> found(files.size());
  in_parallel(found.size(), connections,
              [&](std::size_t i) { found[i] = asked.of(i, files[i], set.is_complete); });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (auto& lines = found[i]) {
      needs[set.packages[i].name] = {.requirements = std::move(*lines)};
    } else {
      all_seen = false;
    }
  }
  const auto missing = lock::missing_requirements(set, needs, {}, chosen.interpreter);
  if (missing.empty()) {
    if (all_seen) {
      services.wheel_records.put(name, "");
    }
    return std::nullopt;
  }
  return fmt::format("{} is not a complete set of pins: {}", set.origin, join(missing, "; "));
}

/// Sets the names and versions that builds determine. Returns the packages of another version than
/// the set has, and those that are listed twice, one line each. Throws Error(project) if a source
/// has another name than its requirement, which pip refuses too.
std::vector<std::string> settle_names(const std::map<std::size_t, WheelSource>& sources,
                                      const std::vector<std::optional<ChosenFile>>& choices,
                                      lock::LockedSet& set) {
  Problems wrong;
  std::vector<std::string> faults;
  for (const auto& [i, source] : sources) {
    const auto said = python::WheelName::parse(choices[i]->name).value();
    auto& package = set.packages[i];
    const auto gives =
        fmt::format("{} gives a wheel of `{}` {}", source.title, said.name, said.version.str());
    if (!package.name.empty() && package.name != said.name) {
      wrong.push_back({.message = gives,
                       .origin = package.place,
                       .hints = {fmt::format("write `{} @ ...`", said.name)}});
    } else if (package.version &&
               package.version->without_local() != said.version.without_local()) {
      faults.push_back(fmt::format("{}: {}", package.place, gives));
    }
    package.name = said.name;
    package.version = said.version;
  }
  throw_if_errors(wrong, ErrorKind::project);
  std::map<std::string, std::string> places;
  for (const auto& package : set.packages) {
    if (const auto [same, is_new] = places.emplace(package.name, package.place); !is_new) {
      faults.push_back(
          fmt::format("{}: `{}` is in {}, too", package.place, package.name, same->second));
    }
  }
  return faults;
}

/// Returns `` `counter` 0.5 (a source distribution), `lib` (a directory of sources)``.
std::string named(const std::map<std::size_t, WheelSource>& sources,
                  const std::vector<std::size_t>& places) {
  std::vector<std::string> names;
  for (const std::size_t i : places) {
    names.push_back(fmt::format("{} ({})", sources.at(i).title, sources.at(i).kind));
  }
  return join(names, ", ");
}

/// Puts the wheel of each of `sources`, cached, remembered or built by `built`, at its place in
/// `choices`, the files of `set`, and records in `set` the names and versions that builds
/// determine. Adds the remembered ones to `remembered`. Returns the obstacles, one line each; empty
/// if it succeeds. Throws as a build does.
std::vector<std::string> build_sources(SourcesOfSet sources,
                                       const BuiltWheels& built,
                                       lock::LockedSet& set,
                                       std::vector<std::optional<ChosenFile>>& choices,
                                       std::map<std::size_t, WheelSource>& remembered) {
  auto [found, obstacles] = std::move(sources);
  std::vector<std::size_t> missing;
  for (const auto& [i, source] : found) {
    choices[i] = built.find(source);
    if (choices[i]) {
      continue;
    }
    choices[i] = built.remembered(source);
    if (choices[i]) {
      remembered.emplace(i, source);
      continue;
    }
    missing.push_back(i);
    if (!built.can_build()) {
      obstacles.push_back(fmt::format("{}: {} is {}, which has to be built", set.packages[i].place,
                                      source.title, source.kind));
    }
  }
  if (!obstacles.empty()) {
    return std::move(obstacles);
  }
  try {
    for (const std::size_t i : missing) {
      choices[i] = built.build(found.at(i));
    }
  } catch (Error& error) {
    if (error.kind() == ErrorKind::environment) {
      error.wrap("only an engine can build " + named(found, missing));
    }
    throw;
  }
  return settle_names(found, choices, set);
}

/// Increment this if the same input gives a different choice.
constexpr int choice_format{2};

class Chooser {
public:
  Chooser(Services& services,
          const packaging::Packaging& work,
          std::shared_ptr<PackageIndex> index,
          WantedSet wanted)
      : services_{services},
        work_{work},
        index_{std::move(index)},
        set_{std::move(wanted.set)},
        interpreter_{wanted.interpreter},
        policy_{wanted.policy},
        files_{interpreter_},
        target_{fmt::format("{} {} {} {}",
                            choice_format,
                            interpreter_.version.str(),
                            sha256(join(python::AcceptedTags{interpreter_}.all(), "\n")).hex(),
                            sha256(index_->identity()).hex())},
        choices_(set_.packages.size()),
        built_{std::make_shared<BuiltWheels>(services_, work_, index_->wheels(), policy_)} {}

  WheelChoice run() {
    if (policy_.freshness == packaging::Freshness::cached) {
      recall();
    }
    take_locked_files();
    ask_index();
    take_remembered_sizes();
    fetch_unknown();
    if (obstacles_.empty()) {
      remember();
      note_direct_urls();
      auto sources = sources_of(work_, index_, set_, choices_);
      const auto all = sources.found;
      obstacles_ = build_sources(std::move(sources), *built_, set_, choices_, remembered_);
      if (obstacles_.empty()) {
        for (const auto& [i, source] : all) {
          facts_.insert(built_->fact(source, *choices_[i]));
        }
      }
    }
    if (obstacles_.empty()) {
      if (auto missing = find_missing()) {
        return {.obstacles = {*std::move(missing)}, .is_incomplete = true};
      }
    }
    return obstacles_.empty() ? chosen()
                              : WheelChoice{.obstacles = std::move(obstacles_),
                                            .is_incomplete = has_missing_version_};
  }

private:
  const lock::LockedPackage& package(std::size_t i) const { return set_.packages[i]; }

  /// Returns a key of everything that the choice depends on.
  std::string key(std::size_t i) const {
    std::string text = fmt::format("{} {}=={} {}", target_, package(i).name,
                                   package(i).version ? package(i).version->str() : "",
                                   static_cast<int>(package(i).formats));
    for (const auto& hash : package(i).hashes) {
      text += " " + hash.str();
    }
    for (const auto& file : package(i).files) {
      text += fmt::format(" {} {}", file.name, file.url.value_or(""));
      for (const auto& hash : file.hashes) {
        text += " " + hash.str();
      }
    }
    return text;
  }

  /// Returns false for files of the project, which are read each time.
  bool is_remembered(std::size_t i) const {
    const auto& files = package(i).files;
    return !package(i).source &&
           std::ranges::none_of(files, [](const auto& file) { return file.path.has_value(); });
  }

  void recall() {
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (is_remembered(i)) {
        choices_[i] = ChosenFile::read(services_.wheel_records.get(key(i)).value_or(""));
      }
    }
  }

  /// Does not cache facts that come only from a repository.
  void remember() const {
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (choices_[i] && is_remembered(i) && !sized_by_repository_.contains(i)) {
        services_.wheel_records.put(key(i), choices_[i]->text());
      }
    }
  }

  void refuse(std::size_t i, const std::string& reason) {
    obstacles_.push_back(fmt::format("{}: {}", package(i).place, reason));
  }

  void note(std::size_t i, index::Download file) {
    choices_[i] = ChosenFile::of(file);
    if (!choices_[i]) {
      unknown_.emplace_back(i, std::move(file));
    }
  }

  void take_locked_files() {
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (auto obstacle = obstacle_of(package(i), files_)) {
        obstacles_.push_back(std::move(*obstacle));
      } else if (!choices_[i] && !package(i).source && !package(i).files.empty()) {
        const auto selection = files_.choose(package(i));
        take(i,
             package(i).files.at((selection.chosen ? selection.chosen : selection.source).value()));
      }
    }
  }

  void take(std::size_t i, const lock::LockedFile& file) {
    if (file.path) {
      const auto cached = cache_local_file(work_, index_->wheels(), file);
      choices_[i] = ChosenFile{.name = file.name,
                               .url = url_in_build(*file.path),
                               .digest = Digest::parse("sha256:" + cached.sha256).value(),
                               .size = cached.size};
    } else if (file.url) {
      note(i, download_of(file));
    }
  }

  bool is_open(std::size_t i) const {
    return !choices_[i] && !package(i).source &&
           std::ranges::none_of(unknown_, [&](const auto& one) { return one.first == i; });
  }

  void ask_index() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (is_open(i)) {
        names.push_back(package(i).name);
      }
    }
    if (names.empty() || !obstacles_.empty()) {
      return;
    }
    if (index_->is_nowhere()) {
      obstacles_.emplace_back("no setting names a package index");
      return;
    }
    std::map<std::string, std::vector<index::Candidate>> offered;
    try {
      offered = index_->client().candidates_of(names);
    } catch (const Error& error) {
      // pip in an engine may reach hosts that this machine does not, and continues with the next
      // index.
      obstacles_.push_back(hand_over_to_pip(services_, work_, error));
      return;
    }
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (is_open(i)) {
        const auto& files = offered.at(package(i).name);
        const auto selection = files_.choose(package(i), to_candidates(files));
        if (const auto place = selection.chosen ? selection.chosen : selection.source) {
          note(i, download_of(package(i), files[*place]));
          if (selection.chosen) {
            offered_.emplace(i, files[*place]);
          }
        } else {
          refuse(i, selection.reason);
          has_missing_version_ |= !selection.has_version && package(i).hashes.empty();
        }
      }
    }
  }

  /// For files whose digest is known and whose size is known only from a repository.
  void take_remembered_sizes() {
    const bool may_report = std::ranges::any_of(unknown_, [&](const auto& one) {
      const auto digest = only_digest(one.second.hashes);
      return digest && !index_->wheels().has(digest->hex());
    });
    if (!may_report || !obstacles_.empty()) {
      return;
    }
    const auto remembered = remembered_wheels(services_);
    std::erase_if(unknown_, [&](const auto& one) {
      auto file = one.second;
      const auto digest = only_digest(file.hashes);
      const auto known = digest ? remembered.find(*digest) : remembered.end();
      if (known == remembered.end() || index_->wheels().has(digest->hex())) {
        return false;
      }
      file.size = known->second.size;
      choices_[one.first] = ChosenFile::of(file);
      sized_by_repository_.insert(one.first);
      return true;
    });
  }

  /// Fetches the files whose digest or size is unknown.
  void fetch_unknown() {
    if (!obstacles_.empty()) {
      return;
    }
    std::vector<index::Download> downloads;
    for (const auto& [i, file] : unknown_) {
      downloads.push_back(file);
    }
    const auto files = index_->wheels().get_all(downloads);
    for (std::size_t k = 0; k < unknown_.size(); ++k) {
      const auto& [i, file] = unknown_[k];
      choices_[i] = ChosenFile{.name = file.name,
                               .url = file.url,
                               .digest = Digest::parse("sha256:" + files[k].sha256).value(),
                               .size = files[k].size};
    }
  }

  void note_direct_urls() {
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (package(i).is_direct) {
        urls_[i] = package(i).source ? direct_url_of(*package(i).source)
                                     : direct_url_of_archive(choices_[i]->url, choices_[i]->digest);
      }
    }
  }

  /// Layers are made concurrently, wheels are not built concurrently.
  std::function<std::filesystem::path()> build_when_read(const WheelSource& source,
                                                         const ChosenFile& file) const {
    return [index = index_, built = built_, building = building_, source, file] {
      const std::lock_guard guard{*building};
      return built->file_of(source, file);
    };
  }

  std::optional<std::string> find_missing() {
    std::vector<ChosenFile> files;
    std::ranges::transform(choices_, std::back_inserter(files),
                           [](const auto& choice) { return choice.value(); });
    return missing_from(services_, *index_,
                        {.set = set_,
                         .files = std::move(files),
                         .offered = offered_,
                         .interpreter = interpreter_,
                         .target = target_});
  }

  /// Sorts by name, like the set once all names are known.
  WheelChoice chosen() {
    std::vector<std::size_t> order(choices_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return package(a).name < package(b).name; });
    WheelChoice choice;
    for (const std::size_t i : order) {
      const ChosenFile& file = *choices_[i];
      const auto url = urls_.find(i);
      auto download = file.download();
      if (sized_by_repository_.contains(i)) {
        download.size.reset();  // the hash decides, whatever is remembered
      }
      choice.wheels.push_back(
          {.name = package(i).name,
           .digest = file.digest,
           .size = file.size,
           .file_name = file.name,
           .options = {.is_requested = package(i).requested,
                       .direct_url =
                           url == urls_.end() ? std::nullopt : std::optional{url->second}},
           .file = [index = index_, download] { return index->wheels().get(download).path; }});
      if (const auto source = remembered_.find(i); source != remembered_.end()) {
        choice.wheels.back().file = build_when_read(source->second, file);
      } else {
        choice.files[file.digest] = std::move(download);
      }
    }
    choice.built = std::move(facts_);
    lock::sort_packages(set_);
    choice.set = std::move(set_);
    return choice;
  }

  Services& services_;
  const packaging::Packaging& work_;
  std::shared_ptr<PackageIndex> index_;
  lock::LockedSet set_;
  const python::Interpreter& interpreter_;
  const WheelPolicy& policy_;
  lock::FileChooser files_;
  std::string target_;
  std::vector<std::optional<ChosenFile>> choices_;
  std::shared_ptr<const BuiltWheels> built_;
  std::shared_ptr<std::mutex> building_{std::make_shared<std::mutex>()};
  std::map<std::size_t, WheelSource> remembered_{};  ///< built by another machine
  std::map<std::string, std::string> facts_{};       ///< about those that were built
  std::vector<std::pair<std::size_t, index::Download>> unknown_{};
  std::map<std::size_t, std::string> urls_{};  ///< texts of direct_url.json
  std::vector<std::string> obstacles_{};
  bool has_missing_version_{false};
  std::set<std::size_t> sized_by_repository_{};
  std::map<std::size_t, index::Candidate> offered_{};  ///< just received from an index
};

}  // namespace

WheelChoice choose_wheels(Services& services,
                          const packaging::Packaging& work,
                          const std::shared_ptr<PackageIndex>& index,
                          WantedSet wanted) {
  return Chooser{services, work, index, std::move(wanted)}.run();
}

}  // namespace autopack::build
