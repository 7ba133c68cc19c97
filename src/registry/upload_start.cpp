#include "registry/refusal.hpp"
#include "registry/upload.hpp"

#include <fmt/format.h>

namespace autopack::registry {

namespace {

http::Request start_of_upload(Caller& caller) {
  return {.what = fmt::format("push to `{}`", caller.name()),
          .method = "POST",
          .url = caller.url("blobs/uploads/")};
}

}  // namespace

std::string begin_upload(Caller& caller) {
  const http::Request request = start_of_upload(caller);
  const http::Response response = caller.try_once(request);
  if (response.status != 202) {
    caller.refuse(request, response);
  }
  const auto location = response.header("location");
  if (!location) {
    throw Error(ErrorKind::remote, "could not " + request.what).cause("the answer has no location");
  }
  return caller.locate(request.url, *location);
}

void give_up_upload(Caller& caller, const std::string& location) {
  caller.try_once({.what = fmt::format("cancel an upload to `{}`", caller.name()),
                   .method = "DELETE",
                   .url = location});
}

void check_push(Caller& caller) {
  const http::Request request = start_of_upload(caller);
  http::Response response = caller.send(request);
  if (!response.ok() && caller.make_missing(refusal_code(response.body))) {
    response = caller.send(request);
  }
  if (response.status != 202) {
    caller.refuse(request, response);
  }
  if (const auto location = response.header("location")) {
    give_up_upload(caller, caller.locate(request.url, *location));
  }
}

}  // namespace autopack::registry
