#include "build/wheels/wheel_choice.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "build/wheels/build_sources.hpp"
#include "build/wheels/chosen_file.hpp"
#include "build/wheels/complete_set.hpp"
#include "build/wheels/direct_url.hpp"
#include "build/wheels/index_failure.hpp"
#include "build/wheels/local_files.hpp"
#include "build/wheels/told_wheels.hpp"
#include "lock/merge.hpp"
#include "lock/select.hpp"
#include "python/tags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace autopack::build {

namespace {

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
        choices_(set_.packages.size()) {}

  WheelChoice run() {
    if (policy_.freshness == packaging::Freshness::cached) {
      recall();
    }
    take_locked_files();
    ask_index();
    take_noted_sizes();
    fetch_unknown();
    if (obstacles_.empty()) {
      remember();
      note_direct_urls();
      obstacles_ = build_sources(sources_of(work_, index_, set_, choices_),
                                 {services_, work_, index_->wheels(), policy_}, set_, choices_);
    }
    if (obstacles_.empty()) {
      look_for_missing();
    }
    return obstacles_.empty() ? chosen() : WheelChoice{.obstacles = std::move(obstacles_)};
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

  /// Does not cache facts that come only from notes.
  void remember() const {
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (choices_[i] && is_remembered(i) && !sized_by_notes_.contains(i)) {
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
      obstacles_.emplace_back("nothing says which package index to ask");
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
        }
      }
    }
  }

  /// For files whose digest is known and whose size is known only from notes.
  void take_noted_sizes() {
    const bool may_tell = std::ranges::any_of(unknown_, [&](const auto& one) {
      const auto digest = only_digest(one.second.hashes);
      return digest && !index_->wheels().has(digest->hex());
    });
    if (!may_tell || !obstacles_.empty()) {
      return;
    }
    const auto told = told_wheels(services_);
    std::erase_if(unknown_, [&](const auto& one) {
      auto file = one.second;
      const auto digest = only_digest(file.hashes);
      const auto noted = digest ? told.find(*digest) : told.end();
      if (noted == told.end() || index_->wheels().has(digest->hex())) {
        return false;
      }
      file.size = noted->second.size;
      choices_[one.first] = ChosenFile::of(file);
      sized_by_notes_.insert(one.first);
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

  void look_for_missing() {
    std::vector<ChosenFile> files;
    std::ranges::transform(choices_, std::back_inserter(files),
                           [](const auto& choice) { return choice.value(); });
    if (auto missing = missing_from(services_, *index_,
                                    {.set = set_,
                                     .files = std::move(files),
                                     .offered = offered_,
                                     .interpreter = interpreter_,
                                     .target = target_})) {
      obstacles_.push_back(std::move(*missing));
    }
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
      if (sized_by_notes_.contains(i)) {
        download.size.reset();  // the hash decides, whatever the notes say
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
      choice.files[file.digest] = std::move(download);
    }
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
  std::vector<std::pair<std::size_t, index::Download>> unknown_{};
  std::map<std::size_t, std::string> urls_{};  ///< texts of direct_url.json
  std::vector<std::string> obstacles_{};
  std::set<std::size_t> sized_by_notes_{};
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
