// The compiled half of `import rankwright`: one function that runs a verb of the command line in
// this process, and gives back everything that came of it. What a person sees is made in Python.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/call.h"
#include "cli/verb.h"
#include "rankwright/report/findings.h"

namespace py = pybind11;

namespace rankwright {
namespace {

constexpr std::chrono::milliseconds kBetweenSignals{50};  // that Python is asked for Ctrl-C

/// What was read from files may be no UTF-8.
py::str text(const std::string& bytes) {
  PyObject* const made = PyUnicode_DecodeUTF8(bytes.data(), Py_ssize_t(bytes.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

/// A verb that runs in a thread of its own, with all that it reads and writes.
struct Running {
  std::vector<std::string> args;
  std::istringstream in;
  cli::Call call{};
  std::ostringstream out{}, err{};
  std::future<int> code{};

  void begin() {
    code = std::async(std::launch::async, [this] {
      return cli::run(args, {.in = in, .out = out, .err = err, .call = &call});
    });
  }
  bool ended() const { return code.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
};
using Runs = std::vector<std::unique_ptr<Running>>;

/// Those that were interrupted and still wind down: Ctrl-C does not wait for them. Guarded by the
/// lock of the interpreter.
Runs& abandoned() {
  static Runs all;
  return all;
}

/// Waits without the lock of the interpreter, so that other threads of Python run. False where
/// Ctrl-C came first, with Python's error set: Python notes it, but only the thread that called may
/// ask.
bool wait_for(const Running& running) {
  while (!running.ended()) {
    {
      const py::gil_scoped_release unlocked;
      running.code.wait_for(kBetweenSignals);
    }
    if (PyErr_CheckSignals() != 0) return false;
  }
  return true;
}

/// Before the process goes the threads in it have to; a second Ctrl-C ends both.
void wait_at_exit() {
  const Runs last = std::exchange(abandoned(), {});
  for (const std::unique_ptr<Running>& one : last)
    if (!wait_for(*one)) std::_Exit(cli::kInterrupted);
}

/// `args`: as they are typed after "rankwright". `input`: standard input.
py::dict run(std::vector<std::string> args, const std::string& input,
             std::map<std::string, std::string> texts) {
  std::erase_if(abandoned(), [](const std::unique_ptr<Running>& one) { return one->ended(); });
  auto running = std::unique_ptr<Running>(
      new Running{.args = std::move(args), .in = std::istringstream(input)});
  running->call.texts = std::move(texts);
  running->begin();
  if (!wait_for(*running)) {
    py::error_already_set interrupted;
    running->call.stop = true;
    abandoned().push_back(std::move(running));
    throw interrupted;
  }
  const cli::Call& call = running->call;
  py::dict made;
  made["code"] = running->code.get();
  made["out"] = text(running->out.str());
  made["err"] = text(running->err.str());
  made["json"] = text(call.forms.json);
  made["text"] = text(call.forms.text);
  made["markdown"] = text(call.forms.markdown);
  made["html"] = text(call.forms.html);
  made["plan"] = text(call.forms.plan);
  made["findings"] = text(findings_json(call.told, ""));
  return made;
}

}  // namespace
}  // namespace rankwright

PYBIND11_MODULE(_core, module) {
  module.doc() = "The verbs of rankwright, run in this process.";
  module.attr("version") = RANKWRIGHT_VERSION;
  module.def("run", &rankwright::run, py::arg("args"), py::arg("input") = py::bytes(),
             py::arg("texts") = py::dict(),
             "Runs a verb; gives its exit code, what it wrote, every form of its answer, and what "
             "it found.");
  py::module_::import("atexit").attr("register")(py::cpp_function(rankwright::wait_at_exit));
}
