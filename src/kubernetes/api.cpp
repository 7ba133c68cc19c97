#include "kubernetes/api.hpp"

#include "base/json.hpp"
#include "base/line.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "http/retry.hpp"

#include <fmt/format.h>

#include <utility>

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

constexpr std::size_t longest_text = 2000;
constexpr int page_size = 500;
constexpr int most_pages = 200;

std::string said(const std::string& text) {
  return printable(single_spaced(text)).substr(0, longest_text);
}

/// Returns the texts of `Warning: 299 - "text"` (RFC 7234).
std::string warning_text(const std::string& header) {
  const auto begin = header.find('"');
  std::string text;
  for (auto at = begin == std::string::npos ? header.size() : begin + 1;
       at < header.size() && header[at] != '"'; ++at) {
    at += header[at] == '\\' && at + 1 < header.size() ? 1U : 0U;
    text += header[at];
  }
  return said(text);
}

/// Returns the text between the first two double quotes of `text` from `from` on.
std::string quoted_in(std::string_view text, std::string_view from) {
  const auto at = text.find(from);
  const auto begin = at == std::string_view::npos ? at : text.find('"', at);
  const auto end = begin == std::string_view::npos ? begin : text.find('"', begin + 1);
  return end == std::string_view::npos ? "" : std::string{text.substr(begin + 1, end - begin - 1)};
}

/// Returns the words after `cannot` of a refusal by rights: `create`, `jobs`, `batch`, `ml`.
struct Right {
  std::string verb{};
  std::string resource{};
  std::string group{};
  std::string name_space{};
};

Right right_in(const std::string& message) {
  const auto at = message.find(" cannot ");
  if (at == std::string::npos) {
    return {};
  }
  const auto rest = message.substr(at + 8);
  return {.verb = rest.substr(0, rest.find(' ')),
          .resource = quoted_in(rest, "resource"),
          .group = quoted_in(rest, "API group"),
          .name_space = quoted_in(rest, "in the namespace")};
}

void add_right_hints(Error& error, const std::string& message) {
  const auto right = right_in(message);
  if (right.verb.empty() || right.resource.empty()) {
    return;
  }
  const auto slash = right.resource.find('/');
  const auto resource =
      right.resource.substr(0, slash) + (right.group.empty() ? "" : "." + right.group);
  const auto part =
      slash == std::string::npos ? "" : " --subresource=" + right.resource.substr(slash + 1);
  const auto place = right.name_space.empty() ? "" : " --namespace=" + right.name_space;
  error.hint(printable(
      fmt::format("ask the cluster's administrator for the right to {} {}{}{}", right.verb,
                  right.resource, right.group.empty() ? "" : "." + right.group,
                  right.name_space.empty() ? "" : " in the namespace " + right.name_space)));
  error.hint(printable(
      fmt::format("check it: kubectl auth can-i {} {}{}{}", right.verb, resource, part, place)));
}

std::string group_of(const std::string& path) {
  const auto parts = split(path, '/');
  return parts.size() > 2 && parts[1] == "apis" ? parts[2] : "";
}

std::string_view project_of(std::string_view group) {
  if (group == "jobset.x-k8s.io") {
    return "JobSet";
  }
  if (group == "trainer.kubeflow.org") {
    return "Kubeflow Trainer";
  }
  return group.find("kueue") != std::string_view::npos ? "Kueue" : "";
}

void add_remedy(Error& error, const ApiCall& call, const ApiStatus& status, const Login& login) {
  const auto& access = login.access();
  if (status.code == 401) {
    error.hint(
        fmt::format("the login is that of {}: log in again, then check it with kubectl auth "
                    "whoami",
                    login.describe()));
  } else if (status.code == 403 && status.message.find("system:anonymous") != std::string::npos) {
    error.hint(fmt::format("no login was sent: {} has none", login.describe()));
  } else if (status.lacks_right()) {
    add_right_hints(error, status.message);
  } else if (status.lacks_group()) {
    const auto group = group_of(call.path);
    if (const auto project = project_of(group); !project.empty()) {
      error.cause(fmt::format("{} is not installed there", project));
      error.hint(fmt::format("ask the cluster's administrator to install {}", project));
    }
  } else if (status.lacks_namespace()) {
    error.hint("name another one: --namespace=NAME");
    error.hint("create it: kubectl create namespace " + shell_quote(access.name_space));
  } else if (status.code == 429) {
    error.hint("try again later: the API server is busy");
  }
}

}  // namespace

bool ApiStatus::lacks_namespace() const {
  return code == 404 && message.starts_with("namespaces \"") && message.ends_with("not found");
}

bool ApiStatus::lacks_right() const {
  return code == 403 && message.find(" cannot ") != std::string::npos &&
         message.find("resource \"") != std::string::npos;
}

