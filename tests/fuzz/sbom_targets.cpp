#include "image/source.hpp"
#include "sbom/bom.hpp"
#include "sbom/image_packages.hpp"
#include "sbom/layer_survey.hpp"
#include "sbom/licence.hpp"
#include "sbom/package_lists.hpp"
#include "target.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::fuzz {

namespace {

using sbom::SurveyedKind;

/// Fails if the needed lines of a file say something else than the file.
template <class Read>
void compare_shortened(SurveyedKind kind, std::string_view bytes, const Read& read) {
  const auto lines = sbom::needed_lines(kind, bytes);
  if (read(lines) != read(bytes)) {
    fail("the needed lines lack a package");
  }
  if (sbom::needed_lines(kind, lines) != lines) {
    fail("the needed lines are shortened again");
  }
}

void write_documents(const sbom::SurveyedFiles& files) {
  sbom::Bom bom{.name = "a", .digest = sha256("a"), .components = sbom::packages_in(files)};
  for (const auto& component : bom.components) {
    const bool is_plain = std::ranges::all_of(component.id, [](char c) {
      return c == '.' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
             (c >= 'A' && c <= 'Z');
    });
    if (!is_plain) {
      fail("`" + component.id + "` is not an identifier");
    }
  }
  if (sbom::spdx_json(bom).empty() || sbom::cyclonedx_json(bom).empty()) {
    fail("a document is empty");
  }
}

void dpkg_status(std::string_view bytes) {
  compare_shortened(SurveyedKind::dpkg_status, bytes, sbom::read_dpkg_status);
  write_documents({{"var/lib/dpkg/status", std::string{bytes}}});
}

void apk_installed(std::string_view bytes) {
  compare_shortened(SurveyedKind::apk_installed, bytes, sbom::read_apk_installed);
  write_documents({{"lib/apk/db/installed", std::string{bytes}}});
}

void python_metadata(std::string_view bytes) {
  compare_shortened(SurveyedKind::python_metadata, bytes, sbom::read_python_metadata);
  write_documents({{"a/site-packages/a-1.dist-info/METADATA", std::string{bytes}}});
}

/// An expression that was written is read again.
void licence(std::string_view bytes) {
  for (const auto& found : {sbom::licence_expression(bytes), sbom::debian_licence(bytes)}) {
    if (found && sbom::licence_expression(*found) != found) {
      fail("`" + *found + "` is not a licence expression");
    }
  }
  sbom::read_direct_url(bytes);
  sbom::needed_lines(SurveyedKind::os_release, bytes);
}

void layer_packages(std::string_view bytes) {
  const image::Reader reader = [rest = bytes](char* buffer, std::size_t size) mutable {
    const std::size_t count = std::min(size, rest.size());
    std::memcpy(buffer, rest.data(), count);
    rest.remove_prefix(count);
    return count;
  };
  const auto survey = sbom::survey_layer(reader, "a layer").first;
  sbom::SurveyedFiles files{{"var/lib/dpkg/status", "Package:a\nVersion:1\n"}};
  sbom::apply(survey, files);
  write_documents(files);
  sbom::survey_from_json(bytes);
}

}  // namespace

std::vector<Target> sbom_targets() {
  return {{"dpkg_status", dpkg_status},
          {"apk_installed", apk_installed},
          {"python_metadata", python_metadata},
          {"licence", licence},
          {"layer_packages", layer_packages}};
}

}  // namespace autopack::fuzz
