#pragma once

#include "registry/caller.hpp"

#include <optional>
#include <string>

namespace autopack::registry {

/// Pushes one blob. Mounts it if possible, else sends it in one piece. After a failure it continues
/// from the position that the registry reports, else from the start. `begun` is the location of an
/// upload that was already started for it, if any.
PushedBlob upload(Caller& caller,
                  const Blob& blob,
                  const Progress& progress,
                  const std::optional<std::string>& begun);

/// Starts an upload and returns its location. Throws Refused.
std::string begin_upload(Caller& caller);
/// Cancels the upload.
void give_up_upload(Caller& caller, const std::string& location);

http::Request blob_question(Caller& caller, const Digest& digest);
/// Interprets the answer to blob_question; a redirect counts as found. Throws Refused.
bool blob_exists(const Caller& caller,
                 const http::Request& request,
                 const http::Response& response);

/// Returns the first missing byte according to an upload's `Range: 0-N`; 0 if it has no usable
/// range.
std::uint64_t parse_upload_range(const std::string& range);

/// Starts an upload and cancels it, to check that pushing is allowed.
void check_push(Caller& caller);

}  // namespace autopack::registry
