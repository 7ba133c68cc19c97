#include "engine/build_progress.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/line.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::engine {

namespace {

using State = StepEvent::State;

/// Limit in bytes of a step's output that is kept for the error message.
constexpr std::size_t kept_log = 16384;

bool is_end(State state) {
  return state == State::cached || state == State::completed || state == State::failed;
}

/// Matches `Step 2/7 : RUN x` of Docker, `STEP 2/7: RUN x` and `[1/2] STEP 2/7: RUN x` of Podman.
bool is_classic_title(std::string_view line) {
  if (line.starts_with('[')) {
    const auto end = line.find("] ");
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 2);
  }
  const bool word = line.starts_with("Step ") || line.starts_with("STEP ");
  const auto slash = line.find('/');
  const auto colon = line.find(':');
  return word && slash < colon && colon != std::string_view::npos &&
         line.substr(5, slash - 5).find_first_not_of("0123456789") == std::string_view::npos;
}

/// Removes the color that the classic builder adds to a step's standard error.
std::string without_paint(std::string_view text) {
  return replace_all(replace_all(std::string{text}, "\x1b[91m", ""), "\x1b[0m", "");
}

/// Removes pip's lines about retries from a program's output, and reports them as details: the last
/// attempt fails with its own message.
std::string without_retries(std::string_view text, Reporter& reporter) {
  constexpr std::string_view sign{"WARNING: Retrying (Retry("};
  if (text.find(sign) == std::string_view::npos) {
    return std::string{text};
  }
  std::string rest;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    const auto line = text.substr(0, end);
    if (line.starts_with(sign)) {
      reporter.detail(printable(redact_credentials(std::string{trim(line)})));
    } else {
      rest += line;
    }
    text.remove_prefix(end);
  }
  return rest;
}

/// Returns true for a step from a Dockerfile's instruction: `[2/3] RUN ...`, `[deps 2/3] COPY ...`.
bool is_instruction(std::string_view name) {
  const auto end = name.find("] ");
  return name.starts_with('[') && end != std::string_view::npos &&
         name.substr(0, end).find('/') != std::string_view::npos;
}

}  // namespace

BuildProgress::BuildProgress(Reporter* reporter, Naming naming)
    : reporter_{reporter},
      naming_{std::move(naming)},
      lines_{[this](const nlohmann::json& message) { take(message); }} {}

void BuildProgress::feed(std::string_view bytes) {
  lines_.feed(bytes);
}

void BuildProgress::finish() {
  lines_.finish();
  if (!failure_) {
    end_classic_step(State::completed);
  }
}

int BuildProgress::steps() const {
  return static_cast<int>(std::ranges::count_if(steps_, [](const auto& entry) {
    return is_instruction(entry.second.name) || is_classic_title(entry.second.name);
  }));
}

int BuildProgress::cached_steps() const {
  return static_cast<int>(std::ranges::count_if(steps_, [](const auto& entry) {
    return entry.second.state == State::cached &&
           (is_instruction(entry.second.name) || is_classic_title(entry.second.name));
  }));
}

void BuildProgress::set_name(Step& step, std::string_view name) const {
  if (step.name != name) {
    step.name = name;
    step.reported = naming_ ? naming_(name) : step.name;
  }
}

void BuildProgress::take(const nlohmann::json& message) {
  if (reporter_ != nullptr && text_at(message, "id") != "moby.buildkit.trace") {
    reporter_->trace(print_json(message));
  }
  if (const auto complaint = complaint_of(message)) {
    fail(*complaint);
    return;
  }
  if (const auto aux = message.find("aux"); aux != message.end()) {
    if (aux->is_string() && text_at(message, "id") == "moby.buildkit.trace") {
      take_trace(aux->get<std::string>());
    } else if (const std::string id = text_at(*aux, "ID"); !id.empty()) {
      image_id_ = id;
    }
  }
  if (const std::string text = text_at(message, "stream"); !text.empty()) {
    take_text(text);
  }
}

