#include "base/error.hpp"
#include "sbom/bom.hpp"
#include "sbom/image_packages.hpp"
#include "sbom/layer_survey.hpp"
#include "sbom/purl.hpp"
#include "support/raw_tar.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace autopack::sbom_layers_test {

using sbom::SurveyedFiles;

namespace {

using Fill = std::function<void(RawTar& tar)>;

image::Reader reader_of(std::string bytes) {
  return [bytes = std::move(bytes), at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = bytes.copy(buffer, size, at);
    at += count;
    return count;
  };
}

sbom::LayerSurvey survey_of(const Fill& fill) {
  RawTar tar;
  fill(tar);
  auto [survey, digest] = sbom::survey_layer(reader_of(tar.bytes()), "a layer");
  CHECK(digest == sha256(tar.bytes()));
  CHECK(sbom::survey_from_json(sbom::to_json(survey)) == survey);
  return survey;
}

SurveyedFiles files_of(const std::vector<Fill>& layers) {
  SurveyedFiles files;
  for (const auto& fill : layers) {
    sbom::apply(survey_of(fill), files);
  }
  return files;
}

/// Returns the purls of an image's packages.
std::vector<std::string> purls_of(const std::vector<Fill>& layers) {
  std::vector<std::string> purls;
  for (const auto& component : sbom::packages_in(files_of(layers))) {
    purls.push_back(component.purl.value());
  }
  return purls;
}

std::string status_of(const std::string& name, const std::string& version) {
  return "Package: " + name +
         "\nStatus: install ok installed\nArchitecture: amd64\nVersion: " + version + "\n\n";
}

std::string metadata_of(const std::string& name, const std::string& version) {
  return "Name: " + name + "\nVersion: " + version + "\n\n";
}

using Purls = std::vector<std::string>;

constexpr auto* packages = "usr/local/lib/python3.11/site-packages/";

}  // namespace

TEST_CASE("packages are those of the upper database, with the distribution of Linux") {
  const Fill base = [](RawTar& tar) {
    tar.symlink("etc/os-release", "../usr/lib/os-release");
    tar.file("usr/lib/os-release", "ID=debian\nVERSION_ID=\"12\"\nNAME=x\n");
    tar.file("./var/lib/dpkg/status", status_of("old", "1") + status_of("libstdc++6", "1:2+b"));
  };
  const Fill above = [](RawTar& tar) {
    tar.file("var/lib/dpkg/status", status_of("libstdc++6", "1:3"));
  };
  CHECK(purls_of({base}) ==
        Purls{"pkg:deb/debian/libstdc%2B%2B6@1:2%2Bb?arch=amd64&distro=debian-12",
              "pkg:deb/debian/old@1?arch=amd64&distro=debian-12"});
  CHECK(purls_of({base, above}) ==
        Purls{"pkg:deb/debian/libstdc%2B%2B6@1:3?arch=amd64&distro=debian-12"});
}

TEST_CASE("a distroless image has a file for each package") {
  CHECK(purls_of({[](RawTar& tar) {
          tar.file("var/lib/dpkg/status.d/base", status_of("base-files", "12"));
          tar.file("var/lib/dpkg/status.d/base.md5sums", status_of("wrong", "1"));
          tar.file("var/lib/dpkg/status.d/libc6", "Package: libc6\nVersion: 2\n");
        }}) == Purls{"pkg:deb/debian/base-files@12?arch=amd64", "pkg:deb/debian/libc6@2"});
}

TEST_CASE("packages of Alpine are found at both places of its database") {
  for (const auto* path : {"lib/apk/db/installed", "usr/lib/apk/db/installed"}) {
    CAPTURE(path);
    const auto found = sbom::packages_in(files_of({[&](RawTar& tar) {
      tar.file("etc/os-release", "ID=alpine\nVERSION_ID=3.19.1\n");
      tar.file(path, "P:libssl3\nV:3.1.4-r5\nA:x86_64\nL:Apache-2.0\no:openssl\n\n");
    }}));
    REQUIRE(found.size() == 1);
    CHECK(found[0].purl ==
          "pkg:apk/alpine/libssl3@3.1.4-r5?arch=x86_64&distro=alpine-3.19.1&upstream=openssl");
    CHECK(found[0].licence == "Apache-2.0");
  }
}

TEST_CASE("a distribution that a layer above removes or replaces is gone") {
  const std::string place{packages};
  const Fill base = [&](RawTar& tar) {
    tar.file(place + "a-1.0.dist-info/METADATA", metadata_of("A_b.c", "1.0"));
    tar.file(place + "gone-1.dist-info/METADATA", metadata_of("gone", "1"));
    tar.file(place + "old-2.egg-info/PKG-INFO", metadata_of("old", "2"));
    tar.file(place + "single-3.egg-info", metadata_of("single", "3"));
  };
  const Fill above = [&](RawTar& tar) {
    tar.file(place + "a-2.0.dist-info/METADATA", metadata_of("A_b.c", "2.0"));
    tar.file(place + "a-1.0.dist-info/.wh.METADATA", "");
    tar.file(place + ".wh.gone-1.dist-info", "");
    tar.file(place + ".wh.single-3.egg-info", "");
  };
  CHECK(purls_of({base}) ==
        Purls{"pkg:pypi/a-b.c@1.0", "pkg:pypi/gone@1", "pkg:pypi/old@2", "pkg:pypi/single@3"});
  CHECK(purls_of({base, above}) == Purls{"pkg:pypi/a-b.c@2.0", "pkg:pypi/old@2"});
  const Fill emptied = [&](RawTar& tar) {
    tar.file(place + "new-1.dist-info/METADATA", metadata_of("new", "1"));
    tar.file(place + ".wh..wh..opq", "");
  };
  CHECK(purls_of({base, above, emptied}) == Purls{"pkg:pypi/new@1"});
  const Fill link = [](RawTar& tar) { tar.symlink("usr/local/lib/python3.11", "/elsewhere"); };
  CHECK(purls_of({base, link}).empty());
}

