#include "base/json.hpp"
#include "base/text.hpp"
#include "sbom/bom.hpp"
#include "sbom/licence.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace autopack::sbom {

namespace {

using nlohmann::json;

std::string type_of(Component::Kind kind) {
  switch (kind) {
    case Component::Kind::image:
    case Component::Kind::base_image: return "container";
    case Component::Kind::layer: return "file";
    case Component::Kind::project: return "application";
    default: return "library";
  }
}

/// Returns a licence: an identifier, or an expression of several.
json licences_of(const std::string& licence) {
  const auto known = known_licences();
  const bool is_one = std::ranges::find(known, licence) != known.end();
  return is_one ? json::array({{{"license", {{"id", licence}}}}})
                : json::array({{{"expression", licence}}});
}

json references_of(const Component& component) {
  json references = json::array();
  if (component.download) {
    references.push_back({{"type", "distribution"}, {"url", *component.download}});
  }
  if (component.repository) {
    references.push_back({{"type", "vcs"}, {"url", *component.repository}});
  }
  return references;
}

json component_of(const Component& component) {
  json result{
      {"type", type_of(component.kind)}, {"bom-ref", component.id}, {"name", component.name}};
  if (!component.version.empty()) {
    result["version"] = component.version;
  }
  if (component.purl) {
    result["purl"] = *component.purl;
  }
  if (component.sha256) {
    result["hashes"] = json::array({{{"alg", "SHA-256"}, {"content", component.sha256->hex()}}});
  }
  if (component.licence) {
    result["licenses"] = licences_of(*component.licence);
  }
  if (auto references = references_of(component); !references.empty()) {
    result["externalReferences"] = std::move(references);
  }
  json properties = json::array();
  if (component.file_name) {
    properties.push_back({{"name", "autopack:file"}, {"value", *component.file_name}});
  }
  for (const auto& [name, value] : component.facts) {
    properties.push_back({{"name", name}, {"value", value}});
  }
  if (!properties.empty()) {
    result["properties"] = std::move(properties);
  }
  return result;
}

}  // namespace

std::string cyclonedx_json(const Bom& bom) {
  json components = json::array();
  std::map<std::string, std::set<std::string>> below;
  for (const auto& component : bom.components) {
    below[component.id];
    if (&component != &bom.components.front()) {
      components.push_back(component_of(component));
    }
  }
  for (const auto& one : bom.relationships) {
    below[one.from].insert(one.to);
  }
  json dependencies = json::array();
  for (const auto& [id, all] : below) {
    json dependency{{"ref", id}};
    if (!all.empty()) {
      dependency["dependsOn"] = all;
    }
    dependencies.push_back(std::move(dependency));
  }
  json metadata{
      {"timestamp", timestamp(bom.created)},
      {"tools",
       {{"components",
         json::array(
             {{{"type", "application"}, {"name", "autopack"}, {"version", bom.tool_version}}})}}}};
  if (!bom.components.empty()) {
    metadata["component"] = component_of(bom.components.front());
  }
  const json document{{"$schema", "http://cyclonedx.org/schema/bom-1.6.schema.json"},
                      {"bomFormat", "CycloneDX"},
                      {"specVersion", "1.6"},
                      {"serialNumber", "urn:uuid:" + uuid_of("cyclonedx " + bom.tool_version + " " +
                                                             bom.digest.str())},
                      {"version", 1},
                      {"metadata", std::move(metadata)},
                      {"components", std::move(components)},
                      {"dependencies", std::move(dependencies)}};
  return print_json(document, 2) + "\n";
}

}  // namespace autopack::sbom
