#include "index/page_cache.hpp"

#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <optional>

namespace autopack::index {

using nlohmann::json;

namespace {

std::string file_name(const std::string& url, const std::string& user) {
  return sha256(fmt::format("page 2\n{}\n{}", user, url)).hex();
}

std::string seal(const PageText& page) {
  return sha256(fmt::format("{}\n{}\n{}", page.url, page.content_type, page.body)).hex();
}

}  // namespace

std::optional<KeptPage> PageCache::get(const std::string& url, const std::string& user) const {
  auto text = store_.get(file_name(url, user));
  const auto end = text ? text->find('\n') : std::string::npos;
  if (end == std::string::npos) {
    return std::nullopt;
  }
  const json head = parse_json(std::string_view{*text}.substr(0, end));
  KeptPage kept;
  try {
    kept.page.url = head.at("url").get<std::string>();
    kept.page.content_type = head.at("type").get<std::string>();
    kept.etag = non_empty(head.at("etag").get<std::string>());
    kept.last_modified = non_empty(head.at("modified").get<std::string>());
    text->erase(0, end + 1);
    kept.page.body = std::move(*text);
    return head.at("seal").get<std::string>() == seal(kept.page) ? std::optional{std::move(kept)}
                                                                 : std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void PageCache::put(const std::string& url, const std::string& user, const KeptPage& kept) const {
  if (!kept.etag && !kept.last_modified) {
    return;
  }
  const json head{{"url", kept.page.url},
                  {"type", kept.page.content_type},
                  {"etag", kept.etag.value_or("")},
                  {"modified", kept.last_modified.value_or("")},
                  {"seal", seal(kept.page)}};
  store_.put(file_name(url, user), print_json(head) + "\n" + kept.page.body);
}

}  // namespace autopack::index
