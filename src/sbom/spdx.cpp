#include "base/json.hpp"
#include "base/text.hpp"
#include "base/timestamp.hpp"
#include "sbom/bom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace autopack::sbom {

namespace {

using nlohmann::json;

constexpr auto* no_assertion = "NOASSERTION";

std::string spdx_id(const std::string& id) {
  return "SPDXRef-" + id;
}

std::string purpose_of(Component::Kind kind) {
  switch (kind) {
    case Component::Kind::image:
    case Component::Kind::base_image: return "CONTAINER";
    case Component::Kind::layer: return "ARCHIVE";
    case Component::Kind::project: return "APPLICATION";
    default: return "LIBRARY";
  }
}

json package_of(const Component& component) {
  json package{{"SPDXID", spdx_id(component.id)},
               {"name", component.name},
               {"downloadLocation", component.download.value_or(no_assertion)},
               {"filesAnalyzed", false},
               {"licenseConcluded", no_assertion},
               {"licenseDeclared", component.licence.value_or(no_assertion)},
               {"copyrightText", no_assertion},
               {"primaryPackagePurpose", purpose_of(component.kind)}};
  if (!component.version.empty()) {
    package["versionInfo"] = component.version;
  }
  if (component.sha256) {
    package["checksums"] =
        json::array({{{"algorithm", "SHA256"}, {"checksumValue", component.sha256->hex()}}});
  }
  if (component.file_name) {
    package["packageFileName"] = *component.file_name;
  }
  if (component.purl) {
    package["externalRefs"] = json::array({{{"referenceCategory", "PACKAGE-MANAGER"},
                                            {"referenceType", "purl"},
                                            {"referenceLocator", *component.purl}}});
  }
  std::vector<std::string> facts;
  for (const auto& [name, value] : component.facts) {
    facts.push_back(name + "=" + value);
  }
  if (!facts.empty()) {
    package["comment"] = join(facts, "\n");
  }
  return package;
}

json relationship(const std::string& from, const char* kind, const std::string& to) {
  return {{"spdxElementId", from}, {"relationshipType", kind}, {"relatedSpdxElement", to}};
}

/// Returns what a name in a URI may contain.
std::string uri_part(const std::string& text) {
  std::string part;
  for (const char c : text) {
    part += is_alphanumeric({&c, 1}, ".-_") ? c : '-';
  }
  return part;
}

}  // namespace

std::string timestamp(std::int64_t time) {
  constexpr std::int64_t latest{253'402'300'799};  // the end of the year 9999
  return in_rfc3339(std::clamp<std::int64_t>(time, 0, latest));
}

std::string uuid_of(const std::string& text) {
  auto hex = sha256(text).hex();
  hex[12] = '8';  // RFC 9562: version 8 is a hash of the application's choice
  hex[16] = "89ab"[static_cast<unsigned char>(hex[16]) % 4];
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20, 12);
}

std::string spdx_json(const Bom& bom) {
  json packages = json::array();
  for (const auto& component : bom.components) {
    packages.push_back(package_of(component));
  }
  json relationships = json::array();
  if (!bom.components.empty()) {
    relationships.push_back(
        relationship("SPDXRef-DOCUMENT", "DESCRIBES", spdx_id(bom.components.front().id)));
  }
  for (const auto& one : bom.relationships) {
    const bool contains = one.kind == Relationship::Kind::contains;
    relationships.push_back(
        relationship(spdx_id(one.from), contains ? "CONTAINS" : "DESCENDANT_OF", spdx_id(one.to)));
  }
  const json document{{"spdxVersion", "SPDX-2.3"},
                      {"dataLicense", "CC0-1.0"},
                      {"SPDXID", "SPDXRef-DOCUMENT"},
                      {"name", bom.name},
                      {"documentNamespace",
                       fmt::format("https://spdx.org/spdxdocs/{}-{}", uri_part(bom.name),
                                   uuid_of("spdx " + bom.tool_version + " " + bom.digest.str()))},
                      {"creationInfo",
                       {{"created", timestamp(bom.created)},
                        {"creators", json::array({"Tool: autopack-" + bom.tool_version})}}},
                      {"packages", std::move(packages)},
                      {"relationships", std::move(relationships)}};
  return print_json(document, 2) + "\n";
}

}  // namespace autopack::sbom
