#include "base/url.hpp"
#include "index/access.hpp"
#include "index/html_tags.hpp"
#include "index/index_client.hpp"
#include "index/simple_page.hpp"
#include "index/wheel_cache.hpp"
#include "scratch.hpp"
#include "scripted_http.hpp"
#include "target.hpp"

/// What package indexes say.
namespace autopack::fuzz {

namespace {

namespace fs = std::filesystem;

void check_files(const std::vector<index::Candidate>& files) {
  for (const auto& file : files) {
    const auto url = Url::parse(file.url);
    if (!url || !url->user.empty() || !url->password.empty() ||
        file.url.find('#') != std::string::npos) {
      fail("`" + file.url + "` is no URL of a file");
    }
    if (file.name.empty() || file.name == ".." || file.name.find('/') != std::string::npos) {
      fail("`" + file.name + "` is no name of a file");
    }
  }
}

void html_page(std::string_view bytes) {
  check_files(index::read_simple_page({.url = "https://index.test/simple/p/",
                                       .content_type = "text/html",
                                       .body = std::string{bytes}})
                  .files);
  index::without_references(bytes);
}

void json_page(std::string_view bytes) {
  check_files(index::read_simple_page({.url = "https://index.test/simple/p/",
                                       .content_type = "application/vnd.pypi.simple.v1+json",
                                       .body = std::string{bytes}})
                  .files);
}

/// Base, byte 0, reference.
void url_references(std::string_view bytes) {
  const auto base = next_part(bytes);
  const auto url = resolve_url(base, bytes);
  if (url && !Url::parse(*url)) {
    fail("`" + *url + "` is no URL");
  }
}

/// Answers to: the page of a project, its metadata, and two downloads.
void index_answers(std::string_view bytes) {
  static const fs::path cache = scratch() / "index";
  ScriptedHttp client{bytes};
  index::IndexSettings settings;
  settings.indexes = {index::Location::parse("https://me:word@index.test/simple")};
  settings.retries = 2;
  const index::Access access{
      {.client = &client, .settings = settings, .sleep = [](std::chrono::milliseconds) {}}};
  index::IndexClient indexes{access, cache};
  index::WheelCache wheels{access, {.directory = cache / "wheels", .largest = 100'000}};
  const auto attempt = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::internal) {
        throw;
      }
    }
  };
  attempt([&] {
    for (const auto& candidate : indexes.candidates("p")) {
      indexes.metadata(candidate);
    }
  });
  const std::string known(64, '0');
  attempt([&] {
    const auto file = wheels.get({.name = "p", .url = "https://files.test/p", .size = 5});
    if (file.size != 5 || fs::file_size(file.path) != 5) {
      fail("a file of another size is kept");
    }
  });
  attempt([&] {
    wheels.get({.name = "p", .url = "https://files.test/p", .hashes = {{"sha256", known}}});
    fail("a file with another hash is kept");
  });
  std::error_code ignored;
  fs::remove_all(cache, ignored);
}

}  // namespace

std::vector<Target> index_targets() {
  return {{"html_page", html_page},
          {"json_page", json_page},
          {"url_references", url_references},
          {"index_answers", index_answers}};
}

}  // namespace autopack::fuzz