ApiStatus read_status(const http::Response& response) {
  ApiStatus status{.code = response.status};
  const auto body = parse_json(response.body);
  if (!body.is_object() || text_at(body, "kind") != "Status") {
    status.message = said(response.body);
    return status;
  }
  status.is_status = true;
  status.reason = text_at(body, "reason");
  status.message = said(text_at(body, "message"));
  const auto details = body.find("details");
  if (details != body.end() && details->is_object() && details->contains("causes") &&
      (*details)["causes"].is_array()) {
    for (const auto& cause : (*details)["causes"]) {
      const auto field = text_at(cause, "field");
      status.causes.push_back({.field = field == "<nil>" ? "" : said(field),
                               .message = said(text_at(cause, "message"))});
    }
  }
  return status;
}

http::Request Api::request_of(const ApiCall& call) const {
  http::Request request{.what = call.what,
                        .method = call.method,
                        .url = options_.login->access().server + call.path +
                               (call.query.empty() ? "" : "?" + call.query),
                        .headers = {{"Accept", call.accept}},
                        .body = call.body,
                        .compressed = true,
                        .new_connection = call.only_once};
  if (!call.body.empty()) {
    request.headers.push_back({"Content-Type", "application/json"});
  }
  return request;
}

http::Response Api::send_once(http::Request request) const {
  options_.login->apply(request);
  return options_.client->send(request);
}

void Api::report_warnings(const ApiCall& call, const http::Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (to_lower(name) != "warning" || call.method == "GET") {
      continue;
    }
    const auto text = warning_text(value);
    const std::scoped_lock lock{mutex_};
    if (!text.empty() && warnings_.insert(text).second) {
      options_.reporter->warn(Problem::warning({.message = "the cluster warns: " + text}));
    }
  }
}

http::Response Api::send(const ApiCall& call) {
  auto response = send_once(request_of(call));
  if (response.status == 401 && options_.login->renew()) {
    response = send_once(request_of(call));
  }
  report_warnings(call, response);
  return response;
}

http::Response Api::ask(const ApiCall& call) {
  return http::retry([&] { return send(call); }, options_.sleep);
}

json Api::ask_json(const ApiCall& call) {
  return read_object(call, ask(call), *options_.login);
}

json Api::find(const ApiCall& call) {
  const auto response = ask(call);
  return response.status == 404 ? json{} : read_object(call, response, *options_.login);
}

std::vector<json> Api::list(ApiCall call) {
  std::vector<json> items;
  const auto query = call.query;
  std::string next;
  for (int page = 0; page < most_pages; ++page) {
    call.query = fmt::format("{}{}limit={}{}", query, query.empty() ? "" : "&", page_size,
                             next.empty() ? "" : "&continue=" + percent_encode(next));
    const auto answer = ask_json(call);
    if (const auto found = answer.find("items"); found != answer.end() && found->is_array()) {
      items.insert(items.end(), found->begin(), found->end());
    }
    const auto metadata = answer.find("metadata");
    next = metadata == answer.end() ? "" : text_at(*metadata, "continue");
    if (next.empty()) {
      break;
    }
  }
  return items;
}

http::Response Api::stream(const ApiCall& call,
                           const std::function<void(std::string_view bytes)>& on_data,
                           const std::atomic<bool>* stop) {
  const auto once = [&] {
    auto request = request_of(call);
    request.on_data = on_data;
    request.timeout = std::chrono::milliseconds{0};
    request.stop = stop;
    return send_once(std::move(request));
  };
  auto response = once();
  if (response.status == 401 && options_.login->renew()) {
    response = once();
  }
  return response;
}

Error refusal(const ApiCall& call, const http::Response& response, const Login& login) {
  const auto status = read_status(response);
  Error error{ErrorKind::remote, "could not " + call.what};
  if (status.lacks_group() && group_of(call.path).find('.') != std::string::npos) {
    error.cause(fmt::format("the cluster has no `{}`", group_of(call.path)));
  } else if (status.code == 401) {
    error.cause("the cluster does not accept the login (401)");
  } else {
    error.cause(fmt::format("the cluster refuses it ({}): {}", status.code,
                            status.message.empty() ? "without a reason" : status.message));
  }
  add_remedy(error, call, status, login);
  return error;
}

json read_object(const ApiCall& call, const http::Response& response, const Login& login) {
  if (!response.ok()) {
    throw refusal(call, response, login);
  }
  auto object = parse_json(response.body);
  if (!object.is_object()) {
    throw Error(ErrorKind::remote, "could not " + call.what)
        .cause("the answer of the API server is not a JSON object");
  }
  return object;
}

std::string collection_path(std::string_view group,
                            const std::string& name_space,
                            std::string_view plural) {
  return fmt::format("/{}/{}/namespaces/{}/{}", group == "v1" ? "api" : "apis", group,
                     percent_encode(name_space), plural);
}

}  // namespace autopack::kubernetes
