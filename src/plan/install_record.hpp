#pragma once

#include "plan/plan.hpp"
#include "project/package/static_installation.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// The observed inputs and outputs of the installation of the project's own package. Paths are
/// relative to /usr/app.
struct InstallRecord {
  struct Fact {
    std::string path{};
    std::string state{};  ///< a hash; for an existence check a letter: `f`, `d`, `l`, or `-` for
                          ///< absent
    std::string by{};     ///< the reader: `setup.py`, `setuptools`
    bool every{true};     ///< for a listing: all names; else packages only
  };

  std::vector<Fact> reads{};
  std::vector<Fact> lists{};
  std::vector<Fact> asks{};
  /// A program that may have read any file; absent if all reads were observed.
  std::optional<Fact> whole{};
  std::string tree{};                  ///< code_digest of the installed code
  std::vector<std::string> written{};  ///< sorted
};

/// Returns nothing if the text is not a record of this format; it is untrusted.
std::optional<InstallRecord> parse_install_record(std::string_view text);

/// Returns the record of an installation whose inputs in the code of `plan` are `looked`, for
/// `backend`, and that wrote no file of it.
std::string write_install_record(const Plan& plan,
                                 const project::LookedAt& looked,
                                 const std::string& backend);

/// Returns a hash of all code of `plan` at its places in the image.
std::string code_digest(const Plan& plan);

/// Returns why the package has to be reinstalled for the code of `plan`, in words that follow
/// "because": `setup.py reads VERSION, which changed`. Returns nothing if the record is valid.
std::optional<std::string> why_outdated(const InstallRecord& record, const Plan& plan);

/// Returns the program that observes installations, in Python.
std::string observer_text();

}  // namespace autopack::plan
