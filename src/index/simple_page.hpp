#pragma once

#include "base/report.hpp"
#include "index/candidate.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::index {

/// A server's answer for the page of a project in an index.
struct PageText {
  std::string url{};  ///< of the final answer, after all redirects
  std::string content_type{};
  std::string body{};
};

struct SimplePage {
  std::vector<Candidate> files{};        ///< in the order of the page; `index` stays empty
  std::optional<std::string> warning{};  ///< about parts that may have been misunderstood
};

/// Size limit of a page, in bytes. The largest known ones have about 20 MB.
constexpr std::size_t largest_page{std::size_t{64} << 20U};

/// Reads a page of the simple repository API, as JSON or HTML by its type, or a page of links.
/// Skips entries without a usable URL, and local files that a server names. Throws Error(remote)
/// for another type, for invalid JSON, for more than 100,000 files, and for a major version of the
/// API above 1. Throws Interrupted if `cancellation` asks for it.
SimplePage read_simple_page(const PageText& page, const Cancellation* cancellation = nullptr);

/// The value of `Accept` for such a page.
constexpr auto simple_page_types =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; "
    "q=0.01";

}  // namespace autopack::index
