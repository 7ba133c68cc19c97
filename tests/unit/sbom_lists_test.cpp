#include "sbom/licence.hpp"
#include "sbom/package_lists.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace autopack::sbom_lists_test {

using sbom::SystemPackage;

TEST_CASE("dpkg's status lists the packages whose files are there") {
  const std::string text =
      "Package: libc6\n"
      "Status: install ok installed\n"
      "Architecture: amd64\n"
      "Source: glibc (2.36-9)\n"
      "Version: 2.36-9+deb12u4\n"
      "Description: GNU C Library\n"
      " Version: 9, which is a continuation line\n"
      "\n"
      "Package: gone\n"
      "Status: deinstall ok config-files\n"
      "Version: 1\n"
      "\n"
      "Package: half\n"
      "Status: install reinstreq half-installed\n"
      "Version: 1\n"
      "\n"
      "Package: waits\n"
      "Status: install ok triggers-pending\n"
      "Source: other\n"
      "Version: 1:2~rc1\n"
      "\n"
      "\n"
      "Package: without-version\n"
      "Status: install ok installed\n"
      "\n"
      "Package: of-distroless\r\n"
      "Version: 3\r\n"
      "Architecture: all\r\n";
  const std::vector<SystemPackage> expected{
      {.name = "libc6",
       .version = "2.36-9+deb12u4",
       .architecture = "amd64",
       .source = "glibc",
       .source_version = "2.36-9"},
      {.name = "waits", .version = "1:2~rc1", .source = "other"},
      {.name = "of-distroless", .version = "3", .architecture = "all"}};
  CHECK(sbom::read_dpkg_status(text) == expected);
  CHECK(sbom::read_dpkg_status(sbom::shortened_dpkg_status(text)) == expected);
  CHECK(sbom::shortened_dpkg_status(text).find("Description") == std::string::npos);
  CHECK(sbom::read_dpkg_status("").empty());
}

TEST_CASE("a name that no document may contain is left out") {
  CHECK(sbom::read_dpkg_status("Package: a\x01z\nVersion: 1\n").empty());
  CHECK(sbom::read_dpkg_status("Package: \xff\nVersion: 1\n").empty());
  CHECK(sbom::read_dpkg_status("Package: " + std::string(2000, 'a') + "\nVersion: 1\n").empty());
}

TEST_CASE("apk's database lists packages with their licences and sources") {
  const std::string text =
      "C:Q1abc=\nP:musl\nV:1.2.4-r2\nA:x86_64\nS:383459\nL:MIT\no:musl\n"
      "F:lib\nR:ld-musl-x86_64.so.1\na:0:0:755\nZ:Q1x=\n\n"
      "P:libssl3\nV:3.1.4-r5\nA:x86_64\nL:Apache-2.0\no:openssl\n";
  const std::vector<SystemPackage> expected{
      {.name = "musl", .version = "1.2.4-r2", .architecture = "x86_64", .licence = "MIT"},
      {.name = "libssl3",
       .version = "3.1.4-r5",
       .architecture = "x86_64",
       .source = "openssl",
       .licence = "Apache-2.0"}};
  CHECK(sbom::read_apk_installed(text) == expected);
  CHECK(sbom::read_apk_installed(sbom::shortened_apk_installed(text)) == expected);
}

TEST_CASE("metadata of Python ends at the first empty line") {
  const std::string text =
      "Metadata-Version: 2.1\nName: zope.interface\nVersion: 6.0\nLicense: ZPL\n 2.1\n"
      "Classifier: License :: OSI Approved :: MIT License\nClassifier: Topic :: X\n"
      "License-Expression: MIT\n\nName: other\n";
  const auto found = sbom::read_python_metadata(text);
  REQUIRE(found);
  CHECK(found->name == "zope.interface");
  CHECK(found->version == "6.0");
  CHECK(found->licence == "ZPL");
  CHECK(found->licence_expression == "MIT");
  CHECK(found->licence_classifiers ==
        std::vector<std::string>{"License :: OSI Approved :: MIT License"});
  CHECK(sbom::read_python_metadata(sbom::shortened_python_metadata(text)) == found);
  CHECK_FALSE(sbom::read_python_metadata("Version: 1\n"));
}

TEST_CASE("os-release has values with and without quotes") {
  const auto values =
      sbom::read_os_release("# x\nID=debian\nVERSION_ID=\"12\"\nA='b c'\nnothing\n");
  CHECK(values.at("ID") == "debian");
  CHECK(values.at("VERSION_ID") == "12");
  CHECK(values.at("A") == "b c");
  CHECK(values.size() == 3);
}

