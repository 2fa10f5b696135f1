#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "rankwright/import/log/trace_events.h"
#include "rankwright/import/syntax/lines.h"

namespace rankwright::importer {
namespace {

using Json = nlohmann::json;

/// One object of the event list. A value that is missing or has the exceeded type is left empty.
struct ChromeEvent {
  std::string phase{};
  std::string name{};
  std::string category{};
  std::string label{};  // args.name
  std::optional<std::uint64_t> process{}, thread{};
  std::optional<double> time{}, duration{};  // microseconds
};

template <class T>
struct EventKeyRow {
  std::string_view key;
  T ChromeEvent::*field;
};
constexpr EventKeyRow<std::string> kTexts[] = {
    {"ph", &ChromeEvent::phase}, {"name", &ChromeEvent::name}, {"cat", &ChromeEvent::category}};
constexpr EventKeyRow<std::optional<std::uint64_t>> kIds[] = {{"pid", &ChromeEvent::process},
                                                              {"tid", &ChromeEvent::thread}};
constexpr EventKeyRow<std::optional<double>> kTimeKeys[] = {{"ts", &ChromeEvent::time},
                                                            {"dur", &ChromeEvent::duration}};

/// Converts microseconds. A double represents them to the nanosecond up to 2^43 us, a hundred days.
std::optional<i64> to_nanoseconds(std::optional<double> microseconds) {
  if (!microseconds || !(*microseconds >= 0 && *microseconds * 1e3 <= double(kMaxNanoseconds)))
    return std::nullopt;
  return i64(std::llround(*microseconds * 1e3));
}

std::optional<i64> end_of(std::optional<i64> begin, std::optional<i64> length) {
  if (!begin || !length || *length > kMaxNanoseconds - *begin) return std::nullopt;
  return *begin + *length;
}

/// Processes events as they are parsed, because a tree of all of them would be many times the file
/// size.
class ChromeReader final : public nlohmann::json_sax<Json> {
 public:
  explicit ChromeReader(const TraceLimits& limits) : limits_(limits) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t n) override {
    return put_integer(std::uint64_t(n), double(n));
  }
  bool number_unsigned(number_unsigned_t n) override { return put_integer(n, double(n)); }
  bool number_float(number_float_t n, const string_t&) override { return put(kTimeKeys, n); }
  bool binary(binary_t&) override { return true; }

  bool string(string_t& text) override {
    if (inside_args() && key_ == "name") event_.label = text;
    return put(kTexts, text);
  }

  bool key(string_t& text) override {
    key_ = text;
    return true;
  }

  bool start_object(std::size_t) override {
    if (list_ > 0 && depth_ == list_) event_ = {};
    if (inside_event() && key_ == "args") args_ = true;
    return enter();
  }

  bool end_object() override {
    if (inside_args()) args_ = false;
    if (inside_event()) take_event();
    --depth_;
    exceeded = find_excess(events, limits_);
    return !exceeded;
  }

  bool start_array(std::size_t) override {
    const bool named = depth_ == 1 && key_ == "traceEvents";
    if (list_ == 0 && (depth_ == 0 || named)) list_ = depth_ + 1;
    return enter();
  }

  bool end_array() override {
    if (depth_ == list_) list_ = 0;
    --depth_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    at = position;
    return false;
  }

  TraceEvents events{};
  std::size_t at = 0;                     // position of invalid JSON, from 1
  std::optional<std::string> exceeded{};  // the limit that was exceeded

 private:
  bool inside_event() const { return list_ > 0 && depth_ == list_ + 1; }
  bool inside_args() const { return args_ && depth_ == list_ + 2; }

  bool enter() {
    if (++depth_ > limits_.depth)
      exceeded = fmt::format("it is nested more than {} levels deep", limits_.depth);
    return !exceeded;
  }

  template <class T, std::size_t N, class Value>
  bool put(const EventKeyRow<T> (&rows)[N], const Value& value) {
    if (!inside_event()) return true;
    for (const EventKeyRow<T>& row : rows)
      if (row.key == key_) event_.*row.field = value;
    return true;
  }

  bool put_integer(std::uint64_t id, double n) { return put(kIds, id) && put(kTimeKeys, n); }

  void take_event() {
    if (!event_.process || !event_.thread) return;
    const TraceEvents::TrackId track{*event_.process, *event_.thread};
    if (event_.phase == "M" && event_.name == "thread_name")
      events.tracks.insert_or_assign(track, std::move(event_.label));
    if (event_.phase != "X") return;
    const std::optional<i64> begin = to_nanoseconds(event_.time);
    events.slices.push_back({track, begin, end_of(begin, to_nanoseconds(event_.duration)),
                             std::move(event_.name), std::move(event_.category)});
  }

  const TraceLimits& limits_;
  int depth_ = 0;
  int list_ = 0;       // nesting depth of the event list; 0 outside of it
  bool args_ = false;  // inside the `args` of an event
  std::string key_{};  // the last key
  ChromeEvent event_{};
};

}  // namespace

Result<TraceEvents> read_chrome_events(std::string_view text, std::string_view file,
                                       const TraceLimits& limits) {
  ChromeReader reader(limits);
  if (Json::sax_parse(text, &reader)) return std::move(reader.events);
  if (reader.exceeded) return fail(trace_too_large(std::move(*reader.exceeded), file));
  return fail(not_a_trace("invalid JSON from here on",
                          to_location(text, reader.at == 0 ? 0 : reader.at - 1, file)));
}

}  // namespace rankwright::importer
