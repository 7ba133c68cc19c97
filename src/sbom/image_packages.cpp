#include "sbom/image_packages.hpp"

#include "base/text.hpp"
#include "python/name.hpp"
#include "sbom/licence.hpp"
#include "sbom/package_lists.hpp"
#include "sbom/purl.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace autopack::sbom {

namespace {

/// The distribution of Linux in an image.
struct System {
  std::string id{};       ///< `debian`; empty if unknown
  std::string version{};  ///< `12`; empty if unknown
};

System system_of(const SurveyedFiles& files) {
  for (const auto* path : {"etc/os-release", "usr/lib/os-release"}) {
    const auto found = files.find(path);
    if (found == files.end()) {
      continue;
    }
    auto values = read_os_release(found->second);
    const auto& version = values["VERSION_ID"];
    return {.id = values["ID"], .version = version.empty() ? values["VERSION_CODENAME"] : version};
  }
  return {};
}

/// Returns letters, digits, `.` and `-` for `text`: the characters of an SPDX identifier.
std::string id_part(std::string_view text) {
  std::string id;
  for (const char c : text) {
    if (is_alphanumeric({&c, 1}, ".-")) {
      id += c;
    } else {
      id += "." + hexadecimal({&c, 1}) + ".";
    }
  }
  return id;
}

class Packages {
public:
  explicit Packages(const SurveyedFiles& files) : files_{files}, system_{system_of(files)} {}

  std::vector<Component> find() {
    for (const auto& [path, text] : files_) {
      const auto kind = kind_of_file(path);
      if (kind == SurveyedKind::dpkg_status) {
        add_system_packages("deb", read_dpkg_status(text));
      } else if (kind == SurveyedKind::apk_installed) {
        add_system_packages("apk", read_apk_installed(text));
      } else if (kind == SurveyedKind::python_metadata) {
        add_distribution(path, text);
      }
    }
    std::vector<Component> all;
    for (auto& [id, component] : found_) {
      all.push_back(std::move(component));
    }
    return all;
  }

private:
  void add(Component&& component) {
    const auto id = component.id;
    found_.try_emplace(id, std::move(component));
  }

  void add_system_packages(const std::string& type, const std::vector<SystemPackage>& packages) {
    const std::string usual = type == "deb" ? "debian" : "alpine";
    const auto& space = system_.id.empty() ? usual : system_.id;
    const auto distro = system_.version.empty() ? system_.id : system_.id + "-" + system_.version;
    for (const auto& package : packages) {
      auto source = package.source;
      if (!source.empty() && !package.source_version.empty()) {
        source += "@" + package.source_version;
      }
      add({.id = id_part(type + "-" + package.name + "-" + package.version + "-" +
                         package.architecture),
           .kind = Component::Kind::system_package,
           .name = package.name,
           .version = package.version,
           .purl = to_text({.type = type,
                            .space = space,
                            .name = package.name,
                            .version = package.version,
                            .qualifiers = {{"arch", package.architecture},
                                           {"distro", distro},
                                           {"upstream", source}}}),
           .licence = licence_of(package)});
    }
  }

  std::optional<std::string> licence_of(const SystemPackage& package) const {
    if (package.licence) {
      return licence_expression(*package.licence);
    }
    const auto found = files_.find("usr/share/doc/" + package.name + "/copyright");
    return found == files_.end() ? std::nullopt : non_empty(found->second);
  }

  void add_distribution(const std::string& path, const std::string& text) {
    const auto metadata = read_python_metadata(text);
    if (!metadata) {
      return;
    }
    const bool is_file = path.ends_with(".egg-info");
    const auto place = is_file ? path : path.substr(0, path.rfind('/'));
    Component component{
        .id = id_part("pypi-" + python::normalise_name(metadata->name) + "-" + metadata->version),
        .kind = Component::Kind::python_package,
        .name = metadata->name,
        .version = metadata->version,
        .purl = python_purl(metadata->name, metadata->version),
        .licence = python_licence(metadata->licence_expression, metadata->licence,
                                  metadata->licence_classifiers),
        .facts = {{directory_fact, "/" + place.substr(0, place.rfind('/'))}}};
    if (const auto origin = files_.find(place + "/direct_url.json"); origin != files_.end()) {
      add_origin(component, origin->second);
    }
    add(std::move(component));
  }

  static void add_origin(Component& component, const std::string& text) {
    const auto lines = split(text, '\n');
    if (lines.empty() || lines.front().empty()) {
      return;
    }
    const auto commit = lines.size() > 1 ? non_empty(lines[1]) : std::nullopt;
    component.download = commit ? git_location(lines.front(), commit) : lines.front();
  }

  const SurveyedFiles& files_;
  System system_;
  std::map<std::string, Component> found_;
};

}  // namespace

std::vector<Component> packages_in(const SurveyedFiles& files) {
  return Packages{files}.find();
}

}  // namespace autopack::sbom
