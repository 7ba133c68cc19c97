#include "google/api.hpp"

namespace autopack::google {

namespace {

http::Response send_once(const ApiCaller& caller, http::Request request) {
  request.headers.push_back(
      {"Authorization", "Bearer " + caller.credentials->token().token.reveal()});
  return caller.client->send(request);
}

}  // namespace

http::Response send(const ApiCaller& caller, http::Request request) {
  if (!request.body.empty()) {
    request.headers.push_back({"Content-Type", "application/json"});
  }
  if (const auto payer = caller.credentials->quota_project()) {
    request.headers.push_back({"x-goog-user-project", *payer});
  }
  auto response = send_once(caller, request);
  if (response.status == 401) {
    caller.credentials->expire();
    response = send_once(caller, std::move(request));
  }
  return response;
}

}  // namespace autopack::google
