#include "index/find_links.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "index/file_names.hpp"
#include "index/simple_page.hpp"
#include "python/archive_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace autopack::index {

namespace fs = std::filesystem;

namespace {

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

}  // namespace

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

}  // namespace autopack::index