TEST_CASE("a direct URL has no login, and a local directory is none") {
  const auto found = sbom::read_direct_url(
      R"({"url": "https://me:secret@host.example/a.git", "vcs_info": {"commit_id": "abc"}})");
  REQUIRE(found);
  CHECK(found->url == "https://host.example/a.git");
  CHECK(found->commit == "abc");
  CHECK_FALSE(sbom::read_direct_url(R"({"url": "file:///srv/a"})"));
  CHECK_FALSE(sbom::read_direct_url("[1]"));
  CHECK_FALSE(sbom::read_direct_url("{"));
}

TEST_CASE("a licence expression is valid if SPDX knows all its parts") {
  struct Case {
    std::string text;
    std::optional<std::string> expected;
  };

  const std::vector<Case> cases{
      {"MIT", "MIT"},
      {"mit", "MIT"},
      {"apache-2.0 or  (BSD-3-clause AND MIT)", "Apache-2.0 OR (BSD-3-Clause AND MIT)"},
      {"GPL-2.0-only with classpath-exception-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"},
      {"Apache-2.0+", "Apache-2.0+"},
      {"BSD", std::nullopt},
      {"MIT AND", std::nullopt},
      {"(MIT", std::nullopt},
      {"MIT)", std::nullopt},
      {"MIT Apache-2.0", std::nullopt},
      {"LicenseRef-x", std::nullopt},
      {"", std::nullopt},
      {std::string(100, '(') + "MIT" + std::string(100, ')'), std::nullopt}};
  for (const auto& each : cases) {
    CAPTURE(each.text);
    CHECK(sbom::licence_expression(each.text) == each.expected);
  }
}

TEST_CASE("a Python distribution's licence is what it says with certainty") {
  using Classifiers = std::vector<std::string>;
  const std::string mit{"License :: OSI Approved :: MIT License"};
  const std::string apache{"License :: OSI Approved :: Apache Software License"};
  const std::optional<std::string> none;
  CHECK(sbom::python_licence("MIT OR ISC", "BSD", {apache}) == "MIT OR ISC");
  CHECK(sbom::python_licence("Unknown-1", "MIT", {mit}) == none);
  CHECK(sbom::python_licence(none, "Apache License, Version 2.0", {apache}) == "Apache-2.0");
  CHECK(sbom::python_licence(none, "BSD", {mit}) == "MIT");
  CHECK(sbom::python_licence(none, none, {mit}) == "MIT");
  CHECK(sbom::python_licence(none, none, {apache}) == none);
  CHECK(sbom::python_licence(none, none, {mit, apache}) == none);
  CHECK(sbom::python_licence(none, none, Classifiers{"License :: OSI Approved", mit}) == "MIT");
  CHECK(sbom::python_licence(none, "whatever it is", {}) == none);
}

TEST_CASE("the licence of a Debian package covers all its files") {
  const std::string head{"Format: https://example.org/copyright-format/1.0/\n"};
  const std::optional<std::string> none;
  CHECK(sbom::debian_licence(head +
                             "\nFiles: *\nLicense: GPL-2+\n text\n\nLicense: GPL-2+\n all\n") ==
        "GPL-2.0-or-later");
  CHECK(sbom::debian_licence(head + "\nLicense: Expat\nFiles: *\n\nFiles: b\nLicense: GPL-3 or "
                                    "Apache-2.0\n") == "(GPL-3.0-only OR Apache-2.0) AND MIT");
  CHECK(sbom::debian_licence(head + "\nFiles: *\nLicense: GPL-3 or Expat\n") ==
        "GPL-3.0-only OR MIT");
  CHECK(sbom::debian_licence(head + "\nFiles: *\nLicense: public-domain\n") == none);
  CHECK(sbom::debian_licence(head + "\nFiles: *\nLicense: Expat\n\nFiles: b\nLicense: X\n") ==
        none);
  CHECK(sbom::debian_licence(head + "\nFiles: *\nCopyright: me\n") == none);
  CHECK(sbom::debian_licence(head + "\nFiles: *\nLicense: MIT\n") == none);
  CHECK(sbom::debian_licence("It is under the GPL.\n\nFiles: *\nLicense: Expat\n") == none);
}

}  // namespace autopack::sbom_lists_test
