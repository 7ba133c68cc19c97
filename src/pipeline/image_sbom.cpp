#include "pipeline/image_sbom.hpp"

#include "attest/documents.hpp"
#include "attest/statement.hpp"
#include "base/json.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "build/wheels/installed_wheels.hpp"
#include "image/file_reference.hpp"
#include "image/reference.hpp"
#include "image/tar.hpp"
#include "pipeline/image_layers.hpp"
#include "python/name.hpp"
#include "python/version.hpp"
#include "sbom/image_packages.hpp"
#include "sbom/purl.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::pipeline {

namespace {

using packaging::MadeImage;
using packaging::Packaging;
using sbom::Bom;
using sbom::Component;
using sbom::Relationship;

constexpr auto* image_id = "image";
constexpr auto* base_id = "executor-image";
constexpr auto* project_id = "project";
/// How the history of an image names a layer that autopack made of wheels.
constexpr std::string_view layers_of_wheels{"autopack: wheels of "};

/// Returns `created` of a configuration in seconds since 1970; nothing if it is absent or damaged.
std::optional<std::int64_t> creation_time(const std::string& configuration) {
  std::tm date{};
  const auto text = text_at(parse_json(configuration), "created");
  return ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &date) == nullptr
             ? std::nullopt
             : std::optional<std::int64_t>{::timegm(&date)};
}

/// A package, and the layer that it is in.
struct Placed {
  Component component{};
  std::size_t layer{0};
};

/// Returns the packages of the whole image by their ids, each with the layer that brought what is
/// there now.
std::map<std::string, Placed> place_packages(const SurveyedImage& image) {
  std::map<std::string, Placed> placed;
  sbom::SurveyedFiles files;
  for (std::size_t i = 0; i < image.surveys.size(); ++i) {
    if (image.surveys[i] == sbom::LayerSurvey{}) {
      continue;
    }
    sbom::apply(image.surveys[i], files);
    std::map<std::string, Placed> now;
    for (auto& component : sbom::packages_in(files)) {
      const auto before = placed.find(component.id);
      const auto layer = before == placed.end() ? i : before->second.layer;
      auto id = component.id;
      now.emplace(std::move(id), Placed{.component = std::move(component), .layer = layer});
    }
    placed = std::move(now);
  }
  return placed;
}

class BomMaker {
public:
  BomMaker(Services& services,
           const Packaging& work,
           const packaging::Image& image,
           const SurveyedImage& survey)
      : services_{services}, work_{work}, image_{image}, survey_{survey}, bom_{begin()} {}

  Bom make() {
    add_image();
    add_project();
    add_base();
    add_layers();
    for (auto& [id, package] : place_packages(survey_)) {
      add_package(std::move(package));
    }
    std::sort(std::next(bom_.components.begin()), bom_.components.end(),
              [](const Component& a, const Component& b) { return a.id < b.id; });
    std::sort(bom_.relationships.begin(), bom_.relationships.end());
    return std::move(bom_);
  }

private:
  Bom begin() const {
    const auto& environment = services_.environment;
    const auto created =
        environment.get("SOURCE_DATE_EPOCH") ? std::nullopt : creation_time(survey_.configuration);
    return {.name = image_.repository,
            .digest = survey_.digest,
            .created = created.value_or(image::file_time(environment)),
            .tool_version = AUTOPACK_VERSION};
  }

  void relate(const std::string& from,
              const std::string& to,
              Relationship::Kind kind = Relationship::Kind::contains) {
    bom_.relationships.push_back({.from = from, .kind = kind, .to = to});
  }

  void add_image() {
    const auto digest = survey_.digest.str();
    const auto& place = work_.name().reference;
    bom_.components.push_back(
        {.id = image_id,
         .kind = Component::Kind::image,
         .name = image_.repository,
         .version = digest,
         .purl = sbom::image_purl({.repository = place.host + "/" + place.path,
                                   .is_in_registry = image_.digest.has_value(),
                                   .digest = digest,
                                   .tag = place.tag,
                                   .platform = platform()}),
         .sha256 = survey_.digest,
         .facts = {{"autopack:platform", platform()}, {"autopack:tag", image_.tag}}});
  }

  const std::string& platform() const { return work_.plan().platform; }

  /// Returns the commit, with `-dirty` if the files differ from it; empty if there is none.
  std::string version_of_project() const {
    const auto& git = work_.scanned().git;
    const auto commit = git ? git->revision.value_or("") : "";
    return commit.empty() || !git->dirty ? commit : commit + "-dirty";
  }

  /// Returns the address of the files in git; without the commit if they differ from it.
  std::optional<std::string> location_of_project() const {
    const auto& git = work_.scanned().git;
    return git && git->remote
               ? sbom::git_location(*git->remote, git->dirty ? std::nullopt : git->revision)
               : std::nullopt;
  }

  void add_project() {
    const auto& package = work_.scanned().project.package;
    const auto& git = work_.scanned().git;
    const auto& repository = image_.repository;
    const auto name =
        package && package->name ? *package->name : repository.substr(repository.rfind('/') + 1);
    Component component{
        .id = project_id,
        .kind = Component::Kind::project,
        .name = name,
        .version = version_of_project(),
        .purl = sbom::project_purl(name, version_of_project(), location_of_project())};
    if (git) {
      component.facts["autopack:git:dirty"] = git->dirty ? "true" : "false";
      component.repository = location_of_project();
      if (!git->dirty) {
        component.download = location_of_project();
      }
    }
    bom_.components.push_back(std::move(component));
    relate(image_id, project_id);
  }