void BuildProgress::take_trace(std::string_view encoded) {
  const auto bytes = base64_decode(encoded);
  const auto trace = bytes ? BuildTrace::decode(*bytes) : std::nullopt;
  if (!trace) {
    throw Error(ErrorKind::remote, "the engine's build progress cannot be decoded");
  }
  for (const auto& vertex : trace->vertices) {
    Step& step = steps_[vertex.digest];
    set_name(step, vertex.name);
    if (vertex.started && !vertex.cached) {
      move(vertex.digest, State::started);
    }
    if (!vertex.error.empty()) {
      step.error = vertex.error;
      move(vertex.digest, State::failed, vertex.error);
    } else if (vertex.cached) {
      move(vertex.digest, State::cached);
    } else if (vertex.completed) {
      move(vertex.digest, State::completed);
    }
  }
  for (const auto& status : trace->statuses) {
    if (reporter_ != nullptr) {
      reporter_->step({.id = status.vertex,
                       .name = steps_[status.vertex].reported,
                       .state = State::progress,
                       .current = status.current,
                       .total = status.total,
                       .text = status.id});
    }
  }
  for (const auto& entry : trace->logs) {
    log(entry.vertex, entry.text);
  }
}

void BuildProgress::take_text(std::string_view text) {
  const std::string_view line = trim(text);
  if (is_classic_title(line)) {
    begin_classic_step(line);
  } else if (line.starts_with("---> Using cache") || line.starts_with("--> Using cache")) {
    end_classic_step(State::cached);
  } else if (line.starts_with("--->") || line.starts_with("-->") ||
             line.starts_with("Removing intermediate container") ||
             line.starts_with("Successfully built") || line.starts_with("Successfully tagged") ||
             line.empty()) {
    // These are the builder's own messages, not the step's output.
  } else if (classic_step_) {
    log(*classic_step_, without_paint(text));
  }
}

void BuildProgress::begin_classic_step(std::string_view title) {
  end_classic_step(State::completed);
  classic_step_ = fmt::format("step {:04}", ++classic_count_);
  set_name(steps_[*classic_step_], title);
  move(*classic_step_, State::started);
}

void BuildProgress::end_classic_step(State state) {
  if (classic_step_) {
    move(*classic_step_, state);
  }
}

void BuildProgress::fail(const std::string& message) {
  failure_ = BuildFailure{.message = message};
  if (classic_step_) {
    steps_[*classic_step_].error = message;
    move(*classic_step_, State::failed, message);
  }
  // Steps that ran beside the failing one end with `context canceled`; BuildKit has no code for it.
  for (const auto& [id, step] : steps_) {
    const bool better = !failure_->step || is_instruction(step.name);
    if (!step.error.empty() && better && step.error.find("context canceled") == std::string::npos) {
      failure_->step = step.name;
      failure_->last_log = step.last_log;
    }
  }
}

void BuildProgress::log(const std::string& id, std::string_view text) {
  Step& step = steps_[id];
  step.last_log += text;
  if (step.last_log.size() > 2 * kept_log) {
    step.last_log.erase(0, step.last_log.size() - kept_log);
  }
  if (reporter_ != nullptr) {
    reporter_->step({.id = id,
                     .name = step.reported,
                     .state = State::log,
                     .text = without_retries(text, *reporter_)});
  }
}

void BuildProgress::move(const std::string& id, State state, const std::string& reason) {
  Step& step = steps_[id];
  // BuildKit repeats its records, and may complete a step that it reported as cached.
  if (is_end(step.state) || step.state == state) {
    return;
  }
  step.state = state;
  if (reporter_ != nullptr) {
    if (state == State::started && step.reported != step.name) {
      reporter_->detail(
          fmt::format("{}: {}", step.reported, single_spaced(redact_credentials(step.name))));
    }
    reporter_->step({.id = id, .name = step.reported, .state = state, .text = reason});
  }
}

