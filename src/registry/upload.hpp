#pragma once

#include "registry/session.hpp"

namespace autopack::registry {

/// Pushes one blob: mounted where that works, else sent in one piece, taken up again where the
/// registry tells how far it came, else from the start. `begun` is the location of an upload that
/// was started for it; may be empty.
PushedBlob upload(Session& session,
                  const Blob& blob,
                  const Progress& progress,
                  const std::string& begun);

/// Starts an upload and returns its location. Throws Refused.
std::string begin_upload(Session& session);
/// Tells the registry that nothing will come.
void give_up_upload(Session& session, const std::string& location);

http::Request blob_question(Session& session, const Digest& digest);
/// What the answer to blob_question says; a redirect counts as found. Throws Refused.
bool blob_exists(const Session& session,
                 const http::Request& request,
                 const http::Response& response);

/// The first missing byte by an upload's `Range: 0-N`; 0 when it tells nothing.
std::uint64_t parse_upload_range(const std::string& range);

/// Starts an upload and gives it up: what shows that pushing is allowed.
void check_push(Session& session);

}  // namespace autopack::registry
