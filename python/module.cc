// The compiled half of `import rankwright`: one function per verb, which calls the planner in a
// thread of its own and returns the answer or refusal. The Python half formats it for users.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "python/verbs.h"
#include "rankwright/base/terminal_text.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/report/explain/refusal_text.h"

namespace py = pybind11;

namespace rankwright::python {
namespace {

constexpr std::chrono::milliseconds kBetweenSignals{50};  // between two checks for Ctrl-C
constexpr int kInterrupted = 130;                         // exit code

/// Returns a text for Python. Text read from files may not be valid UTF-8.
py::str decoded(const std::string& bytes) {
  PyObject* const made = PyUnicode_DecodeUTF8(bytes.data(), Py_ssize_t(bytes.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

/// A verb that runs in a thread of its own.
struct Running {
  Arguments args;
  std::atomic<bool> stop{false};
  std::future<planner::Outcome<Answer>> answer{};

  void begin(Verb* verb) {
    answer = std::async(std::launch::async, [this, verb] {
      return verb(args, {.should_stop = [this] { return stop.load(); }});
    });
  }
  bool ended() const {
    return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
};
using Runs = std::vector<std::unique_ptr<Running>>;

/// Returns the runs that were interrupted and have not ended: Ctrl-C does not wait for them.
/// Guarded by the interpreter's lock.
Runs& abandoned() {
  static Runs all;
  return all;
}

/// Waits without holding the interpreter's lock, so that other Python threads run. Returns false on
/// Ctrl-C, with Python's error set. Only the calling thread may check for signals.
bool wait_for(const Running& running) {
  while (!running.ended()) {
    {
      const py::gil_scoped_release unlocked;
      running.answer.wait_for(kBetweenSignals);
    }
    if (PyErr_CheckSignals() != 0) return false;
  }
  return true;
}

/// Waits for the abandoned runs before the process exits; a second Ctrl-C aborts the wait and
/// exits.
void wait_at_exit() {
  const Runs last = std::exchange(abandoned(), {});
  for (const std::unique_ptr<Running>& one : last)
    if (!wait_for(*one)) std::_Exit(kInterrupted);
}

/// A refusal and the verb that was called.
struct Refused {
  std::string verb;
  planner::Refusal refusal;

  /// Returns the messages with their hints.
  std::vector<std::pair<py::str, py::str>> faults() const {
    std::vector<std::pair<py::str, py::str>> all;
    add_faults(refusal, all);
    return all;
  }

 private:
  static void add_faults(const planner::Refusal& of,
                         std::vector<std::pair<py::str, py::str>>& all) {
    if (!of.message.empty()) all.emplace_back(decoded(of.message), decoded(of.hint));
    for (const planner::Refusal& other : of.also) add_faults(other, all);
  }
};

std::variant<Answer, Refused> call(Verb* verb, Arguments args) {
  std::erase_if(abandoned(), [](const std::unique_ptr<Running>& one) { return one->ended(); });
  auto running = std::unique_ptr<Running>(new Running{.args = std::move(args)});
  running->begin(verb);
  if (!wait_for(*running)) {
    py::error_already_set interrupted;
    running->stop = true;
    abandoned().push_back(std::move(running));
    throw interrupted;
  }
  planner::Outcome<Answer> answer = running->answer.get();
  if (!answer) return Refused{running->args.verb, std::move(answer.error())};
  return std::move(*answer);
}

/// Returns a method that renders one form of an answer, without the interpreter's lock.
auto render(Answer::Form Answer::*form) {
  return [form](const Answer& answer) {
    std::string text;
    if (answer.*form) {
      const py::gil_scoped_release unlocked;
      text = (answer.*form)();
    }
    // Text is printed on terminals; the other forms are read by programs.
    return decoded(form == &Answer::text ? clean_text(text) : text);
  };
}

struct VerbRow {
  const char* function;
  const char* verb;  // as the command line calls it
  Verb* run;
};
constexpr VerbRow kVerbs[] = {
    {"plan", "plan", plan},
    {"check", "check", check},
    {"explain", "explain", explain},
    {"compare", "compare", compare},
    {"report", "report", report},
    {"export", "export", export_plan},
    {"import_", "import", import_file},  // a keyword of Python
    {"validate", "validate", validate},
    {"catalog", "catalog", catalog},
};

void define(py::module_& module) {
  py::class_<Answer>(module, "Answer")
      .def("json", render(&Answer::json))
      .def("text", render(&Answer::text))
      .def("markdown", render(&Answer::markdown))
      .def("html", render(&Answer::html))
      .def("plan", render(&Answer::plan))
      .def("findings",
           [](const Answer& of) { return decoded(report::make_findings_json(of.findings, "")); })
      .def_readonly("code", &Answer::code);
  py::class_<Refused>(module, "Refused")
      .def("text",
           [](const Refused& of) {
             return decoded(clean_text(report::render_refusal_text(of.verb, of.refusal)));
           })
      .def("findings",
           [](const Refused& of) {
             return decoded(report::make_findings_json(report::collect_findings(of.refusal), ""));
           })
      .def("faults", &Refused::faults)
      .def_property_readonly("code",
                             [](const Refused& of) { return report::exit_code(of.refusal); });
  for (const VerbRow& row : kVerbs)
    module.def(
        row.function,
        [row](decltype(Arguments::files) files, decltype(Arguments::options) options,
              decltype(Arguments::texts) texts) {
          return call(row.run, {row.verb, std::move(files), std::move(options), std::move(texts)});
        },
        py::arg("files"), py::arg("options"), py::arg("texts"));
}

}  // namespace
}  // namespace rankwright::python

PYBIND11_MODULE(_core, module) {
  module.doc() = "The verbs of rankwright, answered by the library in this process.";
  module.attr("version") = RANKWRIGHT_VERSION;
  rankwright::python::define(module);
  py::module_::import("atexit").attr("register")(
      py::cpp_function(rankwright::python::wait_at_exit));
}