TEST_CASE("copies of packages inside of packages are not installed") {
  const std::string place{packages};
  CHECK(purls_of({[&](RawTar& tar) {
          tar.file(place + "setuptools/_vendor/wheel-1.dist-info/METADATA", metadata_of("w", "1"));
          tar.file("usr/app/src/x.egg-info/PKG-INFO", metadata_of("x", "1"));
          tar.file("srv/libs/y-1.dist-info/METADATA", metadata_of("y", "1"));
        }}) == Purls{"pkg:pypi/y@1"});
}

TEST_CASE("a hard link to metadata is metadata") {
  const std::string place{packages};
  CHECK(purls_of({[&](RawTar& tar) {
          tar.file("opt/conda/pkgs/a/site-packages/a-1.dist-info/METADATA", metadata_of("a", "1"));
          tar.hard_link(place + "b-1.dist-info/METADATA",
                        "opt/conda/pkgs/a/site-packages/a-1.dist-info/METADATA");
        }}) == Purls{"pkg:pypi/a@1"});
}

TEST_CASE("a distribution of a repository comes from its commit") {
  const std::string place{packages};
  const auto found = sbom::packages_in(files_of({[&](RawTar& tar) {
    tar.file(place + "a-1.dist-info/METADATA", metadata_of("a", "1") + "License: MIT\n");
    tar.file(place + "a-1.dist-info/direct_url.json",
             R"({"url": "https://u:p@h.example/a.git", "vcs_info": {"commit_id": "c0"}})");
  }}));
  REQUIRE(found.size() == 1);
  CHECK(found[0].download == "git+https://h.example/a.git@c0");
  CHECK_FALSE(found[0].licence);  // it is in the description
}

TEST_CASE("a layer that is not a tar is refused") {
  CHECK_THROWS_AS(sbom::survey_layer(reader_of("no tar at all"), "a layer"), Error);
}

TEST_CASE("package URLs encode what may not be in them") {
  CHECK(sbom::to_text({.type = "generic",
                       .space = "a/b c",
                       .name = "n@m",
                       .version = "1?2",
                       .qualifiers = {{"k", "v&w"}, {"empty", ""}}}) ==
        "pkg:generic/a/b%20c/n%40m@1%3F2?k=v%26w");
  CHECK(sbom::python_purl("Zope.Interface_x", "1+l") == "pkg:pypi/zope.interface-x@1%2Bl");
  CHECK(sbom::image_purl({.repository = "h.example/p/Name",
                          .is_in_registry = true,
                          .digest = "sha256:0",
                          .tag = "t",
                          .platform = "linux/arm64"}) ==
        "pkg:oci/name@sha256:0?arch=arm64&repository_url=h.example/p/Name&tag=t");
}

TEST_CASE("the address of a commit leads to its repository") {
  const std::optional<std::string> commit{"c0"};
  CHECK(sbom::git_location("https://h.example/a.git", commit) == "git+https://h.example/a.git@c0");
  CHECK(sbom::git_location("git@h.example:a/b.git", commit) ==
        "git+ssh://git@h.example/a/b.git@c0");
  CHECK(sbom::git_location("git://h.example/a", std::nullopt) == "git://h.example/a");
  for (const char* local : {"/srv/a.git", "file:///srv/a.git", "../a"}) {
    CAPTURE(local);
    CHECK_FALSE(sbom::git_location(local, commit));
  }
}

TEST_CASE("documents have no random parts, and another image has other identifiers") {
  CHECK(sbom::timestamp(0) == "1970-01-01T00:00:00Z");
  CHECK(sbom::timestamp(1'700'000'000) == "2023-11-14T22:13:20Z");
  CHECK(sbom::timestamp(-5) == "1970-01-01T00:00:00Z");
  sbom::Bom bom{.name = "a/b", .digest = sha256("x"), .tool_version = "1"};
  bom.components.push_back({.id = "image", .kind = sbom::Component::Kind::image, .name = "a/b"});
  bom.components.push_back({.id = "pypi-a-1",
                            .name = "a",
                            .version = "1",
                            .purl = sbom::python_purl("a", "1"),
                            .licence = "MIT OR ISC"});
  bom.relationships.push_back({.from = "image", .to = "pypi-a-1"});
  const auto spdx = sbom::spdx_json(bom);
  const auto cyclonedx = sbom::cyclonedx_json(bom);
  CHECK(sbom::spdx_json(bom) == spdx);
  CHECK(spdx.find(R"("licenseDeclared": "MIT OR ISC")") != std::string::npos);
  CHECK(spdx.find(R"("relationshipType": "CONTAINS")") != std::string::npos);
  CHECK(cyclonedx.find(R"("expression": "MIT OR ISC")") != std::string::npos);
  bom.digest = sha256("y");
  CHECK(sbom::spdx_json(bom) != spdx);
  CHECK(sbom::cyclonedx_json(bom) != cyclonedx);
}

}  // namespace autopack::sbom_layers_test
