#pragma once

#include "base/digest.hpp"
#include "image/source.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::sbom {

/// What one layer says about installed packages: the needed lines of package databases, of the
/// metadata of Python distributions, of copyright files and of os-release. Paths have no leading
/// slash.
struct LayerSurvey {
  std::map<std::string, std::string> files{};  ///< the needed lines, by path
  std::vector<std::string> removed{};  ///< paths that it removes or replaces, with all below them
  std::vector<std::string> emptied{};  ///< directories that contain nothing of lower layers

  bool operator==(const LayerSurvey&) const = default;
};

/// The files of several layers on top of each other, as in LayerSurvey::files.
using SurveyedFiles = std::map<std::string, std::string>;

/// Reads the tar from `layer`, compressed or not. Returns the survey and the digest of the
/// uncompressed tar. Throws Error(environment) naming `what` if it is damaged or beyond the limits.
std::pair<LayerSurvey, Digest> survey_layer(const image::Reader& layer, const std::string& what);

/// Puts `layer` on top of `files`: removals first.
void apply(const LayerSurvey& layer, SurveyedFiles& files);

/// What a surveyed file is.
enum class SurveyedKind {
  dpkg_status,
  apk_installed,
  python_metadata,
  python_origin,
  copyright,
  os_release
};

/// Returns the kind of a regular file by its path; nothing for one that a survey leaves out.
std::optional<SurveyedKind> kind_of_file(std::string_view path);

/// Returns the needed lines of a file: of its beginning if it is longer than any such file should
/// be.
std::string needed_lines(SurveyedKind kind, std::string_view text);

/// Returns a text that survey_from_json() reads.
std::string to_json(const LayerSurvey& survey);
/// Returns nothing if `text` is damaged.
std::optional<LayerSurvey> survey_from_json(std::string_view text);

}  // namespace autopack::sbom
