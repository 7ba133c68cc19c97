#pragma once

#include "plan/plan.hpp"
#include "project/static_installation.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// What the installation of the project's own package depended on and wrote, as it was observed.
/// Paths are those below /usr/app.
struct InstallRecord {
  struct Fact {
    std::string path{};
    std::string state{};  ///< a hash; of an existence a letter: `f`, `d`, `l`, or `-` for absent
    std::string by{};     ///< who read it: `setup.py`, `setuptools`
    bool every{true};     ///< of a listing: all names; else packages only
  };

  std::vector<Fact> reads{};
  std::vector<Fact> lists{};
  std::vector<Fact> asks{};
  /// A program that may have read any file; none when all reading was seen.
  std::optional<Fact> whole{};
  std::string tree{};                  ///< code_digest of what was installed
  std::vector<std::string> written{};  ///< sorted
};

/// None for text that is no record of this format; it may come from anywhere.
std::optional<InstallRecord> parse_install_record(std::string_view text);

/// The record of an installation that was made from what was `looked` at in the code of `plan`, for
/// `backend`, and that wrote no file of it.
std::string write_install_record(const Plan& plan,
                                 const project::LookedAt& looked,
                                 const std::string& backend);

/// A hash over all code of `plan` at its places in the image.
std::string code_digest(const Plan& plan);

/// Why the package has to be installed again for the code of `plan`, in words that follow
/// "because": `setup.py reads VERSION, which changed`. None when the record holds.
std::optional<std::string> why_outdated(const InstallRecord& record, const Plan& plan);

/// The observer of installations, a Python program.
std::string observer_text();

}  // namespace autopack::plan
