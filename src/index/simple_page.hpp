#pragma once

#include "base/report.hpp"
#include "index/candidate.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::index {

/// What a server answers where an index has its page of a project.
struct PageText {
  std::string url{};  ///< the one that answered, behind all redirects
  std::string content_type{};
  std::string body{};
};

struct SimplePage {
  std::vector<Candidate> files{};        ///< in the order of the page; `index` is left empty
  std::optional<std::string> warning{};  ///< what may have been misunderstood
};

/// The largest page that is read, in bytes. The largest ones known have some 20 MB.
constexpr std::size_t largest_page{std::size_t{64} << 20U};

/// Reads a page of the simple repository API, as JSON or HTML by its type, or a page of links.
/// Entries without a usable URL are left out, and files of this machine that a server names. Throws
/// Error(remote) for another type, for what is no JSON, for more than 100,000 files, and for a
/// major version of the API above 1. Throws Error(interrupted) if `cancellation` asks for it.
SimplePage read_simple_page(const PageText& page, const Cancellation* cancellation = nullptr);

/// The value of `Accept` that asks for it.
constexpr auto simple_page_types =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; "
    "q=0.01";

}  // namespace autopack::index
