#include "registry/refusal.hpp"
#include "registry/upload.hpp"

#include <fmt/format.h>

namespace autopack::registry {

namespace {

http::Request start_of_upload(Session& session) {
  return {.what = fmt::format("push to `{}`", session.name()),
          .method = "POST",
          .url = session.url("blobs/uploads/")};
}

}  // namespace

std::string begin_upload(Session& session) {
  const http::Request request = start_of_upload(session);
  const http::Response response = session.try_once(request);
  if (response.status != 202) {
    session.refuse(request, response);
  }
  const auto location = response.header("location");
  if (!location) {
    throw Error(ErrorKind::remote, "could not " + request.what)
        .cause("the answer names no location");
  }
  return session.locate(request.url, *location);
}

void give_up_upload(Session& session, const std::string& location) {
  session.try_once({.what = fmt::format("give up an upload to `{}`", session.name()),
                    .method = "DELETE",
                    .url = location});
}

void check_push(Session& session) {
  const http::Request request = start_of_upload(session);
  http::Response response = session.send(request);
  if (!response.ok() && session.make_missing(refusal_code(response.body))) {
    response = session.send(request);
  }
  if (response.status != 202) {
    session.refuse(request, response);
  }
  if (const auto location = response.header("location")) {
    give_up_upload(session, session.locate(request.url, *location));
  }
}

}  // namespace autopack::registry