namespace {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint64_t number{0};
  WireType type{WireType::varint};
  std::uint64_t value{0};    ///< of a varint
  std::string_view bytes{};  ///< of a string or message
};

/// Reads the fields of a protobuf message; checks every length against the available bytes.
class Fields {
public:
  explicit Fields(std::string_view bytes) : rest_{bytes} {}

  /// Returns the next field; nothing at the end or if the message is malformed (see good).
  std::optional<Field> next() {
    if (!good_ || rest_.empty()) {
      return std::nullopt;
    }
    const auto key = varint();
    if (!key || (*key >> 3U) == 0) {
      return fail();
    }
    Field field{.number = *key >> 3U};
    switch (*key & 7U) {
      case 0: {
        const auto value = varint();
        if (!value) {
          return fail();
        }
        field.value = *value;
        return field;
      }
      case 1: field.type = WireType::fixed64; return skip(8) ? std::optional{field} : fail();
      case 5: field.type = WireType::fixed32; return skip(4) ? std::optional{field} : fail();
      case 2: {
        const auto size = varint();
        if (!size || *size > rest_.size()) {
          return fail();
        }
        field.type = WireType::bytes;
        field.bytes = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return field;
      }
      default: return fail();
    }
  }

  bool good() const { return good_; }

private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
    return std::nullopt;
  }

  bool skip(std::size_t count) {
    if (rest_.size() < count) {
      return false;
    }
    rest_.remove_prefix(count);
    return true;
  }

  std::optional<Field> fail() {
    good_ = false;
    return std::nullopt;
  }

  std::string_view rest_;
  bool good_{true};
};

/// Calls `take` with each field of `bytes`; returns false if the message, or a nested one, is
/// malformed.
template <class Take>
bool each_field(std::string_view bytes, Take&& take) {
  Fields fields{bytes};
  while (const auto field = fields.next()) {
    if (!take(*field)) {
      return false;
    }
  }
  return fields.good();
}

std::string text(const Field& field) {
  return std::string{field.bytes};
}

bool decode_vertex(std::string_view bytes, BuildTrace::Vertex& vertex) {
  return each_field(bytes, [&](const Field& field) {
    switch (field.number) {
      case 1: vertex.digest = text(field); break;
      case 3: vertex.name = text(field); break;
      case 4: vertex.cached = field.value != 0; break;
      case 5: vertex.started = true; break;
      case 6: vertex.completed = true; break;
      case 7: vertex.error = text(field); break;
      default: break;
    }
    return true;
  });
}

/// Sizes are signed in the protocol; a negative one is meaningless.
std::uint64_t size_of(const Field& field) {
  return static_cast<std::int64_t>(field.value) < 0 ? 0 : field.value;
}

bool decode_status(std::string_view bytes, BuildTrace::Status& status) {
  return each_field(bytes, [&](const Field& field) {
    switch (field.number) {
      case 1: status.id = text(field); break;
      case 2: status.vertex = text(field); break;
      case 4: status.current = size_of(field); break;
      case 5: status.total = size_of(field); break;
      default: break;
    }
    return true;
  });
}

bool decode_log(std::string_view bytes, BuildTrace::Log& log) {
  return each_field(bytes, [&](const Field& field) {
    switch (field.number) {
      case 1: log.vertex = text(field); break;
      case 4: log.text = text(field); break;
      default: break;
    }
    return true;
  });
}

}  // namespace

std::optional<BuildTrace> BuildTrace::decode(std::string_view bytes) {
  BuildTrace trace;
  const bool good = each_field(bytes, [&](const Field& field) {
    if (field.type != WireType::bytes) {
      return true;
    }
    switch (field.number) {
      case 1: return decode_vertex(field.bytes, trace.vertices.emplace_back());
      case 2: return decode_status(field.bytes, trace.statuses.emplace_back());
      case 3: return decode_log(field.bytes, trace.logs.emplace_back());
      default: return true;
    }
  });
  if (!good) {
    return std::nullopt;
  }
  return trace;
}

}  // namespace autopack::engine
