#include "sbom/layer_survey.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "image/archive_reader.hpp"
#include "image/source.hpp"
#include "sbom/licence.hpp"
#include "sbom/package_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace autopack::sbom {

namespace {

using image::ArchiveEntry;
using image::Reader;

/// OCI image specification, layer.md: names of whiteouts.
constexpr std::string_view whiteout{".wh."};
constexpr std::string_view opaque{".wh..wh..opq"};

/// Metadata begins with what is needed; the description follows.
constexpr std::size_t largest_head{std::size_t{256} << 10U};
/// A database of 5000 packages has 10 MB.
constexpr std::size_t largest_database{std::size_t{128} << 20U};
/// Limits for one layer: of the kept bytes, and of the read ones.
constexpr std::size_t most_kept{std::size_t{64} << 20U};
constexpr std::size_t most_read{std::size_t{2} << 30U};

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string_view above(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

bool is_packages_directory(std::string_view path) {
  const auto name = last_part(path);
  return name == "site-packages" || name == "dist-packages";
}

/// Returns true for a directory of Python packages, and for another one (`pip install --target`)
/// unless a package contains it: its copies of other packages are not installed.
bool is_installed_in(std::string_view directory, bool is_wheel) {
  if (is_packages_directory(directory)) {
    return true;
  }
  const bool is_inside = directory.find("/site-packages/") != std::string_view::npos ||
                         directory.find("/dist-packages/") != std::string_view::npos;
  return is_wheel && !is_inside;
}

bool is_python_metadata(std::string_view path) {
  const auto name = last_part(path);
  const auto directory = above(path);
  if (name == "METADATA") {
    return directory.ends_with(".dist-info") && is_installed_in(above(directory), true);
  }
  if (name == "PKG-INFO") {
    const bool is_egg = last_part(directory) == "EGG-INFO" && above(directory).ends_with(".egg");
    return directory.ends_with(".egg-info")
               ? is_installed_in(above(directory), false)
               : is_egg && is_installed_in(above(above(directory)), false);
  }
  return name.ends_with(".egg-info") && is_packages_directory(directory);
}

std::size_t limit_of(SurveyedKind kind) {
  const bool is_database = kind == SurveyedKind::dpkg_status || kind == SurveyedKind::apk_installed;
  return is_database ? largest_database : largest_head;
}

/// Returns true if a file or link with this name may replace a directory above surveyed files.
bool may_hide_files(std::string_view name) {
  static constexpr std::array names{"usr",           "lib",           "lib64", "local", "var",
                                    "share",         "doc",           "dpkg",  "apk",   "db",
                                    "site-packages", "dist-packages", "etc",   "opt",   "status.d"};
  return contains(names, name) || name.starts_with("python") || name.ends_with(".dist-info") ||
         name.ends_with(".egg-info") || name.ends_with(".egg");
}

/// Reads the entries of one layer.
class LayerReader {
public:
  explicit LayerReader(std::string what) : what_{std::move(what)} {}

  void take(const ArchiveEntry& entry, const Reader& content) {
    const auto path = image::normal_path(entry.path);
    const auto name = last_part(path);
    const std::string parent{above(path)};
    if (path.empty() || entry.type == ArchiveEntry::Type::directory) {
      return;
    }
    if (name == opaque) {
      keep(survey_.emptied, parent);
    } else if (name.starts_with(whiteout)) {
      keep(survey_.removed,
           (parent.empty() ? "" : parent + "/") + std::string{name.substr(whiteout.size())});
    } else {
      take_file(entry, path, content);
    }
  }

  LayerSurvey finish() { return std::move(survey_); }

private:
  void take_file(const ArchiveEntry& entry, const std::string& path, const Reader& content) {
    survey_.files.erase(path);
    if (entry.type == ArchiveEntry::Type::hard_link) {
      const auto found = survey_.files.find(image::normal_path(entry.link));
      if (found != survey_.files.end()) {
        auto text = found->second;
        keep(path, std::move(text));
        return;
      }
    }
    const auto kind = kind_of_file(path);
    if (kind && entry.type == ArchiveEntry::Type::file) {
      keep(path, read(*kind, content));
    } else if (kind || may_hide_files(last_part(path))) {
      keep(survey_.removed, path);
    }
  }

  std::string read(SurveyedKind kind, const Reader& content) {
    const auto text = image::beginning_of(content, limit_of(kind));
    read_ += text.size();
    if (read_ > most_read ||
        (kind == SurveyedKind::dpkg_status && text.size() == largest_database)) {
      throw too_much(fmt::format("more than {} would have to be read",
                                 human_size(std::min(most_read, largest_database))));
    }
    return needed_lines(kind, text);
  }

  void keep(const std::string& path, std::string text) {
    count(path.size() + text.size());
    survey_.files.insert_or_assign(path, std::move(text));
  }

  void keep(std::vector<std::string>& paths, std::string path) {
    count(path.size());
    paths.push_back(std::move(path));
  }

  void count(std::size_t bytes) {
    kept_ += bytes;
    if (kept_ > most_kept) {
      throw too_much(fmt::format("its lists of packages need more than {}", human_size(most_kept)));
    }
  }

  Error too_much(const std::string& why) const {
    return std::move(
        Error(ErrorKind::environment, fmt::format("{} cannot be searched for packages", what_))
            .cause(why));
  }

  std::string what_;
  LayerSurvey survey_{};
  std::size_t kept_{0};
  std::size_t read_{0};
};

void erase_below(SurveyedFiles& files, const std::string& directory) {
  const auto prefix = directory.empty() ? "" : directory + "/";
  auto first = files.lower_bound(prefix);
  while (first != files.end() && first->first.starts_with(prefix)) {
    first = files.erase(first);
  }
}

}  // namespace

std::optional<SurveyedKind> kind_of_file(std::string_view path) {
  constexpr std::string_view status_directory{"var/lib/dpkg/status.d/"};
  if (path == "var/lib/dpkg/status" ||
      (path.starts_with(status_directory) && !path.ends_with(".md5sums"))) {
    return SurveyedKind::dpkg_status;
  }
  if (path == "lib/apk/db/installed" || path == "usr/lib/apk/db/installed") {
    return SurveyedKind::apk_installed;
  }
  if (path == "etc/os-release" || path == "usr/lib/os-release") {
    return SurveyedKind::os_release;
  }
  if (path.starts_with("usr/share/doc/") && path.ends_with("/copyright") &&
      std::ranges::count(path, '/') == 4) {
    return SurveyedKind::copyright;
  }
  if (is_python_metadata(path)) {
    return SurveyedKind::python_metadata;
  }
  if (last_part(path) == "direct_url.json" && above(path).ends_with(".dist-info") &&
      is_installed_in(above(above(path)), true)) {
    return SurveyedKind::python_origin;
  }
  return std::nullopt;
}

std::string needed_lines(SurveyedKind kind, std::string_view text) {
  text = text.substr(0, limit_of(kind));
  switch (kind) {
    case SurveyedKind::dpkg_status: return shortened_dpkg_status(text);
    case SurveyedKind::apk_installed: return shortened_apk_installed(text);
    case SurveyedKind::python_metadata: return shortened_python_metadata(text);
    case SurveyedKind::copyright: return debian_licence(text).value_or("");
    case SurveyedKind::python_origin: {
      const auto origin = read_direct_url(text);
      return origin ? origin->url + "\n" + origin->commit.value_or("") : "";
    }
    case SurveyedKind::os_release: break;
  }
  std::string lines;
  for (const auto& [name, value] : read_os_release(text)) {
    if (name == "ID" || name == "VERSION_ID" || name == "VERSION_CODENAME") {
      lines += name + "=" + value + "\n";
    }
  }
  return lines;
}

std::pair<LayerSurvey, Digest> survey_layer(const image::Reader& layer, const std::string& what) {
  LayerReader reader{what};
  auto digest = image::read_contents(
      layer, what,
      [&](const ArchiveEntry& entry, const Reader& content) { reader.take(entry, content); });
  return {reader.finish(), std::move(digest)};
}

void apply(const LayerSurvey& layer, SurveyedFiles& files) {
  for (const auto& directory : layer.emptied) {
    erase_below(files, directory);
  }
  for (const auto& path : layer.removed) {
    files.erase(path);
    erase_below(files, path);
  }
  for (const auto& [path, text] : layer.files) {
    files.insert_or_assign(path, text);
  }
}

std::string to_json(const LayerSurvey& survey) {
  return print_json(nlohmann::json{
      {"emptied", survey.emptied}, {"files", survey.files}, {"removed", survey.removed}});
}

std::optional<LayerSurvey> survey_from_json(std::string_view text) {
  try {
    const auto document = parse_json(text);
    LayerSurvey survey;
    document.at("emptied").get_to(survey.emptied);
    document.at("files").get_to(survey.files);
    document.at("removed").get_to(survey.removed);
    return survey;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace autopack::sbom