  void add_base() {
    const auto& base = work_.plan().base;
    if (base.reference.empty()) {
      return;  // the user's own Dockerfile names it
    }
    Component component{.id = base_id,
                        .kind = Component::Kind::base_image,
                        .version = base.digest ? base.digest->str() : base.image_id.value_or(""),
                        .sha256 = base.digest};
    if (image::names_files(base.reference)) {
      component.name = std::filesystem::path{base.reference}.filename().string();
    } else {
      const auto reference = image::Reference::parse(base.reference);
      component.name = reference.repository();
      component.purl = sbom::image_purl({.repository = reference.host + "/" + reference.path,
                                         .is_in_registry = base.digest.has_value(),
                                         .digest = component.version,
                                         .tag = reference.tag,
                                         .platform = platform()});
    }
    bom_.components.push_back(std::move(component));
    relate(image_id, base_id, Relationship::Kind::descends_from);
  }

  void add_layers() {
    std::set<Digest> known;
    for (std::size_t i = 0; i < survey_.diff_ids.size(); ++i) {
      const auto& diff_id = survey_.diff_ids[i];
      const auto id = id_of_layer(i);
      if (known.insert(diff_id).second) {
        bom_.components.push_back({.id = id,
                                   .kind = Component::Kind::layer,
                                   .name = survey_.layers[i].digest.str(),
                                   .sha256 = survey_.layers[i].digest,
                                   .facts = {{"autopack:diff-id", diff_id.str()},
                                             {"autopack:layer", std::to_string(i + 1)}}});
        relate(i < survey_.base_layers ? base_id : image_id, id);
      }
    }
  }

  std::string id_of_layer(std::size_t place) const {
    return "layer-" + survey_.diff_ids[place].hex();
  }

  void add_package(Placed package) {
    auto& component = package.component;
    if (component.kind == Component::Kind::python_package) {
      describe_distribution(component, package.layer);
    }
    if (package.layer < survey_.base_layers) {
      relate(base_id, component.id);
    }
    relate(image_id, component.id);
    relate(id_of_layer(package.layer), component.id);
    bom_.components.push_back(std::move(component));
  }

  /// Adds where a distribution came from: the wheel in its layer, or the project.
  void describe_distribution(Component& component, std::size_t layer) {
    const auto name = python::normalise_name(component.name);
    const auto& own = work_.scanned().project.package;
    if (work_.plan().dependencies.install && own && own->name && layer >= survey_.base_layers &&
        python::normalise_name(*own->name) == name) {
      component.purl =
          sbom::project_purl(component.name, version_of_project(), location_of_project());
      component.facts["autopack:origin"] = "the project";
      return;
    }
    if (!survey_.created_by.at(layer).starts_with(layers_of_wheels)) {
      return;  // pip installed it in an engine
    }
    for (const auto& wheel : wheels()) {
      if (wheel.name == name &&
          python::Version::parse(wheel.version) == python::Version::parse(component.version)) {
        component.sha256 = wheel.digest;
        component.file_name = wheel.file.substr(wheel.file.rfind('/') + 1);
        component.download = wheel.url.empty() ? component.download : wheel.url;
        if (!wheel.index.empty()) {
          component.facts["autopack:index"] = wheel.index;
        }
      }
    }
  }

  const std::vector<build::InstalledWheel>& wheels() {
    if (!wheels_) {
      const auto& base = work_.plan().base;
      if (services_.repository_facts && base.digest) {
        services_.repository_facts->read(*base.digest, platform());
      }
      wheels_ = build::find_installed_wheels(services_, work_)
                    .value_or(std::vector<build::InstalledWheel>{});
    }
    return *wheels_;
  }

  Services& services_;
  const Packaging& work_;
  const packaging::Image& image_;
  const SurveyedImage& survey_;
  std::optional<std::vector<build::InstalledWheel>> wheels_{};
  Bom bom_;
};

}  // namespace

sbom::Bom image_sbom(Services& services, const Packaging& work, MadeImage& made) {
  return with_context("could not list the packages of the image", [&] {
    const auto survey = survey_image(services, work, made);
    return BomMaker{services, work, made.image, survey}.make();
  });
}

std::string sbom_document(const sbom::Bom& bom, packaging::SbomFormat format) {
  return format == packaging::SbomFormat::spdx ? sbom::spdx_json(bom) : sbom::cyclonedx_json(bom);
}

void document_image(Services& services, const Packaging& work, MadeImage& made) {
  std::optional<sbom::Bom> found;
  const auto bom = [&]() -> const sbom::Bom& {
    return found ? *found : found.emplace(image_sbom(services, work, made));
  };
  for (const auto& wanted : work.request().sboms) {
    sweep_leftovers(wanted.path);
    NewFile file{wanted.path};
    file.write(sbom_document(bom(), wanted.format));
    file.commit();
    services.reporter->done("Wrote", printable(wanted.path.string()));
  }
  if (work.request().attests) {
    attest::attach_documents(
        services, work,
        {{.name = "SPDX SBOM",
          .media_type = "application/spdx+json",
          .predicate_type = attest::predicate_type::spdx,
          .text = [&] { return sbom_document(bom(), packaging::SbomFormat::spdx); }},
         {.name = "CycloneDX SBOM",
          .media_type = "application/vnd.cyclonedx+json",
          .predicate_type = attest::predicate_type::cyclonedx,
          .text = [&] { return sbom_document(bom(), packaging::SbomFormat::cyclonedx); }}},
        made.image);
  }
}

}  // namespace autopack::pipeline
