#include "index/index_client.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "index/candidate.hpp"
#include "index/file_names.hpp"
#include "index/link.hpp"
#include "index/minimum_speed.hpp"
#include "index/simple_page.hpp"
#include "index/verifier.hpp"
#include "python/archive_name.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

// Follows pip's order among indexes, links and local files. Pages are cached with their
// validators: an unchanged page costs a request without a body. A page is a stranger's text, so
// its size, its names and its links are bounded and checked here.

namespace autopack::index {

using nlohmann::json;

namespace {

std::string file_name(const std::string& url, const std::string& user) {
  return sha256(fmt::format("page 2\n{}\n{}", user, url)).hex();
}

std::string seal(const PageText& page) {
  return sha256(fmt::format("{}\n{}\n{}", page.url, page.content_type, page.body)).hex();
}

}  // namespace

std::optional<KeptPage> PageCache::get(const std::string& url, const std::string& user) const {
  auto text = store_.get(file_name(url, user));
  const auto end = text ? text->find('\n') : std::string::npos;
  if (end == std::string::npos) {
    return std::nullopt;
  }
  const json head = parse_json(std::string_view{*text}.substr(0, end));
  KeptPage kept;
  try {
    kept.page.url = head.at("url").get<std::string>();
    kept.page.content_type = head.at("type").get<std::string>();
    kept.etag = non_empty(head.at("etag").get<std::string>());
    kept.last_modified = non_empty(head.at("modified").get<std::string>());
    text->erase(0, end + 1);
    kept.page.body = std::move(*text);
    return head.at("seal").get<std::string>() == seal(kept.page) ? std::optional{std::move(kept)}
                                                                 : std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void PageCache::put(const std::string& url, const std::string& user, const KeptPage& kept) const {
  if (!kept.etag && !kept.last_modified) {
    return;
  }
  const json head{{"url", kept.page.url},
                  {"type", kept.page.content_type},
                  {"etag", kept.etag.value_or("")},
                  {"modified", kept.last_modified.value_or("")},
                  {"seal", seal(kept.page)}};
  store_.put(file_name(url, user), print_json(head) + "\n" + kept.page.body);
}

namespace {

/// Returns the files in a local place of `find-links`: the archives of a directory and the links of
/// its pages, the links of a page, or one archive. Sorted; `index` stays empty. Like pip, returns
/// nothing if there is no such place. Throws Error(environment) if something cannot be read.
std::vector<Candidate> read_local_links(const std::filesystem::path& place);

/// Returns the links of a local HTML page; nothing if it does not exist.
std::vector<Candidate> read_local_page(const std::filesystem::path& file);

namespace fs = std::filesystem;

bool is_page(const fs::path& file) {
  const std::string suffix = to_lower(file.extension().string());
  return suffix == ".html" || suffix == ".htm";
}

std::vector<Candidate> read_file_place(const fs::path& file) {
  if (is_page(file)) {
    return read_local_page(file);
  }
  if (!python::is_archive_name(file.filename().string())) {
    return {};
  }
  std::error_code code;
  const auto size = fs::file_size(file, code);
  Candidate candidate{.name = file.filename().string(), .url = file_url(file)};
  candidate.size = code ? std::nullopt : std::optional{static_cast<std::uint64_t>(size)};
  return {std::move(candidate)};
}

std::vector<Candidate> read_local_page(const fs::path& file) {
  const auto text = read_file_if_exists(file);
  return text
             ? read_simple_page({.url = file_url(file), .content_type = "text/html", .body = *text})
                   .files
             : std::vector<Candidate>{};
}

std::vector<Candidate> read_local_links(const fs::path& place) {
  std::error_code code;
  if (fs::is_regular_file(place, code)) {
    return read_file_place(place);
  }
  std::vector<fs::path> files;
  fs::directory_iterator entry{place, code};
  for (; !code && entry != fs::directory_iterator{}; entry.increment(code)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) {
      files.push_back(entry->path());
    }
  }
  if (code && code != std::errc::no_such_file_or_directory) {
    throw Error(ErrorKind::environment,
                fmt::format("cannot read `{}`, a place of find-links", printable(place.string())))
        .cause(code.message());
  }
  std::ranges::sort(files);
  std::vector<Candidate> found;
  for (const auto& file : files) {
    for (auto& candidate : read_file_place(file)) {
      found.push_back(std::move(candidate));
    }
  }
  return found;
}

/// Enough to hide the latency, without overloading a single server.
constexpr std::size_t connections{8};

std::string without_slash(std::string url) {
  while (url.ends_with('/')) {
    url.pop_back();
  }
  return url;
}

std::string shown(const Location& place) {
  return printable(redact_url(place.url));
}

/// Collects an answer in `body`, at most `limit` bytes.
void gather(http::Request& request, std::string& body, std::size_t limit) {
  body.clear();
  request.compressed = true;
  request.on_data = [&body, limit, what = request.what,
                     speed = MinimumSpeed{request.what}](std::string_view bytes) mutable {
    speed.add(bytes.size());
    if (body.size() + bytes.size() > limit) {
      throw Error(ErrorKind::remote, fmt::format("could not {}", what))
          .cause(fmt::format("the answer is larger than {}", human_size(limit)));
    }
    body += bytes;
  };
}

void check_metadata(const Candidate& candidate, std::string_view text) {
  Verifier verifier{*candidate.metadata};
  verifier.update(text);
  if (const auto fault = verifier.finish()) {
    throw Error(
        ErrorKind::remote,
        fmt::format("the metadata of `{}` does not match its hash in the index", candidate.name))
        .cause(*fault)
        .hint(fmt::format("inform the owner of {}", candidate.index));
  }
}

}  // namespace

IndexClient::IndexClient(const Access& access, const std::filesystem::path& cache)
    : access_{access}, pages_{cache / "pages"}, metadata_{cache / "metadata"} {}

std::vector<Candidate> IndexClient::candidates(const std::string& project) {
  return std::move(candidates_of({project})[project]);
}

std::map<std::string, std::vector<Candidate>> IndexClient::candidates_of(
    const std::vector<std::string>& projects) {
  const auto& indexes = access_.settings().indexes;
  if (indexes.empty() && access_.settings().find_links.empty()) {
    throw Error(ErrorKind::usage, "there is no package index to ask")
        .hint("configure one for pip: `pip config set global.index-url URL`");
  }
  std::vector<std::vector<Candidate>> answers(projects.size() * indexes.size());
  in_parallel(answers.size(), connections, [&](std::size_t i) {
    answers[i] = of_index(indexes[i % indexes.size()], projects[i / indexes.size()]);
  });
  std::map<std::string, std::vector<Candidate>> found;
  for (std::size_t i = 0; i < projects.size(); ++i) {
    auto& list = found[projects[i]];
    list.clear();
    const std::string name = python::normalise_name(projects[i]);
    std::ranges::copy_if(links(), std::back_inserter(list), [&](const Candidate& candidate) {
      return is_file_of(candidate.name, name);
    });
    for (std::size_t k = 0; k < indexes.size(); ++k) {
      auto& answer = answers[i * indexes.size() + k];
      std::ranges::move(answer, std::back_inserter(list));
    }
  }
  return found;
}

std::vector<Candidate> IndexClient::of_index(const Location& index,
                                             const std::string& project) const {
  const std::string name = python::normalise_name(project);
  const Location place{.url = fmt::format("{}/{}/", without_slash(index.url), percent_encode(name)),
                       .user = index.user,
                       .password = index.password};
  std::vector<Candidate> files;
  if (const auto path = local_path(place.url)) {
    files = read_local_page(*path / "index.html");
  } else if (may_ask(index)) {
    const auto text = page(
        fmt::format("read the page of `{}` in the index {}", printable(name), shown(index)), place);
    files = text ? read(*text) : std::vector<Candidate>{};
  }
  std::erase_if(files, [&](const Candidate& file) { return !is_file_of(file.name, name); });
  for (auto& file : files) {
    file.index = shown(index);
  }
  return files;
}

const std::vector<Candidate>& IndexClient::links() {
  const std::scoped_lock lock{mutex_};
  if (!links_) {
    std::vector<Candidate> local;
    std::vector<Candidate> remote;
    for (const auto& place : access_.settings().find_links) {
      auto found = of_links(place);
      auto& list = local_path(place.url) ? local : remote;
      std::ranges::move(found, std::back_inserter(list));
    }
    std::ranges::move(remote, std::back_inserter(local));
    links_ = std::move(local);
  }
  return *links_;
}

std::vector<Candidate> IndexClient::of_links(const Location& place) const {
  std::vector<Candidate> files;
  if (const auto path = local_path(place.url)) {
    files = read_local_links(*path);
  } else if (may_ask(place)) {
    const auto single = candidate_at(place.url, place.url);
    if (single && python::is_archive_name(single->name)) {
      files = {*single};
    } else if (const auto text = page(fmt::format("read the links of {}", shown(place)), place)) {
      files = read(*text);
    }
  }
  for (auto& file : files) {
    file.index = shown(place);
  }
  return files;
}

/// Like pip, sends nothing over a connection on which anybody could answer.
bool IndexClient::may_ask(const Location& place) const {
  const auto url = Url::parse(place.url);
  if (!url || access_.is_secure(*url)) {
    return true;
  }
  access_.warn(Problem::warning(
      {.message =
           fmt::format("the package index `{}` is ignored: its URL is not https", shown(place)),
       .hints = {fmt::format("to trust it, add `--trusted-host={}` to the requirements file",
                             url->host)}}));
  return false;
}

/// Returns nothing if the server has no such page.
std::optional<PageText> IndexClient::page(const std::string& what, const Location& place) const {
  auto kept = pages_.get(place.url, place.user.value_or(""));
  std::string body;
  http::Request last;
  const auto response = access_.send([&] {
    http::Request request = access_.request(what, place);
    request.headers.push_back({"Accept", simple_page_types});
    if (kept && kept->etag) {
      request.headers.push_back({"If-None-Match", *kept->etag});
    } else if (kept && kept->last_modified) {
      request.headers.push_back({"If-Modified-Since", *kept->last_modified});
    }
    gather(request, body, largest_page);
    last = request;
    return request;
  });
  if (response.status == 304 && kept) {
    return std::move(kept->page);
  }
  if (response.status == 404 || response.status == 410) {
    return std::nullopt;
  }
  if (!response.ok()) {
    throw Access::refusal(last, response);
  }
  KeptPage fresh{.page = {.url = response.url,
                          .content_type = response.header("content-type").value_or(""),
                          .body = std::move(body)},
                 .etag = non_empty(response.header("etag").value_or("")),
                 .last_modified = non_empty(response.header("last-modified").value_or(""))};
  pages_.put(place.url, place.user.value_or(""), fresh);
  return std::move(fresh.page);
}

std::vector<Candidate> IndexClient::read(const PageText& page) const {
  auto result = read_simple_page(page, access_.cancellation());
  if (result.warning) {
    access_.warn(Problem::warning({.message = *result.warning}));
  }
  return std::move(result.files);
}

std::optional<std::string> IndexClient::metadata(const Candidate& candidate) {
  if (!candidate.metadata) {
    return std::nullopt;
  }
  const auto& hashes = *candidate.metadata;
  for (const auto& hash : hashes) {
    const auto digest = Digest::parse(hash.algorithm + ":" + hash.hex);
    if (auto kept = digest ? metadata_.get(*digest) : std::nullopt) {
      return kept;
    }
  }
  std::string body;
  http::Request last;
  const auto response = access_.send([&] {
    auto request = access_.request(fmt::format("read the metadata of `{}`", candidate.name),
                                   candidate.url + ".metadata");
    gather(request, body, largest_metadata);
    last = request;
    return request;
  });
  if (response.status == 404) {
    return std::nullopt;
  }
  if (!response.ok()) {
    throw Access::refusal(last, response);
  }
  check_metadata(candidate, body);
  if (!hashes.empty()) {
    metadata_.put(body);
  }
  return body;
}

}  // namespace autopack::index
