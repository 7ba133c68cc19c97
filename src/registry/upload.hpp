#pragma once

#include "registry/caller.hpp"

#include <optional>
#include <string>

namespace autopack::registry {

/// Pushes one blob: mounted where that works, else sent in one piece, taken up again where the
/// registry tells how far it came, else from the start. `begun` is the location of an upload that
/// was started for it, if one was.
PushedBlob upload(Caller& caller,
                  const Blob& blob,
                  const Progress& progress,
                  const std::optional<std::string>& begun);

/// Starts an upload and returns its location. Throws Refused.
std::string begin_upload(Caller& caller);
/// Tells the registry that nothing will come.
void give_up_upload(Caller& caller, const std::string& location);

http::Request blob_question(Caller& caller, const Digest& digest);
/// What the answer to blob_question says; a redirect counts as found. Throws Refused.
bool blob_exists(const Caller& caller,
                 const http::Request& request,
                 const http::Response& response);

/// The first missing byte by an upload's `Range: 0-N`; 0 when it tells nothing.
std::uint64_t parse_upload_range(const std::string& range);

/// Starts an upload and gives it up: what shows that pushing is allowed.
void check_push(Caller& caller);

}  // namespace autopack::registry
