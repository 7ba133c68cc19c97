#include "engine/transfer.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::engine {

namespace {

using State = StepEvent::State;

bool is_layer_id(std::string_view id) {
  return id.size() == 12 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Transfer::Transfer(Reporter* reporter)
    : reporter_{reporter}, lines_{[this](const nlohmann::json& message) { take(message); }} {}

std::vector<PushResult::PushedLayer> Transfer::layers() const {
  std::vector<PushResult::PushedLayer> all;
  for (const auto& id : order_) {
    const LayerProgress& layer = layers_.at(id);
    all.push_back({.id = id, .size = layer.size, .uploaded = layer.uploaded});
  }
  return all;
}

void Transfer::take(const nlohmann::json& message) {
  if (auto complaint = complaint_of(message)) {
    complaint_ = std::move(complaint);
    return;
  }
  if (const auto aux = message.find("aux"); aux != message.end()) {
    if (const auto digest = Digest::parse(text_at(*aux, "Digest"))) {
      digest_ = digest;
    }
  }
  const std::string id = text_at(message, "id");
  const std::string status = text_at(message, "status");
  if (is_layer_id(id)) {
    take_layer(id, status, message);
  } else {
    take_status(status.empty() ? text_at(message, "stream") : status);
  }
}

void Transfer::take_status(const std::string& status) {
  if (reporter_ != nullptr && !trim(status).empty()) {
    reporter_->trace(trim(status));
  }
  // `1: digest: sha256:... size: 941` after a push, `Digest: sha256:...` after a pull.
  for (const std::string_view sign : {"digest: ", "Digest: "}) {
    if (const auto at = status.find(sign); at != std::string::npos) {
      const auto rest = std::string_view{status}.substr(at + sign.size());
      if (const auto digest = Digest::parse(rest.substr(0, rest.find(' ')))) {
        digest_ = digest;
      }
    }
  }
}

void Transfer::take_layer(const std::string& id,
                          const std::string& status,
                          const nlohmann::json& message) {
  const auto [entry, is_new] = layers_.try_emplace(id);
  LayerProgress& layer = entry->second;
  if (is_new) {
    order_.push_back(id);
  }
  const auto detail = message.find("progressDetail");
  const std::uint64_t current = detail == message.end() ? 0 : number_at(*detail, "current");
  const std::uint64_t total = detail == message.end() ? 0 : number_at(*detail, "total");
  const StepEvent event{.id = id, .name = "layer " + id, .current = current, .total = total};
  const auto with = [&](State state) {
    StepEvent changed = event;
    changed.state = state;
    return changed;
  };
  if (layer.ended) {
    return;
  }
  if (status == "Layer already exists" || status == "Already exists" ||
      status.starts_with("Mounted from")) {
    layer.ended = true;
    report(with(State::cached));
  } else if (status == "Pushed" || status == "Pull complete") {
    layer.ended = true;
    layer.uploaded = status == "Pushed";
    report(with(State::completed));
  } else if (current > 0) {
    // Empty layers are reported without a total, and small ones exceed it.
    layer.size = std::max({layer.size, current, total});
    if (!std::exchange(layer.named, true)) {
      report(with(State::started));
    }
    StepEvent progress = with(State::progress);
    progress.text = status;
    report(progress);
  }
}

void Transfer::report(const StepEvent& event) {
  if (reporter_ != nullptr) {
    reporter_->step(event);
  }
}

bool is_denied(std::string_view complaint) {
  constexpr std::array<std::string_view, 7> signs{
      "denied",          "unauthorized",     "no basic auth", "authentication required",
      "Unauthenticated", "401 Unauthorized", "403 Forbidden"};
  return std::ranges::any_of(
      signs, [&](std::string_view sign) { return complaint.find(sign) != std::string_view::npos; });
}

bool is_unreachable(std::string_view complaint) {
  constexpr std::array<std::string_view, 8> signs{
      "no such host",       "connection refused",     "i/o timeout",           "no route to host",
      "server misbehaving", "network is unreachable", "TLS handshake timeout", "deadline exceeded"};
  return std::ranges::any_of(
      signs, [&](std::string_view sign) { return complaint.find(sign) != std::string_view::npos; });
}

Error transfer_error(const std::string& verb,
                     const image::Reference& reference,
                     const std::string& complaint,
                     const std::optional<std::string>& login_origin) {
  // The engine passes on text and no codes; only the hint depends on this text.
  const auto has = [&](std::string_view sign) { return complaint.find(sign) != std::string::npos; };
  const std::string name = reference.text.empty() ? reference.tagged() : reference.text;
  Error error{ErrorKind::remote, fmt::format("could not {} `{}`", verb, name)};
  error.cause(printable(redact_credentials(complaint)));
  const bool denied = is_denied(complaint);
  if (has("server gave HTTP response to HTTPS client")) {
    error.hint(
        fmt::format("add `{}` to `insecure-registries` of the engine's daemon.json, or "
                    "serve the registry with TLS",
                    reference.host));
  } else if (has("no space left on device")) {
    return Error{ErrorKind::environment, error.message()}
        .cause(error.causes().front())
        .hint("docker system df");
  } else if (has("ame unknown") && has("Repository")) {
    error.hint("the repository does not exist in this registry: make it first");
  } else if (denied) {
    error.hint(login_origin ? fmt::format("the login came from {}; `docker login {}` renews it",
                                          *login_origin, reference.host)
                            : fmt::format("no login is known: docker login {}", reference.host));
  } else if (has("manifest unknown") || has("not found")) {
    error.hint("check the name and the tag");
  } else if (is_unreachable(complaint)) {
    error.hint(
        fmt::format("the engine cannot reach `{}`: check its network and proxy", reference.host));
  } else if (has("platform")) {
    error.hint("pass the platform that the image has with `--platform`");
  }
  return error;
}

}  // namespace autopack::engine
